// SPDX-License-Identifier: Apache-2.0
// Operators that no compute unit has whole: 16-bit products and softmax, SVDF. The host
// executes them, or what a unit leaves of them, by the functions of
// firmware-sim/host_functions.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/error.h"
#include "import/tflite/products.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::TensorType;

bool Is(const TfliteTensor& tensor, TensorType type) {
  return static_cast<TensorType>(tensor.type) == type;
}

uint32_t AddNumbers(Lowering* to, const std::string& name, uint8_t dtype, Dims dims,
                    const void* numbers, size_t bytes) {
  return to->graph.AddConstant(name, dtype, std::move(dims), numbers, bytes);
}

// Reads the bias as int64 [K]; returns the bits of the sums, 32 or 64.
int32_t BiasOf(const Lowering& to, const TfliteOperator& op, size_t index,
               std::vector<int64_t>* bias) {
  if (!HasInput(op, index)) return 64;
  const TfliteTensor& tensor = InputOf(to, op, index);
  const bool narrow = Is(tensor, TensorType::INT32);
  Require(tensor.data != nullptr && (narrow || Is(tensor, TensorType::INT64)),
          "a bias that is not constant int32 or int64");
  const size_t bytes = narrow ? 4 : 8;
  if (tensor.data_bytes != bias->size() * bytes) {
    throw Error(Fault::kBadInput,
                "bias " + tensor.name + " does not have one element per channel");
  }
  for (size_t k = 0; k < bias->size(); ++k) {
    int32_t low = 0;
    if (narrow) {
      std::memcpy(&low, tensor.data + 4 * k, 4);
      (*bias)[k] = low;
    } else {
      std::memcpy(&(*bias)[k], tensor.data + 8 * k, 8);
    }
  }
  return narrow ? 32 : 64;
}

void CheckProduct(const TfliteTensor& input, const TfliteTensor& weight,
                  const TfliteTensor& out, int axis, size_t channels) {
  Require(Is(out, TensorType::INT16) && Is(weight, TensorType::INT8),
          "16-bit inputs with other than 8-bit weights and 16-bit outputs");
  Require(weight.data != nullptr, "a weight that is computed at run time");
  Require(AffineOf(input).zero == 0 && AffineOf(out).zero == 0,
          "16-bit numbers with a zero point");
  Require(weight.scales.size() == 1 ||
              (weight.quantised_axis == axis && weight.scales.size() == channels),
          "a weight quantised along another axis than output channels");
}

// Constants of a product: (multiplier, shift) of each channel and biases.
struct Numbers16 {
  uint32_t bias, scales;
  int32_t weight_zero, bias_bits;
  Range range;
};

Numbers16 NumbersOf(Lowering* to, const TfliteOperator& op, const Product& p) {
  const TfliteTensor& input = InputOf(*to, op, p.input);
  const TfliteTensor& weight = InputOf(*to, op, p.weight);
  const TfliteTensor& out = OutputOf(*to, op);
  const int32_t channels = p.weight_dims[static_cast<size_t>(p.axis)];
  const size_t count = static_cast<size_t>(channels);
  CheckProduct(input, weight, out, p.axis, count);
  to->graph.NeedRows(count);
  std::vector<int32_t> scales;
  for (size_t k = 0; k < count; ++k) {
    const float scale = weight.scales[weight.scales.size() == 1 ? 0 : k];
    const double real = static_cast<double>(AffineOf(input).scale) *
                        static_cast<double>(scale) /
                        static_cast<double>(AffineOf(out).scale);
    const Factor factor = p.rounds_once ? QuantiseFactorUp(real) : QuantiseFactor(real);
    Require(factor.shift >= -31 && factor.shift <= 7,
            "a scale outside the fixed point");
    scales.insert(scales.end(), {factor.multiplier, factor.shift});
  }
  std::vector<int64_t> bias(count);
  Numbers16 numbers = {};
  numbers.bias_bits = BiasOf(*to, op, p.bias, &bias);
  numbers.range = Clamped(out, p.activation);
  numbers.weight_zero =
      weight.scales.size() == 1 ? static_cast<int32_t>(weight.zero_points[0]) : 0;
  numbers.bias = AddNumbers(to, out.name + "/bias", SLUICE_DTYPE_INT64, {channels},
                            bias.data(), count * 8);
  numbers.scales = AddNumbers(to, out.name + "/scales", SLUICE_DTYPE_INT32,
                              {channels, 2}, scales.data(), count * 8);
  return numbers;
}

