// SPDX-License-Identifier: Apache-2.0
// Cuts the layers of a graph into sections.
//
// Input    the call of a plan; an earlier schedule, whose sections stay apart.
// Output   plan->order and plan->sections. A section is a run of layers that may fuse,
//          with the appends to states that they make, or a single other layer.
// Errors   kOutOfMemory, kStopped.
// Cost     linear; for long sections, as FindRepetition.
#ifndef SLUICE_PLAN_FUSED_CUT_SECTIONS_H_
#define SLUICE_PLAN_FUSED_CUT_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

Status CutIntoSections(SectionedPlan* plan);

// Cuts long sections where they repeat themselves.
Status CutRepetitions(SectionedPlan* plan);

// Cuts section i in two halves; later sections move up by one.
void SplitSection(SectionedPlan* plan, uint32_t i);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_CUT_SECTIONS_H_
