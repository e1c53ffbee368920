// SPDX-License-Identifier: Apache-2.0
// Shared state and steps of emitting a stream. Private to emit.
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
  uint32_t next;    // next link of the same block; kNone = last
};

// Exports of one block: the chain that starts at `first`.
struct ExportList {
  uint32_t first = kNone;
  uint32_t last = kNone;
  uint32_t count = 0;
};

// Index of a program's box among the operands of the body of `block`.
struct KnownOperand {
  uint32_t block;
  uint32_t index;
};

// State that all steps of emitting share.
struct Emitter {
  const Graph& graph;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  Diagnostic* diagnostic;
  size_t blocks;
  uint32_t engines;
  // first[b * engines + e]: number of engine e's steps before block b; `blocks` + 1
  // rows.
  Span<uint32_t> first;
  Span<ExportList> exports;  // per block
  InternTable<Export> all_exports;
  Sequence<ExportLink> export_links;  // of all export lists
  Span<KnownOperand> known;           // by box of the program
};

// The block that contains the count-th step of an engine, searched up to block `high`.
size_t BlockOf(const Emitter& e, uint32_t engine, uint32_t count, size_t high);

// Writes the tables of one block. The engines' instruction lists are contiguous, one
// after the other, each in program order.
Status FillBody(Emitter* e, size_t block, Arena* arena, Body* body);

// Finds the entry with an equal body or adds one; sets *block to its index.
Status PlaceBody(const Emitter& e, const ExportList& exports, const Body& body,
                 StreamParts* parts, uint32_t* block);

// Assigns offsets: header and tables first, then bodies.
Status LayOutStream(const StreamCall& call, StreamParts* parts, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_EMIT_EMITTER_H_
