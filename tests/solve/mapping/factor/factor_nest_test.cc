// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_nest.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/mapping/check_cost.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

Status Map(const MappingProblem& problem, const Hardware& hardware,
           const MapConstraints& constraints, Scratch* scratch, MappedNest* mapped) {
  Budget budget;
  return MapFactorNest({problem, hardware, constraints}, FactorObjective{}, &budget,
                       &scratch->arena, mapped, &scratch->diagnostic);
}

TEST_CASE("cosa: the balanced objective is nearer to balance than the sum's optimum") {
  Machine edge;
  MakeKaplaEdge(&edge);
  for (const int64_t k : {32, 64, 256}) {
    const MappingProblem problem = ConvProblem({1, k, 64, 28, 28, 3, 3, 1, 2});
    for (const double compute : {0.5, 3.0, 10.0}) {
      Scratch scratch;
      Budget budget;
      MappedNest balanced;
      FactorObjective objective;
      objective.compute = compute;
      objective.balance = true;
      REQUIRE(MapFactorNest({problem, edge.hardware, MapConstraints{}}, objective,
                            &budget, &scratch.arena, &balanced,
                            &scratch.diagnostic) == Status::kOk);
      CHECK(balanced.objective >= 0);
      CHECK(balanced.bound <= balanced.objective);
      // With this weight the difference has one sign for every mapping, so the solver
      // proves its optimum.
      if (compute == 0.5) CHECK(balanced.proved);
    }
  }
}

TEST_CASE("cosa: factors that overflow a memory move up, on a deep hierarchy") {
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
  for (const int64_t registers : {16, 3}) {
    deep.levels[0].capacity_bytes = registers;  // 3: one word of each operand
    const MappingProblem problem = ConvProblem({1, 64, 64, 14, 14, 3, 3, 1, 1});
    Scratch scratch;
    MappedNest mapped;
    REQUIRE(Map(problem, deep.hardware, {}, &scratch, &mapped) == Status::kOk);
    CheckCost(problem, deep.hardware, mapped);
    CHECK(SpatialFactor(mapped.nest, 2, kDimK) > 1);
    CHECK(mapped.bound <= mapped.objective * (1 + 1e-12));
  }
}

TEST_CASE(
    "cosa: fixed tiles and resident operands are refused, small memories passed by") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const MappingProblem problem = ConvProblem({1, 32, 64, 28, 28, 3, 3, 1, 2});
  Scratch scratch;
  MappedNest mapped;
  MapConstraints constraints;
  constraints.resident = 1;
  CHECK(Map(problem, edge.hardware, constraints, &scratch, &mapped) ==
        Status::kUnsupported);
  constraints.resident = 0;
  constraints.top_tile[kDimK] = 8;
  CHECK(Map(problem, edge.hardware, constraints, &scratch, &mapped) ==
        Status::kUnsupported);
  edge.levels[1].capacity_bytes = 4;
  // A memory that cannot hold a word is bypassed.
  REQUIRE(Map(problem, edge.hardware, {}, &scratch, &mapped) == Status::kOk);
  CheckCost(problem, edge.hardware, mapped);
}

}  // namespace
}  // namespace sluice
