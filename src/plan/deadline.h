// SPDX-License-Identifier: Apache-2.0
// How the time of a call is divided. All planners ask here.
//
//   call     plain plan | search | write and judge
//   search   section, section, ... | improve each section
//
// A short time changes the order: layers are fused first where the plain plan would
// take much of the time (PlainTakesMuch).
//
// Input    the call's clock; how much work there is.
// Output   the part of the time for one piece of work; no effect without a deadline.
// Errors   none.
// Cost     constant; a look at the clock where a Budget is made.
#ifndef SLUICE_PLAN_DEADLINE_H_
#define SLUICE_PLAN_DEADLINE_H_

#include <stdint.h>

#include "base/budget.h"

namespace sluice {

// Nanoseconds to write and judge a step, as long as no plan of the call has told.
constexpr uint64_t kGuessedStepNs = 2000;

// True when the plain plan is likely to take much of the time that is left, but not all
// of it: then fusing is tried first. When it is likely to take all of it, nothing else
// is tried before it.
bool PlainTakesMuch(const Budget& clock, uint64_t layers);

// Of a search whose layers are not tiled: the rest writes and judges the plan.
Budget TimeForOperators(const Budget& clock);

// Of a search that starts from an earlier plan. fits: that plan fits this scratchpad;
// where it does not, little is expected and the rest is kept for the plain plan.
Budget TimeForCarried(const Budget& clock, bool fits);

// Of a search after the plain plan took `plain_ns` to write and judge.
Budget TimeForSearch(const Budget& clock, uint64_t plain_ns);

// Percent of the search for finding a scheme for a section of `layers`, when `rest`
// layers including these are still to be done. once: the section is not improved later.
uint32_t PercentForSection(uint64_t layers, uint64_t rest, bool once);

// Percent of what is left then for addresses of its buffers.
constexpr uint32_t kPercentForPlacing = 60;

// Percent of the time left for improving a section of `layers`, when `rest` layers
// including these are still to be improved.
uint32_t PercentForImproving(uint64_t layers, uint64_t rest);

// Percent of a fusion search for its first stage, which finds the scheme; the second one
// moves DRAM transfers.
constexpr uint32_t kPercentForFusing = 85;

// What is written and measured after the search.
struct FinishWork {
  uint64_t steps;           // of the whole plan
  uint64_t step_ns;         // to write and judge one
  uint64_t looks;           // 0, or kLooksAtWhole: the whole is measured before that
  uint64_t measured_ns;     // what measuring took so far,
  uint64_t measured_steps;  // for so many steps; 0 = not known
  bool in_hand;             // there is a plan already
};
// Improving writes and times the whole plan that often.
constexpr uint64_t kLooksAtWhole = 4;

// The time that must be left when the search ends.
struct FinishTime {
  uint64_t ns = 0;
  uint64_t most_ns = 0;  // half of the time at first; 0 = not set yet
};
void EstimateFinish(const Budget& clock, const FinishWork& work, FinishTime* finish);
// The plan was written and judged once: it will take about that long again.
void TightenFinish(uint64_t took_ns, FinishTime* finish);
// Ends the search early enough for that.
void EndSearchBefore(const Budget& clock, const FinishTime& finish, Budget* search);
// True when writing and judging a plan now leaves most of the time for the search.
bool TimeForOffer(const Budget& search, const FinishTime& finish);

// Several plans in one call: one of `parts` equal parts of the time, at least a
// nanosecond.
uint64_t PartOfTime(uint64_t left_ns, uint64_t parts);
// Of a curve of which `left` plans are still to be made. The first one must be there, so
// it has half of the time; the others have equal parts of what is left.
uint64_t PartsForPoint(bool first, uint64_t left);
// Of `left` models that each need a first plan; half of the time is kept where other
// sizes are planned after that.
uint64_t PartsForModel(uint64_t left, bool other_sizes);
// To choose among the plans that there are, when the time is over.
constexpr uint64_t kLastDivisionNs = 200000;

}  // namespace sluice

#endif  // SLUICE_PLAN_DEADLINE_H_
