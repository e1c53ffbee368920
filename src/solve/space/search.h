// SPDX-License-Identifier: Apache-2.0
// Chooses the segments of a network and their loops, by dynamic programming over
// partial plans.
//
// A partial plan ends at a border between two layers. Its state is the set of roots
// that lie whole in the scratchpad there. Its value is its energy, the clocks of both
// engines, and the room that its segments leave for loads ahead of time. Of equal
// states the cheaper one is kept. A border keeps only its cheapest states; a state's
// cost counts the roots that later layers need and that are not on chip as if they were
// loaded at once. Several layers form a segment only where the tensors between them
// would fill much of the scratchpad. Long segments are tried last, from the best state
// of each border, while their plans may be kept beside the others. At the end segments
// of the whole plan are changed (change_plan.h).
//
// Input    a problem; weights of energy and time; segments that are known.
// Output   layers, loops, segments and images, without offsets; lives in `arena`.
// Errors   kInfeasible: no plan found; kStopped, kOutOfMemory.
// Cost     states * segments tried; some microseconds per layer and segment.
#ifndef SLUICE_SOLVE_SPACE_SEARCH_H_
#define SLUICE_SOLVE_SPACE_SEARCH_H_

#include "base/budget.h"
#include "solve/space/known.h"
#include "solve/space/problem.h"
#include "solve/space/tiles.h"

namespace sluice {

// The plan before changes that may not pay, and what it was predicted to cost.
struct UnchangedPlan {
  Span<KnownSegment> segment;  // by position; empty = none
  PlanTotal total = {};
};

struct SpaceSearch {
  SpaceGoal goal;
  // By position, or empty. Known segments do not overlap. The layers between them are
  // searched, and so are the layers of a known segment that does not fit, unless only
  // the known ones will do.
  Span<const KnownSegment> known = {};
  bool only_known = false;
  uint32_t states = 6;        // per border; more than 1: the least for long networks
  uint32_t longest = 40;      // layers of a segment
  uint64_t most_work = 4000;  // layers of segments tried from one border
  // Finds a good plan soon: of each kind of candidate only the likeliest are tried, in
  // one pass, and nothing is changed at the end.
  bool lean = false;
  uint64_t improving = 40;  // layers of segments to change at the end, for each layer
  // Then random changes, as many layers of segments; kByWork: a part of those that the
  // search made.
  static constexpr uint64_t kByWork = UINT64_MAX;
  uint64_t annealing = kByWork;
  // No plan takes less; where the plan takes hardly more, there are no random changes.
  double least_pj = 0;
  int64_t least_cycles = 0;
  uint64_t seed = 0;
  bool keeps_known = true;              // known segments are not changed at the end
  int64_t most_iterations = INT64_MAX;  // of a segment's loops
  Budget* budget = nullptr;
  // If not NULL: gets the plan before random changes if these paid, or else before all
  // changes at the end; none if no change was kept, or if there is no memory for it. It
  // lives in `notes`.
  UnchangedPlan* found = nullptr;
  Arena* notes = nullptr;
};

Status SearchSpace(const SpaceProblem& problem, const SpaceSearch& search,
                   Arena* scratch, Arena* arena, SpacePlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEARCH_H_
