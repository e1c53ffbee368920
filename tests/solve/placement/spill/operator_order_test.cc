// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/operator_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "solve/placement/spill/spill_plan.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

SpillDecisions OrderOf(const Net& net, const OrderOptions& options, Ground* ground) {
  Budget budget;
  SpillDecisions found;
  REQUIRE(ChooseOrder(net.Graph(), options, Workspace{&budget, &ground->arena, nullptr},
                      &found) == Status::kOk);
  return found;
}

}  // namespace

TEST_CASE(
    "orders: never below brute force, mostly equal, with the bytes that they move") {
  Rng rng(71);
  int equal = 0, found_count = 0;
  for (int i = 0; i < 1000; ++i) {
    const Net net =
        i % 2 == 0 ? sluice_test::ChainNet(&rng, 8) : sluice_test::RandomNet(&rng, 7);
    CAPTURE(i);
    const bool paper = i % 4 < 2;
    OrderOptions options;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(2);
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    Ground ground;
    const SpillDecisions found = OrderOf(net, options, &ground);
    REQUIRE(found.found);
    SpillPlan plan;
    REQUIRE(BuildResidences(net.Graph(), found.order, found.fetch, options.charge,
                            &ground.arena, &plan) == Status::kOk);
    CHECK(plan.bytes() == found.bytes);
    CHECK(found.bytes >= brute.best_sums);
    CHECK(found.lower_bound <= brute.best_sums);
    equal += found.bytes == brute.best_sums;
    ++found_count;
  }
  MESSAGE(equal, " of ", found_count, " are optimal");
  CHECK(equal * 100 > found_count * 95);
}

TEST_CASE(
    "orders: equal calls give equal orders, give_up and too small capacities none") {
  Rng rng(72);
  const Net net = sluice_test::WindowNet(&rng, 150, 6, 50);
  OrderOptions options;
  options.capacity = LargestOperator(net.Graph());
  Ground first_ground, second_ground, third_ground;
  const SpillDecisions first = OrderOf(net, options, &first_ground);
  const SpillDecisions second = OrderOf(net, options, &second_ground);
  REQUIRE(first.found);
  CHECK(first.bytes == second.bytes);
  for (size_t t = 0; t < first.order.size(); ++t) {
    REQUIRE(first.order[t] == second.order[t]);
  }
  // A plain beam search with a wide beam does not find a much better order.
  SpillSearchOptions wide;
  wide.capacity = options.capacity;
  wide.width = 200;
  wide.max_evictions = 12;
  Budget budget;
  SpillDecisions best;
  REQUIRE(third_ground.arena.Allocate(net.operators.size(), &best.order) ==
          Status::kOk);
  REQUIRE(third_ground.arena.Allocate(net.operands.size(), &best.fetch) == Status::kOk);
  REQUIRE(SearchSpills(net.Graph(), wide, &budget, &third_ground.arena, &best) ==
          Status::kOk);
  CHECK(first.bytes <= best.bytes * 6 / 5);
  options.give_up = 1;
  CHECK(!OrderOf(net, options, &second_ground).found);
  options.give_up = INT64_MAX;
  options.capacity -= 1;
  CHECK(!OrderOf(net, options, &second_ground).found);
}
