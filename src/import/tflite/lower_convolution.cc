// SPDX-License-Identifier: Apache-2.0
// Convolutions, fully connected layers and matrix products.
#include <algorithm>
#include <cstring>

#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

// How the reference kernels scale a sum of products:
// - kLayer (uint8): one factor per layer, input scale * weight scale as float32.
// - kChannel: one factor per channel, the product in double.
// - kReal (fully connected): multiplied in double and rounded once.
enum class Scaling { kLayer, kChannel, kReal };

std::vector<int32_t> ReadBias(const Lowering& to, const TfliteOperator& op,
                              size_t index, size_t channels) {
  std::vector<int32_t> bias(channels, 0);
  if (!HasInput(op, index)) return bias;
  const TfliteTensor& tensor = InputOf(to, op, index);
  Require(tensor.data != nullptr, "a bias that is computed at run time");
  Require(static_cast<tflite::TensorType>(tensor.type) == tflite::TensorType::INT32,
          "a bias that is not int32");
  if (tensor.data_bytes != channels * 4) {
    throw Error(Fault::kBadInput, "bias " + tensor.name + " has " +
                                      std::to_string(tensor.data_bytes / 4) +
                                      " elements for " + std::to_string(channels) +
                                      " channels");
  }
  std::memcpy(bias.data(), tensor.data, tensor.data_bytes);
  return bias;
}

// Checks the weight's quantisation and returns its zero point: that of the tensor, or 0
// when quantised per axis.
int32_t CheckWeight(const TfliteTensor& input, const TfliteTensor& weight, int axis,
                    size_t channels) {
  Require(weight.data != nullptr, "a weight that is computed at run time");
  Require(EightBit(weight) == EightBit(input),
          "a weight of another type than the input");
  Require(!weight.scales.empty(), "a weight without quantisation");
  if (weight.scales.size() == 1) return static_cast<int32_t>(weight.zero_points[0]);
  Require(weight.quantised_axis == axis && weight.scales.size() == channels,
          "a weight quantised along another axis than output channels");
  Require(std::all_of(weight.zero_points.begin(), weight.zero_points.end(),
                      [](int64_t zero) { return zero == 0; }),
          "per-axis zero points other than 0");
  return 0;
}

// int32 [K, 3] = bias, multiplier, shift.
uint32_t AddParameters(Lowering* to, const TfliteOperator& op,
                       const TfliteTensor& input, const TfliteTensor& weight,
                       const std::vector<int32_t>& bias, Scaling scaling) {
  const TfliteTensor& out = OutputOf(*to, op);
  const Affine in_affine = AffineOf(input), out_affine = AffineOf(out);
  // The loop has neither calls nor branches: large models have tens of thousands of
  // channels.
  std::vector<double> factors(weight.scales.size() == 1 ? 1 : bias.size());
  for (size_t k = 0; k < factors.size(); ++k) {
    const float scale = weight.scales[k];
    const double product = scaling == Scaling::kLayer
                               ? static_cast<double>(in_affine.scale * scale)
                               : static_cast<double>(in_affine.scale) * scale;
    factors[k] = product / static_cast<double>(out_affine.scale);
  }
  if (weight.scales.size() == 1) factors.resize(bias.size(), factors[0]);
  std::vector<int32_t> rows(3 * bias.size());
  for (size_t k = 0; k < bias.size(); ++k) rows[3 * k] = bias[k];
  if (!rows.empty()) QuantiseFactors(factors, scaling == Scaling::kReal, &rows[1], 3);
  return to->graph.AddConstant(out.name + "/parameters", SLUICE_DTYPE_INT32,
                               {static_cast<int32_t>(bias.size()), 3}, rows.data(),
                               rows.size() * 4);
}

struct Geometry {
  tflite::Padding padding;
  int32_t stride_h, stride_w, dilation_h, dilation_w;
  tflite::Activation activation;
};

