// SPDX-License-Identifier: Apache-2.0
// A good loop nest from many starts that have nothing in common.
//
// Input    a problem, hardware of 2 to 6 levels with fanouts anywhere, constraints but
//          for outer
// Output   the best nest found, its cost and objective (levels 0: none); evaluated
// Errors   none; a budget ends the search
// Cost     some 12,000 evaluations, 10 to 40 ms; no memory
// Source   successive halving: 60 arrays filled at random are improved a little, the best
//          three of them as far as they go. Moves of one factor do not lead from one way
//          to fill an array to another that shares other operands
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_SCATTER_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_SCATTER_H_

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

void ScatterNests(const NestRequest& request, Budget* budget, MappedNest* mapped);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_SCATTER_H_
