// SPDX-License-Identifier: Apache-2.0
// Finds addresses for decisions whose sums of bytes fit. If there are none, more
// tensors leave the scratchpad.
//
// Input   checked graph, decisions (order, fetch flags, bytes), limits.
// Output  the plan, placed if possible; the decisions with the tensors that had to
//         leave as well.
// Errors  kOutOfMemory only: a plan that is not placed says so.
// Cost    some tens of small offsets problems per repair.
// Source  ours: find a short run of steps without addresses; drop the cheapest tensor
//         kept in it whose absence gives it addresses.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_REPAIR_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_REPAIR_H_

#include "base/workspace.h"
#include "solve/placement/spill/spill_plan.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {

struct RepairLimits {
  SpillCharge charge;
  AddressOptions address;
  int repairs;      // tensors that may leave as well
  int64_t give_up;  // when the decisions come to so many bytes
};

// Keeps plan->states. If not placed, the plan's spans are invalid.
Status PlaceWithRepairs(const OperatorGraph& graph, const RepairLimits& limits,
                        const Workspace& work, SpillDecisions* decisions,
                        SpillPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_REPAIR_H_
