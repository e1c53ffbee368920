// SPDX-License-Identifier: Apache-2.0
#include "model/tile_cost.h"

#include "base/checked.h"
#include "base/gcd.h"

namespace sluice {
namespace {}  // namespace

bool CutGrid(void*, const int32_t extent[4], uint32_t axes, uint32_t tiles,
             int32_t counts[4]) {
  const uint32_t batch =
      (axes & 1) != 0 ? Gcd(static_cast<uint32_t>(extent[0]), tiles) : 1;
  const uint32_t rest = tiles / batch;
  // Border length of the cuts: (h - 1) rows of W and (w - 1) columns of H elements.
  int64_t best = INT64_MAX;
  for (uint32_t w = 1; w <= rest; ++w) {
    const uint32_t h = rest / w;
    if (h * w != rest) continue;
    if ((h > 1 && (axes & 2) == 0) || (w > 1 && (axes & 4) == 0)) continue;
    if (h > static_cast<uint32_t>(extent[1]) || w > static_cast<uint32_t>(extent[2])) {
      continue;
    }
    const int64_t border = int64_t{h - 1} * extent[2] + int64_t{w - 1} * extent[1];
    if (border >= best) continue;
    best = border;
    counts[0] = static_cast<int32_t>(batch);
    counts[1] = static_cast<int32_t>(h);
    counts[2] = static_cast<int32_t>(w);
    counts[3] = 1;
  }
  return best != INT64_MAX;
}

Status TileMemo::Init(Arena* arena, const TileModel& model, size_t slots) {
  size_t size = 64;
  while (size < slots) size *= 2;
  model_ = model;
  mask_ = (size - 1) & ~uint64_t{kWays - 1};
  return arena->Allocate(size, &slots_);
}

bool TileMemo::Fill(uint32_t layer, const int32_t extent[4], Slot* set, uint64_t victim,
                    TileCost* out) {
  for (int i = 0; i < kWays; ++i) {
    if (set[i].layer == 0) {
      victim = static_cast<uint64_t>(i);
      break;
    }
  }
  Slot* slot = &set[victim];
  slot->layer = layer + 1;
  for (int i = 0; i < 4; ++i) slot->extent[i] = extent[i];
  if (!model_.cost(model_.user, layer, extent, &slot->cost))
    slot->cost = TileCost{0, 0};
  *out = slot->cost;
  return slot->cost.cycles > 0;
}

}  // namespace sluice
