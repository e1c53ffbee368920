// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_claim.h"

#include <doctest/doctest.h>
#include <time.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "solve/mapping/nest/nest_exact.h"
#include "tests/solve/mapping/nest_claim.h"
#include "tests/solve/mapping/random_hierarchy.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using sluice_tests::ClaimOf;

// The rule that a claim breaks; "" when it is accepted.
std::string Verdict(const ClaimedNest& claim, const Hardware& hardware) {
  Scratch scratch;
  Budget budget;
  const Status status =
      CheckNestClaim(claim, hardware, &scratch.arena, &budget, &scratch.diagnostic);
  if (status == Status::kOk) return "";
  if (status == Status::kBadInput) return "input";
  return status == Status::kRejected ? scratch.diagnostic.rule : "status";
}

struct Case {
  MappingProblem problem;
  Machine machine;
  MapConstraints constraints;
  MappedNest mapped = {};
  double solve_s = 0;

  NestRequest request() const { return {problem, machine.hardware, constraints}; }
};

double Now() { return static_cast<double>(clock()) / CLOCKS_PER_SEC; }

// A random problem with its best nest; false: it has none, or the proof is too long.
bool Solve(uint64_t seed, NestSpace space, Case* one) {
  Rng rng(seed);
  one->problem = RandomProblem(&rng);
  one->problem.partial_bytes = 1 + rng.Below(3);
  RandomHierarchy(&rng, &one->machine);
  const uint32_t goal = rng.Below(3);
  one->constraints.energy_exponent = goal == 1 ? 0 : 1;
  one->constraints.delay_exponent = goal == 0 ? 0 : 1;
  one->constraints.bypass = rng.Below(4) == 0;
  one->constraints.resident = rng.Below(8) == 0 ? rng.Below(8) : 0;
  if (PrimeFactors(one->problem) > (space == NestSpace::kRagged ? 4 : 8)) return false;
  Scratch scratch;
  Budget budget;
  const double start = Now();
  const Status status = MapNestExact(one->request(), space, &budget, &scratch.arena,
                                     &one->mapped, &scratch.diagnostic);
  one->solve_s = Now() - start;
  return status == Status::kOk && one->mapped.nest.levels != 0 && one->mapped.proved;
}

// A random nest that is legal, with its cost.
bool AnyNest(const Case& one, Rng* rng, MappedNest* nest) {
  CostOptions options;
  options.resident = one.constraints.resident;
  for (int i = 0; i < 300; ++i) {
    RandomNest(rng, one.problem, one.machine.hardware, &nest->nest);
    Diagnostic why = {};
    if (EvaluateNest(one.problem, one.machine.hardware, nest->nest, options,
                     &nest->cost, &why) == Status::kOk) {
      return true;
    }
  }
  return false;
}

void AcceptMany(NestSpace space, int fewer) {
  const char* cases = std::getenv("SLUICE_NEST_CASES");
  const int wanted = cases == nullptr ? 200 / fewer : std::atoi(cases);
  double solve_s = 0, check_s = 0;
  int done = 0, raised = 0;
  for (uint64_t seed = 1; done < wanted; ++seed) {
    CAPTURE(seed);
    Case one;
    if (!Solve(seed, space, &one)) continue;
    ++done;
    ClaimedNest claim = ClaimOf(one.request(), space == NestSpace::kRagged, one.mapped);
    const double start = Now();
    CHECK(Verdict(claim, one.machine.hardware) == "");
    check_s += Now() - start;
    solve_s += one.solve_s;
    // A worse nest, with its own cost, is no best one.
    Rng rng(seed);
    MappedNest other = one.mapped;
    if (!AnyNest(one, &rng, &other)) continue;
    other.objective = MapObjective(one.constraints, other.cost.energy_pj,
                                   static_cast<double>(other.cost.cycles));
    other.bound = other.objective;
    if (other.objective <= one.mapped.objective * (1 + 1e-9)) continue;
    ++raised;
    claim = ClaimOf(one.request(), space == NestSpace::kRagged, other);
    CHECK(Verdict(claim, one.machine.hardware) == "bound");
    claim.bound = one.mapped.objective;
    CHECK(Verdict(claim, one.machine.hardware) == "");
  }
  MESSAGE(done << " accepted, " << raised << " worse ones refused; the check takes "
               << check_s / solve_s << " times the solve");
  CHECK(raised > done / 4);
}

TEST_CASE(
    "nest claim: best nests of random hierarchies are accepted, worse ones refused") {
  AcceptMany(NestSpace::kDividing, 1);
}

TEST_CASE("nest claim: best nests of all, also of those that do not divide") {
  AcceptMany(NestSpace::kRagged, 5);
}

// Whether what a changed claim says is true by the solver's own model.
bool IsTrue(const Case& one, const ClaimedNest& claim) {
  MappedNest now = one.mapped;
  for (uint32_t l = 0; l < kMaxLevels; ++l) {
    std::memcpy(now.nest.temporal[l], claim.temporal[l], sizeof claim.temporal[l]);
    std::memcpy(now.nest.spatial[l], claim.spatial[l], sizeof claim.spatial[l]);
    std::memcpy(now.nest.order[l], claim.order[l], sizeof claim.order[l]);
    now.nest.hold[l] = claim.hold[l];
  }
  LayerCost cost;
  CostOptions options;
  options.resident = one.constraints.resident;
  Diagnostic why = {};
  if (EvaluateNest(one.problem, one.machine.hardware, now.nest, options, &cost, &why) !=
      Status::kOk) {
    return false;
  }
  return cost.cycles == claim.cycles &&
         cost.energy_pj == doctest::Approx(claim.energy_pj).epsilon(1e-12);
}