template <typename Options>
Geometry GeometryOf(const Options& o) {
  return {o.padding(),    o.stride_h(),   o.stride_w(),
          o.dilation_h(), o.dilation_w(), o.activation()};
}

// All members are 0 for a matrix product.
struct ConvWindow {
  Geometry geometry;
  Pads vertical, horizontal;
  int32_t groups;
};
struct ConvNumbers {
  int32_t input_zero, weight_zero, output_zero;
  Range range;  // of the output
};

std::vector<int32_t> ConvAttributes(const ConvWindow& w, const ConvNumbers& numbers) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  const Geometry& g = w.geometry;
  a[SLUICE_CONV_STRIDE_H] = g.stride_h;
  a[SLUICE_CONV_STRIDE_W] = g.stride_w;
  a[SLUICE_CONV_DILATION_H] = g.dilation_h;
  a[SLUICE_CONV_DILATION_W] = g.dilation_w;
  a[SLUICE_CONV_PAD_TOP] = w.vertical.before;
  a[SLUICE_CONV_PAD_LEFT] = w.horizontal.before;
  a[SLUICE_CONV_PAD_BOTTOM] = w.vertical.after;
  a[SLUICE_CONV_PAD_RIGHT] = w.horizontal.after;
  a[SLUICE_CONV_GROUPS] = w.groups;
  a[SLUICE_CONV_INPUT_ZERO] = numbers.input_zero;
  a[SLUICE_CONV_WEIGHT_ZERO] = numbers.weight_zero;
  a[SLUICE_CONV_OUTPUT_ZERO] = numbers.output_zero;
  a[SLUICE_CONV_ACT_MIN] = numbers.range.min;
  a[SLUICE_CONV_ACT_MAX] = numbers.range.max;
  return a;
}

// Repeated in each source: bindings/guides/operators.py reads phrases one source at a
// time.
void RequireRank4(const TfliteTensor& a, const TfliteTensor& b, const TfliteTensor& c) {
  Require(a.shape.size() == 4 && b.shape.size() == 4 && c.shape.size() == 4,
          "operands that do not have four axes");
}

}  // namespace

void LowerConvolution(Lowering* to, const TfliteOperator& op) {
  if (IsWide(InputOf(*to, op, 0))) return LowerWideConvolution(to, op);
  const bool depthwise =
      op.code == static_cast<int>(tflite::BuiltinOperator::DEPTHWISE_CONV_2D);
  const auto* conv_options = op.wire->builtin_options_as_Conv2DOptions();
  const auto* depthwise_options = op.wire->builtin_options_as_DepthwiseConv2DOptions();
  Require(depthwise ? depthwise_options != nullptr : conv_options != nullptr,
          "missing options");
  const Geometry g =
      depthwise ? GeometryOf(*depthwise_options) : GeometryOf(*conv_options);

  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& weight = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireRank4(input, weight, out);
  Require(EightBit(input) == EightBit(out), "an output of another type than the input");
  const Extents in = ExtentsOf(input), w = ExtentsOf(weight), o = ExtentsOf(out);
  const int32_t channels = o[3];
  int32_t groups = 0;
  if (depthwise) {
    Require(w[0] == 1 && w[3] == channels && channels % in[3] == 0,
            "a weight that does not fit the channels");
  } else {
    Require(w[0] == channels && in[3] % w[3] == 0 && channels % (in[3] / w[3]) == 0,
            "a weight that does not fit the channels");
    groups = in[3] / w[3];
  }
  const bool same = g.padding == tflite::Padding::SAME;
  const Pads vertical = PadsOf(same, in[1], o[1], w[1], g.stride_h, g.dilation_h);
  const Pads horizontal = PadsOf(same, in[2], o[2], w[2], g.stride_w, g.dilation_w);
  const int32_t weight_zero =
      CheckWeight(input, weight, depthwise ? 3 : 0, static_cast<size_t>(channels));
  const auto bias = ReadBias(*to, op, 2, static_cast<size_t>(channels));
  const Scaling scaling =
      EightBit(input) == SLUICE_DTYPE_UINT8 ? Scaling::kLayer : Scaling::kChannel;

  const uint32_t ifmap = InputTensor(to, op, 0);
  const uint32_t filter = InputTensor(to, op, 1);
  const uint32_t parameters = AddParameters(to, op, input, weight, bias, scaling);
  const ConvNumbers numbers = {AffineOf(input).zero, weight_zero, AffineOf(out).zero,
                               Clamped(out, static_cast<int>(g.activation))};
  AddLayer(to, op, depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
           {ifmap, filter, parameters}, OutputTensor(to, op),
           ConvAttributes({g, vertical, horizontal, groups}, numbers));
}

