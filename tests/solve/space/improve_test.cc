// SPDX-License-Identifier: Apache-2.0
#include "solve/space/improve.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"

namespace sluice {
namespace {

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

  // Improves the plan; returns its segments.
  std::vector<PlanLink> Improve(uint64_t work, Span<const KnownSegment> known = {}) {
    Budget budget;
    const uint32_t layers = static_cast<uint32_t>(problem.layer.size());
    Improver improver(
        {problem, goal, &memo, prices, {known, layers}, INT64_MAX, work, &budget},
        &arena);
    const auto last = static_cast<uint32_t>(nodes.size() - 1);
    REQUIRE(improver.Init(nodes, last) == Status::kOk);
    REQUIRE(improver.Run() == Status::kOk);
    kept = improver.kept();
    return {improver.links().begin(), improver.links().end()};
  }

  SpaceGoal goal = {1, 1};
  SegmentMemo memo{problem, &maker};
  Prices prices{problem, goal};
  Sequence<SpaceNode> nodes{&arena};
  uint64_t kept = 0;
};

// The segments cover all layers, and their nodes cost what they cost when the plan is
// made from its begin.
void CheckPrices(RowCase* c, const std::vector<PlanLink>& links) {
  REQUIRE(!links.empty());
  const uint32_t begin = static_cast<uint32_t>(c->nodes.size());
  SpaceNode start = {};
  start.before = kNone;
  REQUIRE(c->nodes.Push(start) == Status::kOk);
  uint32_t next = 0;
  for (const PlanLink& link : links) {
    CHECK(link.node.first == next);
    next = link.node.last;
    c->Push(link.node.first, link.node.last, link.node.loops);
    const SpaceNode& again = c->nodes[c->nodes.size() - 1];
    CHECK(again.compute == link.node.compute);
    CHECK(again.dma == link.node.dma);
    CHECK(again.stored == link.node.stored);
    CHECK(again.energy_pj == doctest::Approx(link.node.energy_pj));
  }
  CHECK(next == c->problem.layer.size());
  c->nodes.Truncate(begin);
}

TEST_CASE(
    "improve: layers that store what they make are joined until nothing is stored") {
  RowCase c(6, 64);
  const double before = c.CostOf(c.nodes[c.nodes.size() - 1]);
  const std::vector<PlanLink> links = c.Improve(UINT64_MAX);
  CHECK(c.kept > 0);
  CHECK(links.size() == 1);
  CHECK(c.CostOf(links.back().node) < before / 4);
  CheckPrices(&c, links);
}

TEST_CASE("improve: an improved plan is not improved again") {
  RowCase c(5, 16);
  const std::vector<PlanLink> links = c.Improve(UINT64_MAX);
  SpaceNode start = {};
  start.before = kNone;
  REQUIRE(c.nodes.Push(start) == Status::kOk);
  for (const PlanLink& link : links) {
    c.Push(link.node.first, link.node.last, link.node.loops);
  }
  CHECK(c.Improve(UINT64_MAX).size() == links.size());
  CHECK(c.kept == 0);
}

TEST_CASE("improve: known segments stay as they are") {
  RowCase c(6, 64);
  std::vector<KnownSegment> known(6);
  LoopChoice loops;
  loops.Add(1, 64);
  known[2] = {3, loops};
  const std::vector<PlanLink> links =
      c.Improve(UINT64_MAX, {known.data(), known.size()});
  CHECK(c.kept > 0);
  bool found = false;
  for (const PlanLink& link : links) {
    if (link.node.first != 2) continue;
    found = link.node.last == 3 && link.node.loops.count == 1 &&
            link.node.loops.trips[0] == 64;
  }
  CHECK(found);
  CheckPrices(&c, links);
}

// a is read by b and, at the end, with d: a change decides whether it stays on chip for
// the segments behind it, which then cost something else.
sluice_test::GraphSpec ReadAgain(int32_t rows) {
  sluice_test::GraphSpec g = sluice_test::RowGraph(5, {1, rows, 8, 16});
  g.tensors.back().kind = 0;
  g.tensors.push_back({{1, rows, 8, 32}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 5}, {6}, {3}});
  g.tensors.push_back({{1, rows, 8, 32}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {6}, {7}, {0, 1 << 30, 1, 0, -128, 127}});
  return g;
}

TEST_CASE(
    "improve: what segments behind a change cost follows from what stays on chip") {
  uint64_t kept = 0;
  for (int64_t bytes = 2304; bytes <= 5120; bytes += 128) {
    // Ended early, while there are many segments.
    for (uint64_t work = 0; work <= 200; work += 8) {
      CAPTURE(work);
      CAPTURE(bytes);
      RowCase c(ReadAgain(16), 16, bytes);
      const double before = c.CostOf(c.nodes[c.nodes.size() - 1]);
      const std::vector<PlanLink> links = c.Improve(work);
      CHECK(c.CostOf(links.back().node) <= before);
      CheckPrices(&c, links);
      kept += c.kept;
    }
  }
  CHECK(kept > 20);
}

TEST_CASE("improve: work ends it with a valid plan that is no worse") {
  for (uint64_t work = 0; work < 200; work += 7) {
    CAPTURE(work);
    RowCase c(6, 32);
    const double before = c.CostOf(c.nodes[c.nodes.size() - 1]);
    const std::vector<PlanLink> links = c.Improve(work);
    CHECK(c.CostOf(links.back().node) <= before);
    if (work == 0) CHECK(c.kept == 0);
    CheckPrices(&c, links);
  }
}

}  // namespace
}  // namespace sluice
