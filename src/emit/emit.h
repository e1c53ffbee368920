// SPDX-License-Identifier: Apache-2.0
// Program -> instruction stream. No decisions left: slots, tables, exports and hashes
// follow from the program.
//
// A block's DRAM operands name slots that an instance binds to tensors, so two blocks
// that do the same with different tensors have the same bytes: such bodies are written
// once and stamped.
//
// Input    a program with its waits; places of all tensors.
// Output   a stream image (stream.h) and, block by block and engine by engine, the
// graph
//          layer of every instruction of every instance; both in `arena`.
// Errors   kUnsupported when a 16- or 32-bit field of the stream would overflow.
// Cost     linear in steps and waits; scratch about twice the stream.
#ifndef SLUICE_EMIT_EMIT_H_
#define SLUICE_EMIT_EMIT_H_

#include "base/memory.h"
#include "model/lowering.h"
#include "model/program.h"

namespace sluice {

Status EmitStream(const Graph& graph, const Hardware& hardware,
                  const Lowering& lowering, const Program& program,
                  const ProgramWaits& waits, int64_t scratchpad_bytes, Arena* arena,
                  Arena* scratch, Span<const uint8_t>* stream,
                  Span<const uint32_t>* debug_layer, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMIT_H_
