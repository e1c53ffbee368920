// SPDX-License-Identifier: Apache-2.0
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// clang-format off
constexpr OpRule kRules[] = {
    {0, Deed::kUnknown, Work::kUnknown, Windows::kNone, Reach::kNothing, 0, 0, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_CONV, Deed::kConvolution, Work::kTiles, Windows::kFilters, Reach::kWindows, kTakesPads | kProduct, kEightFirst | kEightSecond | kLastInt32, 0, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_DEPTHWISE_CONV, Deed::kConvolution, Work::kTiles, Windows::kFilters, Reach::kWindows, kTakesPads | kChannelwise | kProduct, kEightFirst | kEightSecond | kLastInt32, 0, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_TRANSPOSED_CONV, Deed::kScatter, Work::kTiles, Windows::kFilters, Reach::kNothing, kVaries, kEightFirst | kEightSecond | kLastInt32, 0, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_FULLY_CONNECTED, Deed::kFullyConnected, Work::kTiles, Windows::kNone, Reach::kRows, kProduct, kEightFirst | kEightSecond | kLastInt32, 0, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_BATCH_MATMUL, Deed::kMatmul, Work::kTiles, Windows::kNone, Reach::kProducts, kProduct, kEightFirst | kEightSecond, 0, SLUICE_MATMUL_MULTIPLIER, {SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO, SLUICE_MATMUL_OUTPUT_ZERO}},
    {SLUICE_OP_MAX_POOL, Deed::kPool, Work::kTiles, Windows::kPool, Reach::kWindows, 0, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_AVERAGE_POOL, Deed::kPool, Work::kTiles, Windows::kPool, Reach::kWindows, 0, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_ADD, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kInputsAlike, 2, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_SUB, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kInputsAlike, 2, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MUL, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kInputsAlike, 2, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MINIMUM, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kInputsAlike, 2, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_MAXIMUM, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kInputsAlike, 2, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_REQUANTIZE, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, 0, 1, SLUICE_REQUANTIZE_MULTIPLIER, {SLUICE_REQUANTIZE_INPUT_ZERO, -1, SLUICE_REQUANTIZE_OUTPUT_ZERO}},
    {SLUICE_OP_LOOKUP, Deed::kTable, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces | kPlainSecond, kEightFirst | kEightSecond | kEightOut, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_SOFTMAX, Deed::kSoftmax, Work::kTiles, Windows::kNone, Reach::kRows, kKeepsPlaces | kPlainSecond | kWholeRows, kEightFirst | kMaskUint8 | kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_LAYER_NORM, Deed::kNorm, Work::kTiles, Windows::kNone, Reach::kRows, kKeepsPlaces | kPlainSecond | kWholeRows, kEightFirst | kLastInt32 | kEightOut, 0, kChannelScales, {-1, -1, SLUICE_NORM_OUTPUT_ZERO}},
    {SLUICE_OP_RMS_NORM, Deed::kNorm, Work::kTiles, Windows::kNone, Reach::kRows, kKeepsPlaces | kPlainSecond | kWholeRows, kEightFirst | kLastInt32 | kEightOut, 0, kChannelScales, {SLUICE_NORM_INPUT_ZERO, -1, SLUICE_NORM_OUTPUT_ZERO}},
    {SLUICE_OP_REDUCE, Deed::kReduce, Work::kTiles, Windows::kNone, Reach::kPlaces, 0, 0, 0, SLUICE_REDUCE_MULTIPLIER, {SLUICE_REDUCE_INPUT_ZERO, -1, SLUICE_REDUCE_OUTPUT_ZERO}},
    {SLUICE_OP_ARGMAX, Deed::kArgmax, Work::kTiles, Windows::kNone, Reach::kPlaces, 0, kOutIndex, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_CONCAT, Deed::kConcat, Work::kView, Windows::kNone, Reach::kSame, 0, 0, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_SLICE, Deed::kSlice, Work::kView, Windows::kNone, Reach::kCut, 0, 0, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_PAD, Deed::kPad, Work::kTiles, Windows::kNone, Reach::kSame, 0, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESHAPE, Deed::kReshape, Work::kView, Windows::kNone, Reach::kRegroup, kKeepsPlaces, 0, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_TRANSPOSE, Deed::kTranspose, Work::kTiles, Windows::kNone, Reach::kPermute, kKeepsPlaces, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_GATHER, Deed::kGather, Work::kGather, Windows::kNone, Reach::kNothing, kPlainSecond, kLastInt32 | kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESIZE_BILINEAR, Deed::kResize, Work::kTiles, Windows::kNone, Reach::kScale, kVaries, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESIZE_NEAREST, Deed::kResize, Work::kTiles, Windows::kNone, Reach::kScale, kVaries, kOutAsFirst, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_STATE_APPEND, Deed::kAppend, Work::kAppend, Windows::kNone, Reach::kSecond, 0, kInputsAlike, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_OPAQUE, Deed::kHost, Work::kHost, Windows::kNone, Reach::kNothing, 0, 0, 0, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_WEIGHT_GRADIENT, Deed::kWeightGradient, Work::kTiles, Windows::kErrors, Reach::kNothing, kNoParts, kEightFirst | kEightSecond | kEightOut, 0, SLUICE_WEIGHT_GRADIENT_MULTIPLIER, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_RELU_GRADIENT, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, 0, 2, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MAX_POOL_GRADIENT, Deed::kPoolGradient, Work::kTiles, Windows::kPool, Reach::kNothing, kVaries | kNoParts, kEightFirst | kEightSecond | kOutAsFirst, 0, kNoScale, {SLUICE_POOL_ERROR_ZERO, -1, SLUICE_POOL_ERROR_ZERO}},
    {SLUICE_OP_HARD_SWISH, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kEightFirst | kOutAsFirst, 1, kManyScales, {SLUICE_HARD_SWISH_INPUT_ZERO, -1, SLUICE_HARD_SWISH_OUTPUT_ZERO}},
    {SLUICE_OP_PRELU, Deed::kElements, Work::kTiles, Windows::kNone, Reach::kPlaces, kKeepsPlaces, kEightFirst | kEightSecond | kEightOut, 2, kManyScales, {SLUICE_PRELU_INPUT_ZERO, SLUICE_PRELU_SLOPE_ZERO, SLUICE_PRELU_OUTPUT_ZERO}},
};
// clang-format on

constexpr bool RulesStandAtTheirCodes() {
  for (size_t i = 0; i < sizeof kRules / sizeof *kRules; ++i) {
    if (kRules[i].op != i) return false;
  }
  return true;
}
static_assert(sizeof kRules / sizeof *kRules == SLUICE_OP_COUNT,
              "each operator of ops.h has one row");
static_assert(RulesStandAtTheirCodes(), "rows stand in the order of codes");

}  // namespace

const OpRule& RuleOf(const Layer& layer) {
  return kRules[layer.op < SLUICE_OP_COUNT ? layer.op : 0];
}

}  // namespace judge
}  // namespace sluice
