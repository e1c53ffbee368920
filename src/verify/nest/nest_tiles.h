// SPDX-License-Identifier: Apache-2.0
// The ways to fill the fanouts below a level, and the tiles that fit one. Private to
// nest_refute.
//
// Input    a case
// Output   every way that differs in its units, where its axes begin or what its fanouts do;
//          calls with every tile within another one that fits
// Errors   kOutOfMemory; too_many: there are more than kMostUnits ways
// Cost     O(ways^2); O(tiles that fit)
#ifndef SLUICE_VERIFY_NEST_NEST_TILES_H_
#define SLUICE_VERIFY_NEST_NEST_TILES_H_

#include "base/array.h"
#include "base/memory.h"
#include "verify/nest/nest_counts.h"

namespace sluice::nest_claims {

constexpr size_t kMostUnits = 6000;

using Lengths = Span<const int64_t>;

Status ListUnits(const Case& one, int level, Arena* arena, Span<const Units>* list,
                 bool* too_many);
// Ascending: those that divide the extent, or all that a tile may have.
Status ListLengths(int64_t extent, bool divide, Arena* arena, Lengths* lengths);

struct TileRange {
  const Case& one;
  const Lengths* lengths;  // by dim
  int level;
  const int64_t* within;
  bool divide;  // tiles divide `within`, or are at most as long
};

// Calls visit(tile) for every tile that fits until it returns false; tile: ones.
template <typename Visit>
bool VisitTiles(const TileRange& range, int64_t tile[kDimCount], uint32_t dim,
                const Visit& visit) {
  if (dim == kDimCount) return visit(tile);
  bool on = true;
  for (const int64_t length : range.lengths[dim]) {
    if (length > range.within[dim] || !on) break;
    if (range.divide && range.within[dim] % length != 0) continue;
    tile[dim] = length;
    if (!Fit(range.one, range.level, tile)) break;
    on = VisitTiles(range, tile, dim + 1, visit);
  }
  tile[dim] = 1;
  return on;
}

}  // namespace sluice::nest_claims

#endif  // SLUICE_VERIFY_NEST_NEST_TILES_H_
