// SPDX-License-Identifier: Apache-2.0
// ONNX: convolutions, matrix products and pools.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_numbers.h"
#include "import/onnx/onnx_windows.h"

namespace sluice::import {
namespace {

constexpr double kSpread = 32, kWeightSpread = 74;  // RMS of seeded numbers, in steps

Axis AxisAt(const OnnxNode& node, size_t i, size_t spatial, int64_t in, int64_t out,
            int64_t window) {
  const auto list = [&](const char* name, int64_t otherwise) {
    const std::vector<int64_t> values =
        node.Ints(name, std::vector<int64_t>(2 * spatial, otherwise));
    Require(values.size() >= spatial, "attributes shorter than the spatial axes");
    return values;
  };
  const int64_t stride = list("strides", 1)[i], dilation = list("dilations", 1)[i];
  Require(stride >= 1 && stride <= 65536 && dilation >= 1 && dilation <= 65536 &&
              window >= 1 && window <= 65536,
          "a window, stride or dilation out of range");
  const int64_t reach = (window - 1) * dilation + 1;
  const int64_t needed = std::max<int64_t>(0, (out - 1) * stride + reach - in);
  const std::string mode = node.Text("auto_pad", "NOTSET");
  int64_t before = 0;
  if (mode == "SAME_UPPER") {
    before = needed / 2;
  } else if (mode == "SAME_LOWER") {
    before = needed - needed / 2;
  } else if (mode == "NOTSET") {
    before = list("pads", 0)[i];
  }
  // The pad behind the input is what the last window reaches, also when the number of
  // windows is rounded up (ceil_mode).
  const int64_t after = std::max<int64_t>(0, needed - before);
  Require(before >= 0 && before < reach && after < reach,
          "pads as wide as the window, or negative ones");
  return {static_cast<int32_t>(in),       static_cast<int32_t>(out),
          static_cast<int32_t>(window),   static_cast<int32_t>(stride),
          static_cast<int32_t>(dilation), static_cast<int32_t>(before),
          static_cast<int32_t>(after)};
}

}  // namespace

Frame FrameOf(const OnnxNode& node, const std::vector<int64_t>& in,
              const std::vector<int64_t>& out, const std::vector<int64_t>& window) {
  Require(in.size() == out.size() && (in.size() == 3 || in.size() == 4),
          "other than one or two spatial axes");
  const size_t spatial = in.size() - 2;
  Require(window.size() == spatial, "a window of another rank");
  const Axis last =
      AxisAt(node, spatial - 1, spatial, in.back(), out.back(), window.back());
  if (spatial == 1) return {kPoint, last};
  return {AxisAt(node, 0, spatial, in[2], out[2], window[0]), last};
}

Dims ImageDims(const std::vector<int64_t>& shape) {
  std::vector<int64_t> four = shape;
  if (four.size() == 3) four.insert(four.begin() + 2, 1);
  return DimsIn(four, ChannelsLast(4));
}

std::vector<int32_t> ConvAttributes(const Frame& f, int32_t groups, const Numbers& in,
                                    int32_t weight_zero, const Numbers& out) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = f.h.stride;
  a[SLUICE_CONV_STRIDE_W] = f.w.stride;
  a[SLUICE_CONV_DILATION_H] = f.h.dilation;
  a[SLUICE_CONV_DILATION_W] = f.w.dilation;
  a[SLUICE_CONV_PAD_TOP] = f.h.before;
  a[SLUICE_CONV_PAD_LEFT] = f.w.before;
  a[SLUICE_CONV_PAD_BOTTOM] = f.h.after;
  a[SLUICE_CONV_PAD_RIGHT] = f.w.after;
  a[SLUICE_CONV_GROUPS] = groups;
  a[SLUICE_CONV_INPUT_ZERO] = in.affine.zero;
  a[SLUICE_CONV_WEIGHT_ZERO] = weight_zero;
  a[SLUICE_CONV_OUTPUT_ZERO] = out.affine.zero;
  a[SLUICE_CONV_ACT_MIN] = DtypeRange(out.dtype).min;
  a[SLUICE_CONV_ACT_MAX] = DtypeRange(out.dtype).max;
  a[SLUICE_CONV_ROUNDING] = 1;
  return a;
}

