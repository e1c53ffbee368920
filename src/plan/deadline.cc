// SPDX-License-Identifier: Apache-2.0
#include "plan/deadline.h"

#include "base/checked.h"

namespace sluice {
namespace {

// To write and judge a step takes as long as to time it, times kFinishOverTiming, or as
// to measure it, times kFinishOverMeasure. These hold on any machine: for plain plans of
// the zoo on two machines the first was at most 9.2, and 2.4 to 7.3 where layers have many
// steps.
constexpr uint64_t kFinishOverTiming = 11, kFinishOfMany = 8, kFinishOverMeasure = 2;
// The plain plan comes first where it takes at most 1 / kPlainShare of the time.
constexpr uint64_t kPlainShare = 16;
constexpr uint32_t kFirstPercent = 60;
// To judge a plan of segments takes so many quarters of the time that it takes to write and
// time it: of 26 such plans of the zoo it was at most 3.6 times as long, and at most 1.7 times
// where layers have many steps.
constexpr uint64_t kQuartersOfWriting = 16, kQuartersOfMany = 7;
constexpr uint32_t kOperatorPercent = 75;
constexpr uint32_t kCarriedPercent = 75, kTighterPercent = 30;
// Percent of the search: least and most for one section; kImprovePercent for improving,
// or the most for a section that is not improved later.
constexpr uint32_t kLeastPercent = 10, kMostPercent = 30, kImprovePercent = 80;
// Judging a fused plan may take longer than judging the plain one took, by this factor.
constexpr uint64_t kJudgeMargin = 2;
// A plan is offered before the search ends if that takes at most 1 / kOfferShare of the
// time left.
constexpr uint64_t kOfferShare = 8;
// Turns and judges of a cohort get 1 / kTurnsShare of the time.
constexpr uint64_t kTurnsShare = 8;

}  // namespace

bool SureToFinish(const Budget& clock, uint64_t written_ns, bool many) {
  return clock.left_ns() >=
         (many ? kQuartersOfMany : kQuartersOfWriting) * written_ns / 4;
}

bool PlainTakesMuch(const Budget& clock, uint64_t plain_ns) {
  const uint64_t left_ns = clock.left_ns();
  return left_ns / kPlainShare < plain_ns && plain_ns < left_ns;
}

bool PlainTakesTooMuch(const Budget& clock, uint64_t plain_ns) {
  return clock.left_ns() < plain_ns / 3;
}

Budget TimeForFirst(const Budget& clock) { return clock.Part(kFirstPercent); }

uint64_t FinishOfPlain(uint64_t timed_ns, uint64_t bound_ns, bool many) {
  return (many ? kFinishOfMany : kFinishOverTiming) * timed_ns + bound_ns + 1;
}

Budget TimeForOperators(const Budget& clock) { return clock.Part(kOperatorPercent); }

Budget TimeForCarried(const Budget& clock, bool fits) {
  return clock.Part(fits ? kCarriedPercent : kTighterPercent);
}

Budget TimeForSearch(const Budget& clock, uint64_t plain_ns) {
  return clock.Before(2 * plain_ns);
}

uint32_t PercentForSection(uint64_t layers, uint64_t rest, bool once) {
  const uint64_t most = once ? kImprovePercent : kMostPercent;
  return static_cast<uint32_t>(Min(most, kLeastPercent + most * layers / rest));
}

uint32_t PercentForImproving(uint64_t layers, uint64_t rest) {
  return Max(static_cast<uint32_t>(kImprovePercent * layers / rest), 1u);
}

void EstimateFinish(const Budget& clock, const FinishWork& work, FinishTime* finish) {
  // Without a plan in hand at most half of the time is kept for writing: if that is too
  // little, fusing may still make the plan short enough.
  if (finish->most_ns == 0) finish->most_ns = clock.left_ns() / 2;
  finish->ns = kJudgeMargin * work.step_ns * work.steps;
  if (work.measured_steps != 0) {
    if (work.step_ns == 0) {
      finish->ns =
          kFinishOverMeasure * work.measured_ns * work.steps / work.measured_steps;
    }
    finish->ns += work.looks * work.measured_ns * work.steps / work.measured_steps;
  }
  const bool known = work.step_ns != 0 || work.measured_steps != 0;
  if (!known) finish->ns = finish->most_ns;
  if (!work.in_hand) finish->ns = Min(finish->ns, finish->most_ns);
}

void TightenFinish(uint64_t took_ns, FinishTime* finish) {
  // The next plan may have a few more tiles.
  finish->ns = Min(finish->ns, took_ns + took_ns / 4);
}

void EndSearchBefore(const Budget& clock, const FinishTime& finish, Budget* search) {
  Budget left = clock.Before(finish.ns);
  left.Join(*search);
  *search = left;
}

bool TimeForOffer(const Budget& search, const FinishTime& finish) {
  return search.left_ns() >= kOfferShare * finish.ns;
}

uint64_t PartOfTime(uint64_t left_ns, uint64_t parts) {
  return Max<uint64_t>(left_ns / parts, 1);
}

uint64_t PartsForPoint(bool first, uint64_t left) {
  const uint64_t plans = Max<uint64_t>(left, 1);
  return first ? Min<uint64_t>(2, plans) : plans;
}

uint64_t PartsForModel(uint64_t left, bool other_sizes) {
  return other_sizes ? 2 * left : left;
}

Budget TimeForCohort(const Clock& time, uint64_t deadline_ns, const uint32_t* cancel) {
  return Budget(time, deadline_ns - deadline_ns / kTurnsShare, 0, cancel);
}

}  // namespace sluice
