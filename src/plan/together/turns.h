// SPDX-License-Identifier: Apache-2.0
// Turns: in which order the blocks of several streams run.
//
// The models take turns in a fixed cycle, the one with the smallest latency per weight
// first. With a limit on the length of a turn, a turn ends at the last block border
// within the limit where the model has no live byte in the range that it shares.
//
// Input    an arrangement with its plans; options.max_turn_cycles, 0 = no limit
// Output   turns, finish and wait of each model, total; TakeTimeTurns may replace plans
// Errors   those of reading and planning; a limit that is too short is not an error:
//          the smallest limit found to be enough for that turn is returned
// Cost     linear in the streams for each turn; TakeTimeTurns may plan a few times more
#ifndef SLUICE_PLAN_TOGETHER_TURNS_H_
#define SLUICE_PLAN_TOGETHER_TURNS_H_

#include "plan/together/cohort.h"

namespace sluice {

// The options of each plan of the cohort.
sluice_schedule_options_t PlanOptions(const CohortProblem& problem);

// *least: 0 when all turns keep the limit. Else the turns are not complete: model *who
// needs a turn of so many cycles.
Status MakeTurns(const CohortProblem& problem, Arrangement* arrangement, int64_t* least,
                 uint32_t* who);

// MakeTurns for plans that share a range. Where a turn is too long for a fused plan,
// the model gets a plain plan, which has no live byte between two layers; then plain
// plans for less and less scratchpad, whose tiles and transfers are shorter.
Status TakeTimeTurns(const CohortProblem& problem, Arrangement* arrangement,
                     int64_t* least);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_TURNS_H_
