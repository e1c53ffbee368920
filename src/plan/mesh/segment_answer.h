// SPDX-License-Identifier: Apache-2.0
// Segments of a graph on a mesh, in the structs of the C interface.
//
// Input    graph, hardware, options as the caller gave them
// Output   counts and costs always; segments, layers and the directives' text as far as
//          the caller has room for them
// Errors   kBadArgument for options out of range; those of Lower and ChooseSegments
// Cost     lowering and ChooseSegments (solve/segments); linear in the layers
//          otherwise, except that names are compared pairwise
#ifndef SLUICE_PLAN_MESH_SEGMENT_ANSWER_H_
#define SLUICE_PLAN_MESH_SEGMENT_ANSWER_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

struct SegmentCall {
  const Graph& graph;
  const Hardware& hardware;
  const sluice_segment_options_t& options;
};

Status ScheduleSegments(const SegmentCall& call, Arena* arena,
                        sluice_segment_schedule_t* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_SEGMENT_ANSWER_H_
