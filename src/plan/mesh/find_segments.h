// SPDX-License-Identifier: Apache-2.0
// The segments of a plan for several nodes, for the objective of its options.
//
// Input    graph, hardware, lowering; bytes of each node's scratchpad; options
// Output   segments of all layers that are not views
// Errors   kUnsupported: some layer is in no segment, or the readers of a state must
//          keep their order; else those of ChooseSegments
// Cost     ChooseSegments (solve/segments)
#ifndef SLUICE_PLAN_MESH_FIND_SEGMENTS_H_
#define SLUICE_PLAN_MESH_FIND_SEGMENTS_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/segment.h"

namespace sluice {

struct SegmentSearch {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t capacity;
  const sluice_schedule_options_t& options;
  bool alone = false;  // every layer in a segment of its own
};

Status FindSegments(const SegmentSearch& search, Budget* budget, Arena* arena,
                    SegmentSchedule* schedule, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_FIND_SEGMENTS_H_