namespace {

// The operands of a product of an activation and a constant weight.
struct Product {
  int input = -1, bias = -1;
  const OnnxValue* shape = nullptr;  // of the weight
  std::string weight_name;
  OnnxConstant weight;
  Numbers in, out;
  bool exact = false;
};

Product ProductOf(OnnxLowering* to, const OnnxNode& node) {
  Product p;
  p.input = InputIndex(node, 0);
  const bool qgemm = node.op == "com.microsoft.QGemm";
  const bool qlinear = node.op == "QLinearConv" || node.op == "QLinearMatMul" || qgemm;
  const size_t weight_at = qlinear ? 3 : 1;
  p.shape = &InputOf(*to, node, weight_at);
  p.weight_name = p.shape->name;
  p.in = PlaceOf(to, p.input).numbers;
  if (qlinear) {
    const uint8_t stored = p.in.dtype;
    p.in = ScaleAndZero(*to, node, 1, 2);
    Require(p.in.dtype == stored, "an input of another type than its zero point");
    p.weight = QuantisedBy(*to, node, 3, 4, 5);
    Require(!qgemm || HasInput(node, 7), "an output that is not quantised");
    p.out = qgemm ? ScaleAndZero(*to, node, 7, 8) : ScaleAndZero(*to, node, 6, 7);
    const size_t bias_at = qgemm ? 6 : 8;
    if (node.op != "QLinearMatMul" && HasInput(node, bias_at)) {
      p.bias = node.inputs[bias_at];
    }
  } else {
    p.weight = ConstantOf(*to, InputIndex(node, 1));
    p.out = TargetOf(*to, node.outputs[0]);
    if (HasInput(node, 2)) p.bias = node.inputs[2];
  }
  p.exact = p.in.known && p.out.known && p.weight.stored != nullptr;
  if (qlinear) Require(p.exact, "operands that are no stored constants");
  if (p.exact) {
    Require(p.weight.scales.size() == 1 ||
                std::all_of(p.weight.zeros.begin(), p.weight.zeros.end(),
                            [](int64_t zero) { return zero == 0; }),
            "per-axis zero points other than 0");
    CountRounded(to, node, qlinear ? kTies : kFloatSums);
  } else {
    CountShapesOnly(to, node);
    if (!p.in.known) p.in.affine.zero = 0;
    if (!p.out.known) p.out = Numbers();
  }
  return p;
}

// Biases in units of input scale * weight scale, whatever they are stored as.
std::vector<int32_t> Biases(OnnxLowering* to, const Product& p, size_t channels) {
  std::vector<int32_t> bias(channels, 0);
  if (p.bias < 0) return bias;
  const OnnxConstant constant = ConstantOf(*to, p.bias);
  const OnnxValue& value =
      constant.stored != nullptr ? *constant.stored : ValueOf(*to, p.bias);
  Require(value.has_data && value.data.size() == channels * 4,
          "a bias that is no constant of one number for each channel");
  if (value.type == kOnnxInt32) {
    std::memcpy(bias.data(), value.data.data(), value.data.size());
    if (constant.stored == nullptr) return bias;
  }
  Require(value.type == kOnnxInt32 || value.type == kOnnxFloat,
          "a bias of another type");
  for (size_t k = 0; k < channels; ++k) {
    const double step = static_cast<double>(p.in.affine.scale) *
                        p.weight.scales[p.weight.scales.size() == 1 ? 0 : k];
    double real = 0;
    if (value.type == kOnnxFloat) {
      float f = 0;
      std::memcpy(&f, value.data.data() + 4 * k, 4);
      real = f;
    } else {
      real = static_cast<double>(bias[k]) *
             constant.scales[constant.scales.size() == 1 ? 0 : k];
    }
    Require(std::isfinite(real), "a bias that is no finite number");
    Require(real == 0 || step > 0, "a bias on weights whose scale is 0");
    bias[k] = real == 0 ? 0
                        : static_cast<int32_t>(std::clamp(std::nearbyint(real / step),
                                                          -2147483648.0, 2147483647.0));
  }
  return bias;
}

// int32 [channels, 3]; terms: products in one sum.
uint32_t Parameters(OnnxLowering* to, const OnnxNode& node, const Product& p,
                    int32_t channels, int64_t terms) {
  std::vector<int32_t> rows;
  const size_t count = static_cast<size_t>(channels);
  to->graph.NeedRows(count);
  std::vector<int32_t> bias(count, 0);
  if (p.exact) bias = Biases(to, p, count);
  for (size_t k = 0; k < count; ++k) {
    double factor = kSpread / (std::sqrt(1.0 * static_cast<double>(terms)) *
                               kWeightSpread * p.in.rms);
    if (p.exact) {
      factor = static_cast<double>(p.in.affine.scale) *
               p.weight.scales[p.weight.scales.size() == 1 ? 0 : k] /
               static_cast<double>(p.out.affine.scale);
    }
    const Factor f = QuantiseFactor(factor);
    Require(f.shift <= 30, "a factor above 2^30");
    rows.insert(rows.end(), {bias[k], f.multiplier, f.shift});
  }
  return to->graph.AddConstant(OutputOf(*to, node).name + "/parameters",
                               SLUICE_DTYPE_INT32, {channels, 3}, rows.data(),
                               rows.size() * 4);
}

uint32_t WeightTensor(OnnxLowering* to, const Product& p, const AxisOrder& order,
                      const Dims& dims) {
  if (!p.exact) return SeededTensor(to, p.weight_name, dims);
  const uint8_t dtype =
      p.weight.stored->type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
  return AddPermuted(to, p.weight_name, dtype, dims, *p.weight.stored, order);
}

// Marks the layer that writes output 0 as able to absorb a following ReLU and, where
// only shapes count, also factors and biases per channel.
void Open(OnnxLowering* to, const OnnxNode& node, int layer, int act_min,
          bool per_channel) {
  OnnxPlace place = PlaceOf(to, node.outputs[0]);
  place.layer = layer;
  place.act_min = act_min;
  place.per_channel = per_channel && !place.numbers.known;
  SetPlace(to, node.outputs[0], place);
}

}  // namespace

