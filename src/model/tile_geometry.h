// SPDX-License-Identifier: Apache-2.0
// What one tile of one layer reads, writes and computes: exact boxes with the halo on
// both sides, smaller at borders.
//
// Input    a layer of a checked graph, a box of its output, a range of input channels.
// Output   the box of every operand in its own tensor's coordinates, the tile's pads.
// Errors   none; the graph's invariants are assumed.
// Cost     constant time, no scratch.
// Source   ops.h and stream.h (sluice_tile_t).
#ifndef SLUICE_MODEL_TILE_GEOMETRY_H_
#define SLUICE_MODEL_TILE_GEOMETRY_H_

#include "model/graph.h"
#include "model/ops/traits.h"

namespace sluice {

struct Box {
  int32_t begin[kAxes];
  int32_t extent[kAxes];

  int64_t elements() const {
    return int64_t{extent[0]} * extent[1] * extent[2] * extent[3];
  }
};

bool operator==(const Box& a, const Box& b);
bool Contains(const Box& outer, const Box& inner);
Box WholeBox(const Tensor& tensor);

// Tensor of each role, kNone where the op has none.
struct TileOperands {
  uint32_t tensor[kTileRoles];
};
TileOperands OperandsOf(const Layer& layer);

// Extent over which a tile's sum may be split: input channels, or for a weight gradient
// the rows of the error (pieces: divisors or multiples of its rows per image); 0 if the
// op does not accumulate.
int32_t AccumulatedChannels(const Graph& graph, const Layer& layer);

// Which output axes a tile may be cut along, and the unit of each cut (grouped and
// depthwise convolutions: whole groups of channels).
struct CutRule {
  bool cuttable[kAxes];
  int32_t unit[kAxes];
  int32_t sum_unit;  // nodes sum over multiples of it; weight gradient: whole images
};
CutRule CutsOf(const Graph& graph, const Layer& layer);

struct TileBoxes {
  Box box[kTileRoles];  // valid where the role has a tensor
  uint16_t pad[4];      // top, left, bottom, right
  int32_t filters;      // output channels; weight gradient: the error's channels
  int64_t macs;
  int64_t vector_ops;
};

// c_begin = c_end = 0 for ops that do not accumulate over channels.
void SetBoxes(const Graph& graph, const Layer& layer, const Box& output,
              int32_t c_begin, int32_t c_end, TileBoxes* t);
inline TileBoxes BoxesOf(const Graph& graph, const Layer& layer, const Box& output,
                         int32_t c_begin, int32_t c_end) {
  TileBoxes t;
  SetBoxes(graph, layer, output, c_begin, c_end, &t);
  return t;
}

// Input range [*begin, *end) that outputs [begin, begin + extent) of a window op need,
// not clipped: negative or beyond the input where there is padding.
struct Window {
  int32_t filter, stride, dilation, pad_before;
};
Window WindowOf(const Graph& graph, const Layer& layer, int axis);

// First and last input index that output index i of a resize reads.
void ResizeNeeds(const Layer& layer, int64_t in, int64_t out, int64_t i, int64_t* first,
                 int64_t* last);

}  // namespace sluice

#endif  // SLUICE_MODEL_TILE_GEOMETRY_H_
