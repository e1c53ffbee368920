// SPDX-License-Identifier: Apache-2.0
// Tiles of registers and scratchpad: conv_exact_search.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "solve/mapping/conv/conv_exact_search.h"
#include "tests/solve/mapping/conv/random_conv.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using namespace conv_exact;

using Tile = std::vector<int64_t>;

// A search of one way to fill the array, before any nest is known.
struct OneChoice {
  Machine machine;
  MappingProblem problem;
  MapConstraints constraints;
  Scratch scratch;
  Budget budget;
  Search search{&scratch.arena, &budget};
  SpatialChoice choice;

  explicit OneChoice(Rng* rng) : problem(RandomLayer(rng)) {
    RandomArray(rng, &machine);
    machine.levels[0].may_hold = 7;
    constraints.wide = true;
    REQUIRE(MakeConvSpace({problem, machine.hardware, constraints}, 7, &search.space,
                          &scratch.diagnostic) == Status::kOk);
    PrepareFits(&search);
    REQUIRE(ListSpatialChoices(&search.space, &search.choices) == Status::kOk);
    choice = search.choices[rng->Below(static_cast<uint32_t>(search.choices.size()))];
    search.best = search.limit = kUnbounded;
    search.cut_taps = false;
    search.least_input = LeastInputWords(search.space, kOneElement, problem.extent);
    for (uint32_t d = 0; d < kDims; ++d) {
      REQUIRE(FindDivisors(&search, choice.passes[d], &search.divisors[d]) ==
              Status::kOk);
    }
    for (uint32_t g = 0; g < kGroups; ++g) {
      search.least_array_pj[g] = search.least_array_bytes[g] = kUnbounded;
      search.least_dram[g] = PointCost{kUnbounded, kUnbounded, 0};
    }
    OrderTop(&search);
  }

  bool Fits(uint32_t level, const Tile& extent) const {
    int64_t bytes = 0, e[kDims];
    for (uint32_t d = 0; d < kDims; ++d) e[d] = std::min(extent[d], problem.extent[d]);
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (Has(problem, v)) bytes += TileWords(problem, v, e) * InnerBytes(problem, v);
    }
    return bytes <= machine.levels[level].capacity_bytes;
  }
  // All tiles of divisors of the passes that fit `level`; taps are those of the space,
  // groups have one pass.
  std::set<Tile> All(uint32_t level) const {
    std::set<Tile> all;
    Tile t(kDims, 1);
    const auto dim = [&](auto self, uint32_t d) -> void {
      if (d == kDimG) {
        Tile extent = t;
        for (uint32_t i = 0; level == 1 && i < kDims; ++i)
          extent[i] *= choice.spread[i];
        if (Fits(level, extent)) all.insert(t);
        return;
      }
      const bool taps = d == kDimR || d == kDimS;
      for (int64_t f = 1; f <= choice.passes[d]; ++f) {
        if (choice.passes[d] % f != 0) continue;
        if (taps && f != choice.passes[d] && (level == 1 || f != 1)) continue;
        t[d] = f;
        self(self, d + 1);
      }
      t[d] = 1;
    };
    dim(dim, 0);
    return all;
  }
};

TEST_CASE(
    "conv tiles: all register tiles that fit, with the cost of all passes there") {
  Rng rng(71);
  size_t listed = 0;
  for (int round = 0; round < 200; ++round) {
    OneChoice one(&rng);
    CAPTURE(round);
    if (!one.Fits(0, Tile(kDims, 1))) continue;
    REQUIRE(ListRegisterTiles(&one.search, one.choice) == Status::kOk);
    std::set<Tile> found;
    for (const RegisterTile& tile : one.search.registers) {
      found.insert(Tile(tile.t0, tile.t0 + kDims));
      Point point = {};
      for (uint32_t d = 0; d < kDims; ++d) {
        point.t0[d] = tile.t0[d];
        point.t1[d] = one.choice.passes[d] / tile.t0[d];
        point.t2[d] = 1;
      }
      for (uint32_t g = 0; g < kGroups; ++g) {
        point.inner1 = g;
        point.inner2 = (g + 1) % kGroups;
        PointCost cost = {};
        for (uint32_t v = 0; v < kOperands; ++v) {
          if (!Has(one.problem, v)) continue;
          AddArrayCost(one.search.space, one.choice, point, v, v == kStill[g], &cost);
        }
        CHECK(tile.least_pj[g] == doctest::Approx(cost.energy_pj).epsilon(1e-9));
        CHECK(one.search.least_array_pj[g] <= tile.least_pj[g]);
      }
    }
    CHECK(found.size() == one.search.registers.size());
    CHECK(found == one.All(0));
    listed += found.size();
  }
  CHECK(listed > 1000);
}

