// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_SPACE has instead of the space of plans: none of its
// plans is a candidate.
#include "plan/space/schedule_space.h"

namespace sluice {

Status SpaceSchedule::Find() { return Status::kUnsupported; }

Status SpaceSchedule::Write(int, Candidate*) { return Status::kUnsupported; }

}  // namespace sluice
