// SPDX-License-Identifier: Apache-2.0
// Writes decided sections as a program and as a notation.
//
// Input    a plan whose sections are all decided.
// Output   program, lowering and number of groups of the candidate; or its notation.
// Errors   kOutOfMemory; kUnsupported when DRAM does not hold the tensors.
// Cost     linear in steps, and quadratic in sections for the notation.
#ifndef SLUICE_PLAN_FUSED_WRITE_SECTIONS_H_
#define SLUICE_PLAN_FUSED_WRITE_SECTIONS_H_

#include "plan/fused/sectioned_plan.h"

namespace sluice {

Status WriteSections(const SectionedPlan& plan, Candidate* out, Diagnostic* diagnostic);

Status NoteSections(const SectionedPlan& plan, Candidate* out);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_WRITE_SECTIONS_H_
