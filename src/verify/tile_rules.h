// SPDX-License-Identifier: Apache-2.0
// What one tile of one layer must read and do, derived from the layer alone.
//
// Input    a layer of the original graph, the output box, the C range.
// Output   the box of every operand in its tensor's coordinates, pads, work.
// Errors   a sentence in `wrong` when no tile may look like this.
// Cost     constant.
// Source   ops.h and sluice_tile_t; written independently of the planners' geometry on
//          purpose.
#ifndef SLUICE_VERIFY_TILE_RULES_H_
#define SLUICE_VERIFY_TILE_RULES_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

struct Need {
  uint32_t operand;  // of the block
  uint32_t tensor;
  int64_t origin[kAxes];
  int64_t extent[kAxes];
  bool on_last;  // only tiles with flag LAST read it
  // Read until the last element is written: the output may not overwrite it.
  bool throughout;
  // Its axis 0 may take the place of axis 2: [k,1,1,c] for [1,1,k,c].
  bool rows_first;
  const char* role;
};

struct TileNeeds {
  Need need[5];
  uint32_t count;
  int64_t sum_channels;  // C that ranges must cover; 0 = no sum over C
  int64_t pad[4];        // 0 for ops without padding
  int64_t work;          // saturating
  bool macs;             // unit of work: MACs, else vector operations
  bool gradient;         // of weights: its MACs are no sums over input channels
  bool elementwise;      // the output may overwrite exactly an input with the same box
  uint16_t used;         // kUses bits of the operands that the op has
  const char* wrong;
};

enum { kUsesInput1 = 1, kUsesWeight = 2, kUsesParameters = 4 };

// origin and extent give the output box, which lies inside the output tensor.
void NeedsOfTile(const Graph& graph, const Layer& layer, const sluice_tile_t& tile,
                 const int64_t* origin, const int64_t* extent, TileNeeds* needs);

// How far apart the rows or columns are that neighbouring outputs of a resize read, in parts
// of 1 / 1024; each reads two.
constexpr int64_t kTwoRows = 2 << 10;
int64_t ResizeStep(const Layer& layer, int64_t in, int64_t out);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_TILE_RULES_H_
