// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_rate.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/solve/mapping/gemm/rate_cases.h"

namespace sluice {
namespace {

TEST_CASE(
    "gemm rates: equal to brute force over all mappings of random tiny problems") {
  Rng rng(24);
  int limits = 0, infeasible = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const RateCase random = RandomRateCase(&rng);
    const TryAllRates all(random);
    sluice_tests::ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution solution;
    bool limited = false;
    const Status status =
        SolveGemmRates({random.shape, random.machine, random.options}, &memory.arena,
                       &budget, &solution, &limited, &diagnostic);
    if (!all.any()) {
      ++infeasible;
      CHECK(status == Status::kInfeasible);
      continue;
    }
    REQUIRE(status == Status::kOk);
    CHECK(solution.proved);
    CHECK(solution.lower_bound == doctest::Approx(solution.objective));
    limits += limited ? 1 : 0;
    const RateValue found = ValueOfCost(random.options, solution.cost);
    CHECK(std::fabs(found.first - all.best().first) <= 1e-11 * all.best().first);
    if (random.options.objective == GemmObjective::kDelay) {
      CHECK(std::fabs(found.second - all.best().second) <= 1e-11 * all.best().second);
    }
  }
  CHECK(limits > 20);
  CHECK(infeasible > 1);
}

TEST_CASE("gemm rates: what DRAM takes is part of the latency that is proved") {
  // One row of a language model's layer: its weights alone need 12.9 million cycles.
  GemmMachine machine = {165888, 424, 256, {0, 0, 0}, 64, 64, 4.56,
                         4.56,   0.5, 0.5, 0.25,      0,  0,  {}};
  machine.bandwidth[0] = Rational{7, 2};
  machine.bandwidth[1] = machine.bandwidth[2] = Rational{0, 1};
  GemmExactOptions options;
  options.pe_use = GemmPeUse::kAtMost;
  options.objective = GemmObjective::kDelay;
  const GemmShape shape = {{1, 11008, 4096}};
  sluice_tests::ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  GemmSolution solution;
  bool limited = false;
  REQUIRE(SolveGemmRates({shape, machine, options}, &memory.arena, &budget, &solution,
                         &limited, &diagnostic) == Status::kOk);
  CHECK(limited);
  CHECK(solution.proved);
  const double least = (11008.0 * 4096 + 4096 + 11008) / 3.5;
  CHECK(static_cast<double>(solution.cost.cycles) >= least);
  CHECK(static_cast<double>(solution.cost.cycles) <= least + 1);
  CHECK(solution.cost.memory_cycles[0] == solution.cost.cycles);
}

TEST_CASE("gemm rates: a bandwidth out of range is named, a cancelled search stops") {
  GemmMachine machine = {600, 12, 16, {0, 0, 0}, 64, 70, 5, 6, 1, 0.5, 0.25, 0, 0, {}};
  for (Rational& rate : machine.bandwidth) rate = Rational{1, 1};
  const GemmShape shape = {{12, 16, 30}};
  const GemmExactOptions options;
  sluice_tests::ArenaMemory memory;
  Diagnostic diagnostic = {};
  GemmSolution solution;
  bool limited = false;
  const uint32_t cancelled = 1;
  Budget stopped({}, 0, 0, &cancelled);
  CHECK(SolveGemmRates({shape, machine, options}, &memory.arena, &stopped, &solution,
                       &limited, &diagnostic) == Status::kStopped);
  machine.bandwidth[1] = Rational{1, 0};
  Budget budget;
  CHECK(SolveGemmRates({shape, machine, options}, &memory.arena, &budget, &solution,
                       &limited, &diagnostic) == Status::kBadInput);
}

}  // namespace
}  // namespace sluice
