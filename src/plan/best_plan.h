// SPDX-License-Identifier: Apache-2.0
// Writes and judges a plan and makes it the best one of the call.
//
// Input    a candidate with its waits and its report; or a plan that was handed in.
// Output   call->best and call->best_cost.
// Errors   kInternal when the judge refuses a plan of ours; kOutOfMemory, kStopped,
//          kUnsupported: the best plan stays as it was. A handed-in plan that is wrong:
//          as Verify.
// Cost     linear in steps to write; as Verify to judge.
#ifndef SLUICE_PLAN_BEST_PLAN_H_
#define SLUICE_PLAN_BEST_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

// Writes and judges the candidate and makes it the best plan. Consumes the candidate:
// each phase frees what the next does not need.
Status TakePlan(PlanCall* call, Candidate* candidate);

// Writes and judges call->plain, the plan layer by layer.
Status TakePlain(PlanCall* call);

// Judges a handed-in plan of this graph and machine, and takes it if it keeps to the
// options.
Status TakeWhole(PlanCall* call, const Plan& plan);

}  // namespace sluice

#endif  // SLUICE_PLAN_BEST_PLAN_H_