void LowerTransposedConvolution(Lowering* to, const TfliteOperator& op) {
  if (IsWide(InputOf(*to, op, 2))) return LowerWideTransposedConvolution(to, op);
  const auto* options = op.wire->builtin_options_as_TransposeConvOptions();
  Require(options != nullptr, "missing options");
  const Geometry g = {
      options->padding(),   options->stride_h(), options->stride_w(), 1, 1,
      options->activation()};
  const TfliteTensor& weight = InputOf(*to, op, 1);
  const TfliteTensor& input = InputOf(*to, op, 2);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireRank4(input, weight, out);
  Require(EightBit(input) == EightBit(out), "an output of another type than the input");
  const Extents in = ExtentsOf(input), w = ExtentsOf(weight), o = ExtentsOf(out);
  Require(w[0] == o[3] && w[3] == in[3], "a weight that does not fit the channels");
  // The pads are those of the forward convolution from the output to the input.
  const bool same = g.padding == tflite::Padding::SAME;
  const Pads vertical = PadsOf(same, o[1], in[1], w[1], g.stride_h, 1);
  const Pads horizontal = PadsOf(same, o[2], in[2], w[2], g.stride_w, 1);
  const size_t channels = static_cast<size_t>(o[3]);
  const int32_t weight_zero = CheckWeight(input, weight, 0, channels);
  const auto bias = ReadBias(*to, op, 3, channels);
  const Scaling scaling =
      EightBit(input) == SLUICE_DTYPE_UINT8 ? Scaling::kLayer : Scaling::kChannel;

  const uint32_t ifmap = InputTensor(to, op, 2);
  const uint32_t filter = InputTensor(to, op, 1);
  const uint32_t parameters = AddParameters(to, op, input, weight, bias, scaling);
  const ConvNumbers numbers = {AffineOf(input).zero, weight_zero, AffineOf(out).zero,
                               Clamped(out, static_cast<int>(g.activation))};
  AddLayer(to, op, SLUICE_OP_TRANSPOSED_CONV, {ifmap, filter, parameters},
           OutputTensor(to, op), ConvAttributes({g, vertical, horizontal, 0}, numbers));
}

