// SPDX-License-Identifier: Apache-2.0
// Where a graph can be cut: operators that every order runs at the same step.
//
// Input   checked graph, one of its orders.
// Output  cuts: steps, ascending, before which the order may be split, with what each
//         costs. independent: forced, and nothing but the last operator's outputs lives
//         across: both sides can be solved apart without loss. forced: every order has
//         run the same operators by then. Others are near cuts: most operators must run
//         either before or after the operator in front of the cut.
// Errors  kUnsupported above kMaxSpillItems, kOutOfMemory.
// Cost    O(operators * operands * W) for ancestor and descendant sets.
// Source  COSMA's divide and conquer, its break nodes found instead of given.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_BREAK_NODES_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_BREAK_NODES_H_

#include "solve/placement/spill/operator_graph.h"

namespace sluice {

struct BreakNode {
  uint32_t step;          // the order is cut before this step
  uint32_t incomparable;  // operators that may run before or after the one at the cut
  bool independent;       // implies incomparable == 0 (forced)
};

// Finds one cut per step 1 .. operators - 1, in order.
Status FindBreakNodes(const OperatorGraph& graph, Span<const uint32_t> order,
                      Arena* arena, Span<BreakNode>* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_BREAK_NODES_H_
