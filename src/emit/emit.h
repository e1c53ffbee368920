// SPDX-License-Identifier: Apache-2.0
// Program -> instruction stream. No decisions left: slots, tables, exports and hashes
// follow from the program.
//
// A block's DRAM operands name slots that an instance binds to tensors, so two blocks
// that do the same with different tensors have the same bytes: such bodies are written
// once and stamped.
//
// Input    a program with its waits; places of all tensors.
// Output   the stream's parts, which need the program no more, and from them the image
//          (stream.h) where the caller wants it.
// Errors   kUnsupported when a 16- or 32-bit field of the stream would overflow.
// Cost     linear in steps and waits; the parts take the stream's size and 4 bytes per
//          instruction, scratch what the largest body takes.
#ifndef SLUICE_EMIT_EMIT_H_
#define SLUICE_EMIT_EMIT_H_

#include "base/memory.h"
#include "base/sequence.h"
#include "model/lowering.h"
#include "model/program.h"

namespace sluice {

struct StreamParts {
  explicit StreamParts(Arena* memory)
      : arena(memory),
        entries(memory),
        bodies(memory),
        instances(memory),
        bindings(memory),
        kernels(memory),
        attributes(memory),
        patches(memory),
        debug_layer(memory) {}
  Arena* arena;
  // A stream that a device has, or empty: what is the same stays where it is in the
  // image, as far as order allows, and what moves gets room to grow.
  Span<const uint8_t> before;
  sluice_stream_header_t header = {};  // complete but for the hash
  Sequence<sluice_block_t> entries;
  Sequence<const uint8_t*> bodies;  // per entry
  Sequence<sluice_instance_t> instances;
  Sequence<sluice_binding_t> bindings;
  Sequence<sluice_kernel_t> kernels;
  Sequence<int32_t> attributes;
  Sequence<sluice_patch_t> patches;
  // Graph layer of every instruction of every instance, engine by engine.
  Sequence<uint32_t> debug_layer;
};

struct StreamCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  int64_t scratchpad_bytes;
};

Status EmitStream(const StreamCall& call, Arena* scratch, StreamParts* parts,
                  Diagnostic* diagnostic);

// image: header.size_bytes zeroed bytes, 4-byte aligned.
Status WriteStream(const StreamParts& parts, uint8_t* image);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMIT_H_
