// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_COSCHEDULE has instead of curves and of several models
// in one scratchpad.
#include "plan/together/coschedule.h"

#include "base/components.h"
#include "plan/together/curve.h"
#include "plan/together/preemption.h"

namespace sluice {

Status CoSchedule(CohortProblem* problem, Arena*, Span<const MemberPlan>, Cohort*) {
  return Absent(problem->diagnostic, SLUICE_COMPONENT_COSCHEDULE);
}

Status MakeCurve(const Graph&, const Hardware&, const CurveRequest&, Arena*,
                 Vector<CurvePoint>*, Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_COSCHEDULE);
}

Status FindPreemptionPoints(const PreemptionQuery&, Arena*, sluice_preemption_point_t*,
                            uint32_t*, Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_COSCHEDULE);
}

}  // namespace sluice
