// SPDX-License-Identifier: Apache-2.0
#include "base/budget.h"

#include <doctest/doctest.h>

namespace sluice {
namespace {

constexpr uint64_t kSecond = 1000000000;

// A clock that a test sets. It counts how often it is read.
struct SetClock {
  uint64_t now = 0, reads = 0;
  Clock clock() {
    return {[](void* user) {
              SetClock* self = static_cast<SetClock*>(user);
              ++self->reads;
              return self->now;
            },
            this};
  }
};

TEST_CASE("budget: without limits it never ends and nobody watches") {
  Budget budget;
  for (int i = 0; i < 100; ++i) CHECK_FALSE(budget.Spend());
  CHECK_FALSE(budget.Exhausted());
  CHECK_FALSE(budget.watched());
  CHECK(budget.iterations() == 100);
  CHECK(budget.left_ns() == UINT64_MAX);
  CHECK(budget.stop_reason() == SLUICE_STOP_COMPLETE);
  CHECK_FALSE(budget.Before(kSecond).Exhausted());
}

TEST_CASE("budget: as many iterations as were given, then it stays ended") {
  Budget budget({}, 0, 3, nullptr);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(budget.Spend());
  CHECK_FALSE(budget.Exhausted());
  CHECK(budget.Spend());
  CHECK(budget.Spend());
  CHECK(budget.iterations() == 3);
  CHECK(budget.Exhausted());
  CHECK(budget.stop_reason() == SLUICE_STOP_ITERATIONS);
}

TEST_CASE("budget: the cancel word ends it for good, Tick looks each 16th time") {
  uint32_t cancel = 0;
  Budget budget({}, 0, 0, &cancel);
  CHECK(budget.watched());
  CHECK_FALSE(budget.Exhausted());
  cancel = 1;
  for (int i = 1; i < 16; ++i) CHECK_FALSE(budget.Tick());
  CHECK(budget.Tick());
  cancel = 0;
  CHECK(budget.Tick());
  CHECK(budget.Exhausted());
  CHECK(budget.stop_reason() == SLUICE_STOP_CANCELLED);
}

TEST_CASE("budget: a deadline passes, the longest one does not wrap") {
  SetClock c;
  Budget soon(c.clock(), 10, 0, nullptr);
  c.now = 9;
  CHECK_FALSE(soon.Exhausted());
  CHECK(soon.left_ns() == 1);
  CHECK(soon.spent_ns() == 9);
  c.now = 10;
  CHECK(soon.left_ns() == 0);
  CHECK(soon.Exhausted());
  CHECK(soon.stop_reason() == SLUICE_STOP_DEADLINE);
  Budget never(c.clock(), UINT64_MAX, 0, nullptr);
  CHECK_FALSE(never.Exhausted());
  CHECK(never.left_ns() == UINT64_MAX - 10);
  // Before(t) ends t earlier, or at once if less than t is left.
  const Budget hour(c.clock(), 3600 * kSecond, 0, nullptr);
  CHECK(hour.Before(3000 * kSecond).left_ns() == 600 * kSecond);
  CHECK(hour.left_ns() == 3600 * kSecond);
  Budget none = hour.Before(3601 * kSecond);
  CHECK(none.left_ns() == 0);
  CHECK(none.Exhausted());
}

TEST_CASE("budget: while a clock stands still or has gone back, no time passes") {
  SetClock c;
  c.now = 1000;
  Budget budget(c.clock(), 10, 0, nullptr);
  CHECK_FALSE(budget.Exhausted());
  c.now = 0;
  CHECK_FALSE(budget.Exhausted());
  CHECK(budget.spent_ns() == 0);
  c.now = 1010;
  CHECK(budget.Exhausted());
  // A part of next to nothing, on a clock that starts at 0, has a deadline too.
  c.now = 0;
  Budget part = Budget(c.clock(), 50, 0, nullptr).Part(50);
  CHECK(part.timed());
  c.now = 1;
  CHECK(part.Exhausted());
}

TEST_CASE("budget: without deadline and progress no clock is read") {
  SetClock c;
  uint32_t cancel = 0;
  Budget budget(c.clock(), 0, 100, &cancel);
  Budget part = budget.Part(50);
  for (int i = 0; i < 40; ++i) CHECK_FALSE(part.Spend());
  CHECK_FALSE(budget.Before(5).Exhausted());
  CHECK(budget.left_ns() == UINT64_MAX);
  CHECK(budget.spent_ns() == 0);
  CHECK(c.reads == 0);
  CHECK(Clock().Now() != 0);  // the system's
}

TEST_CASE("budget: parts get a share of what is left, and at least one iteration") {
  Budget whole({}, 0, 10, nullptr);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(whole.Spend());
  Budget half = whole.Part(50);  // of the 7 that are left
  int spent = 0;
  while (!half.Spend()) ++spent;
  CHECK(spent == 3);
  Budget little = whole.Part(1);
  CHECK_FALSE(little.Spend());
  CHECK(little.Spend());
  whole.Join(half);
  whole.Join(little);
  CHECK(whole.iterations() == 7);
  // Exhausted parts do not exhaust the whole.
  CHECK_FALSE(whole.Exhausted());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(whole.Spend());
  Budget nothing = whole.Part(100);
  CHECK(nothing.Exhausted());
  CHECK(nothing.stop_reason() == SLUICE_STOP_ITERATIONS);

  SetClock c;
  const Budget hour(c.clock(), 3600 * kSecond, 0, nullptr);
  CHECK(hour.Part(10).left_ns() == 360 * kSecond);
}

TEST_CASE("budget: a part that was cancelled ends the whole") {
  uint32_t cancel = 0;
  Budget whole({}, 0, 100, &cancel);
  Budget part = whole.Part(50);
  cancel = 1;
  CHECK(part.Exhausted());
  cancel = 0;
  whole.Join(part);
  CHECK(whole.stop_reason() == SLUICE_STOP_CANCELLED);
}

// Counts the calls of the progress callback and answers with the value that a test has set.
struct Listener {
  Progress progress;
  uint64_t calls = 0, iterations = 0;
  double cost = -1;
  int32_t answer = 0;
  uint64_t* slow = nullptr;  // the clock, which goes on during a call
  uint64_t takes = 0;
  Listener() {
    progress.user = this;
    progress.callback = [](void* user, uint64_t made, double best) {
      Listener* l = static_cast<Listener*>(user);
      ++l->calls;
      l->iterations = made;
      l->cost = best;
      if (l->slow != nullptr) *l->slow += l->takes;
      return l->answer;
    };
  }
};

TEST_CASE("budget: progress is told of iterations and cost, at most each 2 ms") {
  constexpr uint64_t kMs = 1000000;
  SetClock c;
  c.now = 5 * kMs;
  Listener l;
  l.progress.time = c.clock();
  Budget budget(c.clock(), 0, 0, nullptr, &l.progress);
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(budget.Spend());
    c.now += kMs / 100;
  }
  CHECK(l.progress.iterations == 1000);
  CHECK(l.calls == 5);
  c.now = 0;  // back: not told until it is as late as it was
  CHECK_FALSE(budget.Exhausted());
  CHECK(l.calls == 5);
  // A better plan is reported at once.
  const uint64_t before = l.calls;
  l.progress.Reach(7.5);
  CHECK(l.calls == before + 1);
  CHECK(l.cost == 7.5);
  CHECK(l.iterations == 1000);
}

TEST_CASE("budget: a callback that takes long gets a tenth of the time") {
  constexpr uint64_t kMs = 1000000;
  SetClock c;
  Listener l;
  l.progress.time = c.clock();
  l.slow = &c.now;
  l.takes = 30 * kMs;
  Budget budget(c.clock(), 0, 0, nullptr, &l.progress);
  uint64_t polls = 0;  // of 1 ms each
  for (c.now = kMs; c.now < 3000 * kMs; c.now += kMs) {
    CHECK_FALSE(budget.Exhausted());
    ++polls;
  }
  CHECK(l.calls == 10);
  CHECK(polls > 2600);
}

TEST_CASE("budget: a callback that stops ends the budget and is asked no more") {
  Listener l;
  l.answer = 1;
  Budget budget({}, 0, 0, nullptr, &l.progress);
  Budget alone = budget.Alone();
  CHECK_FALSE(alone.Spend());
  CHECK(l.calls == 0);
  CHECK(budget.Exhausted());
  CHECK(budget.stop_reason() == SLUICE_STOP_CANCELLED);
  l.progress.Reach(1);
  CHECK(l.calls == 1);
}

}  // namespace
}  // namespace sluice
