// SPDX-License-Identifier: Apache-2.0
// What emitting a stream needs everywhere, and the steps of it. Private to emit.
//
// Input    a program with its waits; places of all tensors
// Output   Emitter: step counts and exports of each block; bodies of blocks
// Errors   kUnsupported when a 16- or 32-bit field of the stream would overflow;
//          kStopped, kOutOfMemory
// Cost     linear in steps and waits
#ifndef SLUICE_EMIT_EMITTER_H_
#define SLUICE_EMIT_EMITTER_H_

#include "emit/body.h"
#include "emit/emit.h"

namespace sluice {

constexpr uint32_t kImageAlignment = 16;
constexpr uint32_t kMaxImage = 0x7fffff00u;

struct Export {
  uint32_t block;
  uint32_t engine;
  uint32_t count;  // within the block
};
struct ExportLink {
  uint32_t number;  // within the block
  uint32_t next;    // of the same block, kNone = the last
};

// Exports of one block: the chain that starts at `first`.
struct ExportList {
  uint32_t first = kNone;
  uint32_t last = kNone;
  uint32_t count = 0;
};

// Index in its body, in the body of block `block`, of a box of the program.
struct KnownOperand {
  uint32_t block;
  uint32_t index;
};

// What emitting needs everywhere.
struct Emitter {
  const Graph& graph;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  Diagnostic* diagnostic;
  size_t blocks;
  uint32_t engines;
  // first[b * engines + e]: steps of engine e before block b; one more block at the
  // end.
  Span<uint32_t> first;
  Span<ExportList> exports;  // per block
  InternTable<Export> all_exports;
  Sequence<ExportLink> export_links;  // of each
  Span<KnownOperand> known;           // per box of the program
};

// Block of the count-th step of an engine, at most `high`.
size_t BlockOf(const Emitter& e, uint32_t engine, uint32_t count, size_t high);

// Writes the tables of one block. The engines' lists lie one behind the other, each in the
// order of the program.
Status FillBody(Emitter* e, size_t block, Arena* arena, Body* body);

// Finds the entry whose body is the same, or adds one. *block: its index.
Status PlaceBody(const Emitter& e, const ExportList& exports, const Body& body,
                 StreamParts* parts, uint32_t* block);

// Places header and tables in front, bodies behind.
Status LayOutStream(const StreamCall& call, StreamParts* parts, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMITTER_H_
