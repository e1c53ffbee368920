// SPDX-License-Identifier: Apache-2.0
// Which loops around a single layer are worth trying: its tiles' sizes and their order.
//
// Input    a problem, a position, which of its operands lie whole in the scratchpad.
// Output   the loops with the least estimated cost, best first.
// Errors   kOutOfMemory.
// Cost     some hundred estimates for each distinct layer; then a look-up.
#ifndef SLUICE_SOLVE_SPACE_TILES_H_
#define SLUICE_SOLVE_SPACE_TILES_H_

#include "base/sequence.h"
#include "solve/space/segment.h"
#include "solve/space/tile_estimate.h"

namespace sluice {

// Numbers of parts to cut an extent into, each with another part size: all numbers up
// to a limit, then fewer and fewer.
struct TripList {
  int32_t trips[24];
  int size = 0;
};
TripList TripsOf(int32_t extent, int32_t all_up_to = 4);

// Cuts of the first three axes from coarse to fine: an axis is cut only where the axes
// before it are cut into single indices. Rows come before columns, unless only rows
// have a halo.
class OuterCuts {
 public:
  // all_up_to: as TripsOf.
  OuterCuts(const Graph& graph, const Layer& layer, const int32_t extent[kAxes],
            int32_t all_up_to = 4);
  int size() const { return trips_[0].size + trips_[1].size + trips_[2].size; }
  LoopChoice at(int i) const;
  // The finest cut of the axis that is cut as the first, second or third.
  int finest(int axis) const {
    int n = -1;
    for (int a = 0; a <= axis; ++a) n += trips_[a].size;
    return n;
  }

 private:
  uint8_t axis_[3] = {0, 1, 2};
  TripList trips_[3];
  int32_t extent_[3];
};

// Whether windows of the layer overlap along rows and along columns.
bool Overlap(const Graph& graph, const Layer& layer);

// Cuts of rows and columns together, of single images, from coarse to fine: pieces that
// are about as wide as they are high, or twice as wide. They have less halo than whole
// rows with as many elements. Empty if the layer's windows do not overlap.
class SquareCuts {
 public:
  SquareCuts(const Graph& graph, const Layer& layer, const int32_t extent[kAxes]);
  int size() const { return size_; }
  LoopChoice at(int i) const;

 private:
  static constexpr int kMost = 32;  // later ones are left out
  int32_t images_ = 1;
  int32_t rows_[kMost], columns_[kMost];
  int size_ = 0;
};

struct TileChoices {
  static constexpr int kMost = 4;  // the cheapest
  LoopChoice loops[kMost];
  double cost[kMost];
  int count = 0;
};

class TileChooser {
 public:
  // budget: when it ends, the layers asked about from then on have no more choices.
  // lean: every other size.
  TileChooser(const SpaceProblem& problem, TilePrices* prices, const SpaceGoal& goal,
              Budget* budget, Arena* arena, bool lean = false)
      : of_{problem, prices, goal}, lean_(lean), budget_(budget), known_(arena) {}

  // whole: bits of the roles that lie whole on chip.
  Status Choose(uint32_t position, uint32_t whole, const TileChoices** out);

 private:
  struct Known {
    uint64_t like;  // as TilePrices::alike
    uint32_t whole;
    TileChoices choices;
  };
  void Fill(uint32_t position, uint32_t whole, TileChoices* out) const;

  const TileSetting of_;
  const bool lean_;
  Budget* budget_;
  Sequence<Known> known_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_TILES_H_
