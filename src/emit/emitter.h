// SPDX-License-Identifier: Apache-2.0
// Shared state and steps of emitting a stream. Private to emit.
//
// Input    a program with its waits; places of all tensors
// Output   Emitter: how far back waits reach; pieces of the program; bodies of pieces
// Errors   kUnsupported when a 16- or 32-bit field of the stream would overflow;
//          kStopped, kOutOfMemory
// Cost     linear in steps and waits
#ifndef SLUICE_EMIT_EMITTER_H_
#define SLUICE_EMIT_EMITTER_H_

#include "emit/body.h"
#include "emit/emit.h"
#include "emit/find_loops.h"

namespace sluice {

constexpr uint32_t kImageAlignment = 16;
constexpr uint32_t kMaxImage = 0x7fffff00u;

// Index of a program's box among the operands of the body of a piece.
struct KnownOperand {
  uint32_t piece;
  uint32_t index;
};

// State that all steps of emitting share.
struct Emitter {
  const Graph& graph;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  Diagnostic* diagnostic;
  uint32_t engines;
  // Per wait: the number of steps of the awaited engine that lie, in program order,
  // behind the awaited step and before the waiting one.
  Sequence<uint32_t> back;
  Pieces pieces;
  Span<KnownOperand> known;  // by box of the program
};

// Writes the tables of one piece. The engines' instruction lists are contiguous, one
// after the other, each in program order.
Status FillBody(Emitter* e, size_t piece, Arena* arena, Body* body);

// Finds the entry with an equal body or adds one; sets *block to its index.
Status PlaceBody(const Body& body, StreamParts* parts, uint32_t* block);

// Assigns offsets: header and tables first, then bodies.
Status LayOutStream(const StreamCall& call, StreamParts* parts, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMITTER_H_
