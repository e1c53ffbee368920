// SPDX-License-Identifier: Apache-2.0
// An order of operators that moves few bytes through a scratchpad, and what leaves it
// when.
//
// Input   checked graph: operators, whole tensors with sizes and roles, edges; a
//         capacity.
// Output  order, fetch flags and bytes (SpillDecisions); sums of bytes only, no
//         addresses. Spans that are empty are allocated.
// Errors  kUnsupported above kMaxSpillItems operators or tensors, kOutOfMemory. Nothing
//         is `found` when an operator exceeds the capacity, or nothing costs less than
//         give_up. When the time is over, the best state alone continues, so that there
//         is a plan.
// Cost    O(operators * width * ready operators); 5 to 35 ms for 200 to 600 operators.
// Source  ours: a beam over (executed, resident, copied). A quarter of its states are
//         the cheapest; the others compete among those that have run the same large
//         operators, as states that put these off look cheaper than they are. Operators
//         of a chain that lose nothing by it run at once.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_ORDER_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_ORDER_H_

#include "base/workspace.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {

constexpr uint32_t kOrderWidth = 32;  // states of the beam

struct OrderOptions {
  SpillCharge charge = SpillCharge::kHost;
  int64_t capacity = 0;
  int64_t target = 0;           // below capacity: limit for operators that need less
  int64_t give_up = INT64_MAX;  // only plans below this are wanted
  uint32_t width = kOrderWidth;
  bool other =
      false;  // a beam of another kind: it often finds what the first one missed
};

Status ChooseOrder(const OperatorGraph& graph, const OrderOptions& options,
                   const Workspace& work, SpillDecisions* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_ORDER_H_
