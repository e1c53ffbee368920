// SPDX-License-Identifier: Apache-2.0
// Spends the rest of the budget on annealing the fused sections.
//
// Input    a plan whose sections are all decided.
// Output   better sections. The sections stay as they were unless the whole plan gets
//          better. False: the offered plan has not become better.
// Errors   none: a section that cannot be improved stays as it is.
// Cost     until the budget ends.
#ifndef SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_
#define SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

bool ImproveSections(SectionedPlan* plan);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_
