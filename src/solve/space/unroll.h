// SPDX-License-Identifier: Apache-2.0
// Partial plans as nodes that name the one before, and the plan that ends in one of them.
//
// Input    nodes; the one at the end.
// Output   in the arena, its plan: the segments of all nodes on the way, images with their whole stay.
// Errors   kOutOfMemory.
// Cost     linear in the layers; every segment is made once more.
#ifndef SLUICE_SOLVE_SPACE_UNROLL_H_
#define SLUICE_SOLVE_SPACE_UNROLL_H_

#include "solve/space/segment.h"

namespace sluice {

struct SpaceNode {
  static constexpr int kWindow = 8;
  uint32_t before;       // node, or kNone
  uint32_t first, last;  // positions of the segment that ends here
  LoopChoice loops;
  Span<const Held> held;
  int64_t compute, dma;  // clocks
  double energy_pj;
  double cost;
  // The last segments: when each began to compute, and bytes it leaves free.
  struct {
    int64_t start, free;
  } window[kWindow];
  int window_size;
};

Status UnrollNodes(const SpaceProblem& problem, const Vector<SpaceNode>& nodes,
                   uint32_t last, SegmentMaker* maker, Arena* arena, SpacePlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_UNROLL_H_
