// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_refute.h"

#include <doctest/doctest.h>

#include "solve/mapping/nest/nest_exact.h"
#include "tests/solve/mapping/nest_claim.h"
#include "tests/solve/mapping/random_hierarchy.h"
#include "tests/solve/mapping/scratch.h"
#include "tests/solve/mapping/small_claim.h"

namespace sluice {
namespace {

TEST_CASE("nest refute: finds a nest below a limit if and only if there is one") {
  const sluice_tests::SmallClaim small;
  for (const double share : {0.5, 0.999999, 1.000001, 2.0}) {
    CAPTURE(share);
    Scratch scratch;
    Budget budget;
    nest_claims::Effort effort = {&budget, 0};
    bool found = false;
    const nest_claims::Case one = small.Case();
    REQUIRE(nest_claims::FindCheaper(one, small.mapped.objective * share, &effort,
                                     &scratch.arena, &found,
                                     &scratch.diagnostic) == Status::kOk);
    CHECK(found == (share > 1));
    CHECK(effort.steps > 0);
  }
}

// What is given up must not be the beginning of the best nest.
TEST_CASE("nest refute: finds the best nests of random hierarchies") {
  int timed = 0, done = 0;
  for (uint64_t seed = 20000; done < 400; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    MappingProblem problem = RandomProblem(&rng);
    problem.partial_bytes = 1 + rng.Below(3);
    Machine machine;
    RandomHierarchy(&rng, &machine);
    if (PrimeFactors(problem) > 7) continue;
    MapConstraints constraints;
    constraints.delay_exponent = rng.Below(2);
    Scratch scratch;
    Budget budget;
    MappedNest mapped = {};
    const NestRequest request = {problem, machine.hardware, constraints};
    const bool ragged = PrimeFactors(problem) < 4;
    if (MapNestExact(request, ragged ? NestSpace::kRagged : NestSpace::kDividing,
                     &budget, &scratch.arena, &mapped,
                     &scratch.diagnostic) != Status::kOk ||
        !mapped.proved) {
      continue;
    }
    ++done;
    timed += constraints.delay_exponent > 0 ? 1 : 0;
    const ClaimedNest claim = sluice_tests::ClaimOf(request, ragged, mapped);
    uint32_t hold[nest_claims::kLevelsMost];
    for (uint32_t l = 0; l < nest_claims::kLevelsMost; ++l) hold[l] = claim.hold[l];
    const nest_claims::Case one = nest_claims::CaseOf(claim, machine.hardware, hold);
    for (const double share : {1 - 1e-9, 1 + 1e-9}) {
      nest_claims::Effort effort = {&budget, 0};
      bool found = false;
      REQUIRE(nest_claims::FindCheaper(one, mapped.objective * share, &effort,
                                       &scratch.arena, &found,
                                       &scratch.diagnostic) == Status::kOk);
      CHECK(found == (share > 1));
    }
  }
  CHECK(timed > 100);
}

TEST_CASE("nest refute: work of earlier calls counts") {
  const sluice_tests::SmallClaim small;
  Scratch scratch;
  Budget budget;
  nest_claims::Effort effort = {&budget, uint64_t{1} << 40};
  bool found = false;
  CHECK(nest_claims::FindCheaper(small.Case(), small.mapped.objective, &effort,
                                 &scratch.arena, &found,
                                 &scratch.diagnostic) == Status::kStopped);
}

}  // namespace
}  // namespace sluice
