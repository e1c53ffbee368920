// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/replacement.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

TEST_CASE("replacement for a given order: fast is legal, exact is the optimum") {
  Rng rng(123);
  int64_t fast_total = 0, exact_total = 0;
  for (int i = 0; i < 600; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 8);
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    const bool paper = i % 2 == 0;
    JointOptions options;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(6);
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.fixed_order = {order.data(), order.size()};
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, true);
    Ground ground;
    Budget budget;
    SpillPlan fast, exact;
    options.exact = false;
    const Status status = PlanReplacement(net.Graph(), options, &budget, &ground.arena,
                                          &fast, &ground.diagnostic);
    options.exact = true;
    REQUIRE(PlanReplacement(net.Graph(), options, &budget, &ground.arena, &exact,
                            &ground.diagnostic) == Status::kOk);
    CHECK(exact.proved);
    REQUIRE(exact.bytes() == brute.best);
    if (status == Status::kStopped) continue;  // no addresses without a search
    REQUIRE(status == Status::kOk);
    int64_t recount = 0;
    REQUIRE(sluice_test::JudgePlan(net, fast, options.capacity, paper, &recount) == "");
    CHECK(recount == fast.bytes());
    CHECK(fast.lower_bound <= brute.best);
    fast_total += fast.bytes();
    exact_total += exact.bytes();
  }
  MESSAGE("fast ", fast_total, " bytes, optimum ", exact_total);
  CHECK(fast_total <= 2 * exact_total);
}

TEST_CASE("replacement takes thousands of operators") {
  Rng rng(8);
  const Net net = sluice_test::WindowNet(&rng, 5000, 12, 100);
  const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
  Ground ground;
  Budget budget;
  JointOptions options;
  options.capacity = LargestOperator(net.Graph()) * 5 / 4;
  options.fixed_order = {order.data(), order.size()};
  SpillPlan plan;
  const double start = sluice_test::CpuSeconds();
  REQUIRE(PlanReplacement(net.Graph(), options, &budget, &ground.arena, &plan,
                          &ground.diagnostic) == Status::kOk);
  MESSAGE("5000 operators: ", plan.bytes(), " bytes (bound ", plan.lower_bound, "), ",
          (sluice_test::CpuSeconds() - start) * 1e3, " ms CPU");
  int64_t recount = 0;
  CHECK(sluice_test::JudgePlan(net, plan, options.capacity, false, &recount) == "");
  CHECK(recount == plan.bytes());
}
