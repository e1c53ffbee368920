// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/break_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/spill_search.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

std::vector<BreakNode> Find(const Net& net) {
  Ground ground;
  const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
  Span<BreakNode> nodes;
  REQUIRE(FindBreakNodes(net.Graph(), sluice_test::View(order), &ground.arena,
                         &nodes) == Status::kOk);
  return std::vector<BreakNode>(nodes.begin(), nodes.end());
}

// Every order of all operators.
void Orders(const Net& net, std::vector<uint32_t>* order,
            std::vector<std::vector<uint32_t>>* all) {
  if (order->size() == net.operators.size()) return all->push_back(*order);
  std::set<uint32_t> made;
  for (uint32_t p : *order) {
    const Operator& q = net.operators[p];
    made.insert(net.operands.begin() + q.first_output,
                net.operands.begin() + q.first_output + q.output_count);
  }
  for (uint32_t o = 0; o < net.operators.size(); ++o) {
    if (std::find(order->begin(), order->end(), o) != order->end()) continue;
    const Operator& op = net.operators[o];
    bool ready = true;
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = net.operands[op.first_input + k];
      ready &= net.tensors[a].role == TensorRole::kInput || made.count(a) != 0;
    }
    if (!ready) continue;
    order->push_back(o);
    Orders(net, order, all);
    order->pop_back();
  }
}

bool Reads(const Net& net, uint32_t o, uint32_t tensor) {
  const Operator& op = net.operators[o];
  const auto begin = net.operands.begin() + op.first_input;
  return std::find(begin, begin + op.input_count, tensor) != begin + op.input_count;
}

}  // namespace

TEST_CASE(
    "cuts: what every order of a small graph runs before, and what lives across") {
  Rng rng(51);
  int forced = 0, independent = 0;
  for (int i = 0; i < 300; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 7);
    CAPTURE(i);
    std::vector<uint32_t> order;
    std::vector<std::vector<uint32_t>> all;
    Orders(net, &order, &all);
    const std::vector<BreakNode> cuts = Find(net);
    REQUIRE(cuts.size() == net.operators.size() - 1);
    for (uint32_t o = 0; o < cuts.size(); ++o) {
      CHECK(cuts[o].step == o + 1);
      std::set<uint32_t> before, after;  // operators before and after o in some order
      for (const std::vector<uint32_t>& each : all) {
        const auto at = std::find(each.begin(), each.end(), o);
        before.insert(each.begin(), at);
        after.insert(at + 1, each.end());
      }
      const auto both = std::count_if(before.begin(), before.end(),
                                      [&](uint32_t p) { return after.count(p) != 0; });
      CHECK(cuts[o].incomparable == both);
      bool across = false;  // whether a tensor other than o's outputs lives across o
      const Operator& op = net.operators[o];
      for (uint32_t a = 0; a < net.tensors.size(); ++a) {
        const auto out = net.operands.begin() + op.first_output;
        if (std::find(out, out + op.output_count, a) != out + op.output_count) continue;
        bool there = false, later = false;
        for (uint32_t p = 0; p < net.operators.size(); ++p) {
          const Operator& q = net.operators[p];
          const auto made = net.operands.begin() + q.first_output;
          const bool writes =
              std::find(made, made + q.output_count, a) != made + q.output_count;
          there |= p <= o && (writes || Reads(net, p, a));
          later |= p > o && Reads(net, p, a);
        }
        across |= there && later;
      }
      CHECK(cuts[o].independent == (both == 0 && !across));
      forced += both == 0;
      independent += cuts[o].independent;
    }
  }
  CHECK(independent > 20);
  CHECK(forced > independent + 20);
}

TEST_CASE("break nodes are found, and segments between them add up to the optimum") {
  Rng rng(77);
  int segmented = 0, spilling = 0;
  for (int i = 0; i < 200; ++i) {
    // Three nets in a row: an operator joins all unread tensors of one net into the input
    // of the next.
    Net net;
    uint32_t joint = net.Tensor(1 + rng.Below(8), TensorRole::kInput);
    for (int part = 0; part < 3; ++part) {
      const Net piece = sluice_test::WindowNet(&rng, 5 + rng.Below(3), 4, 8);
      const uint32_t base = static_cast<uint32_t>(net.tensors.size());
      std::vector<uint32_t> ends;
      for (uint32_t a = 1; a < piece.tensors.size(); ++a) {
        const uint32_t b =
            net.Tensor(piece.tensors[a].bytes, TensorRole::kIntermediate);
        if (piece.tensors[a].role == TensorRole::kOutput) ends.push_back(b);
      }
      for (const Operator& op : piece.operators) {
        std::vector<uint32_t> in;
        for (uint32_t k = 0; k < op.input_count; ++k) {
          const uint32_t a = piece.operands[op.first_input + k];
          in.push_back(a == 0 ? joint : base + a - 1);
        }
        net.Op(in, {base + piece.operands[op.first_output] - 1});
      }
      joint = net.Tensor(1 + rng.Below(8),
                         part == 2 ? TensorRole::kOutput : TensorRole::kIntermediate);
      net.Op(ends, {joint});
    }
    Ground ground;
    Budget budget;
    std::vector<uint32_t> order;
    for (uint32_t o = 0; o < net.operators.size(); ++o) order.push_back(o);
    Span<BreakNode> nodes;
    REQUIRE(FindBreakNodes(net.Graph(), {order.data(), order.size()}, &ground.arena,
                           &nodes) == Status::kOk);
    int independent = 0;
    for (const BreakNode& node : nodes) independent += node.independent;
    CHECK(independent >= 2);  // the two joints at least
    segmented += independent;
    JointOptions options;
    options.charge = i % 2 == 0 ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(3);
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) == Status::kOk);
    SpillSearchOptions whole;
    whole.charge = options.charge;
    whole.capacity = options.capacity;
    SpillDecisions sums;
    REQUIRE(ground.arena.Allocate(net.operators.size(), &sums.order) == Status::kOk);
    REQUIRE(ground.arena.Allocate(net.operands.size(), &sums.fetch) == Status::kOk);
    REQUIRE(SearchSpills(net.Graph(), whole, &budget, &ground.arena, &sums) ==
            Status::kOk);
    REQUIRE(sums.complete);
    CHECK(plan.proved);
    CHECK(plan.bytes() == sums.bytes);
    int64_t recount = 0;
    CHECK(sluice_test::JudgePlan(net, plan, options.capacity,
                                 options.charge == SpillCharge::kPaper,
                                 &recount) == "");
    CHECK(recount == plan.bytes());
    spilling += plan.bytes() > 0;
  }
  CHECK(spilling > 50);
}
