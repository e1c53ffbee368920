// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_FUSION has instead of the published searches over fused
// layers: none of their plans is a candidate of the default, and who names one is refused
// (plan/check_options.cc).
#include "base/components.h"
#include "plan/evaluate/evaluate_notation.h"
#include "plan/fused/take_fused.h"

namespace sluice {

Status TakeFused(PlanCall*) { return Status::kOk; }

Status TakeFusedWithin(PlanCall*, uint64_t) { return Status::kOk; }

Status TakeCarriedFused(PlanCall*, const Alignment&) { return Status::kOk; }

Status EvaluateNotation(const EvaluationCall&, Arena*, sluice_evaluation_t*,
                        Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_FUSION);
}

Status EvaluateTimedSchedule(const sluice_timed_schedule_t&, Arena*,
                             sluice_evaluation_t*, Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_FUSION);
}

}  // namespace sluice