// The host takes the activation apart into a high and a low byte, a unit multiplies each, and
// the host adds up and scales the sums as the kernel does.
void AddSums(Lowering* to, const TfliteOperator& op, const Product& p,
             const Numbers16& numbers, const Ends& ends) {
  const int32_t channels = p.weight_dims[static_cast<size_t>(p.axis)];
  const uint32_t bytes[] = {NewPart(to, op, "/high", SLUICE_DTYPE_INT8, p.in),
                            NewPart(to, op, "/low", SLUICE_DTYPE_INT8, p.in)};
  AddHost(to, op, "split_int16", {ends.ifmap}, {bytes[0], bytes[1]}, 0);
  const uint32_t parameters = WholeParameters(to, op, channels);
  std::vector<uint32_t> inputs;
  for (const uint32_t part : bytes) {
    inputs.push_back(NewPart(to, op, "/sums" + std::to_string(inputs.size()),
                             SLUICE_DTYPE_INT32, p.out));
    std::vector<int32_t> attributes = WholeSums(p, numbers.weight_zero);
    if (part == bytes[1]) attributes[SLUICE_CONV_INPUT_ZERO] = -128;
    AddLayer(to, op, p.unit, {part, ends.filter, parameters}, inputs.back(),
             attributes);
  }
  inputs.insert(inputs.end(), {numbers.bias, numbers.scales,
                               AddOptions(to, op,
                                          {numbers.range.min, numbers.range.max,
                                           numbers.bias_bits, p.rounds_once ? 1 : 0})});
  AddHost(to, op, "scale_sums_int16", inputs, {ends.ofmap}, 0);
}

void AddProduct(Lowering* to, const TfliteOperator& op, const Product& p) {
  if (IsFloat(InputOf(*to, op, p.input))) return AddFloatProduct(to, op, p);
  const Numbers16 numbers = NumbersOf(to, op, p);
  const uint32_t ifmap =
      Reshaped(to, InputTensor(to, op, p.input), InputOf(*to, op, p.input), p.in);
  const uint32_t filter = Reshaped(to, InputTensor(to, op, p.weight),
                                   InputOf(*to, op, p.weight), p.weight_dims);
  const uint32_t ofmap = OpenOutput(to, op, p.out);
  if (p.macs_per_output <= kMostTerms) {
    AddSums(to, op, p, numbers, {ifmap, filter, ofmap});
    return CloseOutput(to, op, ofmap);
  }
  std::vector<int32_t> options = p.window;
  options.insert(options.end(), {numbers.weight_zero, numbers.range.min,
                                 numbers.range.max, numbers.bias_bits});
  uint64_t outputs = 1;
  for (const int32_t extent : p.out) outputs *= static_cast<uint64_t>(extent);
  AddHost(to, op, p.function,
          {ifmap, filter, numbers.bias, numbers.scales, AddOptions(to, op, options)},
          {ofmap}, outputs * p.macs_per_output);
  CloseOutput(to, op, ofmap);
}

uint64_t Taps(const Extents& w, int32_t channels) {
  return uint64_t(w[1]) * uint64_t(w[2]) * uint64_t(channels);
}

template <typename Options>
void SetWindow(const Options& o, const Extents& in, const Extents& w,
               const Extents& out, int32_t groups, Product* p) {
  const bool same = o.padding() == tflite::Padding::SAME;
  p->vertical = PadsOf(same, in[1], out[1], w[1], o.stride_h(), o.dilation_h());
  p->horizontal = PadsOf(same, in[2], out[2], w[2], o.stride_w(), o.dilation_w());
  p->window = {o.stride_h(),       o.stride_w(),         o.dilation_h(), o.dilation_w(),
               p->vertical.before, p->horizontal.before, groups};
  p->activation = static_cast<int>(o.activation());
}

void RequireRank4(const TfliteTensor& a, const TfliteTensor& b, const TfliteTensor& c) {
  Require(a.shape.size() == 4 && b.shape.size() == 4 && c.shape.size() == 4,
          "operands that do not have four axes");
}

struct Svdf {
  int32_t batches, filters, features, memory;
};

