// SPDX-License-Identifier: Apache-2.0
#include "solve/space/join_sums.h"

#include <doctest/doctest.h>

#include "support/row_case.h"

namespace sluice {
namespace {

constexpr int32_t kBetween = 64;  // channels between the two layers

// A 3x3 convolution of 16 channels, and one over all of its pixels.
sluice_test::GraphSpec Head() {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 8, 8, 16}, SLUICE_DTYPE_INT8, 1},
               {{1, 8, 8, kBetween}, SLUICE_DTYPE_INT8, 0},
               {{1, 1, 1, 8}, SLUICE_DTYPE_INT8, 2},
               {{kBetween, 3, 3, 16}, SLUICE_DTYPE_INT8, 3, 3},
               {{kBetween, 3}, SLUICE_DTYPE_INT32, 3, 3},
               {{8, 8, 8, kBetween}, SLUICE_DTYPE_INT8, 3, 3},
               {{8, 3}, SLUICE_DTYPE_INT32, 3, 3}};
  g.layers = {{SLUICE_OP_CONV, {0, 3, 4}, {1}, {1, 1, 1, 1, 1, 1, 1, 1}},
              {SLUICE_OP_CONV, {1, 5, 6}, {2}, {1, 1, 1, 1}}};
  return g;
}

// One segment for each layer; neither fits beside the other's constants.
struct HeadCase : RowCase {
  HeadCase() : RowCase(Head(), 1, 40 << 10) {}

  // The plan's segments after JoinSums; `known` ones stay.
  std::vector<PlanLink> Join(Span<const KnownSegment> known = {}) {
    Budget budget;
    Improver improver({problem, goal, &memo, prices, {known, 2}, INT64_MAX, 0, &budget},
                      &arena);
    const auto last = static_cast<uint32_t>(nodes.size() - 1);
    REQUIRE(improver.Init(nodes, last) == Status::kOk);
    REQUIRE(JoinSums(problem, &improver, &budget) == Status::kOk);
    return {improver.links().begin(), improver.links().end()};
  }

  // The cost of both layers under a sum in parts; 0 if they do not fit.
  double CostOfParts(int32_t parts) {
    LoopChoice loops;
    loops.Add(kSumCut, parts);
    SpaceNode node = {};
    memo.Forget();
    if (!memo.Make({{}, 0, 2, loops})) return 0;
    prices.Advance(memo.cost(), &node);
    return CostOf(node);
  }
};

TEST_CASE(
    "join sums: two layers become parts of one sum, and no number of parts is "
    "cheaper") {
  HeadCase c;
  const double before = c.CostOf(c.nodes[c.nodes.size() - 1]);
  const std::vector<PlanLink> links = c.Join();
  REQUIRE(links.size() == 1);
  const LoopChoice& loops = links[0].node.loops;
  REQUIRE(loops.count == 1);
  CHECK(loops.cut[0] == kSumCut);
  const double cost = c.CostOf(links[0].node);
  CHECK(cost < 0.9 * before);
  CHECK(cost == doctest::Approx(c.CostOfParts(loops.trips[0])));
  int tried = 0;
  for (int32_t parts = 2; parts <= kBetween; parts *= 2) {
    CAPTURE(parts);
    const double of = c.CostOfParts(parts);
    if (of == 0) continue;
    ++tried;
    CHECK(cost <= of * (1 + 1e-4));
  }
  CHECK(tried > 2);
}

TEST_CASE("join sums: segments that must stay are not joined") {
  HeadCase c;
  std::vector<KnownSegment> known(2);
  known[1] = {2, {}};
  CHECK(c.Join({known.data(), known.size()}).size() == 2);
}

}  // namespace
}  // namespace sluice
