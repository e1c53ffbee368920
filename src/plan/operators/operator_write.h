// SPDX-License-Identifier: Apache-2.0
// The program of planned sections: loads, one tile per operator, stores.
//
// Input    sections with their spill plans
// Output   steps; places in DRAM for the order in which layers run
// Errors   kInfeasible when a layer cannot be copied through the scratchpad;
//          kUnsupported for a tile that takes 2^32 cycles or more; kOutOfMemory
// Cost     linear in operators and residences
#ifndef SLUICE_PLAN_OPERATORS_OPERATOR_WRITE_H_
#define SLUICE_PLAN_OPERATORS_OPERATOR_WRITE_H_

#include "model/program.h"
#include "plan/operators/operator_sections.h"

namespace sluice {

// places: arena of the places in *out.
Status WriteSections(OperatorSchedule* self, Arena* places, Program* program,
                     Lowering* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_OPERATOR_WRITE_H_