Svdf SvdfOf(const Lowering& to, const TfliteOperator& op, int32_t rank) {
  const Dims feature = DimsOf(InputOf(to, op, 1)), time = DimsOf(InputOf(to, op, 2));
  const Extents in = ExtentsOf(InputOf(to, op, 0)), out = ExtentsOf(OutputOf(to, op));
  const Svdf svdf = {in[2], feature[0], feature[1], time[1]};
  const int64_t state = int64_t{svdf.batches} * svdf.filters * svdf.memory;
  const Extents kept = ExtentsOf(InputOf(to, op, 4));
  Require(
      in[0] * in[1] == 1 && in[3] == svdf.features && time[0] == svdf.filters &&
          rank >= 1 && svdf.filters % rank == 0 &&
          out == Extents{1, 1, svdf.batches, svdf.filters / rank} &&
          int64_t{kept[2]} * kept[3] == state && kept[0] * kept[1] == 1 &&
          InputOf(to, op, 3).data_bytes == static_cast<size_t>(svdf.filters / rank) * 4,
      "operands whose extents do not fit");
  Require(InputOf(to, op, 1).data != nullptr && InputOf(to, op, 2).data != nullptr,
          "weights that are computed at run time");
  return svdf;
}

// Scaled sums of the features, [batches, filters].
uint32_t Features(Lowering* to, const TfliteOperator& op, const Svdf& svdf,
                  const Factor& factor) {
  to->graph.NeedRows(static_cast<uint64_t>(svdf.filters));
  std::vector<int32_t> rows;
  for (int32_t f = 0; f < svdf.filters; ++f)
    rows.insert(rows.end(), {0, factor.multiplier, factor.shift});
  const uint32_t parameters =
      AddNumbers(to, OutputOf(*to, op).name + "/features", SLUICE_DTYPE_INT32,
                 {svdf.filters, 3}, rows.data(), rows.size() * 4);
  const uint32_t sums =
      NewPart(to, op, "/filters", SLUICE_DTYPE_INT32, {svdf.batches, svdf.filters});
  std::vector<int32_t> a = WholeAttributes();
  a[SLUICE_CONV_ROUNDING] = 0;
  a[SLUICE_CONV_INPUT_ZERO] = AffineOf(InputOf(*to, op, 0)).zero;
  AddLayer(to, op, SLUICE_OP_FULLY_CONNECTED,
           {InputTensor(to, op, 0), InputTensor(to, op, 1), parameters}, sums, a);
  return sums;
}

// High and low bytes of the weights of time, [1, 1, memory, filters].
std::vector<uint32_t> TimeWeights(Lowering* to, const TfliteOperator& op,
                                  const Svdf& svdf) {
  const TfliteTensor& time = InputOf(*to, op, 2);
  to->graph.NeedRoom(time.data_bytes);
  const size_t filters = static_cast<size_t>(svdf.filters),
               memory = static_cast<size_t>(svdf.memory);
  std::vector<uint32_t> parts;
  for (const size_t byte : {size_t{1}, size_t{0}}) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < filters * memory; ++i) {
      const size_t at = i % filters * memory + i / filters;
      bytes.push_back(time.data[2 * at + byte]);
    }
    parts.push_back(AddNumbers(to, time.name + (byte == 1 ? "/high" : "/low"),
                               byte == 1 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8,
                               {1, 1, svdf.memory, svdf.filters}, bytes.data(),
                               bytes.size()));
  }
  return parts;
}

// The kernel of SVDF clamps to the range of int8, whatever activation is named.
void RequirePlainSvdf(const TfliteTensor& input, const TfliteTensor& out) {
  Require(Is(input, TensorType::INT8) && Is(out, TensorType::INT8),
          "operands that are not int8");
}

}  // namespace

uint32_t AddOptions(Lowering* to, const TfliteOperator& op,
                    const std::vector<int32_t>& options) {
  return AddNumbers(to, OutputOf(*to, op).name + "/options", SLUICE_DTYPE_INT32,
                    {static_cast<int32_t>(options.size())}, options.data(),
                    options.size() * 4);
}

std::vector<int32_t> WholeAttributes() {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_ACT_MIN] = INT32_MIN;
  a[SLUICE_CONV_ACT_MAX] = INT32_MAX;
  a[SLUICE_CONV_ROUNDING] = 1;
  return a;
}

