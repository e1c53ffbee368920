// SPDX-License-Identifier: Apache-2.0
// Decided sections as a program and as a notation.
//
// Input    the call, the layers that do something in order, sections that cover them.
// Output   program, lowering and number of groups of the plan; or its notation. Arrays
//          in `out`.
// Errors   kOutOfMemory; kUnsupported when DRAM does not hold the tensors.
// Cost     linear in steps, and quadratic in sections for the notation.
#ifndef SLUICE_PLAN_FUSED_FUSED_WRITE_H_
#define SLUICE_PLAN_FUSED_FUSED_WRITE_H_

#include "plan/fused/fused_plan.h"
#include "plan/fused/fused_section.h"

namespace sluice {

Status WriteSections(const FusedCall& call, Span<const uint32_t> order,
                     Span<const Section> sections, Arena* out, Arena* scratch,
                     Program* program, FusedPlan* plan, Diagnostic* diagnostic);

Status NoteSections(Span<const uint32_t> order, Span<const Section> sections,
                    Arena* out, PlanNotation* notation);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSED_WRITE_H_
