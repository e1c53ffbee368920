// SPDX-License-Identifier: Apache-2.0
// What fusion needs to know about tiles it invents: geometry, cycles, energy.
//
// Input    TileModel, filled by the mapper, the caller's callback or a test: functions
//          that are pure in (layer, box) and report failure only by returning false.
// Output   TileCost per (layer, ofmap extents), remembered in a fixed table.
// Errors   cost and grid return false if there is no mapping or no such cut.
// Cost     a remembered look-up probes one set of four; an evicted entry is recomputed
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
  // The part of energy_pj spent on reading and writing the scratchpad.
  double scratchpad_pj = 0;
};

// Cost of one tile of a graph layer on chip, from the scratchpad down: output extents N
// H W K, summed over `channels` (0: the layer has no sum). If it returns false, cycles
// are derived from peak rates (tile_cycles.h).
struct TileCoster {
  void* user = nullptr;
  bool (*cost)(void* user, uint32_t layer, const int32_t extent[4], int32_t channels,
               TileCost* out) = nullptr;
  bool by_layer = false;  // equal layers may have tiles of different costs
};

enum : uint32_t { kTileUniform = 1, kTileShareLoads = 2, kTileWholeOfmaps = 4 };

struct TileModel {
  void* user;
  // Cuts an ofmap of the given extents `tiles` ways along the axes in the mask `axes`.
  // Returns counts per axis, product = tiles. Tiles have ceil(extent / count) elements,
  // the last ones fewer.
  bool (*grid)(void* user, const int32_t extent[4], uint32_t axes, uint32_t tiles,
               int32_t counts[4]);
  // The box of input number `input` that is needed for the box of `layer`'s ofmap.
  void (*need)(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap,
               CutBox* out);
  // Cost of computing a box of these extents.
  bool (*cost)(void* user, uint32_t layer, const int32_t extent[4], TileCost* out);
  // kTileUniform     every tile of a layer costs as much as its first (SoMa's rule).
  // kTileShareLoads  layers or tiles of one group that read the same box load it once.
  // kTileWholeOfmaps an ofmap read by later fine groups lies in one buffer, allocated
  //                  with its first tile.
  uint32_t flags;
};

// SoMa cuts the batch first, then into tiles as square as the divisors allow. This
// function keeps rows whole where it can: counts along N = gcd(N, tiles), then the
// divisors for H and W with the smallest halo per area, H preferred.
bool CutGrid(void* user, const int32_t extent[4], uint32_t axes, uint32_t tiles,
             int32_t counts[4]);

// Remembers TileModel::cost in sets of four; a full set evicts one entry.
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
  static constexpr int kWays = 4;  // slots in which a tile may lie
  struct Slot {
    uint32_t layer;  // layer + 1; 0 = empty
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
