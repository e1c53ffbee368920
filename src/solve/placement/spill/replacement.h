// SPDX-License-Identifier: Apache-2.0
// Chooses spills and retrieves for a given operator order.
//
// Input   checked graph of any size, its order, capacity.
// Output  a placed plan for that order, with a lower bound.
// Errors  kBadInput (graph or order), kInfeasible (an operator does not fit; named),
//         kStopped (no addresses within the repairs allowed), kOutOfMemory.
// Cost    fast: O(operands + steps * waiting) and a few offsets problems; exact: as
//         PlanJoint with a fixed order.
// Source  Belady's furthest next use, cheap departures first; dropped tensors are kept
//         where room is left; exact variant: COSMA (17).
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_REPLACEMENT_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_REPLACEMENT_H_

#include "solve/placement/spill/joint.h"

namespace sluice {

// options.fixed_order is the order. options.exact improves on the fast plan up to
// kMaxSpillItems operators and tensors.
Status PlanReplacement(const OperatorGraph& graph, const JointOptions& options,
                       Budget* budget, Arena* arena, SpillPlan* plan,
                       Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_REPLACEMENT_H_
