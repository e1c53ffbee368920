// SPDX-License-Identifier: Apache-2.0
#include "solve/space/improve.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"
#include "support/row_case.h"

namespace sluice {
namespace {

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

TEST_CASE("improve: random changes end with the cheapest plan on the way") {
  int better = 0;
  for (int64_t bytes = 2304; bytes <= 5120; bytes += 256) {
    CAPTURE(bytes);
    RowCase alone(ReadAgain(16), 16, bytes);
    const double least = alone.CostOf(alone.Improve(0).back().node);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      RowCase c(ReadAgain(16), 16, bytes), again(ReadAgain(16), 16, bytes);
      const std::vector<PlanLink> links = c.Improve(0, {}, 3000, seed);
      CheckPrices(&c, links);
      const double cost = c.CostOf(links.back().node);
      CHECK(cost <= least * (1 + 1e-9));
      better += cost < least * (1 - 1e-4) ? 1 : 0;
      // The same seed makes the same changes.
      CHECK(again.CostOf(again.Improve(0, {}, 3000, seed).back().node) == cost);
    }
  }
  CHECK(better > 20);
}

TEST_CASE("improve: random changes leave known segments as they are") {
  RowCase c(6, 64);
  std::vector<KnownSegment> known(6);
  LoopChoice loops;
  loops.Add(1, 64);
  known[2] = {3, loops};
  const std::vector<PlanLink> links =
      c.Improve(0, {known.data(), known.size()}, 5000, 1);
  CHECK(links.size() < 6);
  bool found = false;
  for (const PlanLink& link : links) {
    found = found || (link.node.first == 2 && link.node.last == 3 &&
                      SameLoops(link.node.loops, loops));
  }
  CHECK(found);
  CheckPrices(&c, links);
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
