// SPDX-License-Identifier: Apache-2.0
// Turns decisions (order, which reads fetch) into residences with bytes and addresses.
//
// Input   checked graph, order, fetch flag per input operand slot.
// Output  residences in order of begin, spill and retrieve bytes recounted from them;
//         PlaceResidences sets their offsets.
// Errors  kOutOfMemory; PlaceResidences: kInfeasible (these residences cannot lie
//         within the capacity), kStopped; offsets are then those of the lowest peak
//         found.
// Cost    O(operands) and one offsets problem.
// Source  COSMA; ours: a stay ends with its last read, never later.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_PLAN_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_PLAN_H_

#include "base/budget.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

Status BuildResidences(const OperatorGraph& graph, Span<const uint32_t> order,
                       Span<const uint8_t> fetch, SpillCharge charge, Arena* arena,
                       SpillPlan* plan);

struct AddressOptions {
  int64_t capacity = 0;
  int64_t alignment = 1;  // of every residence
  uint64_t max_nodes = 0;
  // Only the steps [first_step, steps) of the plan count.
  uint32_t first_step = 0;
  uint32_t steps = 0xffffffffu;
};

Status PlaceResidences(const OperatorGraph& graph, const AddressOptions& options,
                       Budget* budget, Arena* arena, SpillPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_PLAN_H_
