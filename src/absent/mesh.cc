// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_MESH has instead of plans for several nodes.
#include "base/components.h"
#include "plan/mesh/segment_answer.h"
#include "plan/mesh/take_on_nodes.h"

namespace sluice {

Status TakeOnMesh(PlanCall*) { return Status::kOk; }

Status ScheduleSegments(const SegmentCall&, Arena*, sluice_segment_schedule_t*,
                        Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MESH);
}

}  // namespace sluice
