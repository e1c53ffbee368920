// SPDX-License-Identifier: Apache-2.0
// Declared compute cycles of a tile when no mapper has looked at it: peak rates, with the
// ceiling losses of an array_k x array_c MAC array.
//
// Input    MACs, vector operations, the tile's output box, channels summed over.
// Output   cycles, at least 1 and never below work / peak.
// Cost     constant.
#ifndef SLUICE_MODEL_TILE_CYCLES_H_
#define SLUICE_MODEL_TILE_CYCLES_H_

#include "base/checked.h"
#include "model/hardware.h"
#include "model/tile_geometry.h"

namespace sluice {

inline int64_t TileCycles(const Hardware& hardware, const Layer& layer,
                          const TileBoxes& boxes, int64_t c) {
  if (boxes.macs == 0) {
    return Max<int64_t>(1, CeilDivide(boxes.vector_ops, hardware.vector_ops_per_cycle));
  }
  int64_t cycles = CeilDivide(boxes.macs, hardware.macs_per_cycle);
  if (hardware.array_k != 0 && hardware.array_c != 0) {
    // A depthwise convolution sums over no channel: one column of the array works.
    const int64_t k = boxes.box[kRoleOutput].extent[3];
    const int64_t summed = layer.op == SLUICE_OP_DEPTHWISE_CONV ? 1 : c;
    const int64_t passes =
        CeilDivide(k, hardware.array_k) * CeilDivide(summed, hardware.array_c);
    cycles = Max(cycles, boxes.macs / (k * summed) * passes);
  }
  return Max<int64_t>(1, cycles);
}

}  // namespace sluice

#endif  // SLUICE_MODEL_TILE_CYCLES_H_
