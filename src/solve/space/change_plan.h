// SPDX-License-Identifier: Apache-2.0
// Changes the plan that a search found: first as long as it gets cheaper, then at
// random (improve.h).
//
// Random changes are left out where the plan costs hardly more than its bound. They run
// several times, each from the cheapest plan so far, and end with the first run that
// gains almost nothing. What changes gain is a prediction. If the caller makes the plan
// before them too (SpaceSearch::found), the plan is changed only if that saves much.
//
// Input    the search's problem and what it derived; the nodes of a plan.
// Output   the segments of the changed plan.
// Errors   kOutOfMemory.
// Cost     SpaceSearch::improving and annealing.
#ifndef SLUICE_SOLVE_SPACE_CHANGE_PLAN_H_
#define SLUICE_SOLVE_SPACE_CHANGE_PLAN_H_

#include "solve/space/improve.h"
#include "solve/space/search.h"

namespace sluice {

struct PlanChange {
  const SpaceProblem& problem;
  const SpaceSearch& search;
  SegmentMemo* segments;
  const Prices& prices;
  uint64_t work;  // of random changes, if search.annealing is kByWork
};

struct ChangedPlan {
  Span<const PlanLink> links;  // empty: the plan stays as it was
  UnchangedPlan before;        // SpaceSearch::found
};

// Changes the plan that ends with node `last`. The result lives in `arena`.
Status ChangePlan(const PlanChange& call, const Sequence<SpaceNode>& nodes,
                  uint32_t last, Arena* arena, ChangedPlan* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_CHANGE_PLAN_H_
