// SPDX-License-Identifier: Apache-2.0
// ONNX: products of a constant whose 32-bit sums a unit computes.
#include <algorithm>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_sums.h"
#include "import/onnx/onnx_windows.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

// A convolution, or a product of rows by a matrix.
struct Geometry {
  uint16_t op;
  AxisOrder order, weight_order;
  Dims in, out, weight;
  std::vector<int32_t> attributes;
  int64_t terms;     // of a sum
  int axis;          // of the weight's channels
  FloatRows slices;  // of `in`, as floats
  uint64_t products;
  Scaling scaling;

  // Parts of floats lie along the first axis: images one behind the other, or all rows.
  Dims StackedIn() const { return IsRows() ? Dims{slices.rows, slices.inner} : in; }
  Dims StackedOut() const {
    return IsRows() ? Dims{scaling.rows, scaling.columns} : out;
  }

 private:
  bool IsRows() const { return op == SLUICE_OP_FULLY_CONNECTED; }
};

void SetWhole(std::vector<int32_t>* attributes, int32_t zero_a, int32_t zero_b) {
  auto& a = *attributes;
  a[SLUICE_CONV_INPUT_ZERO] = zero_a;
  a[SLUICE_CONV_WEIGHT_ZERO] = zero_b;
  a[SLUICE_CONV_OUTPUT_ZERO] = 0;
  a[SLUICE_CONV_ACT_MIN] = INT32_MIN;
  a[SLUICE_CONV_ACT_MAX] = INT32_MAX;
}

void SetImages(const Shape& in, const Shape& out, int32_t channels, Geometry* g) {
  g->slices = {g->in[0], 1, ProductOfAxes(in, 1, in.size())};
  g->scaling.batch = g->out[0];
  g->scaling.rows = ProductOfAxes(out, 2, out.size());
  g->scaling.columns = channels;
  g->scaling.columns_first = true;
}

Geometry ConvGeometry(const OnnxNode& node, const Shape& in, const Shape& w,
                      const Shape& out) {
  Require(w.size() == in.size() && in.size() >= 3, "a weight of another rank");
  const Frame frame = FrameOf(node, in, out, Shape(w.begin() + 2, w.end()));
  const int64_t groups = node.Int("group", 1);
  Require(groups >= 1 && in[1] == w[1] * groups && out[1] == w[0] &&
              w[0] % groups == 0 && in[0] == out[0],
          "a weight that does not fit the channels");
  const bool depthwise = groups > 1 && w[1] == 1;
  const int32_t k = ProductOfAxes(w, 0, 1);
  Geometry g = {};
  g.op = depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV;
  g.order = g.weight_order = ChannelsLast(in.size());
  g.weight = {k, frame.h.window, frame.w.window, ProductOfAxes(w, 1, 2)};
  if (depthwise) {
    g.weight_order = Straight(in.size());
    std::rotate(g.weight_order.begin(), g.weight_order.begin() + 1,
                g.weight_order.end());
    g.weight = {1, frame.h.window, frame.w.window, k};
  }
  g.in = ImageDims(in);
  g.out = ImageDims(out);
  g.attributes = ConvAttributes(frame, depthwise ? 0 : static_cast<int32_t>(groups),
                                Numbers(), 0, Numbers());
  g.terms = w[1] * frame.h.window * frame.w.window;
  SetImages(in, out, k, &g);
  g.products = static_cast<uint64_t>(ElementsOf(out)) * static_cast<uint64_t>(g.terms);
  return g;
}

// Each pixel of the input is added to a window of the output.
Geometry TransposedGeometry(const OnnxNode& node, const Shape& in, const Shape& w,
                            const Shape& out) {
  Require(w.size() == in.size() && out.size() == in.size() && in.size() >= 3,
          "a weight of another rank");
  const int64_t groups = node.Int("group", 1);
  const bool depthwise = groups == in[1] && groups > 1;
  Require((groups == 1 || depthwise) && w[0] == in[1] && w[1] * groups == out[1] &&
              (!depthwise || w[1] == 1) && in[0] == out[0],
          "groups, or a weight that does not fit the channels");
  const std::string pads = node.Text("auto_pad", "NOTSET");
  Require(!node.Has("output_shape") && (pads == "NOTSET" || pads == "VALID"),
          "pads that the runtime computes");
  // The pads are those of the forward convolution from the output to the input.
  const Frame frame = FrameOf(node, out, in, Shape(w.begin() + 2, w.end()));
  Require(frame.h.dilation == 1 && frame.w.dilation == 1, "dilated windows");
  Geometry g = {};
  g.op = SLUICE_OP_TRANSPOSED_CONV;
  g.axis = depthwise ? 0 : 1;
  g.order = ChannelsLast(in.size());
  for (size_t i = 1; i < w.size(); ++i) g.weight_order.push_back(static_cast<int>(i));
  g.weight_order.push_back(0);
  g.weight = {ProductOfAxes(w, 1, 2), frame.h.window, frame.w.window,
              ProductOfAxes(w, 0, 1)};
  g.in = ImageDims(in);
  g.out = ImageDims(out);
  g.attributes = ConvAttributes(frame, 0, Numbers(), 0, Numbers());
  if (depthwise) g.attributes.push_back(SLUICE_WEIGHT_LAYOUT_DEPTHWISE);
  g.terms = w[0] / groups * frame.h.window * frame.w.window;
  SetImages(in, out, static_cast<int32_t>(out[1]), &g);
  g.products = static_cast<uint64_t>(ElementsOf(in)) *
               static_cast<uint64_t>(ElementsOf(w) / w[0]);
  return g;
}

