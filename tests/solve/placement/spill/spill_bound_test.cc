// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

struct Bounded {
  int64_t bytes = -1;  // of the plan that the windows were cut from
  int64_t bound = -1;
  Status status = Status::kInternal;
};

// The bound from windows of a narrow beam's order.
Bounded BoundOf(const OperatorGraph& graph, SpillBoundOptions options) {
  std::vector<uint32_t> order(graph.operators.size());
  std::vector<uint8_t> fetch(graph.operands.size());
  SpillDecisions plan;
  plan.order = {order.data(), order.size()};
  plan.fetch = {fetch.data(), fetch.size()};
  SpillSearchOptions search;
  search.charge = options.charge;
  search.capacity = options.capacity;
  search.width = 2;
  search.max_evictions = 4;
  Ground ground;
  Budget budget;
  Bounded result;
  result.status = SearchSpills(graph, search, &budget, &ground.arena, &plan);
  if (result.status != Status::kOk || !plan.found) return result;
  result.bytes = plan.bytes;
  result.status = BoundSpills(
      graph, options, plan, Workspace{&budget, &ground.arena, nullptr}, &result.bound);
  return result;
}

}  // namespace

TEST_CASE("bound by windows: never above brute force, equal to it with one window") {
  Rng rng(91);
  int64_t sum = 0, best = 0;
  for (int i = 0; i < 3000; ++i) {
    Net net =
        i % 2 == 0 ? sluice_test::ChainNet(&rng, 8) : sluice_test::RandomNet(&rng, 7);
    if (i % 5 == 0) {
      for (OperatorTensor& t : net.tensors) t.bytes = 2 + 2 * (t.bytes % 2);
      for (Operator& op : net.operators) op.in_place = rng.Below(op.input_count);
    }
    CAPTURE(i);
    const bool paper = i % 4 < 2;
    SpillBoundOptions options;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(3);
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    const Bounded whole = BoundOf(net.Graph(), options);
    REQUIRE(whole.status == Status::kOk);
    if (whole.bytes < 0) continue;
    CHECK(whole.bound == brute.best_sums);
    options.least = 1 + rng.Below(3);
    options.most = options.least + rng.Below(3);
    options.ahead = rng.Below(5);
    if (i % 3 == 0) options.max_states = 1 + rng.Below(40);
    const Bounded cut = BoundOf(net.Graph(), options);
    REQUIRE(cut.status == Status::kOk);
    REQUIRE(cut.bound <= brute.best_sums);
    sum += cut.bound;
    best += brute.best_sums;
  }
  MESSAGE("windows of a few steps prove ", sum, " of ", best, " bytes");
  CHECK(10 * sum > 5 * best);
}

TEST_CASE("bound by windows: edges count, equal cells have equal bounds") {
  // A chain of cells; nothing crosses from one to the next but the tensor between them.
  const auto chain = [](uint32_t cells) {
    Net net;
    uint32_t x = net.Tensor(6, TensorRole::kInput);
    for (uint32_t c = 0; c < cells; ++c) {
      const auto op = [&](std::vector<uint32_t> in, int64_t bytes) {
        const uint32_t out = net.Tensor(bytes, TensorRole::kIntermediate);
        net.Op(in, {out});
        return out;
      };
      const uint32_t a = op({op({x}, 6)}, 4), b = op({op({x}, 6)}, 4);
      x = op({a, b}, 6);
    }
    net.tensors[x].role = TensorRole::kOutput;
    return net;
  };
  SpillBoundOptions options;
  options.charge = SpillCharge::kPaper;
  options.capacity = 14;
  options.least = options.most = 5;
  options.ahead = 0;
  const Bounded one = BoundOf(chain(1).Graph(), options);
  const Bounded eight = BoundOf(chain(8).Graph(), options);
  REQUIRE(one.status == Status::kOk);
  CHECK(one.bound > 0);
  CHECK(eight.bound >= one.bound);
  CHECK(eight.bound <= eight.bytes);
  options.enough = 1;
  CHECK(BoundOf(chain(8).Graph(), options).bound <= eight.bound);

  // The edges allow a single order, so the bound equals that of a fixed order.
  Net net = chain(2);
  std::vector<OperatorEdge> edges;
  for (uint32_t o = 1; o < net.operators.size(); ++o) edges.push_back({o - 1, o});
  OperatorGraph graph = net.Graph();
  graph.edges = sluice_test::View(edges);
  options.enough = INT64_MAX;
  const sluice_test::Brute fixed =
      sluice_test::TryAll(net, options.capacity, true, true);
  const Bounded bounded = BoundOf(graph, options);
  CHECK(bounded.bound <= fixed.best_sums);
  options.least = options.most = 50;
  CHECK(BoundOf(graph, options).bound == fixed.best_sums);
}
