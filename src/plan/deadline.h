// SPDX-License-Identifier: Apache-2.0
// How the time of a call is divided. All planners ask here. One search divides its part
// once more: solve/placement/spill/repeats.h keeps three quarters for the plan without
// repetitions.
//
//   call     plan found soon | search | write and judge
//   search   section, section, ... | improve each section
//
// Under a deadline a quick search comes first, or second if the plain plan takes little
// time or where many layers do not fit whole. It ends early enough that the plain plan may
// still be finished. From then on each plan is kept until there is a better one.
//
// Input    the call's clock; how much work there is.
// Output   the part of the time for one piece of work; no effect without a deadline.
// Errors   none.
// Cost     constant; one reading of the clock where a Budget is made.
#ifndef SLUICE_PLAN_DEADLINE_H_
#define SLUICE_PLAN_DEADLINE_H_

#include <stdint.h>

#include "base/budget.h"

namespace sluice {

// To judge a plan of more steps per layer takes its time by steps.
constexpr uint64_t kManySteps = 32;

// The most nanoseconds that the plain plan is likely to take to be written and judged,
// after it was timed in timed_ns. bound_ns: to find the graph's bound, which the judge does
// once more. many: it has kManySteps per layer or more.
uint64_t FinishOfPlain(uint64_t timed_ns, uint64_t bound_ns, bool many);

// The time of the search for the first plan, before anything is known of the plain one.
Budget TimeForFirst(const Budget& clock);

// Whether the plain plan is likely to take much of the time that is left, but not all of
// it: then the quick search runs before it is judged.
bool PlainTakesMuch(const Budget& clock, uint64_t plain_ns);
// Whether it is not likely to be judged in time, even if it takes a third of what is expected.
bool PlainTakesTooMuch(const Budget& clock, uint64_t plain_ns);

// Whether a plan of segments that took written_ns to write and time will be judged in
// time. If not, the plain plan may be. many: as above.
bool SureToFinish(const Budget& clock, uint64_t written_ns, bool many);

// The time of a search over whole tensors; the rest is for writing and judging.
Budget TimeForOperators(const Budget& clock);

// The time of a search that starts from an earlier plan. fits: that plan fits this
// scratchpad; if not, the search rarely succeeds and more is left for the plain plan.
Budget TimeForCarried(const Budget& clock, bool fits);

// The time of a search after the plain plan took `plain_ns` to write and judge.
Budget TimeForSearch(const Budget& clock, uint64_t plain_ns);

// Percent of the search for finding a scheme for a section of `layers`, when `rest`
// layers including these are still to be done. once: the section is not improved later.
uint32_t PercentForSection(uint64_t layers, uint64_t rest, bool once);

// Percent of the time left after the search for a scheme, for placing the section's
// buffers.
constexpr uint32_t kPercentForPlacing = 60;

// Percent of the time left for improving a section of `layers`, when `rest` layers
// including these are still to be improved.
uint32_t PercentForImproving(uint64_t layers, uint64_t rest);

// Percent of a fusion search for its first stage, which finds the scheme; the second
// one moves DRAM transfers.
constexpr uint32_t kPercentForFusing = 85;

// Percent of the first stage for what comes before annealing, where time limits it: the
// quick construction of a scheme, or the changes tried one at a time on an earlier one.
constexpr uint32_t kPercentForSweeping = 50;

// Percent of the time left for a search over segments; the rest is for placing and
// writing what it finds.
constexpr uint32_t kPercentForSegments = 60;

// Percent of a call's iterations for random changes of segments; the rest is for fusion.
constexpr uint32_t kPercentForChanges = 50;

// What is written and measured after the search.
struct FinishWork {
  uint64_t steps;           // of the whole plan
  uint64_t step_ns;         // to write and judge one; 0 = not known
  uint64_t looks;           // how often the whole plan is measured before
  uint64_t measured_ns;     // time of measuring so far,
  uint64_t measured_steps;  // of that many steps; 0 = not known
  bool in_hand;             // there is a plan already
};
// How often improving writes and times the whole plan.
constexpr uint64_t kLooksAtWhole = 4;

// The time that must be left when the search ends.
struct FinishTime {
  uint64_t ns = 0;
  uint64_t most_ns = 0;  // half of the time at first; 0 = not set yet
};
void EstimateFinish(const Budget& clock, const FinishWork& work, FinishTime* finish);
// The plan was written and judged once: it will take about that long again.
void TightenFinish(uint64_t took_ns, FinishTime* finish);
// Ends the search early enough to leave the time of `finish`.
void EndSearchBefore(const Budget& clock, const FinishTime& finish, Budget* search);
// True when writing and judging a plan now leaves most of the time for the search.
bool TimeForOffer(const Budget& search, const FinishTime& finish);

// Several plans in one call: one of `parts` equal parts of the time, at least a
// nanosecond.
uint64_t PartOfTime(uint64_t left_ns, uint64_t parts);
// Parts to divide the time into for the next plan of a curve with `left` plans to make.
// The first plan is needed, so it gets half of the time; the others share the rest
// equally.
uint64_t PartsForPoint(bool first, uint64_t left);
// The same for `left` models that each need a first plan; half of the time is kept if
// other sizes are planned after that.
uint64_t PartsForModel(uint64_t left, bool other_sizes);
// The time for planning the models of a cohort; the rest is for their turns and for the
// judges. deadline_ns: 0 = none.
Budget TimeForCohort(const Clock& time, uint64_t deadline_ns, const uint32_t* cancel);
// Divisions that are looked at after the deadline, to choose among the finished plans.
constexpr uint64_t kLastDivisions = 1024;

}  // namespace sluice

#endif  // SLUICE_PLAN_DEADLINE_H_
