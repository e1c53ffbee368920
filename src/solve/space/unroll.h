// SPDX-License-Identifier: Apache-2.0
// Partial plans as nodes, each of which names the node that it continues; and the whole
// plan that ends in one of these nodes.
//
// Input    nodes; the one at the end.
// Output   in the arena, the plan of that node: the segments of all nodes on the way to
//          it, and images, each with its whole stay.
// Errors   kOutOfMemory.
// Cost     linear in the layers; every segment is made once more.
#ifndef SLUICE_SOLVE_SPACE_UNROLL_H_
#define SLUICE_SOLVE_SPACE_UNROLL_H_

#include "base/sequence.h"
#include "solve/space/segment.h"

namespace sluice {

struct SpaceNode {
  static constexpr int kWindow = 8;
  uint32_t before;       // node, or kNone
  uint32_t first, last;  // positions of the segment that ends here
  bool late;             // found by the second pass of the search
  LoopChoice loops;
  Span<const Held> held;
  int64_t compute, dma;  // clocks
  int64_t stored;        // when what was made is in DRAM
  double energy_pj;
  double cost;
  double hidden;  // the cost without cycles that later loads may hide
  // Loads of the segment's first iteration may begin at this position, as far as their
  // frames fit in `early` bytes.
  uint32_t loads_from;
  int64_t early;
  // The last segments of the plan: when each began to compute, the bytes it leaves
  // free, its first position.
  struct {
    int64_t start, free;
    uint32_t first;
  } window[kWindow];
  int window_size;
};

Status UnrollNodes(const SpaceProblem& problem, const Sequence<SpaceNode>& nodes,
                   uint32_t last, SegmentMaker* maker, Arena* arena, SpacePlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_UNROLL_H_