std::vector<int32_t> WholeSums(const Product& p, int32_t weight_zero) {
  std::vector<int32_t> a = WholeAttributes();
  // Strides, dilations and the pads in front come first, in the order of the attributes.
  if (p.unit != SLUICE_OP_FULLY_CONNECTED) {
    std::copy_n(p.window.begin(), SLUICE_CONV_PAD_BOTTOM, a.begin());
    a[SLUICE_CONV_PAD_BOTTOM] = p.vertical.after;
    a[SLUICE_CONV_PAD_RIGHT] = p.horizontal.after;
    if (p.unit == SLUICE_OP_CONV) a[SLUICE_CONV_GROUPS] = p.window.back();
  }
  a[SLUICE_CONV_WEIGHT_ZERO] = weight_zero;
  return a;
}

uint32_t NewPart(Lowering* to, const TfliteOperator& op, const std::string& suffix,
                 uint8_t dtype, const Dims& dims) {
  return to->graph.AddTensor(OutputOf(*to, op).name + suffix, dtype,
                             Kind::kIntermediate, dims, 0, 0);
}

uint32_t WholeParameters(Lowering* to, const TfliteOperator& op, int32_t channels) {
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < channels; ++k) rows.insert(rows.end(), {0, 1 << 30, 1});
  return AddNumbers(to, OutputOf(*to, op).name + "/whole", SLUICE_DTYPE_INT32,
                    {channels, 3}, rows.data(), rows.size() * 4);
}

bool IsSixteenBit(const TfliteTensor& tensor) { return Is(tensor, TensorType::INT16); }
bool IsFloat(const TfliteTensor& tensor) { return Is(tensor, TensorType::FLOAT32); }

void LowerWideConvolution(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& weight = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireRank4(input, weight, out);
  const Extents in = ExtentsOf(input), w = ExtentsOf(weight), o = ExtentsOf(out);
  Require(in[0] == o[0], "another number of images than the input");
  Product p = {0,           1,  2, 0, "conv_int16", DimsOf(input), DimsOf(weight),
               DimsOf(out), {}, 0, 0};
  if (const auto* depthwise = op.wire->builtin_options_as_DepthwiseConv2DOptions()) {
    Require(w[0] == 1 && w[3] == o[3] && o[3] % in[3] == 0,
            "a weight that does not fit the channels");
    p.axis = 3;
    p.function = "depthwise_conv_int16";
    p.unit = SLUICE_OP_DEPTHWISE_CONV;
    SetWindow(*depthwise, in, w, o, 1, &p);
    p.macs_per_output = Taps(w, 1);
  } else {
    const auto* plain = op.wire->builtin_options_as_Conv2DOptions();
    Require(plain != nullptr, "missing options");
    Require(w[0] == o[3] && in[3] % w[3] == 0 && o[3] % (in[3] / w[3]) == 0,
            "a weight that does not fit the channels");
    SetWindow(*plain, in, w, o, in[3] / w[3], &p);
    p.macs_per_output = Taps(w, w[3]);
  }
  AddProduct(to, op, p);
}

void LowerWideTransposedConvolution(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_TransposeConvOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& weight = InputOf(*to, op, 1);
  const TfliteTensor& input = InputOf(*to, op, 2);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireRank4(input, weight, out);
  const Extents in = ExtentsOf(input), w = ExtentsOf(weight), o = ExtentsOf(out);
  Require(in[0] == o[0], "another number of images than the input");
  Require(w[0] == o[3] && w[3] == in[3], "a weight that does not fit the channels");
  const bool same = options->padding() == tflite::Padding::SAME;
  const Pads h = PadsOf(same, o[1], in[1], w[1], options->stride_h(), 1);
  const Pads v = PadsOf(same, o[2], in[2], w[2], options->stride_w(), 1);
  AddProduct(to, op,
             {2,
              1,
              3,
              0,
              "transposed_conv_int16",
              DimsOf(input),
              DimsOf(weight),
              DimsOf(out),
              {options->stride_h(), options->stride_w(), 1, 1, h.before, v.before, 1},
              static_cast<int>(options->activation()),
              Taps(w, w[3]),
              false,
              SLUICE_OP_TRANSPOSED_CONV,
              h,
              v});
}

