// SPDX-License-Identifier: Apache-2.0
// A good loop nest by local search, for hierarchies that the exact mapper does not
// support.
//
// Input    a problem, hardware of 2 to 6 levels with fanouts anywhere, constraints
//          (top_tile, resident, exponents, bypass)
// Output   the best nest found, its cost by model/layer_cost, and a bound that holds
//          for every nest: operations at their peak rate, each word once in or out of
//          the outermost level. The nest is proved only if its objective equals the
//          bound
// Errors   kBadInput; kUnsupported with the hierarchy; kInfeasible with bytes when even
//          a tile of one element does not fit; kStopped
// Cost     some thousand evaluations, 5-60 ms; no memory
// Source   The search starts from arrays filled as KAPLA's stacking fills them. A move
//          shifts one factor between levels or between space and time, or changes a
//          loop order or (with bypass) what a level holds. The first improvement is
//          taken, in a fixed order
#ifndef SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_
#define SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

Status SearchNest(const MappingProblem& problem, const Hardware& hardware,
                  const MapConstraints& constraints, Budget* budget, MappedNest* mapped,
                  Diagnostic* diagnostic);

// The same from nests with this tile below the outermost level, as far as the arrays
// allow; `still` stays above it (kOperands: none). kInfeasible if none of them fits.
Status SearchFromTile(const NestRequest& request, const int64_t tile[kDims],
                      uint32_t still, Budget* budget, MappedNest* mapped);

// Makes moves from a nest that another mapper found, with its cost and objective, until
// none gains or `most` were tried.
void ImproveNest(const NestRequest& request, int64_t most, Budget* budget,
                 MappedNest* mapped);

// Input words that are needed at all, at least. Boxes of small tiles leave out rows
// between the taps of a dilated filter.
double NeededWords(const MappingProblem& problem);

// A lower bound on the objective of every nest of the problem on this hardware.
double NestBound(const MappingProblem& problem, const Hardware& hardware,
                 const MapConstraints& constraints);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_SEARCH_H_