void LowerOnnxConv(OnnxLowering* to, const OnnxNode& node) {
  Product p = ProductOf(to, node);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, p.input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const std::vector<int64_t>& weight = ShapeOf(*p.shape);
  Require(p.shape->constant, "a weight that is computed at run time");
  Require(weight.size() == in.size() && in.size() >= 3, "a weight of another rank");
  const Frame frame =
      FrameOf(node, in, out, std::vector<int64_t>(weight.begin() + 2, weight.end()));
  const int64_t groups = node.Int("group", 1);
  Require(groups >= 1 && in[1] == weight[1] * groups && out[1] == weight[0] &&
              weight[0] % groups == 0,
          "a weight that does not fit the channels");
  Require(!p.exact || p.weight.scales.size() == 1 || p.weight.axis == 0,
          "a weight quantised along another axis than output channels");
  const bool depthwise = groups > 1 && weight[1] == 1;
  const int32_t k = static_cast<int32_t>(weight[0]);
  const AxisOrder order = ChannelsLast(in.size());
  AxisOrder weight_order = order;
  Dims weight_dims = {k, frame.h.window, frame.w.window,
                      static_cast<int32_t>(weight[1])};
  if (depthwise) {
    weight_order = Straight(in.size());
    std::rotate(weight_order.begin(), weight_order.begin() + 1, weight_order.end());
    weight_dims = {1, frame.h.window, frame.w.window, k};
  }
  const uint32_t ifmap = TensorAs(to, p.input, order, ImageDims(in));
  const uint32_t filter = WeightTensor(to, p, weight_order, weight_dims);
  const uint32_t parameters =
      Parameters(to, node, p, k, weight[1] * frame.h.window * frame.w.window);
  const int32_t zero = p.exact ? static_cast<int32_t>(p.weight.zeros[0]) : 0;
  const uint32_t ofmap = NewOutput(to, node, 0, order, ImageDims(out), p.out);
  const int layer =
      AddLayer(to, node.name, depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
               {ifmap, filter, parameters}, ofmap,
               ConvAttributes(frame, depthwise ? 0 : static_cast<int32_t>(groups), p.in,
                              zero, p.out));
  Open(to, node, layer, SLUICE_CONV_ACT_MIN, true);
}

