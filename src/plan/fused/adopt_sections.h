// SPDX-License-Identifier: Apache-2.0
// The sections of an earlier schedule, as they are now.
//
// Input    a plan whose call carries an earlier schedule.
// Output   sections decided as they were, as far as that holds; what was touched is
//          reworked, and what does not hold any more is decided anew.
// Errors   kOutOfMemory; kStopped when the budget ended before all had a decision.
// Cost     linear where nothing has changed; else a rework, or a new search, of the
//          sections that were touched.
#ifndef SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_
#define SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

// any: one is fused.
Status AdoptSections(SectionedPlan* plan, bool* any);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_
