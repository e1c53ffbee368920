// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include "kernels.h"

namespace sluice_sim {
namespace {

constexpr InputAs kNo = InputAs::kNothing, kIn1 = InputAs::kInput1;
constexpr InputAs kWght = InputAs::kWeight, kPrms = InputAs::kParameters;
constexpr Means kTiles = Means::kCompute;
constexpr Finish kNoSum = Finish::kNoSum;
using S = Slide;
using F = Finish;
using C = Count;
constexpr bool o = false, x = true;  // no and yes in the columns of properties

// In the order of codes:
//   code, means, slide, finish, count, inputs 1 and 2,
//   channelwise, grouped, matrix, elementwise, check, run, quantities
// clang-format off
constexpr Quantities kRaw = {Scaling::kNone, -1, -1, -1, -1};
constexpr Quantities kMaskedQ = {Scaling::kNone, -1, -1, -1, -1, -1, 0, true};
constexpr Quantities kFilterQ = {Scaling::kParameters, -1, SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO};
constexpr Quantities kMatmulQ = {Scaling::kAttribute, SLUICE_MATMUL_MULTIPLIER, SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO, SLUICE_MATMUL_OUTPUT_ZERO};
constexpr Quantities kGradientQ = {Scaling::kAttribute, SLUICE_WEIGHT_GRADIENT_MULTIPLIER, SLUICE_CONV_INPUT_ZERO, SLUICE_WEIGHT_GRADIENT_ERROR_ZERO, SLUICE_CONV_OUTPUT_ZERO};
constexpr Quantities kBinaryQ = {Scaling::kAttributes, -1, SLUICE_BINARY_ZERO0, SLUICE_BINARY_ZERO1, SLUICE_BINARY_OUTPUT_ZERO};
constexpr Quantities kRequantizeQ = {Scaling::kAttribute, SLUICE_REQUANTIZE_MULTIPLIER, SLUICE_REQUANTIZE_INPUT_ZERO, -1, SLUICE_REQUANTIZE_OUTPUT_ZERO};
constexpr Quantities kSwishQ = {Scaling::kAttributes, -1, SLUICE_HARD_SWISH_INPUT_ZERO, -1, SLUICE_HARD_SWISH_OUTPUT_ZERO};
constexpr Quantities kPreluQ = {Scaling::kAttributes, -1, SLUICE_PRELU_INPUT_ZERO, SLUICE_PRELU_SLOPE_ZERO, SLUICE_PRELU_OUTPUT_ZERO};
constexpr Quantities kLayerNormQ = {Scaling::kParameters, -1, -1, -1, SLUICE_NORM_OUTPUT_ZERO};
constexpr Quantities kRmsNormQ = {Scaling::kParameters, -1, SLUICE_NORM_INPUT_ZERO, -1, SLUICE_NORM_OUTPUT_ZERO};
constexpr Quantities kReduceQ = {Scaling::kAttribute, SLUICE_REDUCE_MULTIPLIER, SLUICE_REDUCE_INPUT_ZERO, -1, SLUICE_REDUCE_OUTPUT_ZERO, SLUICE_REDUCE_KIND, SLUICE_REDUCE_KIND_MAX};
constexpr Quantities kPoolGradientQ = {Scaling::kNone, -1, SLUICE_POOL_ERROR_ZERO, -1, SLUICE_POOL_ERROR_ZERO};
constexpr Op kOps[] = {
    {0, Means::kUnknown, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_CONV, kTiles, S::kFilter, F::kParameters, C::kMacs, kWght, kPrms, o, x, o, o, CheckConvolution, RunConvolution, kFilterQ},
    {SLUICE_OP_DEPTHWISE_CONV, kTiles, S::kFilter, F::kParameters, C::kMacs, kWght, kPrms, x, o, o, o, CheckConvolution, RunDepthwise, kFilterQ},
    {SLUICE_OP_TRANSPOSED_CONV, kTiles, S::kScatter, F::kParameters, C::kMacs, kWght, kPrms, o, o, o, o, CheckConvolution, RunTransposed, kFilterQ},
    {SLUICE_OP_FULLY_CONNECTED, kTiles, S::kNone, F::kParameters, C::kMacs, kWght, kPrms, o, o, x, o, CheckConvolution, RunConvolution, kFilterQ},
    {SLUICE_OP_BATCH_MATMUL, kTiles, S::kNone, F::kMatmul, C::kMacs, kIn1, kNo, o, o, o, o, CheckMatmul, RunMatmul, kMatmulQ},
    {SLUICE_OP_MAX_POOL, kTiles, S::kPool, kNoSum, C::kWindows, kNo, kNo, o, o, o, o, CheckPool, RunMaxPool, kRaw},
    {SLUICE_OP_AVERAGE_POOL, kTiles, S::kPool, kNoSum, C::kWindows, kNo, kNo, o, o, o, o, CheckPool, RunAveragePool, kRaw},
    {SLUICE_OP_ADD, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckBinary, RunAdd, kBinaryQ},
    {SLUICE_OP_SUB, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckBinary, RunSub, kBinaryQ},
    {SLUICE_OP_MUL, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckBinary, RunMul, kBinaryQ},
    {SLUICE_OP_MINIMUM, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckBinary, RunMinimum, kRaw},
    {SLUICE_OP_MAXIMUM, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckBinary, RunMaximum, kRaw},
    {SLUICE_OP_REQUANTIZE, kTiles, S::kNone, kNoSum, C::kOnce, kNo, kNo, o, o, o, x, CheckSameBox, RunRequantize, kRequantizeQ},
    {SLUICE_OP_LOOKUP, kTiles, S::kNone, kNoSum, C::kOnce, kWght, kNo, o, o, o, x, CheckLookup, RunLookup, kRaw},
    {SLUICE_OP_SOFTMAX, kTiles, S::kNone, kNoSum, C::kOnce, kIn1, kNo, o, o, o, o, CheckSoftmax, RunSoftmax, kMaskedQ},
    {SLUICE_OP_LAYER_NORM, kTiles, S::kNone, kNoSum, C::kOnce, kPrms, kNo, o, o, o, o, CheckNorm, RunLayerNorm, kLayerNormQ},
    {SLUICE_OP_RMS_NORM, kTiles, S::kNone, kNoSum, C::kOnce, kPrms, kNo, o, o, o, o, CheckRmsNorm, RunRmsNorm, kRmsNormQ},
    {SLUICE_OP_REDUCE, kTiles, S::kNone, kNoSum, C::kInputs, kNo, kNo, o, o, o, o, CheckReduce, RunReduce, kReduceQ},
    {SLUICE_OP_ARGMAX, kTiles, S::kNone, kNoSum, C::kInputs, kNo, kNo, o, o, o, o, CheckArgmax, RunArgmax, kRaw},
    {SLUICE_OP_CONCAT, Means::kConcat, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_SLICE, Means::kSlice, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_PAD, Means::kPad, S::kPads, kNoSum, C::kOnce, kNo, kNo, o, o, o, o, CheckPad, RunPad, kRaw},
    {SLUICE_OP_RESHAPE, Means::kReshape, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_TRANSPOSE, kTiles, S::kNone, kNoSum, C::kOnce, kNo, kNo, o, o, o, o, CheckTranspose, RunTranspose, kRaw},
    {SLUICE_OP_GATHER, Means::kGather, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_RESIZE_BILINEAR, kTiles, S::kInterpolation, kNoSum, C::kFourTimes, kNo, kNo, o, o, o, o, CheckResize, RunResizeBilinear, kRaw},
    {SLUICE_OP_RESIZE_NEAREST, kTiles, S::kInterpolation, kNoSum, C::kFourTimes, kNo, kNo, o, o, o, o, CheckResize, RunResizeNearest, kRaw},
    {SLUICE_OP_STATE_APPEND, Means::kAppend, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_OPAQUE, Means::kHost, S::kNone, kNoSum, C::kNothing, kNo, kNo, o, o, o, o, nullptr, nullptr, kRaw},
    {SLUICE_OP_WEIGHT_GRADIENT, kTiles, S::kTaps, F::kGradient, C::kMacsOfErrors, kIn1, kNo, o, x, o, o, CheckWeightGradient, RunWeightGradient, kGradientQ},
    {SLUICE_OP_RELU_GRADIENT, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckReluGradient, RunReluGradient, kBinaryQ},
    {SLUICE_OP_MAX_POOL_GRADIENT, kTiles, S::kPoolScatter, kNoSum, C::kErrors, kIn1, kNo, o, o, o, o, CheckMaxPoolGradient, RunMaxPoolGradient, kPoolGradientQ},
    {SLUICE_OP_HARD_SWISH, kTiles, S::kNone, kNoSum, C::kOnce, kNo, kNo, o, o, o, x, CheckHardSwish, RunHardSwish, kSwishQ},
    {SLUICE_OP_PRELU, kTiles, S::kNone, kNoSum, C::kTwice, kIn1, kNo, o, o, o, x, CheckPrelu, RunPrelu, kPreluQ},
};
// clang-format on

constexpr bool OpsStandAtTheirCodes() {
  for (int i = 0; i < static_cast<int>(sizeof kOps / sizeof *kOps); ++i) {
    if (kOps[i].code != i) return false;
  }
  return true;
}
static_assert(sizeof kOps / sizeof *kOps == SLUICE_OP_COUNT,
              "each operator of ops.h has one row");
static_assert(OpsStandAtTheirCodes(), "rows stand in the order of codes");

}  // namespace

const Op& OpOf(int code) { return kOps[code > 0 && code < SLUICE_OP_COUNT ? code : 0]; }

bool OnEngines(Means means) {
  switch (means) {
    case Means::kCompute:
    case Means::kPad:
    case Means::kGather:
      return true;
    case Means::kUnknown:
    case Means::kConcat:
    case Means::kSlice:
    case Means::kReshape:
    case Means::kAppend:
    case Means::kHost:
      return false;
  }
  return false;
}

bool HasWindows(Slide slide) {
  switch (slide) {
    case Slide::kFilter:
    case Slide::kScatter:
    case Slide::kTaps:
    case Slide::kPool:
    case Slide::kPoolScatter:
      return true;
    case Slide::kNone:
    case Slide::kPads:
    case Slide::kInterpolation:
      return false;
  }
  return false;
}

bool MayPad(Slide slide) {
  switch (slide) {
    case Slide::kFilter:
    case Slide::kTaps:
    case Slide::kPool:
    case Slide::kPads:
      return true;
    case Slide::kNone:
    case Slide::kScatter:
    case Slide::kPoolScatter:
    case Slide::kInterpolation:
      return false;
  }
  return false;
}

std::string CheckTile(const Tile& t) {
  if (OpOf(t.op).check == nullptr) {
    return "op: number " + std::to_string(t.op) + " is not computed";
  }
  const std::string wrong = CheckFrame(t);
  return wrong.empty() ? OpOf(t.op).check(t) : wrong;
}

void RunTile(const Tile& t) { OpOf(t.op).run(t); }

}  // namespace sluice_sim