void LowerWideFullyConnected(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_FullyConnectedOptions();
  Require(options != nullptr && options->weights_format() == 0, "shuffled weights");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& weight = InputOf(*to, op, 1);
  Require(weight.shape.size() == 2, "a weight that does not have two axes");
  const Dims dims = DimsOf(weight);
  const Extents in = ExtentsOf(input), o = ExtentsOf(OutputOf(*to, op));
  const int64_t elements = int64_t{in[0]} * in[1] * in[2] * in[3];
  const int64_t rows = elements / dims[1];
  Require(
      elements % dims[1] == 0 && rows * dims[0] == int64_t{o[0]} * o[1] * o[2] * o[3],
      "extents that do not fit the weight");
  const int32_t count = static_cast<int32_t>(rows);
  AddProduct(to, op,
             {0,
              1,
              2,
              0,
              "fully_connected_int16",
              {count, dims[1]},
              dims,
              {count, dims[0]},
              {1, 1, 1, 1, 0, 0, 1},
              static_cast<int>(options->activation()),
              static_cast<uint64_t>(dims[1]),
              true,
              SLUICE_OP_FULLY_CONNECTED,
              {0, 0},
              {0, 0},
              options->asymmetric_quantize_inputs()});
}

void LowerSoftmax16(Lowering* to, const TfliteOperator& op,
                    const std::vector<int32_t>& numbers) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  Require(Is(input, TensorType::INT8), "16-bit inputs of a softmax");
  Require(AffineOf(out).zero == -32768 &&
              std::fabs(AffineOf(out).scale * 65536 - 1) < 0.001f,
          "a 16-bit output not quantised as 1/65536 from the smallest value");
  const uint32_t ifmap = InputTensor(to, op, 0), ofmap = OutputTensor(to, op);
  AddHost(to, op, "softmax_int16", {ifmap, AddOptions(to, op, numbers)}, {ofmap}, 0);
}

void LowerSvdf(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_SVDFOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& feature = InputOf(*to, op, 1);
  const TfliteTensor& time = InputOf(*to, op, 2);
  const TfliteTensor& state = InputOf(*to, op, 4);
  const TfliteTensor& out = OutputOf(*to, op);
  RequirePlainSvdf(input, out);
  Require(Is(feature, TensorType::INT8) && Is(time, TensorType::INT16) &&
              Is(state, TensorType::INT16) && feature.shape.size() == 2 &&
              time.shape.size() == 2 && state.shape.size() == 2,
          "weights or a state of other types or ranks");
  Require(HasInput(op, 3) && Is(InputOf(*to, op, 3), TensorType::INT32),
          "no bias of int32");
  const float state_scale = AffineOf(state).scale;
  // Products of scales are in float, as the kernel computes them.
  const Factor first = QuantiseFactor(static_cast<double>(
      AffineOf(input).scale * AffineOf(feature).scale / state_scale));
  const Factor second = QuantiseFactor(
      static_cast<double>(state_scale * AffineOf(time).scale / AffineOf(out).scale));
  const Svdf svdf = SvdfOf(*to, op, options->rank());
  const uint32_t before = Variable(to, op, 4);
  const uint32_t after = Temporary(to, state, "/next", DimsOf(state));
  const Dims rows = {svdf.batches, 1, svdf.memory, svdf.filters};
  const uint32_t high = NewPart(to, op, "/high", SLUICE_DTYPE_INT8, rows),
                 low = NewPart(to, op, "/low", SLUICE_DTYPE_UINT8, rows);
  AddHost(to, op, "svdf_state",
          {Features(to, op, svdf, first), before,
           AddOptions(to, op, {svdf.filters, svdf.memory})},
          {after, high, low}, 0);
  std::vector<uint32_t> inputs;
  const std::vector<uint32_t> weights = TimeWeights(to, op, svdf);
  const uint32_t whole = WholeParameters(to, op, svdf.filters);
  for (const uint32_t part : {high, low}) {
    for (const uint32_t weight : weights) {
      inputs.push_back(NewPart(to, op, "/sums" + std::to_string(inputs.size()),
                               SLUICE_DTYPE_INT32, {svdf.batches, 1, 1, svdf.filters}));
      AddLayer(to, op, SLUICE_OP_DEPTHWISE_CONV, {part, weight, whole}, inputs.back(),
               WholeAttributes());
    }
  }
  inputs.insert(inputs.end(), {InputTensor(to, op, 3),
                               AddOptions(to, op,
                                          {options->rank(), second.multiplier,
                                           second.shift, AffineOf(out).zero})});
  AddHost(to, op, "svdf_output", inputs, {OutputTensor(to, op)}, 0);
  SetNext(to, before, after);
}

}  // namespace sluice::import
