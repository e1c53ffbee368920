// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_search.h"

#include <doctest/doctest.h>

#include <vector>

#include "solve/placement/spill/spill_plan.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

struct Searched : SpillDecisions {
  std::vector<uint32_t> orders;
  std::vector<uint8_t> fetches;
  Status status;

  Searched(const Net& net, const SpillSearchOptions& options)
      : orders(net.operators.size()), fetches(net.operands.size()) {
    order = {orders.data(), orders.size()};
    fetch = {fetches.data(), fetches.size()};
    Ground ground;
    Budget budget;
    status = SearchSpills(net.Graph(), options, &budget, &ground.arena, this);
  }
  Searched(const Searched&) = delete;
};

// The bytes that the decisions move, recounted from the residences built from them.
int64_t Recount(const Net& net, const Searched& found, SpillCharge charge) {
  Ground ground;
  SpillPlan plan;
  REQUIRE(BuildResidences(net.Graph(), found.order, found.fetch, charge, &ground.arena,
                          &plan) == Status::kOk);
  return plan.bytes();
}

}  // namespace

TEST_CASE(
    "spill search: a limit excludes no plan below it, and a bound is none too high") {
  Rng rng(83);
  int raised = 0;
  for (int i = 0; i < 1500; ++i) {
    Net net =
        i % 2 == 0 ? sluice_test::ChainNet(&rng, 8) : sluice_test::RandomNet(&rng, 7);
    if (i % 4 == 0) {
      for (OperatorTensor& t : net.tensors) t.bytes = 2 + 2 * (t.bytes % 2);
      for (Operator& op : net.operators) op.in_place = rng.Below(op.input_count);
    }
    CAPTURE(i);
    const bool paper = i % 3 != 0;
    SpillSearchOptions options;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(3);
    const int64_t least =
        sluice_test::TryAll(net, options.capacity, paper, false).best_sums;
    options.give_up = least + 1;
    const Searched best(net, options);
    REQUIRE(best.status == Status::kOk);
    REQUIRE(best.found);
    REQUIRE(best.bytes == least);
    if (least == 0) continue;
    options.give_up = 1 + rng.Below(static_cast<uint32_t>(least));
    const Searched none(net, options);
    REQUIRE(none.status == Status::kOk);
    REQUIRE(none.complete);
    REQUIRE(!none.found);
    REQUIRE(none.beyond >= options.give_up);
    REQUIRE(none.beyond <= least);
    raised += none.beyond > options.give_up;
  }
  CHECK(raised > 100);
}

TEST_CASE(
    "spill search: the fewest bytes by sums, as brute force over orders and sets") {
  Rng rng(81);
  int spilling = 0;
  for (int i = 0; i < 800; ++i) {
    Net net = sluice_test::RandomNet(&rng, 8);
    if (i % 4 == 0) {
      for (OperatorTensor& t : net.tensors) t.bytes = 2 + 2 * (t.bytes % 2);
      for (Operator& op : net.operators) op.in_place = rng.Below(op.input_count);
    }
    CAPTURE(i);
    const bool paper = i % 2 == 0, fixed = i % 3 == 0;
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    SpillSearchOptions options;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(5);
    if (fixed) options.fixed_order = sluice_test::View(order);
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, fixed);
    const Searched best(net, options);
    REQUIRE(best.status == Status::kOk);
    REQUIRE(best.found);
    CHECK(best.complete);
    CHECK(best.bytes == brute.best_sums);
    CHECK(best.lower_bound == best.bytes);
    CHECK(Recount(net, best, options.charge) == best.bytes);
    spilling += best.bytes > 0;
    // A narrow beam may miss the best plan; its lower bound is what it has not excluded.
    options.width = 1;
    options.max_evictions = 2;
    const Searched beam(net, options);
    REQUIRE(beam.status == Status::kOk);
    if (beam.found) {
      CHECK(beam.bytes >= best.bytes);
      CHECK(Recount(net, beam, options.charge) == beam.bytes);
      // All steps of the beam's plan as one window.
      options.width = options.max_evictions = 0;
      options.window = {0, static_cast<uint32_t>(order.size()), &beam};
      const Searched window(net, options);
      REQUIRE(window.status == Status::kOk);
      CHECK(window.window_bytes == beam.bytes);
      if (window.found) CHECK(window.bytes == best.bytes);
      if (!window.found) CHECK(beam.bytes == best.bytes);
      options.window = {};
    }
    CHECK(beam.lower_bound <= best.bytes);
    options.width = options.max_evictions = 0;
    options.give_up = best.bytes;
    const Searched none(net, options);
    CHECK(!none.found);
    CHECK(none.complete);
  }
  CHECK(spilling > 200);
}

