// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/check_joint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

TEST_CASE("orders: good ones, and the first step at which the others are wrong") {
  Rng rng(61);
  int good_ones = 0, bad_ones = 0;
  for (int i = 0; i < 100; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 5);
    const uint32_t n = static_cast<uint32_t>(net.operators.size());
    const std::vector<OperatorEdge> edges = {{rng.Below(n - 1), n - 1}};
    OperatorGraph graph = net.Graph();
    graph.edges = sluice_test::View(edges);
    std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    do {
      std::set<uint32_t> made, ran;
      uint32_t wrong = 0;
      for (; wrong < n; ++wrong) {
        const Operator& op = net.operators[order[wrong]];
        bool ready = order[wrong] != n - 1 || ran.count(edges[0].before) != 0;
        for (uint32_t a : graph.InputsOf(op)) {
          ready &= net.tensors[a].role == TensorRole::kInput || made.count(a) != 0;
        }
        if (!ready) break;
        for (uint32_t a : graph.OutputsOf(op)) made.insert(a);
        ran.insert(order[wrong]);
      }
      Ground ground;
      bool good = false;
      uint32_t at = 0;
      REQUIRE(CheckOrder(graph, sluice_test::View(order), &ground.arena, &good, &at) ==
              Status::kOk);
      REQUIRE(good == (wrong == n));
      if (!good) CHECK(at == wrong);
      ++(good ? good_ones : bad_ones);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  CHECK(good_ones > 100);
  CHECK(bad_ones > 1000);
}

TEST_CASE(
    "joint problems: sizes up and the capacity down, or what is wrong with them") {
  Net net;
  net.Tensor(10, TensorRole::kInput);
  net.Tensor(17, TensorRole::kIntermediate);
  net.Tensor(8, TensorRole::kOutput);
  net.Op({0}, {1});
  net.Op({1}, {2});
  Ground ground;
  JointOptions options;
  RoundedJoint rounded;
  const auto check = [&] {
    return CheckJoint(net.Graph(), options, &ground.arena, &rounded,
                      &ground.diagnostic);
  };
  const auto says = [&](const std::string& text) {
    return std::string(ground.diagnostic.message).find(text) != std::string::npos;
  };
  options.capacity = 63;
  options.alignment = 8;
  REQUIRE(check() == Status::kOk);
  CHECK(rounded.options.capacity == 56);
  CHECK(rounded.graph.tensors[0].bytes == 16);
  CHECK(rounded.graph.tensors[1].bytes == 24);
  CHECK(rounded.graph.tensors[2].bytes == 8);
  for (const int64_t alignment : {int64_t{0}, int64_t{12}, int64_t{1} << 31}) {
    options.alignment = alignment;
    CHECK(check() == Status::kBadArgument);
  }
  options.alignment = 1;
  options.capacity = -1;
  CHECK(check() == Status::kBadArgument);
  options.capacity = 63;
  for (const std::vector<uint32_t>& order :
       std::vector<std::vector<uint32_t>>{{1, 0}, {0, 0}, {0, 2}, {0}}) {
    options.fixed_order = sluice_test::View(order);
    CHECK(check() == Status::kBadInput);
    CHECK(says(order.size() == 1 || order[0] == 1 ? "at step 0" : "at step 1"));
  }
  options.fixed_order = {};
  net.tensors[1].bytes = 0;
  CHECK(check() == Status::kBadInput);
  CHECK(says("tensor 1 has size 0"));
}

TEST_CASE(
    "joint problems: an operator whose operands do not fit is named, with its bytes") {
  Net net;
  net.Tensor(10, TensorRole::kInput);
  net.Tensor(20, TensorRole::kIntermediate);
  net.Tensor(20, TensorRole::kIntermediate);
  net.Tensor(5, TensorRole::kOutput);
  net.Op({0}, {1});
  net.Op({1}, {2});
  net.Op({2}, {3});
  Ground ground;
  JointOptions options;
  RoundedJoint rounded;
  const auto check = [&](int64_t capacity) {
    options.capacity = capacity;
    return CheckJoint(net.Graph(), options, &ground.arena, &rounded,
                      &ground.diagnostic);
  };
  CHECK(check(40) == Status::kOk);
  REQUIRE(check(39) == Status::kInfeasible);
  CHECK(std::string(ground.diagnostic.message) ==
        "the operands of operator 1 do not fit together");
  CHECK(ground.diagnostic.layer == 1);
  CHECK(ground.diagnostic.required_bytes == 40);
  CHECK(ground.diagnostic.available_bytes == 39);
  net.operators[1].in_place = 0;  // then operator 0 needs most
  CHECK(check(30) == Status::kOk);
  REQUIRE(check(29) == Status::kInfeasible);
  CHECK(ground.diagnostic.layer == 0);
  options.alignment = 8;
  CHECK(check(39) == Status::kInfeasible);  // 16 and 24 bytes, of 32
  CHECK(check(40) == Status::kOk);
}
