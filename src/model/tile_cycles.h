// SPDX-License-Identifier: Apache-2.0
// Declared compute cycles of a tile: those of a TileCoster, but at least work / peak.
// Without a TileCoster: peak rates with the ceiling losses of an array_k x array_c MAC
// array.
//
// Input    MACs, vector operations, the tile's output box, channels summed over.
// Output   cycles, at least 1 and at least work / peak; energy, 0 if unknown.
// Errors   none.
// Cost     constant, plus one call of the TileCoster.
#ifndef SLUICE_MODEL_TILE_CYCLES_H_
#define SLUICE_MODEL_TILE_CYCLES_H_

#include "base/checked.h"
#include "model/hardware.h"
#include "model/tile_cost.h"
#include "model/tile_geometry.h"

namespace sluice {

inline int64_t TileCycles(const Hardware& hardware, const TileBoxes& boxes, int64_t c) {
  if (boxes.macs == 0) {
    return Max<int64_t>(1, CeilDivide(boxes.vector_ops, hardware.vector_ops_per_cycle));
  }
  int64_t cycles = CeilDivide(boxes.macs, hardware.macs_per_cycle);
  if (hardware.array_k != 0 && hardware.array_c != 0) {
    // Depthwise: no sum over channels, so one column of the array works.
    const int64_t k = boxes.filters;
    const int64_t summed = Max<int64_t>(c, 1);
    const int64_t passes =
        CeilDivide(k, hardware.array_k) * CeilDivide(summed, hardware.array_c);
    cycles = Max(cycles, boxes.macs / (k * summed) * passes);
  }
  return Max<int64_t>(1, cycles);
}

inline int64_t LeastCycles(const Hardware& hardware, const TileBoxes& boxes) {
  const int64_t cycles =
      boxes.macs == 0 ? CeilDivide(boxes.vector_ops, hardware.vector_ops_per_cycle)
                      : CeilDivide(boxes.macs, hardware.macs_per_cycle);
  return Max<int64_t>(1, cycles);
}

// `index`: graph layer. energy_pj 0: unknown; the report derives it from bytes and
// work.
inline TileCost DeclaredCost(const TileCoster& coster, const Hardware& hardware,
                             uint32_t index, const TileBoxes& boxes, int32_t channels) {
  TileCost cost = {};
  const int32_t* extent = boxes.box[kRoleOutput].extent;
  if (coster.cost != nullptr &&
      coster.cost(coster.user, index, extent, channels, &cost)) {
    cost.cycles = Max(cost.cycles, LeastCycles(hardware, boxes));
    return cost;
  }
  return TileCost{TileCycles(hardware, boxes, channels), 0};
}

}  // namespace sluice

#endif  // SLUICE_MODEL_TILE_CYCLES_H_
