// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_repair.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

TEST_CASE(
    "address repair: sums that fit without addresses, and a tensor more has to leave") {
  Rng rng(17);
  int found = 0;
  for (int i = 0; i < 20000 && found < 4; ++i) {
    const sluice_test::Buffers b = sluice_test::FullBuffers(&rng, 6, 7);
    const Net net = sluice_test::NetOfBuffers(b, 7);
    if (LargestOperator(net.Graph()) > 6) continue;
    const sluice_test::Brute brute = sluice_test::TryAll(net, 6, true, true);
    if (brute.best_sums != 0 || brute.best == 0 || brute.best == INT64_MAX) continue;
    ++found;
    CAPTURE(i);
    RepairLimits limits = {SpillCharge::kPaper, {}, 0, INT64_MAX};
    limits.address.capacity = 6;
    for (const int repairs : {0, 20}) {
      for (const int64_t give_up : {int64_t{1}, INT64_MAX}) {
        std::vector<uint32_t> order = sluice_test::GivenOrder(net);
        std::vector<uint8_t> fetch(net.operands.size());  // no tensor is evicted
        SpillDecisions decisions;
        decisions.order = {order.data(), order.size()};
        decisions.fetch = {fetch.data(), fetch.size()};
        limits.repairs = repairs;
        limits.give_up = give_up;
        Ground ground;
        Budget budget;
        SpillPlan plan;
        REQUIRE(PlaceWithRepairs(net.Graph(), limits,
                                 Workspace{&budget, &ground.arena, &ground.diagnostic},
                                 &decisions, &plan) == Status::kOk);
        CHECK(plan.placed == (repairs > 0 && give_up > 1));
        if (!plan.placed) continue;
        int64_t recount = 0;
        CHECK(sluice_test::JudgePlan(net, plan, 6, true, &recount) == "");
        CHECK(recount == plan.bytes());
        CHECK(decisions.bytes == plan.bytes());
        CHECK(plan.bytes() >= brute.best);
        CHECK(plan.bytes() <= 3 * brute.best);
      }
    }
  }
  CHECK(found == 4);
}

TEST_CASE("address repair: what has addresses is placed as it is") {
  Rng rng(4);
  for (int i = 0; i < 100; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 8);
    std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    std::vector<uint8_t> fetch(net.operands.size());
    SpillDecisions decisions;
    decisions.order = {order.data(), order.size()};
    decisions.fetch = {fetch.data(), fetch.size()};
    RepairLimits limits = {SpillCharge::kHost, {}, 5, INT64_MAX};
    limits.address.capacity = 1000;
    Ground ground;
    Budget budget;
    SpillPlan plan;
    REQUIRE(PlaceWithRepairs(net.Graph(), limits,
                             Workspace{&budget, &ground.arena, &ground.diagnostic},
                             &decisions, &plan) == Status::kOk);
    REQUIRE(plan.placed);
    int64_t recount = 0;
    CHECK(sluice_test::JudgePlan(net, plan, 1000, false, &recount) == "");
    CHECK(recount == 0);
    CHECK(decisions.bytes == 0);
  }
}
