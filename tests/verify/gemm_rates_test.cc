// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_rates.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/mapping/gemm/rate_cases.h"

namespace sluice {
namespace {

// The rule that a claim breaks; "" when it is accepted.
std::string Verdict(const RateClaim& claim) {
  sluice_tests::ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  const Status status =
      CheckGemmRates(claim.gemm, claim.rates, &memory.arena, &budget, &diagnostic);
  if (status == Status::kOk) return "";
  return status == Status::kRejected ? diagnostic.rule : "status";
}

TEST_CASE("gemm rates, judged: optima are accepted, all else is refused") {
  Rng rng(42);
  int refused = 0, accepted = 0;
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const RateCase random = RandomRateCase(&rng);
    sluice_tests::ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution solution;
    bool limited = false;
    if (SolveGemmRates({random.shape, random.machine, random.options}, &memory.arena,
                       &budget, &solution, &limited, &diagnostic) != Status::kOk) {
      continue;
    }
    const RateClaim claim = RateClaimOf(random, solution.mapping);
    CHECK(Verdict(claim) == "");
    ++accepted;
    RateClaim lies = claim;
    lies.rates.energy_pj *= 1 - 1e-9;
    if (lies.rates.energy_pj > 0) CHECK(Verdict(lies) == "value");
    lies = claim;
    lies.rates.time += 1 + lies.rates.time / 1000;
    CHECK(Verdict(lies) == "value");
    // Another mapping is refused: it is illegal, or the optimum is better.
    GemmMapping other = solution.mapping;
    const int d = static_cast<int>(rng.Below(3));
    other.inner_tile[d] = 1;
    other.middle_tile[d] = other.spatial[d] = 1;
    RateClaim worse = claim;
    worse = RateClaimOf(random, other);
    const RateValue value = ValueOfCost(
        random.options,
        EvaluateGemm(random.shape, random.machine, other, random.options.form));
    const RateValue best = ValueOfCost(random.options, solution.cost);
    if (value.first > best.first * (1 + 1e-9)) {
      CHECK(Verdict(worse) != "");
      ++refused;
    }
  }
  CHECK(accepted > 150);
  CHECK(refused > 60);
}

// The best mapping of a poorer problem, which is often nearly the best of this one.
TEST_CASE("gemm rates, judged: mappings that are nearly the best are refused") {
  Rng rng(43);
  int refused[3] = {};
  for (int i = 0; i < 1200; ++i) {
    CAPTURE(i);
    RateCase random = RandomRateCase(&rng);
    random.options.form = GemmForm::kReuse;
    RateCase poorer = random;
    const int kind = i % 3;
    if (kind == 0) poorer.options.form = GemmForm::kPaper;  // nothing stays in the PEs
    if (kind == 1) poorer.machine.middle_words = random.machine.middle_words * 3 / 4;
    if (kind == 2) poorer.machine.inner_words = random.machine.inner_words * 3 / 4;
    sluice_tests::ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution best, near;
    bool limited = false;
    const auto solve = [&](const RateCase& one, GemmSolution* solution) {
      return SolveGemmRates({one.shape, one.machine, one.options}, &memory.arena,
                            &budget, solution, &limited, &diagnostic) == Status::kOk;
    };
    if (!solve(random, &best) || !solve(poorer, &near)) continue;
    const GemmCost cost =
        EvaluateGemm(random.shape, random.machine, near.mapping, random.options.form);
    const RateValue value = ValueOfCost(random.options, cost);
    const RateValue least = ValueOfCost(random.options, best.cost);
    const bool worse =
        value.first > least.first * (1 + 1e-9) ||
        (value.first == least.first && value.second > least.second * (1 + 1e-9));
    if (!worse) continue;
    CHECK(Verdict(RateClaimOf(random, near.mapping)) == "better");
    ++refused[kind];
  }
  CHECK(refused[0] > 5);
  CHECK(refused[1] > 20);
  CHECK(refused[2] > 20);
}

TEST_CASE("gemm rates, judged: a bandwidth out of range is bad input") {
  RateCase some;
  some.shape = {{4, 4, 4}};
  some.machine = {60, 12, 4, {0, 0, 0}, 64, 70, 5, 6, 1, 0.5, 0.25, 0, 0, {}};
  for (Rational& rate : some.machine.bandwidth) rate = Rational{1, 1};
  GemmMapping mapping = {};
  for (int d = 0; d < 3; ++d) {
    mapping.middle_tile[d] = mapping.spatial[d] = mapping.inner_tile[d] = 1;
    mapping.outer_order.axis[d] = mapping.middle_order.axis[d] =
        static_cast<uint8_t>(d);
  }
  RateClaim claim = RateClaimOf(some, mapping);
  claim.rates.cycles[2] = 0;
  CHECK(Verdict(claim) == "status");
}

// Where nothing takes energy, all mappings of one time are the best.
TEST_CASE(
    "gemm rates, judged: memories that cost nothing, and bandwidths without limit") {
  for (const GemmObjective objective :
       {GemmObjective::kEnergy, GemmObjective::kDelay, GemmObjective::kEnergyDelay}) {
    RateCase some;
    some.shape = {{4, 4, 4}};
    some.machine = {60, 12, 4, {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, {}};
    for (Rational& rate : some.machine.bandwidth) rate = Rational{0, 1};
    some.options.objective = objective;
    sluice_tests::ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution solution;
    bool limited = false;
    REQUIRE(SolveGemmRates({some.shape, some.machine, some.options}, &memory.arena,
                           &budget, &solution, &limited, &diagnostic) == Status::kOk);
    RateClaim claim = RateClaimOf(some, solution.mapping);
    CHECK(claim.rates.energy_pj == 0);
    for (int64_t& cycles : claim.rates.cycles) cycles = 0;
    for (int64_t& words : claim.rates.words) words = 0;
    CHECK(Verdict(claim) == "");
  }
}

}  // namespace
}  // namespace sluice
