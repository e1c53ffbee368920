// SPDX-License-Identifier: Apache-2.0
// Changes one or two segments of a plan at a time, and places, writes and prices each
// changed plan exactly, as long as the plan gets cheaper. In plans of few layers much
// depends on when single transfers begin, which the search does not know. Of longer plans
// only those are changed that cost more than the search predicted, and only segments that
// take an eighth of the time.
//
// Input    a call with a plan; the segments of that plan.
// Output   the cheapest segments found; they live in `arena`.
// Errors   those of the caller's tile costs; without time or memory the plan stays as it is.
// Cost     at most 8,192 steps of changed plans are written; of plans with more than 12
//          layers 32,768.
#ifndef SLUICE_PLAN_SPACE_REFINE_PLAN_H_
#define SLUICE_PLAN_SPACE_REFINE_PLAN_H_

#include "plan/plan_call.h"
#include "plan/space/schedule_space.h"

namespace sluice {

struct RefineCall {
  PlanCall* call;  // its best plan is the one to refine
  SpaceCall of;    // how plans of the space are made
};

Status RefinePlan(const RefineCall& call, Arena* arena, KnownPlan* plan);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_REFINE_PLAN_H_
