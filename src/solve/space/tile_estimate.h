// SPDX-License-Identifier: Apache-2.0
// What the tiles of a single layer cost under given loops, by an estimate that derives the
// boxes of one tile.
//
// Input    the facts of a layer, which are the same for all loops; loops.
// Output   the estimated cost, or a bound on it.
// Errors   false where a tile does not fit.
// Cost     the price of one tile; facts: some boxes for each axis.
#ifndef SLUICE_SOLVE_SPACE_TILE_ESTIMATE_H_
#define SLUICE_SOLVE_SPACE_TILE_ESTIMATE_H_

#include "solve/space/goal.h"
#include "solve/space/tile_prices.h"

namespace sluice {

struct TileSetting {
  const SpaceProblem& problem;
  TilePrices* prices;
  SpaceGoal goal;
};

// What does not change from choice to choice.
struct TileFacts {
  const SpaceProblem* problem;
  TilePrices* prices;
  SpaceGoal goal;
  uint32_t position;
  const Layer* layer;
  TileOperands operands;
  CutRule rule;
  RootAxes axes;              // of the output
  int32_t extent[kAxes + 1];  // of the output; kSumCut: channels summed over
  int32_t channels;           // summed over, also where the sum must not be cut
  uint32_t whole;             // bits of roles
  bool depends[kTileRoles][kAxes + 1];
  int64_t room;              // bytes
  double moved[kTileRoles];  // least bytes, if each is moved once; 0: whole on chip
  double peak;               // least cycles of the whole layer
  double per_byte;           // cost of the energy of a byte that moves
  double dma_per_byte;       // cycles
};

// Bounds on what EstimateTiles finds.
struct TileBound {
  double cost, bytes;
};

// Whether an axis of an input runs over several axes of its root: pieces of a sum along
// such an axis do not lie in one frame.
bool Crosses(const SpaceProblem& problem, const Layer& layer);

// whole: bits of the roles that lie whole on chip.
TileFacts FactsOfTiles(const TileSetting& of, uint32_t position, uint32_t whole);

// Each byte moves as often as loops around those that it depends on repeat it, and the
// largest box of an operand is no smaller than its boxes are on average.
TileBound LeastOf(const TileFacts& f, const LoopChoice& loops);

// Estimates the cost of the layer by itself; false if a tile does not fit. If a lower
// bound on the cost is not below `most`, *cost is that bound, and the coster is not
// asked.
bool EstimateTiles(const TileFacts& f, const LoopChoice& loops, double most,
                   double* cost);

// Whether a part of an input is loaded more than once.
bool Reloads(const TileFacts& f, const LoopChoice& loops);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_TILE_ESTIMATE_H_
