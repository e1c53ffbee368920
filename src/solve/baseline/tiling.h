// SPDX-License-Identifier: Apache-2.0
// How one layer is cut into tiles that fit the scratchpad, when every layer goes
// through DRAM on its own.
//
// Cut along N, H, W, then K, then, where it pays much, C with accumulation. Among the cuts
// that fit, the one with the least estimated time wins; ties go to fewer tiles. The caller's
// cost function is asked only about tiles that would win if they took no longer than work /
// peak.
//
// Input    graph, hardware, one layer that computes; costs of its tiles; scratchpad
//          bytes.
// Output   chunk per axis, loop order, whether buffers are doubled.
// Errors   kInfeasible when the smallest tile does not fit; *smallest is what it needs.
// Cost     some hundred evaluations; scratch a few KiB.
#ifndef SLUICE_SOLVE_BASELINE_TILING_H_
#define SLUICE_SOLVE_BASELINE_TILING_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "model/lowering.h"
#include "model/tile_cost.h"
#include "model/tile_geometry.h"

namespace sluice {

struct Tiling {
  int32_t chunk[kAxes];  // of the output's axes
  int32_t c_chunk;       // of the channels summed over; 0 when there are none
  bool k_outer;          // loops from outside: K N H W C, else N H W K C
  bool doubled;          // two buffers per role that is loaded more than once
  double cycles = 0;     // estimated
};

// The layer as the tiler sees it: input 0 may be the input of a folded PAD.
struct TiledLayer {
  const Graph& graph;
  const Hardware& hardware;
  Layer layer;            // with folded input and pads already in place of its own
  TileOperands operands;  // tensors by role
  int32_t channels;       // summed over, 0 when none
  // Parts per loop (N H W K C) that as many nodes compute at once. Tiles are then cut
  // from a part; data that nodes share are loaded once.
  int32_t parts[kAxes + 1] = {1, 1, 1, 1, 1};
  TileCoster coster = {};  // what tiles cost; without one, what the array takes
  uint32_t index = 0;      // of the layer in the graph, for the coster
};

// The largest part of an extent that is cut in multiples of a unit.
inline int32_t PartExtent(int32_t extent, int32_t parts, int32_t unit) {
  const int64_t part = (int64_t{extent} + parts - 1) / parts;
  const int64_t whole = (part + unit - 1) / unit * unit;
  return static_cast<int32_t>(whole < extent ? whole : extent);
}

// Loop trip counts and what each role's buffers take under a tiling.
struct TileBuffers {
  int32_t trips[kAxes + 1];          // N H W K C
  int64_t role_bytes[kTileRoles];    // of one buffer, aligned
  int32_t role_buffers[kTileRoles];  // 0, 1 or 2
  int64_t accumulator_bytes;         // 0 when none is needed
  int64_t total_bytes;
};

// buffers: those of the tiling, as BuffersOf gives them; nullptr: not wanted.
Status ChooseTiling(const TiledLayer& layer, int64_t scratchpad_bytes, Arena* scratch,
                    Tiling* tiling, int64_t* smallest, TileBuffers* buffers = nullptr);

TileBuffers BuffersOf(const TiledLayer& layer, const Tiling& tiling);

}  // namespace sluice

#endif  // SLUICE_SOLVE_BASELINE_TILING_H_
