// SPDX-License-Identifier: Apache-2.0
#include "model/ops/traits.h"

namespace sluice {
namespace {

constexpr LayerKind kCompute = LayerKind::kCompute;
constexpr TileRole kIn0 = kRoleInput0, kIn1 = kRoleInput1, kWght = kRoleWeight,
                   kPrms = kRoleParameters, kNone_ = kNoRole;
using F = Form;
using W = WindowRule;
using S = SumRule;
using C = CutLimit;
using V = ViewRule;
using N = NeedRule;
using R = Reach;
using A = AxisRule;
using T = NestRule;
constexpr Work kNoWork = Work::kNoWork, kMacs = Work::kMacs, kVector = Work::kVectorOps;
constexpr bool o = false, x = true;  // no and yes in four columns
// clang-format off
constexpr Quantities
    kPlainQ = {kNoScales, {-1, -1, -1}},
    kTableQ = {kNoScales, {-1, -1, -1}, true},
    kConvQ = {kRowsOfScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    kMatmulQ = {SLUICE_MATMUL_MULTIPLIER, {SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO, SLUICE_MATMUL_OUTPUT_ZERO}},
    kGradientQ = {SLUICE_WEIGHT_GRADIENT_MULTIPLIER, {SLUICE_CONV_INPUT_ZERO, SLUICE_WEIGHT_GRADIENT_ERROR_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    kBinaryQ = {kPairsOfScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    kRequantizeQ = {SLUICE_REQUANTIZE_MULTIPLIER, {SLUICE_REQUANTIZE_INPUT_ZERO, -1, SLUICE_REQUANTIZE_OUTPUT_ZERO}},
    kSwishQ = {kPairsOfScales, {SLUICE_HARD_SWISH_INPUT_ZERO, -1, SLUICE_HARD_SWISH_OUTPUT_ZERO}},
    kPreluQ = {kPairsOfScales, {SLUICE_PRELU_INPUT_ZERO, SLUICE_PRELU_SLOPE_ZERO, SLUICE_PRELU_OUTPUT_ZERO}},
    kLayerNormQ = {kRowsOfScales, {-1, -1, SLUICE_NORM_OUTPUT_ZERO}},
    kRmsNormQ = {kRowsOfScales, {SLUICE_NORM_INPUT_ZERO, -1, SLUICE_NORM_OUTPUT_ZERO}},
    kReduceQ = {SLUICE_REDUCE_MULTIPLIER, {SLUICE_REDUCE_INPUT_ZERO, -1, SLUICE_REDUCE_OUTPUT_ZERO}},
    kPoolGradientQ = {kNoScales, {SLUICE_POOL_ERROR_ZERO, -1, SLUICE_POOL_ERROR_ZERO}};

// In the order of codes. Two lines each:
//   op, kind, form, inputs (least, most), attributes, roles of inputs 0 to 2,
//   work, ops per output, window, sum, cuts, view, needs, reach, axes, nest,
//   same_channels, takes_pads, in_place, scatters, quantities
constexpr OpTraits kRows[] = {
    {0, LayerKind::kUnknown, F::kUnknown, 0, 0, 0, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kNothing, R::kUnknown, A::kApart, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_CONV, kCompute, F::kConv, 3, 3, SLUICE_CONV_ATTRIBUTES, {kIn0, kWght, kPrms},
     kMacs, 0, W::kFilter, S::kWeightChannels, C::kChannelGroups, V::kNever, N::kByWindows, R::kWindow, A::kSame, T::kConv, o, x, o, o, kConvQ},
    {SLUICE_OP_DEPTHWISE_CONV, kCompute, F::kDepthwiseConv, 3, 3, SLUICE_CONV_ATTRIBUTES, {kIn0, kWght, kPrms},
     kMacs, 0, W::kFilter, S::kNoSum, C::kChannelGroups, V::kNever, N::kByWindows, R::kWindow, A::kSame, T::kConv, o, x, o, o, kConvQ},
    {SLUICE_OP_TRANSPOSED_CONV, kCompute, F::kTransposedConv, 3, 3, SLUICE_TRANSPOSED_CONV_ATTRIBUTES, {kIn0, kWght, kPrms},
     kMacs, 0, W::kFilter, S::kWeightChannels, C::kAnywhere, V::kNever, N::kNothing, R::kUnknown, A::kSame, T::kTransposed, o, o, o, x, kConvQ},
    {SLUICE_OP_FULLY_CONNECTED, kCompute, F::kFullyConnected, 3, 3, SLUICE_CONV_ATTRIBUTES, {kIn0, kWght, kPrms},
     kMacs, 0, W::kNoWindow, S::kInputChannels, C::kAnywhere, V::kNever, N::kAll, R::kRow, A::kSame, T::kRows, o, o, o, o, kConvQ},
    {SLUICE_OP_BATCH_MATMUL, kCompute, F::kMatmul, 2, 2, SLUICE_MATMUL_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kMacs, 0, W::kNoWindow, S::kInputChannels, C::kAnywhere, V::kNever, N::kAll, R::kUnknown, A::kSame, T::kMatmul, o, o, o, o, kMatmulQ},
    {SLUICE_OP_MAX_POOL, kCompute, F::kPool, 1, 1, SLUICE_POOL_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 0, W::kPool, S::kNoSum, C::kAnywhere, V::kNever, N::kByWindows, R::kWindow, A::kSame, T::kPool, o, o, o, o, kPlainQ},
    {SLUICE_OP_AVERAGE_POOL, kCompute, F::kPool, 1, 1, SLUICE_POOL_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 0, W::kPool, S::kNoSum, C::kAnywhere, V::kNever, N::kByWindows, R::kWindow, A::kSame, T::kPool, o, o, o, o, kPlainQ},
    {SLUICE_OP_ADD, kCompute, F::kBinary, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kBinaryQ},
    {SLUICE_OP_SUB, kCompute, F::kBinary, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kBinaryQ},
    {SLUICE_OP_MUL, kCompute, F::kBinary, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kBinaryQ},
    {SLUICE_OP_MINIMUM, kCompute, F::kBinary, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kPlainQ},
    {SLUICE_OP_MAXIMUM, kCompute, F::kBinary, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kPlainQ},
    {SLUICE_OP_REQUANTIZE, kCompute, F::kUnary, 1, 1, SLUICE_REQUANTIZE_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kRequantizeQ},
    {SLUICE_OP_LOOKUP, kCompute, F::kLookup, 2, 2, 0, {kIn0, kWght, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, x, o, x, o, kTableQ},
    {SLUICE_OP_SOFTMAX, kCompute, F::kSoftmax, 1, 2, SLUICE_SOFTMAX_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kWholeRows, V::kNever, N::kAll, R::kElement, A::kSame, T::kNoNest, o, o, x, o, kTableQ},
    {SLUICE_OP_LAYER_NORM, kCompute, F::kLayerNorm, 2, 2, SLUICE_NORM_ATTRIBUTES, {kIn0, kPrms, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kWholeRows, V::kNever, N::kAll, R::kElement, A::kSame, T::kNoNest, o, o, x, o, kLayerNormQ},
    {SLUICE_OP_RMS_NORM, kCompute, F::kRmsNorm, 2, 2, SLUICE_NORM_ATTRIBUTES, {kIn0, kPrms, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kWholeRows, V::kNever, N::kAll, R::kElement, A::kSame, T::kNoNest, o, o, x, o, kRmsNormQ},
    {SLUICE_OP_REDUCE, kCompute, F::kReduce, 1, 1, SLUICE_REDUCE_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kUnknown, A::kReduced, T::kNoNest, o, o, o, o, kReduceQ},
    {SLUICE_OP_ARGMAX, kCompute, F::kArgmax, 1, 1, 0, {kIn0, kNone_, kNone_},
     kVector, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kUnknown, A::kReduced, T::kNoNest, x, o, o, o, kPlainQ},
    {SLUICE_OP_CONCAT, LayerKind::kCopy, F::kConcat, 1, 0, SLUICE_CONCAT_ATTRIBUTES, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kConcat, N::kAll, R::kRow, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_SLICE, LayerKind::kCopy, F::kSlice, 1, 1, SLUICE_SLICE_ATTRIBUTES, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kSlice, N::kNothing, R::kShifted, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_PAD, kCompute, F::kPad, 1, 1, SLUICE_PAD_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 1, W::kPads, S::kNoSum, C::kUnpaddedAxes, V::kFolds, N::kAll, R::kUnknown, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_RESHAPE, LayerKind::kCopy, F::kReshape, 1, 1, 0, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kReshape, N::kAll, R::kUnknown, A::kSame, T::kNoNest, o, o, x, o, kPlainQ},
    {SLUICE_OP_TRANSPOSE, kCompute, F::kTranspose, 1, 1, SLUICE_TRANSPOSE_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kUnknown, A::kPermuted, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_GATHER, LayerKind::kGather, F::kGather, 2, 2, 0, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kSecond, R::kUnknown, A::kSame, T::kNoNest, o, o, o, o, kTableQ},
    {SLUICE_OP_RESIZE_BILINEAR, kCompute, F::kResize, 1, 1, SLUICE_RESIZE_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 4, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kNothing, R::kUnknown, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_RESIZE_NEAREST, kCompute, F::kResize, 1, 1, SLUICE_RESIZE_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 4, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kNothing, R::kUnknown, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_STATE_APPEND, LayerKind::kAppend, F::kAppend, 2, 2, SLUICE_APPEND_ATTRIBUTES, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kSecond, R::kUnknown, A::kSame, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_OPAQUE, LayerKind::kHost, F::kOpaque, 0, 0, SLUICE_OPAQUE_ATTRIBUTES, {kNone_, kNone_, kNone_},
     kNoWork, 0, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kUnknown, A::kApart, T::kNoNest, o, o, o, o, kPlainQ},
    {SLUICE_OP_WEIGHT_GRADIENT, kCompute, F::kWeightGradient, 2, 2, SLUICE_WEIGHT_GRADIENT_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kMacs, 0, W::kTaps, S::kErrorRows, C::kWholeTaps, V::kNever, N::kByWindows, R::kUnknown, A::kApart, T::kGradient, o, o, o, o, kGradientQ},
    {SLUICE_OP_RELU_GRADIENT, kCompute, F::kReluGradient, 2, 2, SLUICE_BINARY_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kBinaryQ},
    {SLUICE_OP_MAX_POOL_GRADIENT, kCompute, F::kPoolGradient, 2, 2, SLUICE_MAX_POOL_GRADIENT_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 0, W::kPool, S::kNoSum, C::kAnywhere, V::kNever, N::kFirst, R::kUnknown, A::kSame, T::kPerElement, o, o, o, x, kPoolGradientQ},
    {SLUICE_OP_HARD_SWISH, kCompute, F::kHardSwish, 1, 1, SLUICE_HARD_SWISH_ATTRIBUTES, {kIn0, kNone_, kNone_},
     kVector, 1, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kSwishQ},
    {SLUICE_OP_PRELU, kCompute, F::kPrelu, 2, 2, SLUICE_PRELU_ATTRIBUTES, {kIn0, kIn1, kNone_},
     kVector, 2, W::kNoWindow, S::kNoSum, C::kAnywhere, V::kNever, N::kAll, R::kElement, A::kSame, T::kPerElement, o, o, x, o, kPreluQ},
};
// clang-format on

constexpr bool RowsStandAtTheirCodes() {
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; ++i) {
    if (kRows[i].op != i) return false;
  }
  return true;
}
static_assert(sizeof kRows / sizeof *kRows == SLUICE_OP_COUNT,
              "each operator of ops.h has one row");
static_assert(RowsStandAtTheirCodes(), "rows stand in the order of codes");

}  // namespace

const OpTraits& TraitsOf(uint16_t op) { return kRows[op < SLUICE_OP_COUNT ? op : 0]; }

int32_t GroupsOf(const Layer& layer) {
  const Form form = TraitsOf(layer).form;
  if (form != Form::kConv && form != Form::kWeightGradient) return 1;
  const int32_t groups = layer.attribute(SLUICE_CONV_GROUPS);
  return groups == 0 ? 1 : groups;
}

int32_t WeightLayoutOf(const Layer& layer) {
  return TraitsOf(layer).form == Form::kTransposedConv
             ? layer.attribute(SLUICE_CONV_WEIGHT_LAYOUT)
             : SLUICE_WEIGHT_LAYOUT_OWN;
}

bool IsChannelwise(const Layer& layer) {
  return TraitsOf(layer).form == Form::kDepthwiseConv ||
         WeightLayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
}

uint32_t ReducedAxes(const Layer& layer) {
  const Form form = TraitsOf(layer).form;
  if (form == Form::kArgmax) return 1u << 3;
  return form == Form::kReduce
             ? static_cast<uint32_t>(layer.attribute(SLUICE_REDUCE_AXES))
             : 0;
}

int InputAxisOf(const Layer& layer, int a) {
  return TraitsOf(layer).axes == AxisRule::kPermuted
             ? layer.attribute(static_cast<size_t>(a))
             : a;
}

uint32_t FollowingAxes(const Layer& layer, TileRole role) {
  const OpTraits& traits = TraitsOf(layer);
  constexpr uint32_t kImageAxes = 7, kMatrixRows = 1u << 2;
  switch (traits.axes) {
    case AxisRule::kSame:
      // Rows of the result are rows of the first factor alone.
      return traits.form == Form::kMatmul && role == kRoleInput1
                 ? kImageAxes & ~kMatrixRows
                 : kImageAxes;
    case AxisRule::kPermuted: {
      uint32_t axes = 0;
      for (int a = 0; a < 3; ++a) axes |= (InputAxisOf(layer, a) == a ? 1u : 0u) << a;
      return axes;
    }
    case AxisRule::kReduced:
      return kImageAxes & ~ReducedAxes(layer);
    case AxisRule::kApart:
      return 0;
  }
  return 0;
}

bool MaySplitSum(const Layer& layer) {
  return TraitsOf(layer).sum != SumRule::kWeightChannels || GroupsOf(layer) == 1;
}

}  // namespace sluice
