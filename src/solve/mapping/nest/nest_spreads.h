// SPDX-License-Identifier: Apache-2.0
// The ways to fill the fanouts below one level, and the tiles that fit a memory.
// Private to nest_exact.
//
// Input    problem, hardware
// Output   every spread whose factors divide the extents (ragged: or not), once for all
//          that differ in their axes alone; calls with every tile that divides another
//          one and fits
// Errors   kOutOfMemory; kUnsupported when there are too many
// Cost     O(spreads); O(tiles that fit)
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_SPREADS_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_SPREADS_H_

#include "base/memory.h"
#include "solve/mapping/nest/nest_steps.h"

namespace sluice::nest_exact {

constexpr size_t kMostFillings = 6000;  // of the fanouts of one level

Status ListSpreads(const MappingProblem& problem, const Hardware& hardware,
                   uint32_t level, bool ragged, Vector<Spread>* spreads);

// Whether a tile's operands fit `level`.
bool Fits(const Model& model, uint32_t level, const int64_t tile[kDims]);

// The tiles of these lengths that divide `within` (whole: or are at most as long) and
// fit `level`.
struct Tiles {
  const Model& model;
  const Span<const int64_t>* lengths;
  uint32_t level;
  const int64_t* within;
  bool whole;
};

// Calls visit(tile) for each of them; stops when it returns false. tile: ones.
template <typename Visit>
bool ForEachTile(const Tiles& tiles, int64_t tile[kDims], uint32_t dim,
                 const Visit& visit) {
  if (dim == kDims) return visit(tile);
  bool on = true;
  for (const int64_t length : tiles.lengths[dim]) {
    if (!on || length > tiles.within[dim]) break;
    if (!tiles.whole && tiles.within[dim] % length != 0) continue;
    tile[dim] = length;
    if (!Fits(tiles.model, tiles.level, tile)) break;
    on = ForEachTile(tiles, tile, dim + 1, visit);
  }
  tile[dim] = 1;
  return on;
}

}  // namespace sluice::nest_exact

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_SPREADS_H_
