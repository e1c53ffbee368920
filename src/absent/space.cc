// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_SPACE has instead of the space of plans: none of its
// plans is a candidate.
#include "plan/better_plan.h"

namespace sluice {

Status TakeFromSpace(PlanCall*) { return Status::kOk; }

}  // namespace sluice
