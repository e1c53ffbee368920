// SPDX-License-Identifier: Apache-2.0
// Shares of a call's time, compared with numbers computed by hand. Deadlines are so far away
// that the time of the test itself does not matter.
#include "plan/deadline.h"

#include <doctest/doctest.h>

namespace sluice {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kFar = 100000 * kSecond;

// Whether `ns` equals `meant`, less the time that has passed since.
bool About(uint64_t ns, uint64_t meant) {
  return ns <= meant && ns + 50 * kSecond > meant;
}

// The number of iterations, of a thousand, that a budget allows.
uint64_t Iterations(Budget part) {
  uint64_t n = 0;
  while (!part.Spend()) ++n;
  return n;
}

TEST_CASE("deadline: the plain plan is finished in eleven times what timing it took") {
  // On a machine twenty times slower it is twenty times longer, whatever the machine.
  CHECK(FinishOfPlain(1000, 0, false) == 11001);
  CHECK(FinishOfPlain(20 * 1000, 0, false) == 20 * 11000 + 1);
  CHECK(FinishOfPlain(1000, 300, false) == 11301);  // the judge finds the bound too
  CHECK(FinishOfPlain(1000, 300, true) == 8301);    // layers of many steps
}

TEST_CASE(
    "deadline: the plain plan is first where it takes a sixteenth or everything") {
  const uint64_t plain = 1000 * kSecond;
  const auto much = [&](uint64_t seconds) {
    return PlainTakesMuch(Budget({}, seconds * kSecond, 0, nullptr), plain);
  };
  CHECK(!much(1000));
  CHECK(much(1051));
  CHECK(much(15900));
  CHECK(!much(16100));
  CHECK(!PlainTakesMuch(Budget(), plain));  // there is time for everything
  CHECK(PlainTakesTooMuch(Budget({}, 330 * kSecond, 0, nullptr), plain));
  CHECK(!PlainTakesTooMuch(Budget({}, 340 * kSecond, 0, nullptr), plain));
  CHECK(!PlainTakesTooMuch(Budget(), plain));
}

TEST_CASE("deadline: a plan is trusted to end if four times its writing are left") {
  const uint64_t written = 1000 * kSecond;
  const auto sure = [&](uint64_t seconds, bool many) {
    return SureToFinish(Budget({}, seconds * kSecond, 0, nullptr), written, many);
  };
  CHECK(sure(4050, false));
  CHECK(!sure(3999, false));
  CHECK(sure(1800, true));  // less than twice where layers have many steps
  CHECK(!sure(1749, true));
  CHECK(SureToFinish(Budget(), written, false));  // there is time for everything
}

TEST_CASE("deadline: searches get a share and leave the rest for writing") {
  const Budget clock({}, 0, 1000, nullptr);
  CHECK(Iterations(clock) == 1000);
  CHECK(Iterations(TimeForOperators(clock)) == 750);
  CHECK(Iterations(TimeForFirst(clock)) == 600);
  CHECK(Iterations(TimeForCarried(clock, true)) == 750);
  CHECK(Iterations(TimeForCarried(clock, false)) == 300);
  const Budget far({}, kFar, 0, nullptr);
  CHECK(About(TimeForSearch(far, 1000 * kSecond).left_ns(), kFar - 2000 * kSecond));
  CHECK(TimeForSearch(Budget(), kSecond).left_ns() == UINT64_MAX);
}

TEST_CASE("deadline: planning a cohort leaves an eighth for turns and judges") {
  CHECK(About(TimeForCohort({}, kFar, nullptr).left_ns(), kFar / 8 * 7));
  CHECK(TimeForCohort({}, 0, nullptr).left_ns() == UINT64_MAX);
  const uint32_t cancel = 1;
  CHECK(TimeForCohort({}, kFar, &cancel).Exhausted());
}

TEST_CASE("deadline: sections get shares by their layers, within limits") {
  CHECK(PercentForSection(0, 100, false) == 10);
  CHECK(PercentForSection(10, 100, false) == 13);
  CHECK(PercentForSection(50, 100, false) == 25);
  CHECK(PercentForSection(100, 100, false) == 30);
  CHECK(PercentForSection(50, 100, true) == 50);
  CHECK(PercentForSection(100, 100, true) == 80);
  CHECK(PercentForImproving(1, 1000) == 1);
  CHECK(PercentForImproving(50, 100) == 40);
  CHECK(PercentForImproving(100, 100) == 80);
}

TEST_CASE("deadline: what writing will take is kept, without a plan at most half") {
  const Budget clock({}, kFar, 0, nullptr);
  FinishWork work = {};
  work.steps = 1000;
  work.step_ns = kSecond;
  work.in_hand = true;
  FinishTime finish;
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == 2000 * kSecond);  // judging may take twice as long as before
  CHECK(About(finish.most_ns, kFar / 2));
  // Further passes over the whole plan are charged at the time per step measured so far.
  work.looks = 3;
  work.measured_ns = 50 * kSecond;
  work.measured_steps = 100;
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == (2000 + 3 * 500) * kSecond);
  work.steps = 100000;
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == uint64_t{350000} * kSecond);
  // Without a step's time, what measuring took tells it; without both, half is kept.
  work.steps = 1000;
  work.looks = 0;
  work.step_ns = 0;
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == 2 * 500 * kSecond);
  work.measured_steps = 0;
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == finish.most_ns);
  work.in_hand = false;
  work.measured_steps = 100;
  finish.most_ns = 7 * kSecond;  // half of the time at the start
  EstimateFinish(clock, work, &finish);
  CHECK(finish.ns == 7 * kSecond);
}

TEST_CASE("deadline: after the first plan its own time and a quarter are enough") {
  FinishTime finish = {1000, 0};
  TightenFinish(400, &finish);
  CHECK(finish.ns == 500);
  TightenFinish(800, &finish);  // it never grows
  CHECK(finish.ns == 500);
}

TEST_CASE("deadline: a search ends before the time that is kept, and keeps its count") {
  const Budget clock({}, kFar, 0, nullptr);
  Budget search({}, 1, 0, nullptr);
  for (int i = 0; i < 3; ++i) (void)search.Spend();
  const uint64_t made = search.iterations();
  CHECK(made == 3);
  EndSearchBefore(clock, {1000 * kSecond, 0}, &search);
  CHECK(About(search.left_ns(), kFar - 1000 * kSecond));
  CHECK(search.iterations() == made);
}

TEST_CASE("deadline: a plan is offered early where that takes an eighth of the time") {
  const Budget search({}, kFar, 0, nullptr);
  CHECK(TimeForOffer(search, {kFar / 8 - 100 * kSecond, 0}));
  CHECK(!TimeForOffer(search, {kFar / 8 + 100 * kSecond, 0}));
  CHECK(TimeForOffer(Budget(), {kFar, 0}));
}

TEST_CASE("deadline: several plans divide the time") {
  CHECK(PartOfTime(100, 4) == 25);
  CHECK(PartOfTime(3, 4) == 1);
  CHECK(PartsForPoint(true, 5) == 2);
  CHECK(PartsForPoint(true, 1) == 1);
  CHECK(PartsForPoint(false, 5) == 5);
  CHECK(PartsForPoint(false, 0) == 1);
  CHECK(PartsForModel(3, false) == 3);
  CHECK(PartsForModel(3, true) == 6);
}

}  // namespace
}  // namespace sluice
