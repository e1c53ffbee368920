// SPDX-License-Identifier: Apache-2.0
// The operators of ops.h on one box of the output: a tile or a whole tensor.
//
// Input    Tile: operands as boxes, attributes, where the box lies in its layer
// Output   RunTile writes `output` (LAST), else `accumulator`, which must hold the old
//          sums unless FIRST.
// Errors   CheckTile returns a sentence; RunTile needs a tile that passed CheckTile
// Cost     the operator's work; convolution as inner products of contiguous int16 rows
// Source   arithmetic of ops.h (TFLite's reference kernels)
#ifndef SLUICE_FIRMWARE_SIM_KERNELS_H_
#define SLUICE_FIRMWARE_SIM_KERNELS_H_

#include <string>
#include <vector>

#include "box.h"
#include "fixed_point.h"
#include "ops.h"

namespace sluice_sim {

// What the graph says about the layer that a tile belongs to.
struct LayerExtents {
  Extent input{};   // of input 0
  Extent second{};  // of input 1
  Extent output{};
  // Input 0 is a PAD's output: its added rows may be expressed as the tile's padding.
  bool padded = false;
};

struct Tile {
  int op = 0;
  std::vector<int32_t> attributes;
  bool first = true, last = true;
  Box input0, input1, weight, parameters, accumulator, output;
  Extent origin{};
  int64_t c_begin = 0, c_end = 0;
  int64_t pad[4] = {0, 0, 0, 0};  // top, left, bottom, right of this box
  LayerExtents layer;
  const uint32_t* cancel = nullptr;  // of the run

  int32_t A(size_t i) const { return i < attributes.size() ? attributes[i] : 0; }
  const Box& target() const { return last ? output : accumulator; }
  int64_t groups() const {
    return OpOf(op).grouped && A(SLUICE_CONV_GROUPS) > 1 ? A(SLUICE_CONV_GROUPS) : 1;
  }
  int layout() const {  // of the weight
    return OpOf(op).slide == Slide::kScatter ? A(SLUICE_CONV_WEIGHT_LAYOUT)
                                             : SLUICE_WEIGHT_LAYOUT_OWN;
  }
  bool is_depthwise() const {
    return OpOf(op).channelwise || layout() == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
  }
  bool sums_over_c() const {
    return OpOf(op).finish != Finish::kNoSum && !is_depthwise();
  }
};

// Stride, dilation, window and padding of the ops that slide over H and W.
struct Window {
  int64_t stride[2], dilation[2], size[2], pad_before[2];
};
Window WindowOf(const Tile& tile);

// Input rows that scatter into output rows [begin, begin + count) of a transposed
// convolution. Where no row does, a tile still holds one input row, and this is that row.
struct Rows {
  int64_t first, last;  // inclusive; empty when first > last
};
Rows TransposedRows(int64_t begin, int64_t count, int64_t stride, int64_t pad,
                    int64_t filter, int64_t rows);

// Ifmap rows (axis 1) or columns (axis 2) that a max pool's gradient reads.
Rows PoolGradientRows(const Tile& tile, int axis);

// Rows along N or C of its input that a PAD's tile holds.
Rows PaddedRows(const Tile& tile, int axis);

// ResizePosition: RESIZE's input position in 1/1024 rows. ResizeRows: first and last
// input row that output rows [begin, begin + count) read.
int64_t ResizePosition(const Tile& tile, int axis, int64_t index);
Rows ResizeRows(const Tile& tile, int axis, int64_t begin, int64_t count);

// FULLY_CONNECTED's weight [1,1,K,C] seen as a filter [K,1,1,C].
inline Box FilterOf(const Box& w) {
  if (w.extent[0] != 1 || w.extent[1] != 1) return w;
  return Box{w.data,
             w.dtype,
             {w.extent[2], 1, 1, w.extent[3]},
             {w.stride[2], 0, 0, w.stride[3]}};
}

// CheckTile returns a sentence; empty = the tile is right.
std::string CheckTile(const Tile& tile);
void RunTile(const Tile& tile);

// What every tile must have: consistent flags, an input, a box inside the layer's
// output, and no padding unless the operator has some.
std::string CheckFrame(const Tile& tile);

// Each checks a few operators; requires that CheckFrame has passed.
std::string CheckConvolution(const Tile& tile);
std::string CheckMatmul(const Tile& tile);
std::string CheckWeightGradient(const Tile& tile);
std::string CheckMaxPoolGradient(const Tile& tile);
std::string CheckPool(const Tile& tile);
std::string CheckBinary(const Tile& tile);
std::string CheckReluGradient(const Tile& tile);
std::string CheckSameBox(const Tile& tile);
std::string CheckHardSwish(const Tile& tile);
std::string CheckPrelu(const Tile& tile);
std::string CheckLookup(const Tile& tile);
std::string CheckSoftmax(const Tile& tile);
std::string CheckNorm(const Tile& tile);
std::string CheckRmsNorm(const Tile& tile);
std::string CheckReduce(const Tile& tile);
std::string CheckArgmax(const Tile& tile);
std::string CheckPad(const Tile& tile);
std::string CheckTranspose(const Tile& tile);
std::string CheckResize(const Tile& tile);

// Require that CheckTile has passed.
void RunConvolution(const Tile& tile);
void RunDepthwise(const Tile& tile);
void RunTransposed(const Tile& tile);
void RunMatmul(const Tile& tile);
void RunWeightGradient(const Tile& tile);
void RunMaxPoolGradient(const Tile& tile);
void RunMaxPool(const Tile& tile);
void RunAveragePool(const Tile& tile);
void RunAdd(const Tile& tile);
void RunSub(const Tile& tile);
void RunMul(const Tile& tile);
void RunMinimum(const Tile& tile);
void RunMaximum(const Tile& tile);
void RunReluGradient(const Tile& tile);
void RunRequantize(const Tile& tile);
void RunHardSwish(const Tile& tile);
void RunPrelu(const Tile& tile);
void RunLookup(const Tile& tile);
void RunSoftmax(const Tile& tile);
void RunLayerNorm(const Tile& tile);
void RunRmsNorm(const Tile& tile);
void RunReduce(const Tile& tile);
void RunArgmax(const Tile& tile);
void RunPad(const Tile& tile);
void RunTranspose(const Tile& tile);
void RunResizeBilinear(const Tile& tile);
void RunResizeNearest(const Tile& tile);

inline int64_t Clamp(int64_t v, int64_t low, int64_t high) {
  return v < low ? low : v > high ? high : v;
}

// Place of a row of channels within a box.
struct RowAt {
  int64_t n, h, w;
};

// Finishes the sums of the first `channels` channels of one output row: adds them to
// the accumulator, or requantises them into the output.
void FinishRow(const Tile& tile, const int32_t* sums, const RowAt& at,
               int64_t channels);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_KERNELS_H_
