// SPDX-License-Identifier: Apache-2.0
// Plans of one segment for each layer, to be changed.
#ifndef SLUICE_TESTS_SUPPORT_ROW_CASE_H_
#define SLUICE_TESTS_SUPPORT_ROW_CASE_H_

#include <doctest/doctest.h>

#include <vector>

#include "solve/space/improve.h"
#include "support/joined_graph.h"

namespace sluice {

// Layers as a plan of one segment for each; by default a row of layers whose tensors are
// larger than the scratchpad.
struct RowCase : sluice_test::MakerCase {
  explicit RowCase(uint32_t layers, int32_t rows)
      : RowCase(sluice_test::RowGraph(layers, {1, 64, 8, 64}), rows, 1 << 12) {}
  RowCase(const sluice_test::GraphSpec& graph, int32_t rows, int64_t bytes)
      : MakerCase(graph, bytes) {
    const uint32_t layers = static_cast<uint32_t>(problem.layer.size());
    REQUIRE(memo.Init(&arena) == Status::kOk);
    REQUIRE(prices.Init(&arena) == Status::kOk);
    SpaceNode node = {};
    node.before = kNone;
    REQUIRE(nodes.Push(node) == Status::kOk);
    LoopChoice loops;
    loops.Add(1, rows);
    for (uint32_t at = 0; at < layers; ++at) Push(at, at + 1, loops);
  }

  void Push(uint32_t first, uint32_t last, const LoopChoice& loops) {
    SpaceNode next = nodes[nodes.size() - 1];
    memo.Forget();
    REQUIRE(memo.Make({next.held, first, last, loops}));
    prices.Advance(memo.cost(), &next);
    next.before = static_cast<uint32_t>(nodes.size() - 1);
    next.first = first;
    next.last = last;
    next.loops = loops;
    Span<Held> held;
    REQUIRE(arena.Allocate(memo.held().size(), &held) == Status::kOk);
    for (size_t h = 0; h < held.size(); ++h) held[h] = memo.held()[h];
    next.held = held;
    REQUIRE(nodes.Push(next) == Status::kOk);
  }

  double CostOf(const SpaceNode& end) const {
    const PlanTotal total = prices.Total(end);
    return total.energy_pj * static_cast<double>(total.cycles);
  }

  // Improves the plan, then by random changes of so much work; returns its segments.
  std::vector<PlanLink> Improve(uint64_t work, Span<const KnownSegment> known = {},
                                uint64_t random = 0, uint64_t seed = 0) {
    Budget budget;
    const uint32_t layers = static_cast<uint32_t>(problem.layer.size());
    Improver improver(
        {problem, goal, &memo, prices, {known, layers}, INT64_MAX, work, &budget},
        &arena);
    const auto last = static_cast<uint32_t>(nodes.size() - 1);
    REQUIRE(improver.Init(nodes, last) == Status::kOk);
    REQUIRE(improver.Descend() == Status::kOk);
    const double before = improver.gain();
    if (random != 0) {
      REQUIRE(improver.Anneal(random, seed) == Status::kOk);
      CHECK(improver.gain() >= before - 1e-9);
    }
    kept = improver.kept();
    return {improver.links().begin(), improver.links().end()};
  }

  SpaceGoal goal = {1, 1};
  SegmentMemo memo{problem, &maker};
  Prices prices{problem, goal};
  Sequence<SpaceNode> nodes{&arena};
  uint64_t kept = 0;
};

// a is read by b and, at the end, with d: a change decides whether it stays on chip for
// the segments behind it, which then cost something else.
inline sluice_test::GraphSpec ReadAgain(int32_t rows) {
  sluice_test::GraphSpec g = sluice_test::RowGraph(5, {1, rows, 8, 16});
  g.tensors.back().kind = 0;
  g.tensors.push_back({{1, rows, 8, 32}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 5}, {6}, {3}});
  g.tensors.push_back({{1, rows, 8, 32}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {6}, {7}, {0, 1 << 30, 1, 0, -128, 127}});
  return g;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SUPPORT_ROW_CASE_H_
