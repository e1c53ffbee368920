// SPDX-License-Identifier: Apache-2.0
// A good loop nest on any hierarchy, by local search: where the exact mapper's space
// ends.
//
// Input    a problem, hardware of 2 to 6 levels with fanouts anywhere, constraints
//          (top_tile, resident, exponents, bypass)
// Output   the best nest found, its cost by model/layer_cost, and a bound that holds
// for
//          every nest: operations at their peak, each word once in or out of the
//          outermost level. Proved only if both meet
// Errors   kBadInput; kUnsupported: hierarchy named; kInfeasible with bytes when even a
//          tile of one element does not fit; kStopped
// Cost     some thousand evaluations, 5-60 ms; no memory
// Source   starts fill the arrays as KAPLA's stacking does; moves of one factor between
//          levels, space and time, of loop orders and (with bypass) of what levels
//          hold, first improvement, deterministic
#ifndef SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_
#define SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

Status SearchNest(const MappingProblem& problem, const Hardware& hardware,
                  const MapConstraints& constraints, Budget* budget, MappedNest* mapped,
                  Diagnostic* diagnostic);

// No nest of the problem on this hardware has an objective below.
double NestBound(const MappingProblem& problem, const Hardware& hardware,
                 const MapConstraints& constraints);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_
