// SPDX-License-Identifier: Apache-2.0
// The best plan of a call: written, judged, and kept in place of the one before.
//
// Input    a candidate with its waits and its report; or a plan that was handed in.
// Output   call->best and call->best_cost.
// Errors   kInternal when the judge refuses a plan of ours; kOutOfMemory, kStopped,
//          kUnsupported: the best plan is what it was. A plan that was handed in and is
//          wrong: as Verify.
// Cost     linear in steps to write; as Verify to judge.
#ifndef SLUICE_PLAN_BEST_PLAN_H_
#define SLUICE_PLAN_BEST_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

// Writes and judges; then this plan is the best there is. The candidate is used up: each
// phase gives back what the next one does not need.
Status TakePlan(PlanCall* call, Candidate* candidate);

// The plan layer by layer, call->plain.
Status TakePlain(PlanCall* call);

// request.resume, if it keeps to the options.
Status TakeResumed(PlanCall* call);

}  // namespace sluice

#endif  // SLUICE_PLAN_BEST_PLAN_H_
