// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_window.h"

#include <doctest/doctest.h>

#include <vector>

#include "solve/placement/spill/check_joint.h"
#include "solve/placement/spill/spill_plan.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

struct Decided : SpillDecisions {
  std::vector<uint32_t> orders;
  std::vector<uint8_t> fetches;
  explicit Decided(const Net& net)
      : orders(net.operators.size()), fetches(net.operands.size()) {
    order = {orders.data(), orders.size()};
    fetch = {fetches.data(), fetches.size()};
  }
  Decided(const Decided&) = delete;
};

int64_t Recount(const OperatorGraph& graph, const SpillDecisions& found,
                SpillCharge charge) {
  Ground ground;
  SpillPlan plan;
  REQUIRE(BuildResidences(graph, found.order, found.fetch, charge, &ground.arena,
                          &plan) == Status::kOk);
  return plan.bytes();
}

}  // namespace

TEST_CASE(
    "windows: operators, what is held and copied around them, what is read later") {
  Net net;
  const uint32_t x = net.Tensor(4, TensorRole::kInput);
  const uint32_t a = net.Tensor(5, TensorRole::kIntermediate);
  const uint32_t b = net.Tensor(6, TensorRole::kIntermediate);
  const uint32_t c = net.Tensor(7, TensorRole::kIntermediate);
  const uint32_t d = net.Tensor(8, TensorRole::kOutput);
  net.Op({x}, {a});
  net.Op({a}, {b});     // the window: a is fetched again behind it, x stays
  net.Op({b, x}, {c});  // and ends here
  net.Op({c, a}, {d});
  Decided plan(net);
  for (uint32_t o = 0; o < 4; ++o) plan.orders[o] = o;
  plan.fetches[net.operators[3].first_input + 1] = 1;
  Ground ground;
  WindowPart part;
  REQUIRE(CutWindow(net.Graph(), SpillCharge::kPaper, {1, 3, &plan}, &ground.arena,
                    &part) == Status::kOk);
  CHECK(part.steps == 2);
  REQUIRE(part.graph.operators.size() == 3);
  REQUIRE(part.graph.tensors.size() == 4);
  CHECK(part.bytes == 10);  // a leaves and comes back
  const auto state = [&](uint32_t tensor) {
    for (size_t i = 0; i < part.graph.tensors.size(); ++i) {
      if (part.tensor_of[i] == tensor)
        return part.state[i] &
               (kHeldBefore | kCopiedBefore | kHeldAfter | kCopiedAfter);
    }
    return -1;
  };
  CHECK(state(x) == kHeldBefore);
  CHECK(state(a) == (kHeldBefore | kCopiedAfter));
  CHECK(state(b) == 0);
  CHECK(state(c) == kHeldAfter);
  CHECK(part.graph.InputsOf(part.graph.operators[2]).size() == 2);  // a and c
}

TEST_CASE(
    "windows: any window of a plan searched again gives a plan of the bytes it says") {
  Rng rng(97);
  int better = 0;
  for (int i = 0; i < 600; ++i) {
    CAPTURE(i);
    Net net = i % 2 == 0 ? sluice_test::RandomNet(&rng, 8)
                         : sluice_test::WindowNet(&rng, 30, 5, 20);
    const bool small = i % 2 == 0;
    const uint32_t n = static_cast<uint32_t>(net.operators.size());
    std::vector<OperatorEdge> edges;
    if (i % 3 == 0) edges.push_back({rng.Below(n - 1), n - 1});
    OperatorGraph graph = net.Graph();
    graph.edges = sluice_test::View(edges);
    SpillSearchOptions options;
    options.charge = i % 4 < 2 ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(graph) + rng.Below(5);
    options.width = options.max_evictions = 1;
    Ground ground;
    Budget budget;
    Decided plan(net), next(net);
    REQUIRE(SearchSpills(graph, options, &budget, &ground.arena, &plan) == Status::kOk);
    if (!plan.found) continue;
    REQUIRE(Recount(graph, plan, options.charge) == plan.bytes);
    const uint32_t begin = rng.Below(n);
    options.window = {begin, begin + 1 + rng.Below(n - begin), &plan};
    options.width = small ? 0 : 4;
    options.max_evictions = small ? 0 : 4;
    REQUIRE(SearchSpills(graph, options, &budget, &ground.arena, &next) == Status::kOk);
    if (!next.found) continue;
    ++better;
    CHECK(next.bytes < next.window_bytes);
    CHECK(Recount(graph, next, options.charge) <=
          plan.bytes - next.window_bytes + next.bytes);
    bool good = false;
    uint32_t at = 0;
    REQUIRE(CheckOrder(graph, next.order, &ground.arena, &good, &at) == Status::kOk);
    CHECK(good);
    for (uint32_t t = 0; t < n; ++t) {
      if (t < options.window.begin || t >= options.window.end)
        CHECK(next.order[t] == plan.order[t]);
    }
    if (!small || !edges.empty()) continue;
    const sluice_test::Brute brute = sluice_test::TryAll(
        net, options.capacity, options.charge == SpillCharge::kPaper, false);
    CHECK(plan.bytes - next.window_bytes + next.bytes >= brute.best_sums);
  }
  CHECK(better > 50);
}
