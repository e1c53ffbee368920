// SPDX-License-Identifier: Apache-2.0
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// clang-format off
constexpr OpRule kRules[] = {
    {0, Deed::kUnknown, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_CONV, Deed::kConvolution, 0, false, true, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_DEPTHWISE_CONV, Deed::kConvolution, 0, true, true, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_TRANSPOSED_CONV, Deed::kScatter, 0, false, false, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_FULLY_CONNECTED, Deed::kFullyConnected, 0, false, false, kChannelScales, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_BATCH_MATMUL, Deed::kMatmul, 0, false, false, SLUICE_MATMUL_MULTIPLIER, {SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO, SLUICE_MATMUL_OUTPUT_ZERO}},
    {SLUICE_OP_MAX_POOL, Deed::kPool, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_AVERAGE_POOL, Deed::kPool, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_ADD, Deed::kElements, 2, false, false, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_SUB, Deed::kElements, 2, false, false, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MUL, Deed::kElements, 2, false, false, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MINIMUM, Deed::kElements, 2, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_MAXIMUM, Deed::kElements, 2, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_REQUANTIZE, Deed::kElements, 1, false, false, SLUICE_REQUANTIZE_MULTIPLIER, {SLUICE_REQUANTIZE_INPUT_ZERO, -1, SLUICE_REQUANTIZE_OUTPUT_ZERO}},
    {SLUICE_OP_LOOKUP, Deed::kTable, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_SOFTMAX, Deed::kSoftmax, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_LAYER_NORM, Deed::kNorm, 0, false, false, kChannelScales, {-1, -1, SLUICE_NORM_OUTPUT_ZERO}},
    {SLUICE_OP_RMS_NORM, Deed::kNorm, 0, false, false, kChannelScales, {SLUICE_NORM_INPUT_ZERO, -1, SLUICE_NORM_OUTPUT_ZERO}},
    {SLUICE_OP_REDUCE, Deed::kReduce, 0, false, false, SLUICE_REDUCE_MULTIPLIER, {SLUICE_REDUCE_INPUT_ZERO, -1, SLUICE_REDUCE_OUTPUT_ZERO}},
    {SLUICE_OP_ARGMAX, Deed::kArgmax, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_CONCAT, Deed::kConcat, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_SLICE, Deed::kSlice, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_PAD, Deed::kPad, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESHAPE, Deed::kReshape, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_TRANSPOSE, Deed::kTranspose, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_GATHER, Deed::kGather, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESIZE_BILINEAR, Deed::kResize, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_RESIZE_NEAREST, Deed::kResize, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_STATE_APPEND, Deed::kAppend, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_OPAQUE, Deed::kHost, 0, false, false, kNoScale, {-1, -1, -1}},
    {SLUICE_OP_WEIGHT_GRADIENT, Deed::kWeightGradient, 0, false, false, SLUICE_WEIGHT_GRADIENT_MULTIPLIER, {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO}},
    {SLUICE_OP_RELU_GRADIENT, Deed::kElements, 2, false, false, kManyScales, {SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO}},
    {SLUICE_OP_MAX_POOL_GRADIENT, Deed::kPoolGradient, 0, false, false, kNoScale, {SLUICE_POOL_ERROR_ZERO, -1, SLUICE_POOL_ERROR_ZERO}},
    {SLUICE_OP_HARD_SWISH, Deed::kElements, 1, false, false, kManyScales, {SLUICE_HARD_SWISH_INPUT_ZERO, -1, SLUICE_HARD_SWISH_OUTPUT_ZERO}},
    {SLUICE_OP_PRELU, Deed::kElements, 2, false, false, kManyScales, {SLUICE_PRELU_INPUT_ZERO, SLUICE_PRELU_SLOPE_ZERO, SLUICE_PRELU_OUTPUT_ZERO}},
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

bool IsView(const Layer& layer) {
  const Deed deed = DeedOf(layer);
  return deed == Deed::kConcat || deed == Deed::kSlice || deed == Deed::kReshape;
}

}  // namespace judge
}  // namespace sluice
