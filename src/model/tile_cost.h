// SPDX-License-Identifier: Apache-2.0
// What fusion needs to know about tiles it invents: geometry, cycles, energy.
//
// Input    filled by the mapper, the caller's callback or a test: function pointers that
//          are pure in (layer, box) and never fail but by returning false.
// Output   TileCost per (layer, ofmap extents), remembered in a fixed table.
// Errors   cost and grid return false where no mapping or no such cut exists.
// Cost     a remembered look-up is one probe of sets of four; a clash recomputes
// Source   SoMa section IV-B (core array scheduler behind a memo).
#ifndef SLUICE_MODEL_TILE_COST_H_
#define SLUICE_MODEL_TILE_COST_H_

#include <stdint.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

// Half-open box of elements, axes N H W K.
struct CutBox {
  int32_t begin[4];
  int32_t end[4];
};

struct TileCost {
  int64_t cycles;  // >= 1
  double energy_pj;
  double scratchpad_pj = 0;  // the part of it that reads and writes the scratchpad
};

// What computing one tile of a graph layer costs, on chip, from the scratchpad down:
// output extents N H W K, summing over `channels` (0: the layer sums over none). Where
// the answer is false, peak rates are declared (tile_cycles.h).
struct TileCoster {
  void* user = nullptr;
  bool (*cost)(void* user, uint32_t layer, const int32_t extent[4], int32_t channels,
               TileCost* out) = nullptr;
};

enum : uint32_t { kTileUniform = 1, kTileShareLoads = 2, kTileWholeOfmaps = 4 };

struct TileModel {
  void* user;
  // Cuts an ofmap of the given extents `tiles` ways along the axes in the mask `axes`;
  // counts per axis, product = tiles. The tiles have ceil(extent / count) elements, the
  // last ones fewer.
  bool (*grid)(void* user, const int32_t extent[4], uint32_t axes, uint32_t tiles,
               int32_t counts[4]);
  // Which elements of input number `input` the box of `layer`'s ofmap is computed from.
  void (*need)(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap,
               CutBox* out);
  // Cost of computing a box of these extents.
  bool (*cost)(void* user, uint32_t layer, const int32_t extent[4], TileCost* out);
  // kTileUniform     every tile of a layer counts like its first (SoMa's rule).
  // kTileShareLoads  what two layers or tiles of one group read alike is loaded once.
  // kTileWholeOfmaps what later fine groups read lies in one buffer, from its first
  // tile.
  uint32_t flags;
};

// SoMa cuts the batch first, then into tiles as square as the divisors allow; this
// keeps rows whole where it can: counts along N = gcd(N, tiles), then the pair of
// divisors for H and W with the smallest halo per area, H preferred.
bool CutGrid(void* user, const int32_t extent[4], uint32_t axes, uint32_t tiles,
             int32_t counts[4]);

// Remembers TileModel::cost in sets of four; a full set forgets one entry.
class TileMemo {
 public:
  // slots: rounded up to a power of two.
  Status Init(Arena* arena, const TileModel& model, size_t slots);
  bool Cost(uint32_t layer, const int32_t extent[4], TileCost* out) {
    const uint64_t hash = Hash(layer, extent);
    Slot* set = &slots_[hash & mask_];
    for (int i = 0; i < kWays; ++i) {
      const Slot& slot = set[i];
      if (slot.layer == layer + 1 && slot.extent[0] == extent[0] &&
          slot.extent[1] == extent[1] && slot.extent[2] == extent[2] &&
          slot.extent[3] == extent[3]) {
        *out = slot.cost;
        return slot.cost.cycles > 0;
      }
    }
    return Fill(layer, extent, set, hash >> 62, out);
  }
  const TileModel& model() const { return model_; }

 private:
  static constexpr int kWays = 4;
  struct Slot {
    uint32_t layer;  // + 1; 0 = empty
    int32_t extent[4];
    TileCost cost;  // cycles 0 = no mapping
  };
  static uint64_t Hash(uint32_t layer, const int32_t extent[4]) {
    uint64_t h = layer * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 4; ++i) {
      h = (h ^ static_cast<uint32_t>(extent[i])) * 0xbf58476d1ce4e5b9u;
      h ^= h >> 29;
    }
    return h;
  }
  bool Fill(uint32_t layer, const int32_t extent[4], Slot* set, uint64_t victim,
            TileCost* out);

  TileModel model_ = {};
  Span<Slot> slots_;
  uint64_t mask_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_TILE_COST_H_
