// SPDX-License-Identifier: Apache-2.0
// Addresses for an order and its spills: as they are, if a search finds them, else step
// by step. Where free bytes lie apart, tensors leave that the sums would keep; what need
// not have left stays.
//
// Input   checked graph; decisions (order, fetch flags); capacity, charge, states per
//         step, a limit on bytes.
// Output  a placed plan, if one is found below the limit.
// Errors  kOutOfMemory only: a plan that is not placed says so. When the time is over, a
//         few layouts continue.
// Cost    O(steps * width * tensors in the scratchpad).
// Source  ours: a beam over layouts of the scratchpad. A state is charged for tensors
//         when they leave, and gets it back if their bytes are still whole at the next
//         read; states rank by bytes and by free bytes that will lie apart. A few layouts
//         do for steps that cost no more than planned; others are run again with more.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_BEAM_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_BEAM_H_

#include "base/workspace.h"
#include "model/live_range.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {

struct AddressBeamOptions {
  SpillCharge charge = SpillCharge::kHost;
  int64_t capacity = 0;
  int64_t give_up = INT64_MAX;  // of the beam: only plans below this are wanted
  uint64_t max_nodes = 0;  // of a search for addresses without departures; 0 = none
  uint32_t width = 16;     // layouts kept per step, at most; 0 = no beam
  Span<const int64_t> given =
      {};  // per tensor: its offset, or kFreeOffset; empty: free
};

// Keeps plan->states; the spans of a plan that is not placed are invalid. Where the
// decisions keep to the capacity and nothing is given up, the beam finds a plan.
Status PlaceDecisions(const OperatorGraph& graph, const AddressBeamOptions& options,
                      const SpillDecisions& decisions, const Workspace& work,
                      SpillPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_BEAM_H_
