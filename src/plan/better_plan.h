// SPDX-License-Identifier: Apache-2.0
// A search for a plan that is better than the best one so far: layers fused on one
// node, or dealt out to all nodes of a mesh. Candidates are compared by their final
// numbers.
//
// Input    the call: lowered graph, tile costs, the plain plan or estimates of it.
// Output   call->best, when a better plan was found.
// Errors   kInternal when the judge refuses a plan; kBadArgument when the caller's tile
//          costs are wrong. Anything else leaves the best plan as it was, with kOk.
// Cost     as ScheduleFused; on a mesh as TakeOnMesh.
#ifndef SLUICE_PLAN_BETTER_PLAN_H_
#define SLUICE_PLAN_BETTER_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

Status TakeBetter(PlanCall* call);

// False if no plan on so many nodes of the machine costs less than the best one.
bool MayPay(const PlanCall& call, int64_t nodes);

// What the best plan so far costs, or the plain one while there is none.
double LeastCost(const PlanCall& call);

// Adds waits and report to a written program; true when it beats the best plan.
bool IsBetter(PlanCall* call, Candidate* candidate, Arena* scratch);

// Takes the plan found, if it is better and nothing has ended the call.
Status TakeFound(PlanCall* call, bool better, Candidate* found);

}  // namespace sluice

#endif  // SLUICE_PLAN_BETTER_PLAN_H_
