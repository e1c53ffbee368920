// SPDX-License-Identifier: Apache-2.0
// Decides whether and how a section is fused: searches a scheme, places its buffers,
// and compares its cost with that of the layers one by one.
//
// Input    a plan in the making, a section of it.
// Output   section->fused, and then its result, buffers and offsets in plan->arena.
// Errors   kInfeasible, kStopped: the section stays layer by layer; kOutOfMemory.
// Cost     a fusion search and a placement; nothing where an equal section was decided
//          shortly before.
#ifndef SLUICE_PLAN_FUSED_DECIDE_SECTION_H_
#define SLUICE_PLAN_FUSED_DECIDE_SECTION_H_

#include "plan/fused/fusion_search.h"
#include "plan/fused/sectioned_plan.h"

namespace sluice {

// Decides all sections, one after the other; those that do not pay as a whole are tried
// in halves. *any: some section is fused.
Status ChooseSections(SectionedPlan* plan, bool* any);

// Decides one; on failure it is layer by layer.
Status TrySection(SectionedPlan* plan, Section* section);

// An equal section shortly before, which is fused; plan.count = none.
uint32_t TwinOf(const SectionedPlan& plan, uint32_t i);

// True when an equal section was decided before: its decision is copied.
bool TakeTwin(SectionedPlan* plan, Section* section);

// Makes the section's run of layers. *decided: an equal section was decided before, and
// its decision is copied.
Status OpenSection(SectionedPlan* plan, Section* section, bool* decided);

// Rounds of annealing, beyond construction.
uint64_t RoundsOf(const SectionedPlan& plan, const Section& section);

// What to search for in the section.
FusionSearch SearchOf(const SectionedPlan& plan, const Section& section,
                      uint64_t rounds);

// Bytes that a scheme for the section may use.
int64_t BufferOf(const SectionedPlan& plan, const Section& section);

// Searches a scheme for the section; its memory is that of `work`.
Status SolveSection(const SectionedPlan& plan, const FusionSearch& search,
                    Budget* budget, Arena* work, Section* section);

// Copies the result into plan->arena, out of the search's memory.
Status KeepSection(SectionedPlan* plan, Section* section);

// Charges what `part` has used to the plan's budget.
void JoinPart(SectionedPlan* plan, const Budget& part);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_DECIDE_SECTION_H_
