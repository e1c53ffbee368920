// SPDX-License-Identifier: Apache-2.0
// Recomputes the cost of a nest that a mapper found.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_CHECK_COST_H_
#define SLUICE_TESTS_SOLVE_MAPPING_CHECK_COST_H_

#include <doctest/doctest.h>

#include "model/layer_cost.h"
#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

// Evaluates the mapper's nest once more and checks that the costs are equal.
inline void CheckCost(const MappingProblem& problem, const Hardware& hardware,
                      const MappedNest& mapped) {
  LayerCost cost;
  Diagnostic diagnostic = {};
  REQUIRE(EvaluateNest(problem, hardware, mapped.nest, CostOptions{}, &cost,
                       &diagnostic) == Status::kOk);
  CHECK(cost.energy_pj == mapped.cost.energy_pj);
  CHECK(cost.cycles == mapped.cost.cycles);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_CHECK_COST_H_
