// SPDX-License-Identifier: Apache-2.0
// Addresses for decisions whose sums fit; where they do not suffice, more leaves.
//
// Input   checked graph, decisions (order, fetch flags, bytes), limits.
// Output  the plan, placed if possible; the decisions with what had to leave besides.
// Errors  kOutOfMemory only: a plan that is not placed says so.
// Cost    one offsets problem per repair.
// Source  ours: the residence that sticks out most names the steps in which the
// cheapest
//         tensor that only waits is dropped.
#ifndef SLUICE_SOLVE_PLACEMENT_ADDRESS_REPAIR_H_
#define SLUICE_SOLVE_PLACEMENT_ADDRESS_REPAIR_H_

#include "solve/placement/spill_plan.h"
#include "solve/placement/spill_search.h"

namespace sluice {

// plan->states is kept. Not placed: the plan's spans are void.
Status PlaceWithRepairs(const OperatorGraph& graph, SpillCharge charge,
                        const AddressOptions& address, int repairs, Budget* budget,
                        Arena* arena, SpillDecisions* decisions, SpillPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_ADDRESS_REPAIR_H_