void LowerOnnxTransposedConv(OnnxLowering* to, const OnnxNode& node) {
  Product p = ProductOf(to, node);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, p.input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const std::vector<int64_t>& weight = ShapeOf(*p.shape);
  Require(p.shape->constant, "a weight that is computed at run time");
  Require(in.size() == 4 && weight.size() == 4, "other than two spatial axes");
  Require(node.Int("group", 1) == 1, "groups");
  Require(weight[0] == in[1] && weight[1] == out[1],
          "a weight that does not fit the channels");
  Require(!p.exact || p.weight.scales.size() == 1 || p.weight.axis == 1,
          "a weight quantised along another axis than output channels");
  Require(!node.Has("output_shape"), "pads that the runtime computes");
  // The pads are those of the forward convolution from the output to the input.
  const Frame frame = FrameOf(node, out, in, {weight[2], weight[3]});
  Require(frame.h.dilation == 1 && frame.w.dilation == 1, "dilated windows");
  const int32_t k = static_cast<int32_t>(weight[1]);
  const AxisOrder order = ChannelsLast(4);
  const uint32_t ifmap = TensorAs(to, p.input, order, ImageDims(in));
  const uint32_t filter = WeightTensor(
      to, p, {1, 2, 3, 0},
      {k, frame.h.window, frame.w.window, static_cast<int32_t>(weight[0])});
  const uint32_t parameters =
      Parameters(to, node, p, k, weight[0] * weight[2] * weight[3]);
  const int32_t zero = p.exact ? static_cast<int32_t>(p.weight.zeros[0]) : 0;
  const uint32_t ofmap = NewOutput(to, node, 0, order, ImageDims(out), p.out);
  const int layer =
      AddLayer(to, node.name, SLUICE_OP_TRANSPOSED_CONV, {ifmap, filter, parameters},
               ofmap, ConvAttributes(frame, 0, p.in, zero, p.out));
  Open(to, node, layer, SLUICE_CONV_ACT_MIN, true);
}

namespace {

// Multiplies the rows along the last axis by a constant matrix.
void FullyConnected(OnnxLowering* to, const OnnxNode& node, bool transposed) {
  Product p = ProductOf(to, node);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, p.input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const std::vector<int64_t>& weight = ShapeOf(*p.shape);
  Require(weight.size() == 2 && in.size() >= 2 && out.size() == in.size(),
          "a weight that does not have two axes");
  const int64_t depth = weight[transposed ? 1 : 0], units = weight[transposed ? 0 : 1];
  Require(in.back() == depth && out.back() == units,
          "extents that do not fit the weight");
  Require(
      !p.exact || p.weight.scales.size() == 1 || p.weight.axis == (transposed ? 0 : 1),
      "a weight quantised along another axis than output channels");
  const AxisOrder straight = Straight(in.size());
  const uint32_t ifmap = PlainTensor(to, p.input);
  const uint32_t filter =
      WeightTensor(to, p, transposed ? AxisOrder{0, 1} : AxisOrder{1, 0},
                   {static_cast<int32_t>(units), static_cast<int32_t>(depth)});
  const uint32_t parameters =
      Parameters(to, node, p, static_cast<int32_t>(units), depth);
  const int32_t zero = p.exact ? static_cast<int32_t>(p.weight.zeros[0]) : 0;
  const uint32_t ofmap = NewOutput(to, node, 0, straight, DimsIn(out, straight), p.out);
  std::vector<int32_t> attributes =
      ConvAttributes({kPoint, kPoint}, 0, p.in, zero, p.out);
  for (int i = SLUICE_CONV_STRIDE_H; i <= SLUICE_CONV_GROUPS; ++i) {
    attributes[static_cast<size_t>(i)] = 0;
  }
  const int layer = AddLayer(to, node.name, SLUICE_OP_FULLY_CONNECTED,
                             {ifmap, filter, parameters}, ofmap, attributes);
  Open(to, node, layer, SLUICE_CONV_ACT_MIN, true);
}

// Two activations. Leading axes are batches and must agree.
void BatchMatmul(OnnxLowering* to, const OnnxNode& node) {
  const bool qlinear = node.op == "QLinearMatMul";
  const int a = InputIndex(node, 0), b = InputIndex(node, qlinear ? 3 : 1);
  const std::vector<int64_t>& sa = ShapeOf(ValueOf(*to, a));
  const std::vector<int64_t>& sb = ShapeOf(ValueOf(*to, b));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  Require(sa.size() == sb.size() && sa.size() >= 2 && sa.size() <= 4,
          "operands of different ranks, or of more than four axes");
  Require(std::equal(sa.begin(), sa.end() - 2, sb.begin()),
          "batch axes that broadcast");
  const size_t last = sa.size() - 1;
  Require(sa[last] == sb[last - 1] && out.size() == sa.size() &&
              out[last - 1] == sa[last - 1] && out[last] == sb[last],
          "extents that do not fit a product");
  Numbers na = PlaceOf(to, a).numbers, nb = PlaceOf(to, b).numbers;
  Numbers target = TargetOf(*to, node.outputs[0]);
  if (qlinear) {
    na = ScaleAndZero(*to, node, 1, 2);
    nb = ScaleAndZero(*to, node, 4, 5);
    target = ScaleAndZero(*to, node, 6, 7);
  }
  const bool exact = na.known && nb.known && target.known;
  if (!exact) {
    CountShapesOnly(to, node);
    if (!target.known) target = Numbers();
  }
  const AxisOrder straight = Straight(sa.size());
  AxisOrder swapped = straight;
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  // Keys of attention arrive transposed: transpose_b reads them without moving bytes.
  const AxisOrder& lies = PlaceOf(to, b).order;
  const bool transpose_b =
      std::find(lies.begin(), lies.end(), swapped[swapped.size() - 2]) <
      std::find(lies.begin(), lies.end(), swapped.back());
  const AxisOrder& order_b = transpose_b ? swapped : straight;
  const uint32_t first = PlainTensor(to, a);
  const uint32_t second = TensorAs(to, b, order_b, DimsIn(sb, order_b));
  double factor =
      kSpread / (std::sqrt(1.0 * static_cast<double>(sa.back())) * na.rms * nb.rms);
  if (exact) {
    factor = static_cast<double>(na.affine.scale) * nb.affine.scale /
             static_cast<double>(target.affine.scale);
  }
  if (exact) CountRounded(to, node, qlinear ? kTies : kFloatSums);
  const Factor f = exact ? FactorRoundedOnce(factor) : QuantiseFactor(factor);
  const Range range = DtypeRange(target.dtype);
  const uint32_t ofmap =
      NewOutput(to, node, 0, straight, DimsIn(out, straight), target);
  AddLayer(to, node.name, SLUICE_OP_BATCH_MATMUL, {first, second}, ofmap,
           {transpose_b ? 1 : 0, exact ? na.affine.zero : 0, exact ? nb.affine.zero : 0,
            target.affine.zero, f.multiplier, f.shift, range.min, range.max});
}

}  // namespace

