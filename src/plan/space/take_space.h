// SPDX-License-Identifier: Apache-2.0
// Takes plans of the space (schedule_space.h) if they are better than the best plan of
// the call.
//
// What a search's last changes gain is a prediction, so the plan before them is made
// too. With a deadline a plan that is found soon comes first. With a deadline or a
// number of iterations the best plan is changed at random, again and again, each time
// with twice the work; only complete rounds are made, so more iterations are never worse.
//
// Input    the call: lowered graph, tile costs, the plain plan or estimates of it.
// Output   call->best, when a better plan was found; call->spaced.
// Errors   as TakeBetter.
// Cost     that of the search, twice to write, once or twice to judge; with limits, until
//          these end it.
#ifndef SLUICE_PLAN_SPACE_TAKE_SPACE_H_
#define SLUICE_PLAN_SPACE_TAKE_SPACE_H_

#include "plan/plan_call.h"
#include "solve/repair/align.h"

namespace sluice {

// Layers at most, and steps layer by layer, of a graph for which fused plans are tried too.
// This takes about as long as the search of the space; with more steps it takes longer and
// was not seen to gain.
constexpr size_t kSmallGraph = 48, kSmallSteps = 512;

// On a mesh one node works. Does nothing where a solver is named or where a tile's cost
// takes a search.
Status TakeFromSpace(PlanCall* call);

// Takes a plan that a short search finds, for the begin of a call with a deadline. Sets
// call->soon if the search came to its end.
Status TakeSoonFromSpace(PlanCall* call);

// TakeFromSpace from call->before, if that is a plan of the space: keeps its valid segments
// and searches the rest.
Status TakeCarriedSpace(PlanCall* call, const Alignment& alignment);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_TAKE_SPACE_H_
