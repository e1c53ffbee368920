// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_counts.h"

#include <doctest/doctest.h>

#include "tests/solve/mapping/nest_claim.h"
#include "tests/solve/mapping/random_hierarchy.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// The model's counts are compared with a walk through the loops in tests/model/access_test.cc.
TEST_CASE("nest counts: random nests in any order cost what the model says") {
  int legal = 0, uneven = 0;
  for (uint64_t seed = 1; legal < 2000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    MappingProblem problem = RandomProblem(&rng);
    problem.partial_bytes = 1 + rng.Below(3);
    Machine machine;
    RandomHierarchy(&rng, &machine);
    for (MemoryLevel& level : machine.levels) level.capacity_bytes = 0;
    MapConstraints constraints;
    constraints.delay_exponent = 1;
    constraints.resident = rng.Below(8) == 0 ? rng.Below(8) : 0;
    MappedNest mapped = {};
    RandomNest(&rng, problem, machine.hardware, &mapped.nest);
    CostOptions options;
    options.resident = constraints.resident;
    Scratch scratch;
    if (EvaluateNest(problem, machine.hardware, mapped.nest, options, &mapped.cost,
                     &scratch.diagnostic) != Status::kOk) {
      continue;
    }
    ++legal;
    int64_t covered[kDims];
    TileExtents(mapped.nest, static_cast<int>(mapped.nest.levels) - 1, covered);
    bool divides = true;
    for (uint32_t d = 0; d < kDims; ++d)
      divides = divides && covered[d] == problem.extent[d];
    uneven += divides ? 0 : 1;
    mapped.objective = MapObjective(constraints, mapped.cost.energy_pj,
                                    static_cast<double>(mapped.cost.cycles));
    Budget budget;
    const NestRequest request = {problem, machine.hardware, constraints};
    CHECK(CheckNestClaim(sluice_tests::ClaimOf(request, false, mapped),
                         machine.hardware, &scratch.arena, &budget,
                         &scratch.diagnostic) == Status::kOk);
  }
  CHECK(uneven > 500);
}

TEST_CASE("nest counts: rows of windows that slide are those that are new") {
  ClaimedNest claim = {};
  for (int64_t& extent : claim.extent) extent = 1;
  claim.extent[nest_claims::kP] = 6;
  claim.extent[nest_claims::kR] = 3;
  claim.stride[0] = claim.stride[1] = 1;
  claim.dilation[0] = claim.dilation[1] = 1;
  // Three tiles of two outputs and three taps: 4 + 4 + 4 rows, or 4 + 2 + 2.
  CHECK(nest_claims::WindowRows(claim, {0, 2, 3, false, false, 1, 1}) == 12);
  CHECK(nest_claims::WindowRows(claim, {0, 2, 3, true, false, 3, 1}) == 8);
  // A window of the second step begins anew.
  CHECK(nest_claims::WindowRows(claim, {0, 2, 3, true, false, 1, 1}) == 12);
}

}  // namespace
}  // namespace sluice
