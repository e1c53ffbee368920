// SPDX-License-Identifier: Apache-2.0
// Searches for a plan that is better than the best one so far, in this order: on one node
// over segments (space/take_space.h), which is the default and mostly the end; then fusion
// (fused/take_fused.h), where segments gave no plan, another solver is named, a limit
// leaves time, or the plan of a small graph lies far above its bound. On a mesh layers are
// dealt out to its nodes (mesh/take_on_nodes.h).
// Candidates are compared by their final numbers.
//
// Input    the call: lowered graph, tile costs, the plain plan or estimates of it.
// Output   call->best, when a better plan was found.
// Errors   kInternal when the judge refuses a plan; kBadArgument when the caller's tile
//          costs are wrong. Anything else leaves the best plan as it was, with kOk.
// Cost     as TakeFromSpace, then as ScheduleFused; on a mesh as TakeOnMesh.
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
