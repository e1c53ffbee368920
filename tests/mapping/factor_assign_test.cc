// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor_assign.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"
#include "mapping/arena_memory.h"
#include "mapping/factor_reference.h"

namespace sluice {
namespace {

using sluice_tests::ArenaMemory;
using sluice_tests::CosaOptimum;
using sluice_tests::SimbaMachine;

FactorSolution Solve(const FactorLayer& layer, const FactorMachine& machine,
                     const FactorWeights& weights) {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  FactorSolution solution;
  REQUIRE(SolveFactorAssign(layer, machine, weights, &memory.arena, &budget, &solution,
                            &diagnostic) == Status::kOk);
  CHECK(solution.proved);
  FactorValue value;
  CHECK(EvaluateFactors(layer, machine, weights, solution.assignment, &value,
                        &diagnostic) == Status::kOk);
  CHECK(value.objective == solution.value.objective);
  return solution;
}

TEST_CASE("factor_assign values the reference assignments as the reference does") {
  const std::vector<CosaOptimum> optima = sluice_tests::CosaOptima();
  if (optima.empty()) {
    MESSAGE("skipped: no reference/cosa optima");
    return;
  }
  CHECK(optima.size() == 32);
  for (const CosaOptimum& o : optima) {
    CAPTURE(o.name);
    FactorValue value;
    Diagnostic diagnostic = {};
    CHECK(EvaluateFactors(o.layer, SimbaMachine(), FactorWeights(), o.assignment,
                          &value, &diagnostic) == Status::kOk);
    CHECK(std::fabs(value.objective - o.objective) < 6e-5);
    CHECK(std::fabs(value.utilisation - o.utilisation) < 6e-3);
    CHECK(std::fabs(value.compute - o.compute) < 6e-3);
    CHECK(std::fabs(value.traffic - o.traffic) < 6e-3);
  }
}

TEST_CASE("factor_assign equals the reference optimum on every layer listed") {
  const std::vector<CosaOptimum> optima = sluice_tests::CosaOptima();
  if (optima.empty()) {
    MESSAGE("skipped: no reference/cosa optima");
    return;
  }
  for (const CosaOptimum& o : optima) {
    CAPTURE(o.name);
    const FactorSolution solution = Solve(o.layer, SimbaMachine(), FactorWeights());
    CHECK(std::fabs(solution.value.objective - o.objective) < 6e-5);
  }
}

}  // namespace
}  // namespace sluice
