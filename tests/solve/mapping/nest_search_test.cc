// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest_search.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/mapping/check_cost.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

Status Search(const MappingProblem& problem, const Hardware& hardware,
              const MapConstraints& constraints, Scratch* scratch, MappedNest* mapped) {
  Budget budget;
  return SearchNest(problem, hardware, constraints, &budget, mapped,
                    &scratch->diagnostic);
}

TEST_CASE("local search: near the exact optimum, legal on a deep hierarchy") {
  Machine edge;
  MakeKaplaEdge(&edge);
  double exact_pj = 0, search_pj = 0;
  for (const int64_t k : {16, 64, 100}) {
    const MappingProblem problem = ConvProblem({1, k, 48, 14, 14, 3, 3, 1, 2});
    Scratch scratch;
    Budget budget;
    MappedNest exact, searched;
    const MapConstraints plain;
    REQUIRE(MapConvExact({problem, edge.hardware, plain}, &budget, &scratch.arena,
                         &exact, &scratch.diagnostic) == Status::kOk);
    REQUIRE(Search(problem, edge.hardware, {}, &scratch, &searched) == Status::kOk);
    CHECK(searched.bound <= exact.objective);
    exact_pj += exact.cost.energy_pj;
    search_pj += searched.cost.energy_pj;
  }
  MESSAGE("local search " << search_pj / exact_pj << " of the optimum");
  CHECK(search_pj <= 1.25 * exact_pj);
  Machine deep;
  deep.AddLevel(16, 0.01, 0.01);
  deep.AddLevel(256, 0.05, 0.05);
  deep.AddLevel(8192, 0.2, 0.2);
  deep.AddLevel(1 << 18, 1, 1);
  deep.AddLevel(0, 20, 20);
  deep.AddFanout(3, 4, 127);
  deep.AddFanout(2, 8, DimBit(kDimK));
  deep.AddFanout(1, 8, DimBit(kDimC));
  deep.Finish();
  const MappingProblem problem = ConvProblem({1, 64, 64, 14, 14, 3, 3, 1, 1});
  Scratch scratch;
  MappedNest searched;
  REQUIRE(Search(problem, deep.hardware, {}, &scratch, &searched) == Status::kOk);
  CheckCost(problem, deep.hardware, searched);
  CHECK(searched.bound <= searched.objective);
  // Constraints: operands that must stay resident, and a given tile.
  MapConstraints constraints;
  constraints.top_tile[kDimK] = 32;
  constraints.delay_exponent = 1;
  MappedNest fixed;
  REQUIRE(Search(problem, deep.hardware, constraints, &scratch, &fixed) == Status::kOk);
  int64_t tile[kDims];
  TileExtents(fixed.nest, 3, tile);
  CHECK(tile[kDimK] == 32);
  CHECK(fixed.objective ==
        doctest::Approx(fixed.cost.energy_pj * static_cast<double>(fixed.cost.cycles)));
}

TEST_CASE("local search: its bound is operations and each word once, by hand") {
  Machine m;
  m.AddLevel(0, 1, 1);
  m.AddLevel(0, 10, 20);
  m.levels.back().bandwidth = Rational{1, 2};
  m.hardware.mac_pj = 3;
  m.hardware.macs_per_cycle = 4;
  m.hardware.leakage_pj_per_cycle = 5;
  m.Finish();
  // 2 x 4 x 8 MACs; 16 and 32 words in, 8 out, of two bytes; two cycles for a byte.
  const MappingProblem problem = GemmProblem(1, 2, 4, 8, 2);
  const double pj = 64 * 3 + 16 * (48 * 10 + 8 * 20);
  MapConstraints constraints;
  CHECK(NestBound(problem, m.hardware, constraints) == doctest::Approx(pj + 5 * 224));
  constraints.resident = OperandBit(kWeight);
  CHECK(NestBound(problem, m.hardware, constraints) ==
        doctest::Approx(pj - 16 * 32 * 10 + 5 * 96));
  Scratch scratch;
  MappedNest mapped;
  REQUIRE(Search(problem, m.hardware, {}, &scratch, &mapped) == Status::kOk);
  CHECK(mapped.objective >= pj + 5 * 224);
}

// Tiles of single taps of a dilated filter leave out the rows between them.
TEST_CASE("local search: no nest is below the bound on all nests, dilated ones too") {
  Rng rng(7);
  int dilated = 0;
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    RandomMachine(&rng, &machine);
    machine.levels.back().bandwidth = Rational{1, 2};
    machine.Finish();
    LoopNest nest;
    RandomNest(&rng, problem, machine.hardware, &nest);
    LayerCost cost;
    Diagnostic diagnostic = {};
    if (EvaluateNest(problem, machine.hardware, nest, CostOptions{}, &cost,
                     &diagnostic) != Status::kOk) {
      continue;
    }
    MapConstraints latency;
    latency.energy_exponent = 0;
    latency.delay_exponent = 1;
    CHECK(NestBound(problem, machine.hardware, MapConstraints{}) <=
          cost.energy_pj * (1 + 1e-12));
    CHECK(NestBound(problem, machine.hardware, latency) <=
          static_cast<double>(cost.cycles));
    dilated += problem.dilation[0] > 1 || problem.dilation[1] > 1 ? 1 : 0;
  }
  CHECK(dilated > 400);
}

}  // namespace
}  // namespace sluice