struct Changes {
  int refused = 0, true_still = 0;
};

void CheckChange(const Case& one, const ClaimedNest& changed, Changes* changes) {
  if (Verdict(changed, one.machine.hardware) != "") {
    ++changes->refused;
    return;
  }
  CHECK(IsTrue(one, changed));
  ++changes->true_still;
}

void ChangeNest(const Case& one, const ClaimedNest& good, Changes* changes) {
  for (uint32_t l = 0; l < good.levels; ++l) {
    for (uint32_t d = 0; d < 8; ++d) {
      for (const int64_t factor : {0, 1, 2, 3}) {
        ClaimedNest bad = good;
        bad.temporal[l][d] = factor;
        if (factor != good.temporal[l][d]) CheckChange(one, bad, changes);
        for (uint32_t a = 0; a < 3; ++a) {
          bad = good;
          bad.spatial[l][a][d] = factor;
          if (factor != good.spatial[l][a][d]) CheckChange(one, bad, changes);
        }
      }
      ClaimedNest bad = good;
      std::swap(bad.order[l][d], bad.order[l][(d + 1) % 8]);
      CheckChange(one, bad, changes);
      bad = good;
      bad.order[l][d] = bad.order[l][(d + 1) % 8];
      CHECK(Verdict(bad, one.machine.hardware) == "nest");
      bad.order[l][d] = 9;
      CHECK(Verdict(bad, one.machine.hardware) == "nest");
    }
    for (uint8_t hold = 0; hold < 16; ++hold) {
      ClaimedNest bad = good;
      bad.hold[l] = hold;
      if (hold != good.hold[l]) CheckChange(one, bad, changes);
    }
  }
}

void ChangeWorth(const Case& one, const ClaimedNest& good) {
  const Hardware& hardware = one.machine.hardware;
  for (const double by : {0.999, 1.001, -1.0, 0.0}) {
    ClaimedNest bad = good;
    bad.energy_pj *= by;
    CHECK(Verdict(bad, hardware) == "value");
    bad = good;
    bad.objective *= by;
    CHECK(Verdict(bad, hardware) == "value");
  }
  ClaimedNest bad = good;
  bad.cycles += 1;
  CHECK(Verdict(bad, hardware) == "value");
  bad = good;
  bad.bound *= 1.0001;
  CHECK(Verdict(bad, hardware) == "bound");
  bad.bound = __builtin_nan("");
  CHECK(Verdict(bad, hardware) == "bound");
  bad = good;
  bad.bound *= 0.5;  // says less, which is true
  CHECK(Verdict(bad, hardware) == "");
  bad = good;
  bad.levels += 1;
  CHECK(Verdict(bad, hardware) == "input");
  bad = good;
  bad.extent[3] = 0;
  CHECK(Verdict(bad, hardware) == "input");
  bad = good;
  bad.operands = 0;
  CHECK(Verdict(bad, hardware) == "input");
}

TEST_CASE("nest claim: every field changed is refused, or the claim is true as well") {
  Changes changes;
  int done = 0;
  for (uint64_t seed = 7000; done < 10; ++seed) {
    CAPTURE(seed);
    Case one;
    if (!Solve(seed, NestSpace::kDividing, &one)) continue;
    ++done;
    const ClaimedNest good = ClaimOf(one.request(), false, one.mapped);
    REQUIRE(Verdict(good, one.machine.hardware) == "");
    ChangeNest(one, good, &changes);
    if (one.mapped.cost.energy_pj > 0) ChangeWorth(one, good);
  }
  MESSAGE(changes.refused << " changes refused, " << changes.true_still << " true");
  CHECK(changes.refused > 10 * done);
}

TEST_CASE("nest claim: a nest whose tiles do not fit is refused") {
  int refused = 0;
  for (uint64_t seed = 300; refused < 20; ++seed) {
    CAPTURE(seed);
    Case one;
    if (!Solve(seed, NestSpace::kDividing, &one)) continue;
    Machine large;
    large.levels = one.machine.levels;
    large.fanouts = one.machine.fanouts;
    large.hardware = one.machine.hardware;
    for (MemoryLevel& level : large.levels) level.capacity_bytes = 0;
    large.Finish();
    const NestRequest request = {one.problem, large.hardware, one.constraints};
    Scratch scratch;
    Budget budget;
    MappedNest best = {};
    if (MapNestExact(request, NestSpace::kDividing, &budget, &scratch.arena, &best,
                     &scratch.diagnostic) != Status::kOk) {
      continue;
    }
    if (CheckNest(one.problem, one.machine.hardware, best.nest,
                  one.constraints.resident, &scratch.diagnostic) == Status::kOk) {
      continue;
    }
    ++refused;
    const ClaimedNest claim = ClaimOf(request, false, best);
    CHECK(Verdict(claim, large.hardware) == "");
    CHECK(Verdict(claim, one.machine.hardware) == "nest");
  }
}

TEST_CASE("nest claim: a budget that is used up stops the check") {
  Case one;
  uint64_t seed = 1;
  while (!Solve(seed, NestSpace::kDividing, &one)) ++seed;
  Scratch scratch;
  const uint32_t cancel = 1;
  Budget budget(scratch.memory.time(), 0, 0, &cancel);
  ClaimedNest claim = ClaimOf(one.request(), false, one.mapped);
  claim.bypass = true;
  claim.bound = 0;
  CHECK(CheckNestClaim(claim, one.machine.hardware, &scratch.arena, &budget,
                       &scratch.diagnostic) != Status::kRejected);
}

}  // namespace
}  // namespace sluice
