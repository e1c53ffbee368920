// SPDX-License-Identifier: Apache-2.0
// Makes a plan from an earlier one and keeps the parts that are still valid.
//
// Input    call->before, a plan of a similar graph, machine or budget.
// Output   call->best, when the earlier plan leads to one; call->change says how many
//          of its layers were kept. Finding no plan is kOk: the caller then plans from
//          scratch.
// Errors   kOutOfMemory; kInternal when the judge refuses a plan; kBadArgument when the
//          caller's tile costs are wrong.
// Cost     linear where little has changed; a search over what was touched.
#ifndef SLUICE_PLAN_CARRIED_PLAN_H_
#define SLUICE_PLAN_CARRIED_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

Status TakeCarried(PlanCall* call);

// Takes call->before unchanged, if it keeps to the options.
Status TakeBefore(PlanCall* call);

// True if machine and scratchpad budget are those of call->before.
bool IsSamePlace(const PlanCall& call);

// True if the graph is that of call->before too.
bool IsSameTask(const PlanCall& call);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRIED_PLAN_H_
