// SPDX-License-Identifier: Apache-2.0
// A plan made from an earlier one: what still holds of it is kept.
//
// Input    call->before, a plan of a similar graph, machine or budget.
// Output   call->best, when the earlier plan led to one; call->change says how many of
//          its layers were kept. No plan is not an error: the caller makes one anew.
// Errors   kOutOfMemory; kInternal when the judge refuses a plan; kBadArgument when the
//          caller's tile costs are wrong.
// Cost     linear where little has changed; a search over what was touched.
#ifndef SLUICE_PLAN_CARRIED_PLAN_H_
#define SLUICE_PLAN_CARRIED_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

Status TakeCarried(PlanCall* call);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRIED_PLAN_H_
