// SPDX-License-Identifier: Apache-2.0
// Program -> instruction stream. Nothing is decided here: slots, tables, loops and
// hashes follow from the program.
//
// Steps that repeat become one instance in a loop (find_loops.h).
// DRAM operands of a block name slots, and each instance binds the slots to tensors. So
// blocks that do the same with different tensors have equal bodies, and an equal body
// is stored once.
//
// Input    a program with its waits; places of all tensors.
// Output   the stream's parts, which no longer need the program; on request the image
//          (stream.h) made from them.
// Errors   kUnsupported when a 16- or 32-bit field of the stream would overflow.
// Cost     linear in steps and waits; memory: the parts have the stream's size plus 4
//          bytes per instruction; scratch for the largest body.
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
        engines(memory),
        entries(memory),
        bodies(memory),
        instances(memory),
        loops(memory),
        steps(memory),
        bindings(memory),
        kernels(memory),
        attributes(memory),
        patches(memory),
        debug_layer(memory) {}
  Arena* arena;
  // The stream that the device holds now, or empty. Unchanged parts keep their place in
  // the image where the order allows it; parts that move get spare room to grow.
  Span<const uint8_t> before;
  sluice_stream_header_t header = {};  // complete except for the hash
  Sequence<sluice_engine_t> engines;
  Sequence<sluice_block_t> entries;
  Sequence<const uint8_t*> bodies;  // per entry
  Span<uint32_t> slots;             // an entry's number + 1, by its hash; 0: empty
  Sequence<sluice_instance_t> instances;
  Sequence<sluice_loop_t> loops;
  Sequence<int32_t> steps;
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
  bool loops = true;  // false: one instance for each block of the program
};

Status EmitStream(const StreamCall& call, Arena* scratch, StreamParts* parts,
                  Diagnostic* diagnostic);

// image: header.size_bytes zeroed bytes, 4-byte aligned.
Status WriteStream(const StreamParts& parts, uint8_t* image);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMIT_H_
