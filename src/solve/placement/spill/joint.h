// SPDX-License-Identifier: Apache-2.0
// COSMA: operator order, spills and retrieves, and addresses, together.
//
// Input   operator graph, capacity in bytes; options.
// Output  order, residences with offsets, bytes moved by spills and retrieves, a lower
//         bound on them; proved when they meet.
// Errors  kBadInput, kInfeasible (no plan at this capacity; the diagnostic has what the
//         largest operator needs), kStopped (nothing placed before the limit),
//         kUnsupported (more than kMaxSpillItems operators or tensors), kOutOfMemory.
// Cost    a beam first (milliseconds for hundreds of operators), then windows, then the
//         exact search over (executed, resident, copied) until proved or out of budget.
// Source  Li, Gupta, Malik, COSMA, (1)-(12), (16), (17); readings of inputs as in
//         SpillCharge; addresses by offsets.h; plans that fit in sums but not in
//         addresses are replaced by the next best ones.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_JOINT_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_JOINT_H_

#include "base/budget.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

struct JointOptions {
  int64_t capacity = 0;
  int64_t alignment = 1;  // power of two; sizes and capacity are rounded to it
  SpillCharge charge = SpillCharge::kHost;
  Span<const uint32_t> fixed_order;  // empty: the order is free
  uint64_t max_states = 1 << 16;     // of the exact search; 0 = the budget only
  bool exact = true;                 // false: beam and windows only
  bool needed = true;                // false: there is a plan, if no better one in time
};

Status PlanJoint(const OperatorGraph& graph, const JointOptions& options,
                 Budget* budget, Arena* arena, SpillPlan* plan, Diagnostic* diagnostic);

struct FootprintPlan {
  Span<uint32_t> order;
  int64_t peak_bytes = 0;  // largest sum of live bytes; addresses may need more
  bool proved = false;
};

// COSMA (13)-(15): the order with the least peak, nothing spilled.
Status PlanFootprint(const OperatorGraph& graph, Budget* budget, Arena* arena,
                     FootprintPlan* plan, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_JOINT_H_
