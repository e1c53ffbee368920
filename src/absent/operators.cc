// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_OPERATORS has instead of plans of whole tensors.
#include "base/components.h"
#include "plan/operators/layer_order.h"
#include "plan/operators/operator_plan.h"
#include "plan/operators/replace_tensors.h"
#include "solve/placement/spill/buffer_beam.h"

namespace sluice {

Status ScheduleOperators(const OperatorCall&, Program*, Lowering*,
                         Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_OPERATORS);
}

Status ReplaceInGraph(const Graph&, const ReplacementCall& call, Replacement*) {
  return Absent(call.diagnostic, SLUICE_COMPONENT_OPERATORS);
}

Status ReplaceInOperators(const sluice_operator_graph_t&, const ReplacementCall& call,
                          Replacement*) {
  return Absent(call.diagnostic, SLUICE_COMPONENT_OPERATORS);
}

Status FindMinimumFootprint(const sluice_operator_graph_t&, const ReplacementCall& call,
                            Footprint*) {
  return Absent(call.diagnostic, SLUICE_COMPONENT_OPERATORS);
}

Status OrderLayers(const LayerOrderCall&, Arena*, Span<uint32_t>*) {
  return Status::kOk;
}

Status PlaceByTime(const LiveRangeSet&, int64_t, uint32_t, const Workspace&,
                   Span<int64_t>, bool* placed) {
  *placed = false;
  return Status::kOk;
}

}  // namespace sluice