Geometry RowsGeometry(const OnnxNode& node, const Shape& in, const Shape& w,
                      const Shape& out) {
  Require(node.Int("transA", 0) == 0, "a transposed first operand");
  Require(node.Float("alpha", 1) == 1 && node.Float("beta", 1) == 1,
          "factors other than 1");
  const bool transposed = node.Int("transB", 0) != 0;
  Require(w.size() == 2 && in.size() >= 2 && out.size() == in.size(),
          "a weight that does not have two axes");
  const size_t depth = transposed ? 1 : 0, units = 1 - depth;
  Require(in.back() == w[depth] && out.back() == w[units] &&
              std::equal(in.begin(), in.end() - 1, out.begin()),
          "extents that do not fit the weight");
  Geometry g = {};
  g.op = SLUICE_OP_FULLY_CONNECTED;
  g.axis = static_cast<int>(units);
  g.order = Straight(in.size());
  g.weight_order = transposed ? AxisOrder{0, 1} : AxisOrder{1, 0};
  g.weight = {ProductOfAxes(w, units, units + 1), ProductOfAxes(w, depth, depth + 1)};
  g.in = DimsIn(in, g.order);
  g.out = DimsIn(out, g.order);
  g.attributes.assign(SLUICE_CONV_ATTRIBUTES, 0);
  g.attributes[SLUICE_CONV_ROUNDING] = 1;
  g.terms = w[depth];
  const int32_t rows = ProductOfAxes(out, 0, out.size() - 1);
  g.slices = {1, rows, g.weight[1]};
  g.scaling.batch = 1;
  g.scaling.rows = rows;
  g.scaling.columns = g.weight[0];
  g.products = static_cast<uint64_t>(ElementsOf(out)) * static_cast<uint64_t>(w[depth]);
  return g;
}

std::vector<Part> SumsBy(OnnxLowering* to, const OnnxNode& node, const Geometry& g,
                         const Terms& a, const Terms& b) {
  RequireFewTerms(g.terms);
  const uint32_t parameters = WholeSums(to, node.name, g.scaling.columns);
  return SumsOf(to, node, {a, b}, a.split != kNoTensor ? g.StackedOut() : g.out, 0,
                [&](const Part& first, const Part& second, uint32_t sums) {
                  std::vector<int32_t> attributes = g.attributes;
                  SetWhole(&attributes, first.zero, second.zero);
                  AddLayer(to, node.name, g.op,
                           {first.tensor, second.tensor, parameters}, sums, attributes);
                });
}

Terms FirstTerms(OnnxLowering* to, const OnnxNode& node, const Geometry& g,
                 bool fewer) {
  const int input = InputIndex(node, 0);
  if (!IsSplit(to, input)) return TermsOf(to, input, g.order, g.in);
  const auto count = [&](const OnnxValue& value) {
    return static_cast<uint64_t>(ElementsOf(ShapeOf(value)));
  };
  RequireManyProducts(g.products,
                      count(ValueOf(*to, input)) + count(OutputOf(*to, node)));
  return SplitFirst(to, ViewOf(to, input, g.order), g.slices, g.StackedIn(), 0, fewer);
}

Terms WeightTerms(OnnxLowering* to, const OnnxNode& node, const Geometry& g) {
  const int weight = InputIndex(node, 1);
  if (IsFloatConstant(*to, weight)) {
    const bool depthwise = g.weight[0] != g.scaling.columns;
    const int32_t channels = g.weight[0],
                  all = ProductOfAxes(ShapeOf(ValueOf(*to, weight)), 0,
                                      g.weight_order.size());
    return SplitConstant(
        to, weight, g.weight_order,
        {1, depthwise ? 1 : channels, depthwise ? all : all / channels}, g.weight);
  }
  const OnnxConstant constant = ConstantOf(*to, weight);
  Require(constant.scales.size() <= 1 || constant.axis == g.axis,
          "a weight quantised along another axis than output channels");
  return TermsOf(to, ValueOf(*to, weight).name, constant, g.weight_order, g.weight);
}

// Sums that become floats.
void RealProduct(OnnxLowering* to, const OnnxNode& node, Geometry g) {
  const Terms a = FirstTerms(to, node, g, IsFloatConstant(*to, InputIndex(node, 1)));
  const Terms b = WeightTerms(to, node, g);
  if (HasInput(node, 2)) {
    const Shape& bias = ShapeOf(InputOf(*to, node, 2));
    const int64_t count = ElementsOf(bias);
    Require(
        count == 1 || (count == g.scaling.columns && bias.back() == g.scaling.columns),
        "a bias that is not one number for each channel");
    g.scaling.bias = FloatsOf(to, node.inputs[2]);
  }
  const std::vector<Part> sums = SumsBy(to, node, g, a, b);
  ScaleSums(to, node, sums, {a, b}, g.scaling, NewFloats(to, node));
}

