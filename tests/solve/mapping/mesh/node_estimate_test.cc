// SPDX-License-Identifier: Apache-2.0
// Estimates of the cost of splits: node_split.h.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/solve/mapping/mesh/small_split.h"

namespace sluice::node_split {
namespace {

TEST_CASE(
    "estimates: nearly below the best of every split and nest, and not far below") {
  Rng rng(111);
  double lowest = 1;
  for (int round = 0; round < 25; ++round) {
    Split s(&rng, 2, 1 + round % 2);
    NodeParallelOptions every;
    every.every = true;
    NodeMapping best;
    CAPTURE(round);
    REQUIRE(MapOnNodes({s.problem, s.m.hardware, s.region, every}, &s.budget,
                       &s.scratch.arena, &best, &s.scratch.diagnostic) == Status::kOk);
    double listed = 1e300, placed = 1e300;
    for (Parts parts : s.search->parts) {
      CHECK(EstimateOf(*s.search, parts) == parts.estimate);
      const double before = parts.estimate;
      bool found = false, fits = false;
      REQUIRE(FindPlace(s.search.get(), &s.scratch.arena, &parts, &found) ==
              Status::kOk);
      if (!found) continue;
      listed = std::min(listed, before);
      REQUIRE(EstimatePlaced(s.search.get(), &parts, &fits, &s.scratch.diagnostic) ==
              Status::kOk);
      if (!fits) continue;
      CHECK(parts.estimate >= before);
      placed = std::min(placed, parts.estimate);
    }
    CHECK(listed <= best.objective * (1 + kEstimateError));
    CHECK(placed <= best.objective * (1 + kEstimateError));
    CHECK(placed >= listed);
    lowest = std::min(lowest, placed / best.objective);
  }
  CHECK(lowest > 0.8);
}

TEST_CASE("estimates: sizes, sharers and prices of parts, by hand") {
  Rng rng(112);
  Split s(&rng, 2, 2);
  s.problem = GemmProblem(1, 6, 5, 4, 2);
  s.m.hardware.leakage_pj_per_cycle = 3;
  s.Prepare();
  Parts parts = {};
  for (int32_t& f : parts.factor) f = 1;
  parts.factor[kDimP] = parts.factor[kDimK] = 2;
  const MappingProblem part = PartOf(s.problem, parts);
  CHECK(part.extent[kDimP] == 3);
  CHECK(part.extent[kDimK] == 3);  // of 5
  CHECK(part.extent[kDimC] == 4);
  CHECK(SharingOf(*s.search, parts).sharers[kInput] == 1);
  s.search->rotates = true;
  CHECK(SharingOf(*s.search, parts).sharers[kInput] == 2);
  CHECK(SharingOf(*s.search, parts).sharers[kOutput] == 1);
  s.search->rotates = false;
  bool found = false;
  REQUIRE(FindPlace(s.search.get(), &s.scratch.arena, &parts, &found) == Status::kOk);
  REQUIRE(found);
  // Every node of 2 x 2 is a corner: one link to the other sharer of an input or weight.
  const OuterPrice price = PriceOf(*s.search, parts);
  const double word = 16, link = 0.61 * word;
  for (const uint32_t v : {uint32_t{kInput}, uint32_t{kWeight}}) {
    CHECK(price.read_pj[v] == doctest::Approx((25 * word + link) / 2));
    CHECK(price.byte_share[v] == 2);
  }
  CHECK(price.write_final_pj == doctest::Approx(25 * word));
  CHECK(price.byte_share[kOutput] == 4);
  NodeView view;
  ViewNode(*s.search, parts, part, &view);
  CHECK(view.hardware.leakage_pj_per_cycle == doctest::Approx(3));
  CHECK(view.hardware.levels[1].capacity_bytes == 160);
  parts.factor[kDimP] = 1;  // half of the nodes are idle and leak
  ViewNode(*s.search, parts, part, &view);
  CHECK(view.hardware.leakage_pj_per_cycle == doctest::Approx(6));
}

TEST_CASE(
    "estimates: kept operands must fit a node, and what they need is remembered") {
  Rng rng(113);
  Split s(&rng, 2, 1);
  s.problem = GemmProblem(1, 8, 16, 8, 2);
  s.Prepare();
  Parts parts = {};
  for (int32_t& f : parts.factor) f = 1;
  s.search->kept = OperandBit(kWeight);  // 16 x 8 words of 2 bytes exceed 160
  CHECK(!KeepsFit(s.search.get(), parts));
  CHECK(s.search->least_kept == 256);
  parts.factor[kDimK] = 2;
  CHECK(KeepsFit(s.search.get(), parts));
  s.search->passes[kDimC] = 2;  // the weights of both channel slices stay
  CHECK(!KeepsFit(s.search.get(), parts));
  s.search->kept = 0;
  CHECK(KeepsFit(s.search.get(), parts));
}

}  // namespace
}  // namespace sluice::node_split
