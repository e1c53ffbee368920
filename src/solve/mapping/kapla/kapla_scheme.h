// SPDX-License-Identifier: Apache-2.0
// One scheme of KAPLA's greedy search: unit tensors of the array, stacking, caching.
// Private to kapla_greedy.
//
// Input    a problem, hardware, options; an order of the loop groups for each level
// Output   a nest; on several nodes also the split that was stacked
// Errors   kInfeasible with bytes when the unit tensor does not fit
// Cost     some microseconds
// Source   KAPLA section IV-C, Algorithm 1
#ifndef SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_SCHEME_H_
#define SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_SCHEME_H_

#include "solve/mapping/mesh/node_parallel.h"

namespace sluice::kapla {

struct Greedy {
  const MappingProblem* problem;
  const Hardware* hardware;
  const KaplaOptions* options;
  LoopNest nest;
  int64_t left[kDims];  // loop counts not yet given to a level
};

// How a layer is dealt out over a region, and what one node gets.
struct Deal {
  NodeRegion region;
  NodeSplit split;
  MappingProblem part;
};

// What one pass of the array computes.
void MakeUnit(Greedy* greedy);

// Whether the tile of a level fits it.
bool Fits(const Greedy& greedy, uint32_t level);
Status FailUnit(const Greedy& greedy, uint32_t level, Diagnostic* diagnostic);

// One scheme for one choice of an order per level above the registers. orders: in base 6,
// the level nearest the array first. deal: nullptr for one node.
void BuildScheme(Greedy* greedy, uint32_t orders, Deal* deal);

// Whether the scratchpad's tile is the one that the constraints ask for.
bool KeepsTopTile(const Greedy& greedy);

}  // namespace sluice::kapla

#endif  // SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_SCHEME_H_
