// SPDX-License-Identifier: Apache-2.0
// Finds a plan of the whole space's segments by dynamic programming over partial plans.
//
// A partial plan ends at a border between two layers. Its state is which roots are whole
// in the scratchpad there; its value energy, and the clocks of both engines with what
// room earlier segments leave for loads ahead of time. Of equal states the cheaper one
// stays, and few states per border: the cheapest, where what is not on chip counts as if
// it were loaded at once. Several layers form a segment only where what they hand on
// would fill much of the scratchpad. Long segments are tried last, from the best state of
// each border, as far as their plans may be kept beside the others.
//
// Input    a problem; weights of energy and time; segments that are known.
// Output   layers, loops, segments and images, without offsets; lives in `arena`.
// Errors   kInfeasible: no plan found; kStopped, kOutOfMemory.
// Cost     states * segments tried; some microseconds per layer and segment.
#ifndef SLUICE_SOLVE_SPACE_SEARCH_H_
#define SLUICE_SOLVE_SPACE_SEARCH_H_

#include "base/budget.h"
#include "solve/space/problem.h"
#include "solve/space/tiles.h"

namespace sluice {

// A segment that is given: it begins at its position. last 0: none.
struct KnownSegment {
  uint32_t last;
  LoopChoice choice;
};

struct SpaceSearch {
  SpaceGoal goal;
  // By position, or empty. Known segments do not overlap; what is between them is searched,
  // and a known one where it does not fit.
  Span<const KnownSegment> known = {};
  uint32_t states = 6;        // per border
  uint32_t longest = 50;      // layers of a segment
  uint64_t most_work = 4000;  // layers of segments tried from one border
  Budget* budget = nullptr;
};

Status SearchSpace(const SpaceProblem& problem, const SpaceSearch& search,
                   Arena* scratch, Arena* arena, SpacePlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEARCH_H_
