// SPDX-License-Identifier: Apache-2.0
#include "base/budget.h"

#include <doctest/doctest.h>

namespace sluice {
namespace {

constexpr uint64_t kSecond = 1000000000;

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
  Budget budget(0, 3, nullptr);
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
  Budget budget(0, 0, &cancel);
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
  Budget soon(1, 0, nullptr);
  while (!soon.Exhausted()) {
  }
  CHECK(soon.stop_reason() == SLUICE_STOP_DEADLINE);
  CHECK(soon.left_ns() == 0);
  Budget never(UINT64_MAX, 0, nullptr);
  CHECK_FALSE(never.Exhausted());
  CHECK(never.left_ns() > UINT64_MAX / 2);
  // Before(t) ends t earlier, or at once if less than t is left.
  const Budget hour(3600 * kSecond, 0, nullptr);
  CHECK(hour.Before(3000 * kSecond).left_ns() <= 600 * kSecond);
  CHECK(hour.left_ns() > 600 * kSecond);
  Budget none = hour.Before(3601 * kSecond);
  CHECK(none.left_ns() == 0);
  CHECK(none.Exhausted());
}

TEST_CASE("budget: parts get a share of what is left, and at least one iteration") {
  Budget whole(0, 10, nullptr);
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

  const Budget hour(3600 * kSecond, 0, nullptr);
  CHECK(hour.Part(10).left_ns() <= 360 * kSecond);
  CHECK(hour.Part(10).left_ns() > 300 * kSecond);
}

TEST_CASE("budget: a part that was cancelled ends the whole") {
  uint32_t cancel = 0;
  Budget whole(0, 100, &cancel);
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
  Listener() {
    progress.user = this;
    progress.callback = [](void* user, uint64_t made, double best) {
      Listener* l = static_cast<Listener*>(user);
      ++l->calls;
      l->iterations = made;
      l->cost = best;
      return l->answer;
    };
  }
};

TEST_CASE("budget: progress is told of iterations and cost, at most each 2 ms") {
  Listener l;
  Budget budget(0, 0, nullptr, &l.progress);
  const uint64_t begin = MonotonicNs();
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(budget.Spend());
  const uint64_t took = MonotonicNs() - begin;
  CHECK(l.progress.iterations == 1000);
  CHECK(l.calls >= 1);
  CHECK(l.calls <= 2 + took / 2000000);
  // A better plan is reported at once.
  const uint64_t before = l.calls;
  l.progress.Reach(7.5);
  CHECK(l.calls == before + 1);
  CHECK(l.cost == 7.5);
  CHECK(l.iterations == 1000);
}

TEST_CASE("budget: a callback that stops ends the budget and is asked no more") {
  Listener l;
  l.answer = 1;
  Budget budget(0, 0, nullptr, &l.progress);
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
