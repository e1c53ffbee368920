// SPDX-License-Identifier: Apache-2.0
// A small convolution on three memories with an array, its best nest and what is claimed of it.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_SMALL_CLAIM_H_
#define SLUICE_TESTS_SOLVE_MAPPING_SMALL_CLAIM_H_

#include <doctest/doctest.h>

#include "solve/mapping/nest/nest_exact.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/nest_claim.h"
#include "tests/solve/mapping/scratch.h"
#include "verify/nest/nest_counts.h"

namespace sluice_tests {

struct SmallClaim {
  sluice::MappingProblem problem = sluice::ConvProblem({1, 6, 4, 6, 4, 3, 1, 1, 1});
  sluice::Machine machine;
  sluice::MapConstraints constraints;
  sluice::MappedNest mapped = {};
  sluice::ClaimedNest claim = {};

  SmallClaim() {
    machine.AddLevel(24, 0.01, 0.01);
    machine.AddLevel(200, 0.3, 0.4);
    machine.AddLevel(0, 8, 8);
    machine.AddFanout(1, 4, 127);
    machine.Finish();
    sluice::Scratch scratch;
    sluice::Budget budget;
    REQUIRE(sluice::MapNestExact({problem, machine.hardware, constraints},
                                 sluice::NestSpace::kDividing, &budget, &scratch.arena,
                                 &mapped, &scratch.diagnostic) == sluice::Status::kOk);
    REQUIRE(mapped.proved);
    claim = ClaimOf({problem, machine.hardware, constraints}, false, mapped);
  }
  sluice::nest_claims::Case Case() const {
    const uint32_t hold[sluice::nest_claims::kLevelsMost] = {7, 7, 7, 0, 0, 0};
    return sluice::nest_claims::CaseOf(claim, machine.hardware, hold);
  }
};

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_SMALL_CLAIM_H_
