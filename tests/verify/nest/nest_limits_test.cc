// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_limits.h"

#include <doctest/doctest.h>

#include "tests/solve/mapping/random_hierarchy.h"
#include "tests/solve/mapping/scratch.h"
#include "tests/solve/mapping/small_claim.h"

namespace sluice {
namespace {

nest_claims::Limits LimitsOf(const nest_claims::Case& one, Arena* arena) {
  Span<const nest_claims::Units> units[nest_claims::kLevelsMost];
  nest_claims::Lengths lengths[nest_claims::kDimCount];
  bool too_many = false;
  for (int l = 0; l <= one.top; ++l) {
    REQUIRE(nest_claims::ListUnits(one, l, arena, &units[l], &too_many) == Status::kOk);
  }
  for (uint32_t d = 0; d < 8; ++d) {
    REQUIRE(nest_claims::ListLengths(one.claim.extent[d], one.divides, arena,
                                     &lengths[d]) == Status::kOk);
  }
  return nest_claims::LimitLevels(one, units, lengths);
}

TEST_CASE("nest limits: close to the best nest of a small layer, and not above it") {
  const sluice_tests::SmallClaim small;
  Scratch scratch;
  const nest_claims::Limits limits = LimitsOf(small.Case(), &scratch.arena);
  const double best = small.mapped.cost.energy_pj - small.mapped.cost.operations_pj;
  CHECK(limits.pj[2] <= best);
  CHECK(limits.pj[2] > 0.7 * best);
  CHECK(limits.pj[0] < limits.pj[1]);
  CHECK(limits.units[2] == 4);
}

TEST_CASE("nest limits: no random nest that divides transfers for less") {
  int legal = 0;
  for (uint64_t seed = 1; legal < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    RandomHierarchy(&rng, &machine);
    for (MemoryLevel& level : machine.levels) level.capacity_bytes = 0;
    MappedNest mapped = {};
    RandomNest(&rng, problem, machine.hardware, &mapped.nest);
    Scratch scratch;
    if (EvaluateNest(problem, machine.hardware, mapped.nest, CostOptions{},
                     &mapped.cost, &scratch.diagnostic) != Status::kOk) {
      continue;
    }
    ++legal;
    const MapConstraints constraints;
    const ClaimedNest claim =
        sluice_tests::ClaimOf({problem, machine.hardware, constraints}, true, mapped);
    uint32_t hold[nest_claims::kLevelsMost];
    for (uint32_t l = 0; l < nest_claims::kLevelsMost; ++l)
      hold[l] = mapped.nest.hold[l];
    const nest_claims::Limits limits =
        LimitsOf(nest_claims::CaseOf(claim, machine.hardware, hold), &scratch.arena);
    const LayerCost& cost = mapped.cost;
    const double transfers = cost.energy_pj - cost.operations_pj - cost.leakage_pj;
    CHECK(limits.pj[machine.levels.size() - 1] <= transfers * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace sluice
