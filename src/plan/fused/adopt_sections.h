// SPDX-License-Identifier: Apache-2.0
// Takes over the sections of an earlier schedule.
//
// Input    a plan whose call carries an earlier schedule.
// Output   sections decided: unchanged ones as before, touched ones reworked, and those
//          that are no longer legal decided again from the start.
// Errors   kOutOfMemory; kStopped when the limit ended before all had a
//          decision.
// Cost     linear where nothing has changed; else a rework, or a new search, of the
//          sections that were touched.
#ifndef SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_
#define SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

// *any: some section is fused.
Status AdoptSections(SectionedPlan* plan, bool* any);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_ADOPT_SECTIONS_H_