void LowerOnnxMatmul(OnnxLowering* to, const OnnxNode& node) {
  if (node.op == "Gemm" || node.op == "com.microsoft.QGemm") {
    Require(node.Int("transA", 0) == 0, "a transposed first operand");
    const bool plain = node.op == "Gemm";
    Require(InputOf(*to, node, plain ? 1 : 3).constant,
            "a weight that is computed at run time");
    const Numbers target = TargetOf(*to, node.outputs[0]);
    Require((plain && !target.known) ||
                (node.Float("alpha", 1) == 1 && node.Float("beta", 1) == 1),
            "factors other than 1");
    return FullyConnected(to, node, node.Int("transB", 0) != 0);
  }
  const OnnxValue& b = InputOf(*to, node, node.op == "QLinearMatMul" ? 3 : 1);
  if (b.constant && ShapeOf(b).size() == 2) return FullyConnected(to, node, false);
  BatchMatmul(to, node);
}

namespace {

// Averages of whole windows as a convolution by ones, which scales and rounds once.
void AveragesByOnes(OnnxLowering* to, const OnnxNode& node, const Frame& f,
                    const OnnxEnds& ends) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = ChannelsLast(in.size());
  const Dims dims = ImageDims(out);
  const int64_t taps = int64_t{f.h.window} * f.w.window;
  const Bytes ones(static_cast<size_t>(taps * dims[3]), 1);
  const uint32_t weight = to->graph.AddConstant(
      OutputOf(*to, node).name + "/ones", SLUICE_DTYPE_INT8,
      {1, f.h.window, f.w.window, dims[3]}, ones.data(), ones.size());
  const Factor factor = QuantiseFactor(
      static_cast<double>(ends.in.affine.scale) /
      (static_cast<double>(ends.out.affine.scale) * static_cast<double>(taps)));
  Require(factor.shift <= 30, "a factor above 2^30");
  to->graph.NeedRows(static_cast<size_t>(dims[3]));
  std::vector<int32_t> rows;
  for (int32_t c = 0; c < dims[3]; ++c) {
    rows.insert(rows.end(), {0, factor.multiplier, factor.shift});
  }
  const uint32_t parameters = to->graph.AddConstant(
      OutputOf(*to, node).name + "/parameters", SLUICE_DTYPE_INT32, {dims[3], 3},
      rows.data(), rows.size() * 4);
  const uint32_t ifmap = TensorAs(to, input, order, ImageDims(in));
  const uint32_t ofmap = NewOutput(to, node, 0, order, dims, ends.out);
  const int layer =
      AddLayer(to, node.name, SLUICE_OP_DEPTHWISE_CONV, {ifmap, weight, parameters},
               ofmap, ConvAttributes(f, 0, ends.in, 0, ends.out));
  Open(to, node, layer, SLUICE_CONV_ACT_MIN, false);
}

