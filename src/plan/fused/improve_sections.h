// SPDX-License-Identifier: Apache-2.0
// The rest of the budget, spent on annealing the sections that are fused.
//
// Input    a plan whose sections are all decided.
// Output   better sections. What was chosen stays unless the whole plan gets better.
//          False: there is no plan that was not offered already.
// Errors   none: a section that cannot be improved stays as it is.
// Cost     until the budget ends.
#ifndef SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_
#define SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

bool ImproveSections(SectionedPlan* plan);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_IMPROVE_SECTIONS_H_