TEST_CASE(
    "conv tiles: all scratchpad tiles that fit, bounded below what stands on them") {
  Rng rng(72);
  size_t compared = 0;
  for (int round = 0; round < 150; ++round) {
    OneChoice one(&rng);
    Search& search = one.search;
    CAPTURE(round);
    if (!one.Fits(0, Tile(kDims, 1))) continue;
    REQUIRE(ListRegisterTiles(&search, one.choice) == Status::kOk);
    int64_t passes[kDims], extent[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      passes[d] = 1;
      extent[d] = one.choice.spread[d];
    }
    REQUIRE(FindLeastTop(&search, one.choice, passes, extent) == Status::kOk);
    REQUIRE(SeedTops(&search, one.choice) == Status::kOk);
    const std::set<Tile> all = one.All(1);
    for (const TopTile& top : search.tops) {
      CHECK(all.count(Tile(top.passes, top.passes + kDims)) == 1);
    }
    search.tops.Truncate(0);
    REQUIRE(ListTopTiles(&search, one.choice, passes, extent) == Status::kOk);
    std::set<Tile> found;
    double least[kGroups] = {kUnbounded, kUnbounded, kUnbounded};
    for (const TopTile& top : search.tops) {
      found.insert(Tile(top.passes, top.passes + kDims));
      for (uint32_t g = 0; g < kGroups; ++g) {
        least[g] = std::min(least[g], top.dram.energy_pj + top.again_pj[g]);
      }
      const RegisterTile& tile =
          search.registers[rng.Below(static_cast<uint32_t>(search.registers.size()))];
      Point point = {};
      bool divides = true;
      for (uint32_t d = 0; d < kDims; ++d) {
        divides &= top.passes[d] % tile.t0[d] == 0;
        point.t0[d] = tile.t0[d];
        point.t1[d] = top.passes[d] / tile.t0[d];
        point.t2[d] = one.choice.passes[d] / top.passes[d];
      }
      if (!divides) continue;
      point.inner1 = rng.Below(kGroups);
      point.inner2 = top.inner2;
      PointCost cost = top.dram;
      for (uint32_t v = 0; v < kOperands; ++v) {
        if (!Has(one.problem, v)) continue;
        AddArrayCost(search.space, one.choice, point, v, v == kStill[point.inner1],
                     &cost);
      }
      CHECK(top.bound <= ObjectiveOf(search.space, one.choice, cost) * (1 + 1e-9));
      ++compared;
    }
    CHECK(found == all);
    for (uint32_t g = 0; g < kGroups && !all.empty(); ++g) {
      CHECK(search.least_dram[g].energy_pj == doctest::Approx(least[g]).epsilon(1e-9));
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("conv tiles: what fits a level, whole operands counted whole") {
  Rng rng(73);
  for (int round = 0; round < 500; ++round) {
    OneChoice one(&rng);
    Tile extent(kDims);
    for (uint32_t d = 0; d < kDims; ++d) {
      extent[d] = 1 + rng.Below(static_cast<uint32_t>(one.problem.extent[d] + 1));
    }
    for (uint32_t level = 0; level < 2; ++level) {
      CHECK(TileFits(one.search, level, extent.data(), 0) == one.Fits(level, extent));
    }
    const Tile whole(one.problem.extent, one.problem.extent + kDims);
    CHECK(TileFits(one.search, 1, extent.data(), 7) == one.Fits(1, whole));
  }
}

}  // namespace
}  // namespace sluice