// Whether every window is divided by the same count, that is, padding counts as
// elements.
bool CountsWhole(const OnnxNode& node, const Frame& f) {
  const int32_t padded = f.h.before + f.h.after + f.w.before + f.w.after;
  if (padded == 0) return true;
  const std::vector<int64_t> pads = node.Ints("pads", {});
  const size_t spatial = pads.size() / 2;
  return node.Int("count_include_pad", 0) != 0 && node.Int("ceil_mode", 0) == 0 &&
         spatial >= 1 && f.w.after <= pads.back() &&
         (spatial == 1 || f.h.after <= pads[spatial]);
}

}  // namespace

void LowerOnnxPool(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const bool max = node.op == "MaxPool";
  Require(node.outputs.size() == 1 || node.outputs[1] < 0, "indices of the maxima");
  const Frame f = FrameOf(node, in, out, node.Ints("kernel_shape", {}));
  Require(f.h.dilation == 1 && f.w.dilation == 1, "dilated windows");
  const OnnxEnds ends = EndsOf(to, node);
  const Numbers &numbers = ends.in, &target = ends.out;
  // The maximum of stored integers needs neither scale nor zero point.
  const bool integers = max && ValueOf(*to, input).type != kOnnxFloat;
  if (!numbers.known && !integers) CountShapesOnly(to, node);
  if (!max && numbers.known && target.known) {
    // With equal scales and an even count many averages are ties, which the rounding
    // errors of the runtime's floats decide.
    Require(numbers.affine.scale != target.affine.scale || !to->computes_floats ||
                node.op != "AveragePool" || f.h.window * f.w.window % 2 != 0,
            "averages on ties");
    CountRounded(to, node, kFloatSums);
    if (CountsWhole(node, f)) return AveragesByOnes(to, node, f, ends);
    // An average and a change of scale are two roundings.
    Require(numbers.affine.scale == target.affine.scale &&
                numbers.affine.zero == target.affine.zero && !to->computes_floats,
            "averages of fewer pixels at the border");
  }
  const bool padded = f.h.before + f.h.after + f.w.before + f.w.after > 0;
  Require(max || !numbers.known || !padded || node.Int("count_include_pad", 0) == 0,
          "averages that count padding");
  const Range range = DtypeRange(numbers.dtype);
  const uint32_t ifmap = TensorAs(to, input, ChannelsLast(in.size()), ImageDims(in));
  Numbers after = numbers;
  after.rms *= max ? 1.2 : 0.8;
  uint32_t ofmap = NewTensor(to, OutputOf(*to, node).name, ImageDims(out), after);
  const int layer = AddLayer(
      to, node.name, max ? SLUICE_OP_MAX_POOL : SLUICE_OP_AVERAGE_POOL, {ifmap}, ofmap,
      {f.h.window, f.w.window, f.h.stride, f.w.stride, f.h.before, f.w.before,
       f.h.after, f.w.after, range.min, range.max});
  OnnxPlace place;
  place.layer = layer;
  place.act_min = SLUICE_POOL_ACT_MIN;
  if (numbers.known && target.known) {
    const uint32_t requantised = Requantised(
        to, OutputOf(*to, node).name + "/requantised", ofmap, numbers, target);
    if (requantised != ofmap) place.layer = -1;
    ofmap = requantised;
    after = target;
  }
  place.tensor = ofmap;
  place.order = ChannelsLast(in.size());
  place.numbers = after;
  SetPlace(to, node.outputs[0], place);
}

}  // namespace sluice::import