void LowerFullyConnected(Lowering* to, const TfliteOperator& op) {
  if (IsWide(InputOf(*to, op, 0))) return LowerWideFullyConnected(to, op);
  const auto* options = op.wire->builtin_options_as_FullyConnectedOptions();
  Require(options != nullptr, "missing options");
  Require(options->weights_format() == 0, "shuffled weights");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& weight = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  Require(EightBit(input) == EightBit(out), "an output of another type than the input");
  Require(weight.shape.size() == 2, "a weight that does not have two axes");
  const int32_t units = DimsOf(weight)[0], depth = DimsOf(weight)[1];
  const Extents in = ExtentsOf(input), o = ExtentsOf(out);
  const int64_t elements = int64_t{in[0]} * in[1] * in[2] * in[3];
  const int64_t rows = elements / depth;
  Require(elements % depth == 0 && rows * units == int64_t{o[0]} * o[1] * o[2] * o[3],
          "extents that do not fit the weight");
  const int32_t weight_zero = CheckWeight(input, weight, 0, static_cast<size_t>(units));
  const auto bias = ReadBias(*to, op, 2, static_cast<size_t>(units));

  uint32_t ifmap = InputTensor(to, op, 0);
  Dims out_dims = DimsOf(out);
  const bool rows_agree = in[0] == o[0] && in[1] == o[1] && in[2] == o[2];
  if (in[3] != depth || o[3] != units || !rows_agree) {
    ifmap = Reshaped(to, ifmap, input, {static_cast<int32_t>(rows), depth});
    out_dims = {static_cast<int32_t>(rows), units};
  }
  const uint32_t filter = InputTensor(to, op, 1);
  const uint32_t parameters =
      AddParameters(to, op, input, weight, bias, Scaling::kReal);
  const uint32_t ofmap = OpenOutput(to, op, out_dims);
  const ConvNumbers numbers = {AffineOf(input).zero, weight_zero, AffineOf(out).zero,
                               Clamped(out, static_cast<int>(options->activation()))};
  std::vector<int32_t> attributes = ConvAttributes({}, numbers);
  attributes[SLUICE_CONV_ROUNDING] = 1;
  AddLayer(to, op, SLUICE_OP_FULLY_CONNECTED, {ifmap, filter, parameters}, ofmap,
           attributes);
  CloseOutput(to, op, ofmap);
}

void LowerMatmul(Lowering* to, const TfliteOperator& op) {
  if (IsFloat(InputOf(*to, op, 0))) return LowerFloatMatmul(to, op);
  const auto* options = op.wire->builtin_options_as_BatchMatMulOptions();
  Require(options != nullptr, "missing options");
  Require(!options->adj_x(), "a transposed first operand");
  const TfliteTensor& a = InputOf(*to, op, 0);
  const TfliteTensor& b = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  Require(b.scales.size() < 2,
          "a second operand with several scales, of which the runtime reads none");
  Require(EightBit(a) == SLUICE_DTYPE_INT8 && EightBit(b) == SLUICE_DTYPE_INT8 &&
              EightBit(out) == SLUICE_DTYPE_INT8,
          "operands that are not int8");
  const Extents ea = ExtentsOf(a), eb = ExtentsOf(b), o = ExtentsOf(out);
  Require(ea[0] == eb[0] && ea[1] == eb[1] && ea[0] == o[0] && ea[1] == o[1],
          "batch axes that broadcast");
  const double product = static_cast<double>(AffineOf(a).scale * AffineOf(b).scale);
  const Factor factor =
      QuantiseFactor(product / static_cast<double>(AffineOf(out).scale));
  const Range range = DtypeRange(SLUICE_DTYPE_INT8);
  std::vector<int32_t> attributes(SLUICE_MATMUL_ATTRIBUTES);
  attributes[SLUICE_MATMUL_TRANSPOSE_B] = options->adj_y() ? 1 : 0;
  attributes[SLUICE_MATMUL_A_ZERO] = AffineOf(a).zero;
  attributes[SLUICE_MATMUL_B_ZERO] = AffineOf(b).zero;
  attributes[SLUICE_MATMUL_OUTPUT_ZERO] = AffineOf(out).zero;
  attributes[SLUICE_MATMUL_MULTIPLIER] = factor.multiplier;
  attributes[SLUICE_MATMUL_SHIFT] = factor.shift;
  attributes[SLUICE_MATMUL_ACT_MIN] = range.min;
  attributes[SLUICE_MATMUL_ACT_MAX] = range.max;
  const uint32_t first = InputTensor(to, op, 0);
  const uint32_t second = InputTensor(to, op, 1);
  AddLayer(to, op, SLUICE_OP_BATCH_MATMUL, {first, second}, OutputTensor(to, op),
           attributes);
}

}  // namespace sluice::import
