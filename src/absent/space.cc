// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_SPACE has instead of the space of plans: none of its
// plans is a candidate.
#include "plan/space/schedule_space.h"

namespace sluice {

Status ScheduleSpace(const SpaceCall&, Arena*, Candidate*, uint32_t*) {
  return Status::kUnsupported;
}

}  // namespace sluice
