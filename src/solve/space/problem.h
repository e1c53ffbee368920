// SPDX-License-Identifier: Apache-2.0
// A network as the search over plans sees it: layers in the order in which they run,
// the roots that they read and make, and when each root is needed.
//
// Input    graph, hardware, lowering; scratchpad bytes; what tiles cost.
// Output   tables by position and by root.
// Errors   kUnsupported: a layer makes what nobody needs; kOutOfMemory.
// Cost     linear in layers and tensors.
#ifndef SLUICE_SOLVE_SPACE_PROBLEM_H_
#define SLUICE_SOLVE_SPACE_PROBLEM_H_

#include "model/roots.h"
#include "model/space_plan.h"
#include "model/tile_cost.h"

namespace sluice {

struct SpaceRoot {
  int64_t bytes;                     // aligned
  uint32_t first_maker, last_maker;  // positions; kNone: it is there from the start
  uint32_t last_reader;              // kNone: none
  uint32_t first_use, uses;          // positions that read it: in SpaceProblem::use
  bool constant;
  bool output;   // must be in DRAM at the end
  bool dram;     // always lies there: made or read by a layer that is alone
  double share;  // see PortShare
};

struct SpaceProblem {
  const Graph* graph;
  const Hardware* hardware;
  const Lowering* lowering;
  RootMap map;
  TileCoster coster;
  int64_t capacity;        // of the scratchpad, bytes
  int64_t alignment;       // of frames
  Span<uint32_t> layer;    // by position
  Span<uint8_t> alone;     // by position
  Span<int64_t> slack;     // by position: bytes of the scratchpad to leave empty
  Span<SpaceRoot> roots;   // by tensor
  Span<uint32_t> use;      // positions that read a root, root by root
  Span<uint32_t> root_of;  // by tensor
  // The queues that load inputs and weights and that store outputs; nullptr where such
  // a queue moves any box as fast as its bytes.
  const Queue* moves[3];

  const Layer& at(uint32_t position) const {
    return lowering->executed[layer[position]];
  }
  // The first position from `from` on that reads the root, or kNone.
  uint32_t NextUse(uint32_t root, uint32_t from) const;
  // Whether a position from `from` on reads or makes the root.
  bool Lives(uint32_t root, uint32_t from) const;
  // Whether the root is made by layers, all at positions before `before`.
  bool IsMade(uint32_t root, uint32_t before) const;
  // Cycles of DMA for so many bytes in so many transfers.
  int64_t DmaCycles(int64_t bytes, int64_t transfers) const;
  // Short rows leave bursts unfilled, and a box may need several descriptors: the time that
  // this costs for the box, as the bytes that could be moved in it.
  int64_t LostBytes(const Box& box, uint32_t root, bool stored) const;
  int64_t Aligned(int64_t bytes) const {
    return (bytes + alignment - 1) / alignment * alignment;
  }
};

struct SpaceInput {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const TileCoster& coster;
  int64_t capacity;
  // The layers that are no views, each behind those whose results it reads; empty: as in
  // the graph.
  Span<const uint32_t> order = {};
};

// Whether these are the layers that are no views, each once and behind those whose results
// it reads. Where the graph keeps state between runs, no other order than its own will do.
bool IsOrder(const Graph& graph, const Lowering& lowering, Span<const uint32_t> order,
             Arena* scratch);

Status MakeSpaceProblem(const SpaceInput& input, Arena* arena, SpaceProblem* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_PROBLEM_H_