TEST_CASE("spill search: chains, whose operators run at once, lose nothing") {
  Rng rng(82);
  int spilling = 0;
  for (int i = 0; i < 6000; ++i) {
    Net net = sluice_test::ChainNet(&rng, 8);
    if (i % 3 == 0) {
      for (OperatorTensor& t : net.tensors) t.bytes = 1 + t.bytes % 2;
      for (Operator& op : net.operators) op.in_place = 0;
    }
    CAPTURE(i);
    const bool paper = i % 2 == 0;
    SpillSearchOptions options;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(2);
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    const Searched best(net, options);
    REQUIRE(best.status == Status::kOk);
    REQUIRE(best.complete);
    REQUIRE(best.bytes == brute.best_sums);
    CHECK(Recount(net, best, options.charge) == best.bytes);
    spilling += best.bytes > 0;
    options.width = 3;
    options.shares = 3;
    options.max_evictions = 4;
    const Searched beam(net, options);
    REQUIRE(beam.status == Status::kOk);
    if (beam.found) {
      CHECK(beam.bytes >= best.bytes);
      CHECK(Recount(net, beam, options.charge) == beam.bytes);
    }
    CHECK(beam.lower_bound <= best.bytes);
  }
  CHECK(spilling > 300);
}

TEST_CASE("spill search: a beam whose time is over still has a plan") {
  Rng rng(83);
  const Net net = sluice_test::WindowNet(&rng, 120, 6, 20);
  SpillSearchOptions options;
  options.capacity = 2 * LargestOperator(net.Graph());
  options.width = 8;
  options.shares = 4;
  options.max_evictions = 4;
  std::vector<uint32_t> order(net.operators.size());
  std::vector<uint8_t> fetch(net.operands.size());
  SpillDecisions found;
  found.order = {order.data(), order.size()};
  found.fetch = {fetch.data(), fetch.size()};
  Ground ground;
  uint32_t cancelled = 1;
  Budget budget({}, 0, 0, &cancelled);
  while (!budget.Exhausted()) budget.Tick();
  REQUIRE(SearchSpills(net.Graph(), options, &budget, &ground.arena, &found) ==
          Status::kOk);
  CHECK(found.found);
  CHECK(!found.complete);
}

TEST_CASE("spill search: operators too large, graphs too large, limits on states") {
  Net net;
  net.Tensor(10, TensorRole::kInput);
  net.Tensor(10, TensorRole::kOutput);
  net.Op({0}, {1});
  SpillSearchOptions options;
  options.capacity = 19;
  const Searched none(net, options);
  CHECK(none.status == Status::kOk);
  CHECK(!none.found);
  CHECK(none.complete);
  options.capacity = 20;
  CHECK(Searched(net, options).bytes == 0);
  Rng rng(8);
  const Net wide = sluice_test::WindowNet(&rng, 60, 12, 20);
  options.capacity = LargestOperator(wide.Graph());
  options.max_states = 50;
  const Searched limited(wide, options);
  CHECK(limited.status == Status::kOk);
  CHECK(!limited.complete);
  CHECK(!limited.found);
  const Net large = sluice_test::WindowNet(&rng, 1100, 12, 20);
  CHECK(Searched(large, options).status == Status::kUnsupported);
}
