// SPDX-License-Identifier: Apache-2.0
// What tiles declare to cost, for all parts of a search: they ask about the same tiles
// again and again.
//
// Input    a problem; a position, the boxes of one of its tiles, its part of the sum.
// Output   DeclaredCost of the tile; a number that is the same for equal layers.
// Errors   Init: kOutOfMemory.
// Cost     a look-up; what is forgotten for another tile is priced again.
#ifndef SLUICE_SOLVE_SPACE_TILE_PRICES_H_
#define SLUICE_SOLVE_SPACE_TILE_PRICES_H_

#include "model/tile_cycles.h"
#include "solve/space/problem.h"

namespace sluice {

class TilePrices {
 public:
  explicit TilePrices(const SpaceProblem& problem) : p_(problem) {}
  Status Init(Arena* arena);
  TileCost Of(uint32_t position, const TileBoxes& boxes, TileSum sum);
  // Equal for layers with the same operation, attributes and tensors' extents and types.
  uint64_t alike(uint32_t position) const { return alike_[position]; }

 private:
  struct Known {
    uint64_t like;  // of its layer; 0: free
    int32_t extent[kAxes];
    TileSum sum;
    TileCost cost;
  };

  const SpaceProblem& p_;
  Span<Known> known_;
  Span<uint64_t> alike_;  // by position
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_TILE_PRICES_H_
