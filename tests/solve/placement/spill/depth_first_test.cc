// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/depth_first.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "solve/placement/spill/check_joint.h"
#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/least_peak.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

std::vector<uint32_t> OrderOf(const Net& net,
                              const std::vector<OperatorEdge>& edges = {}) {
  Ground ground;
  OperatorGraph graph = net.Graph();
  graph.edges = sluice_test::View(edges);
  std::vector<uint32_t> order(net.operators.size());
  REQUIRE(DepthFirst(graph, &ground.arena, {order.data(), order.size()}) ==
          Status::kOk);
  bool good = false;
  uint32_t at = 0;
  REQUIRE(CheckOrder(graph, sluice_test::View(order), &ground.arena, &good, &at) ==
          Status::kOk);
  REQUIRE(good);
  return order;
}

// Sums of two, of as many leaves; a leaf reads an input of its own. All leaves come first.
Net Tree(uint32_t leaves, Rng* rng) {
  Net net;
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < leaves; ++i) {
    const uint32_t in = net.Tensor(1 + rng->Below(10), TensorRole::kInput);
    open.push_back(net.Tensor(1 + rng->Below(100), TensorRole::kIntermediate));
    net.Op({in}, {open.back()});
  }
  while (open.size() > 1) {
    uint32_t pair[2];
    for (uint32_t& a : pair) {
      const uint32_t at = rng->Below(static_cast<uint32_t>(open.size()));
      a = open[at];
      open[at] = open.back();
      open.pop_back();
    }
    const bool last = open.empty();
    open.push_back(net.Tensor(1 + rng->Below(100),
                              last ? TensorRole::kOutput : TensorRole::kIntermediate));
    net.Op({pair[0], pair[1]}, {open.back()});
  }
  return net;
}

}  // namespace

TEST_CASE("depth first: the part that needs most and holds least is made first") {
  Net net;
  const uint32_t x = net.Tensor(1, TensorRole::kInput);
  const auto middle = [&](uint32_t in, int64_t bytes) {
    const uint32_t a = net.Tensor(bytes, TensorRole::kIntermediate);
    net.Op({in}, {a});
    return a;
  };
  const uint32_t small = middle(x, 10);    // operator 0: needs 11, holds 10
  const uint32_t large = middle(x, 50);    // 1
  const uint32_t left = middle(large, 5);  // 2: needs 55 with 1, holds 5
  net.Op({small, left}, {net.Tensor(1, TensorRole::kOutput)});
  CHECK(OrderOf(net) == std::vector<uint32_t>{1, 2, 0, 3});
}

TEST_CASE("depth first: edges count, and what nobody reads is made too") {
  Net net;
  const uint32_t x = net.Tensor(4, TensorRole::kInput);
  for (int i = 0; i < 3; ++i) net.Op({x}, {net.Tensor(2 + i, TensorRole::kOutput)});
  const std::vector<uint32_t> order = OrderOf(net, {{2, 0}});
  CHECK(order.size() == 3);
  CHECK(std::find(order.begin(), order.end(), 2u) <
        std::find(order.begin(), order.end(), 0u));
}

TEST_CASE("depth first: orders of random graphs are orders") {
  Rng rng(25);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    std::vector<uint32_t> order =
        OrderOf(i % 2 == 0 ? sluice_test::ChainNet(&rng, 30)
                           : sluice_test::WindowNet(&rng, 60, 12, 100));
    const size_t count = order.size();
    std::sort(order.begin(), order.end());
    CHECK(std::unique(order.begin(), order.end()) - order.begin() ==
          static_cast<std::ptrdiff_t>(count));
  }
}

// A beam runs all leaves that fit before it joins any.
TEST_CASE("depth first: plans of trees move no more than in this order") {
  Rng rng(7);
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    const Net net = Tree(150, &rng);
    const std::vector<uint32_t> order = OrderOf(net);
    Ground ground;
    Budget budget, steps({}, 0, 0, nullptr);
    JointOptions options;
    options.capacity = LargestOperator(net.Graph());
    options.exact = false;
    SpillPlan free, fixed;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &free,
                      &ground.diagnostic) == Status::kOk);
    options.fixed_order = sluice_test::View(order);
    REQUIRE(PlanJoint(net.Graph(), options, &steps, &ground.arena, &fixed,
                      &ground.diagnostic) == Status::kOk);
    CHECK(free.bytes() <= fixed.bytes());
  }
}

TEST_CASE(
    "depth first: with room for the least peak that is known, trees move nothing") {
  Rng rng(11);
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    const Net net = Tree(150, &rng);
    Ground ground;
    Budget budget;
    std::vector<uint32_t> order(net.operators.size());
    bool proved = false;
    JointOptions options;
    REQUIRE(MinimumPeak(net.Graph(), 2000, {&budget, &ground.arena, nullptr},
                        {order.data(), order.size()}, &options.capacity,
                        &proved) == Status::kOk);
    options.exact = false;
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) == Status::kOk);
    CHECK(plan.bytes() == 0);
  }
}
