// SPDX-License-Identifier: Apache-2.0
// Measures what sections cost: writes them as programs and times these.
//
// Input    a plan in the making; a section of it with buffers and offsets.
// Output   of a section, energy and cycles as one number, relative to the whole graph
//          layer by layer; of the whole plan, the objective.
// Errors   kOutOfMemory, kStopped.
// Cost     linear in steps.
#ifndef SLUICE_PLAN_FUSED_MEASURE_SECTION_H_
#define SLUICE_PLAN_FUSED_MEASURE_SECTION_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

// Sets section->cost.
Status MeasureFused(SectionedPlan* plan, Section* section);

// The cost of the section's layers one by one.
Status MeasureAlone(const SectionedPlan& plan, const Section& section, double* cost);

// The objective of the plan with its present sections.
Status CostOfAll(const SectionedPlan& plan, double* cost);

// Lets the search end early enough to write and judge the present plan. looks: as
// FinishWork.
void LeaveTime(SectionedPlan* plan, uint64_t looks);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_MEASURE_SECTION_H_
