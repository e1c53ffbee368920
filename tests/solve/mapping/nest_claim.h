// SPDX-License-Identifier: Apache-2.0
// Translates a mapper's answer into the claim that the judge takes: the two share no header.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_NEST_CLAIM_H_
#define SLUICE_TESTS_SOLVE_MAPPING_NEST_CLAIM_H_

#include <algorithm>

#include "solve/mapping/conv/conv_exact.h"
#include "verify/nest/nest_claim.h"

namespace sluice_tests {

inline sluice::ClaimedNest ClaimOf(const sluice::NestRequest& request, bool ragged,
                                   const sluice::MappedNest& mapped) {
  sluice::ClaimedNest claim = {};
  const sluice::MappingProblem& problem = request.problem;
  const sluice::MapConstraints& constraints = request.constraints;
  std::copy(problem.extent, problem.extent + 8, claim.extent);
  std::copy(problem.stride, problem.stride + 2, claim.stride);
  std::copy(problem.dilation, problem.dilation + 2, claim.dilation);
  std::copy(problem.element_bytes, problem.element_bytes + 3, claim.element_bytes);
  claim.operands = problem.operands;
  claim.vector = problem.vector;
  claim.partial_bytes = problem.partial_bytes;
  claim.resident = constraints.resident;
  claim.energy_exponent = constraints.energy_exponent;
  claim.delay_exponent = constraints.delay_exponent;
  claim.bypass = constraints.bypass;
  claim.ragged = ragged;
  std::copy(constraints.top_tile, constraints.top_tile + 8, claim.top_tile);
  claim.levels = mapped.nest.levels;
  for (uint32_t l = 0; l < sluice::kMaxLevels; ++l) {
    for (uint32_t d = 0; d < 8; ++d) {
      claim.temporal[l][d] = mapped.nest.temporal[l][d];
      claim.order[l][d] = mapped.nest.order[l][d];
      for (uint32_t a = 0; a < 3; ++a)
        claim.spatial[l][a][d] = mapped.nest.spatial[l][a][d];
    }
    claim.hold[l] = mapped.nest.hold[l];
  }
  claim.energy_pj = mapped.cost.energy_pj;
  claim.cycles = mapped.cost.cycles;
  claim.objective = mapped.objective;
  claim.bound = mapped.bound;
  return claim;
}

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_NEST_CLAIM_H_
