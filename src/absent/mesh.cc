// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_MESH has instead of plans for several nodes.
#include "base/components.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_program.h"
#include "plan/mesh/segment_answer.h"

namespace sluice {

Status ScheduleOnNodes(const NodeCall&, Program*, NodeProgram*,
                       Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MESH);
}

Status FindSegments(const SegmentSearch&, Budget*, Arena*, SegmentSchedule*,
                    Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MESH);
}

Status ScheduleSegments(const SegmentCall&, Arena*, sluice_segment_schedule_t*,
                        Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MESH);
}

}  // namespace sluice
