// SPDX-License-Identifier: Apache-2.0
// Says in one sentence what is wrong with a schedule, with layer and tile.
//
// Input    an evaluation whose fault is not SLUICE_SCHEDULE_LEGAL
// Output   the diagnostic: rule, layer, bytes, message
// Errors   always kRejected
// Cost     constant
#ifndef SLUICE_PLAN_EVALUATE_EXPLAIN_FAULT_H_
#define SLUICE_PLAN_EVALUATE_EXPLAIN_FAULT_H_

#include "model/evaluate.h"
#include "plan/evaluate/notation_problem.h"

namespace sluice {

Status ExplainFault(const NotationProblem& problem, const ResolvedSchedule& resolved,
                    const sluice_evaluation_t& out);
Status ExplainTimedFault(const sluice_evaluation_t& out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_EVALUATE_EXPLAIN_FAULT_H_