// For each channel and place of the window the sum of the weight, less its zero point, over
// the channels that are added up.
std::vector<int32_t> WindowSums(const OnnxConstant& weight, bool conv) {
  const Shape& shape = ShapeOf(*weight.stored);
  const size_t outer = static_cast<size_t>(conv ? shape[0] : 1);
  const size_t summed = static_cast<size_t>(conv ? shape[1] : shape[0]);
  const size_t inner = weight.stored->data.size() / outer / summed;
  std::vector<int32_t> sums(outer * inner, 0);
  for (size_t i = 0; i < weight.stored->data.size(); ++i) {
    const uint8_t byte = weight.stored->data[i];
    const size_t k = i / inner / summed, place = i % inner;
    const size_t channel = conv ? k : place;
    sums[k * inner + place] +=
        (weight.stored->type == kOnnxInt8 ? static_cast<int8_t>(byte) : byte) -
        static_cast<int32_t>(weight.zeros[channel % weight.zeros.size()]);
  }
  return sums;
}

// How the host finds which places of the weight lie inside the input.
std::vector<int32_t> WindowOptions(const Geometry& g) {
  if (g.op == SLUICE_OP_FULLY_CONNECTED) {
    return {
        g.scaling.rows, 1, 1, 1, g.scaling.columns, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  }
  const auto at = [&](int i) { return g.attributes[static_cast<size_t>(i)]; };
  return {g.in[0],
          1,
          g.in[1],
          g.in[2],
          g.scaling.columns,
          g.out[1],
          g.out[2],
          g.weight[1],
          g.weight[2],
          1,
          at(SLUICE_CONV_STRIDE_H),
          at(SLUICE_CONV_STRIDE_W),
          at(SLUICE_CONV_DILATION_H),
          at(SLUICE_CONV_DILATION_W),
          at(SLUICE_CONV_PAD_TOP),
          at(SLUICE_CONV_PAD_LEFT)};
}

// MatMulInteger and ConvInteger: the zero point of the first operand is known at run time. The
// unit leaves it out; the host subtracts it as often as the weights say.
void IntegerProduct(OnnxLowering* to, const OnnxNode& node, const Geometry& g) {
  const OnnxValue &input = InputOf(*to, node, 0), &weight = InputOf(*to, node, 1);
  Require(OnnxTypeBytes(input.type) == 1, "operands that are not 8 bit");
  OnnxConstant constant;
  if (weight.has_data) constant.stored = &weight;
  constant.scales = {1};
  constant.axis = g.axis;
  constant.zeros = {0};
  if (HasInput(node, 3)) constant.zeros = StoredIntegers(InputOf(*to, node, 3));
  Require(constant.zeros.size() == 1 ||
              static_cast<int32_t>(constant.zeros.size()) == g.scaling.columns,
          "zero points of another extent");
  Require(!HasInput(node, 2) || ElementsOf(ShapeOf(InputOf(*to, node, 2))) == 1,
          "zero points of another extent");
  Terms a;
  a.scales = {1};
  a.parts.push_back({TensorAs(to, node.inputs[0], g.order, g.in), 0, 1});
  const Terms b = TermsOf(to, weight.name, constant, g.weight_order, g.weight);
  const std::vector<Part> sums = SumsBy(to, node, g, a, b);
  const std::vector<int32_t> inside =
      WindowSums(constant, g.op != SLUICE_OP_FULLY_CONNECTED);
  std::vector<uint32_t> inputs;
  for (const Part& part : sums) inputs.push_back(part.tensor);
  inputs.push_back(HasInput(node, 2) ? PlainTensor(to, node.inputs[2])
                                     : IntegerConstant(to, node.name + "/zero", {0}));
  inputs.push_back(IntegerConstant(to, node.name + "/inside", inside));
  const Shape& out = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = Straight(out.size());
  const uint32_t ofmap =
      NewOutput(to, node, 0, order, DimsIn(out, order), SumNumbers());
  AddHost(to, node.name, "LessZeroPoint", {inputs, WindowOptions(g), {ofmap}}, 0);
}

}  // namespace

void LowerOnnxSums(OnnxLowering* to, const OnnxNode& node) {
  Require(InputOf(*to, node, 1).constant, "a weight that is computed at run time");
  const bool conv = node.op == "Conv" || node.op == "ConvInteger";
  const auto geometry = conv                         ? ConvGeometry
                        : node.op == "ConvTranspose" ? TransposedGeometry
                                                     : RowsGeometry;
  const Geometry g =
      geometry(node, ShapeOf(InputOf(*to, node, 0)), ShapeOf(InputOf(*to, node, 1)),
               ShapeOf(OutputOf(*to, node)));
  if (node.op == "ConvInteger" || node.op == "MatMulInteger")
    return IntegerProduct(to, node, g);
  RealProduct(to, node, g);
}

}  // namespace sluice::import
