// SPDX-License-Identifier: Apache-2.0
// ONNX: operators between DequantizeLinear and QuantizeLinear that no layer computes as the
// runtime does. The host executes them on floats; firmware-sim/host_onnx.h says what each
// function takes.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_sums.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;
using Options = std::vector<int32_t>;

uint64_t SizeOf(const Shape& shape) { return static_cast<uint64_t>(ElementsOf(shape)); }

// The host function has the operator's name, without its domain.
std::string FunctionOf(const OnnxNode& node) {
  const size_t dot = node.op.rfind('.');
  return dot == std::string::npos ? node.op : node.op.substr(dot + 1);
}

// Refuses a node whose shapes, as the file gives them, contradict its operator.
void Agree(bool fits, const OnnxNode& node) {
  if (fits) return;
  throw Error(Fault::kBadInput, "shapes contradict each other: operands of " +
                                    node.name + " (" + node.op + ")");
}

bool HasElements(OnnxLowering* to, const OnnxNode& node, size_t input, int64_t count) {
  return !HasInput(node, input) ||
         ElementsOf(ShapeOf(InputOf(*to, node, input))) == count;
}

void KeepsShape(OnnxLowering* to, const OnnxNode& node) {
  Agree(ShapeOf(InputOf(*to, node, 0)) == ShapeOf(OutputOf(*to, node)), node);
}

float ConstantAt(OnnxLowering* to, const OnnxNode& node, size_t i, float otherwise) {
  if (!HasInput(node, i)) return otherwise;
  const OnnxValue& value = InputOf(*to, node, i);
  Require(value.has_data && value.type == kOnnxFloat && value.data.size() == 4,
          "a bound that is no float32 constant");
  std::memcpy(&otherwise, value.data.data(), 4);
  return otherwise;
}

// Whether the host's results equal the runtime's bit by bit. Other functions may differ
// in the last bit.
bool RoundsAlike(const std::string& function) {
  static const char* const kExact[] = {
      "Abs",       "Neg",       "Ceil",       "Floor",
      "Round",     "Sqrt",      "Reciprocal", "Relu",
      "Add",       "Sub",       "Mul",        "Div",
      "Min",       "Max",       "Sign",       "ThresholdedRelu",
      "PRelu",     "Where",     "Clip",       "LeakyRelu",
      "ReduceMax", "ReduceMin", "Sigmoid",    "Tanh",
      "Erf",       "Gelu",      "HardSigmoid"};
  return std::any_of(std::begin(kExact), std::end(kExact),
                     [&](const char* name) { return function == name; });
}

void Say(OnnxLowering* to, const OnnxNode& node, const std::string& function) {
  if (!RoundsAlike(function)) CountRounded(to, node, kHostFloats);
}

void Curve(OnnxLowering* to, const OnnxNode& node) {
  const std::string kind = FunctionOf(node);
  const bool approximate = node.Text("approximate", "none") != "none";
  const std::string function = kind == "Gelu" && approximate ? "FastGelu" : kind;
  const float infinity = std::numeric_limits<float>::infinity();
  Require(kind != "FastGelu" || !HasInput(node, 1), "a bias in front of the function");
  KeepsShape(to, node);
  OnnxCurveNumbers numbers = CurveNumbersOf(node, function);
  if (function == "Clip") {
    numbers.alpha = ConstantAt(to, node, 1, node.Float("min", -infinity));
    numbers.beta = ConstantAt(to, node, 2, node.Float("max", infinity));
  }
  const uint32_t in = FloatsOf(to, InputIndex(node, 0));
  const uint32_t out = NewFloats(to, node);
  Say(to, node, function);
  AddHost(
      to, node.name, function,
      {{in},
       {FloatBits(numbers.alpha), FloatBits(numbers.beta), FloatBits(numbers.gamma)},
       {out}},
      0);
}

bool IsInt32(OnnxLowering* to, int value) {
  const Numbers& numbers = PlaceOf(to, value).numbers;
  return !numbers.floats && numbers.dtype == SLUICE_DTYPE_INT32;
}

uint32_t NewInt32s(OnnxLowering* to, const OnnxNode& node) {
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  const Shape& shape = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = Straight(shape.size());
  return NewOutput(to, node, 0, order, DimsIn(shape, order), numbers);
}

void Binary(OnnxLowering* to, const OnnxNode& node) {
  if (node.inputs.size() == 1) return LowerOnnxSame(to, node);
  if (OutputOf(*to, node).type != kOnnxFloat) return LowerOnnxKinds(to, node);
  if (node.inputs.size() > 2) return LowerOnnxComposed(to, node);
  const int a = InputIndex(node, 0), b = InputIndex(node, 1);
  const Shape& out = ShapeOf(OutputOf(*to, node));
  Options options;
  AppendShape(out, out.size(), &options);
  for (const int operand : {a, b}) {
    const Shape& shape = ShapeOf(ValueOf(*to, operand));
    Require(shape.size() <= out.size(), "ranks that disagree");
    for (size_t i = 0; i < shape.size(); ++i) {
      Require(shape[i] == 1 || shape[i] == out[out.size() - shape.size() + i],
              "extents that do not broadcast");
    }
    AppendShape(shape, out.size(), &options);
  }
  const uint32_t first = FloatsOf(to, a), second = FloatsOf(to, b);
  const std::string function = node.op == "Sum" ? "Add" : node.op;
  Say(to, node, function);
  AddHost(to, node.name, function, {{first, second}, options, {NewFloats(to, node)}},
          0);
}

void Reduce(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const Shape& shape = ShapeOf(ValueOf(*to, input));
  const std::vector<bool> gone = ReducedAxes(*to, node);
  Require(shape.size() <= 8, "more than eight axes");
  int32_t mask = 0;
  int64_t kept = 1;
  for (size_t i = 0; i < gone.size(); ++i) {
    mask |= gone[i] ? 1 << i : 0;
    kept *= gone[i] ? 1 : shape[i];
  }
  Agree(ElementsOf(ShapeOf(OutputOf(*to, node))) == kept, node);
  Options options;
  AppendShape(shape, shape.size(), &options);
  options.push_back(mask);
  const std::string function = node.op == "GlobalAveragePool" ? "ReduceMean"
                               : node.op == "GlobalMaxPool"   ? "ReduceMax"
                                                              : node.op;
  const uint32_t in = FloatsOf(to, input);
  Say(to, node, function);
  AddHost(to, node.name, function, {{in}, options, {NewFloats(to, node)}}, 0);
}

void Softmax(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const Shape& shape = ShapeOf(ValueOf(*to, input));
  KeepsShape(to, node);
  const bool flat = to->model.opset < 13;
  const size_t axis =
      static_cast<size_t>(AxisOf(ValueOf(*to, input), node.Int("axis", flat ? 1 : -1)));
  const int32_t outer = ProductOfAxes(shape, 0, axis);
  const int32_t row = flat ? ProductOfAxes(shape, axis, shape.size())
                           : static_cast<int32_t>(shape[axis]);
  const int32_t inner = flat ? 1 : ProductOfAxes(shape, axis + 1, shape.size());
  const uint32_t in = FloatsOf(to, input);
  Say(to, node, node.op);
  AddHost(to, node.name, node.op, {{in}, {outer, row, inner}, {NewFloats(to, node)}},
          0);
}

uint32_t Filled(OnnxLowering* to, const std::string& name, int32_t count) {
  to->graph.NeedRoom(static_cast<uint64_t>(count) * 4);
  return FloatConstant(to, name, {count},
                       std::vector<float>(static_cast<size_t>(count), 0.0f));
}

void LayerNorm(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const Shape& shape = ShapeOf(ValueOf(*to, input));
  const bool instance = node.op == "InstanceNormalization";
  const bool centred = instance || node.op == "LayerNormalization";
  Require(node.outputs.size() == 1 || node.outputs[1] < 0, "the mean as an output");
  KeepsShape(to, node);
  const size_t axis =
      instance ? 2
               : static_cast<size_t>(AxisOf(ValueOf(*to, input), node.Int("axis", -1)));
  Require(axis < shape.size(), "no axis to normalise");
  const int32_t rows = ProductOfAxes(shape, 0, axis),
                row = ProductOfAxes(shape, axis, shape.size());
  const int32_t period = instance ? static_cast<int32_t>(shape[1]) : 0;
  const int32_t scales = instance ? period : row;
  const uint32_t in = FloatsOf(to, input);
  Require(ElementsOf(ShapeOf(InputOf(*to, node, 1))) == scales,
          "scales of another extent");
  const uint32_t scale = FloatsOf(to, InputIndex(node, 1));
  uint32_t bias = kNoTensor;
  if (HasInput(node, 2)) {
    Require(ElementsOf(ShapeOf(InputOf(*to, node, 2))) == scales,
            "biases of another extent");
    bias = FloatsOf(to, node.inputs[2]);
  } else {
    bias = Filled(to, node.name + "/bias", scales);
  }
  Say(to, node, node.op);
  AddHost(to, node.name, centred ? "LayerNormalization" : "RMSNormalization",
          {{in, scale, bias},
           {rows, row, period, FloatBits(node.Float("epsilon", 1e-5f))},
           {NewFloats(to, node)}},
          0);
}

void BatchNorm(OnnxLowering* to, const OnnxNode& node) {
  const Shape& shape = ShapeOf(InputOf(*to, node, 0));
  Require(shape.size() >= 2, "no channels");
  Require(node.Int("training_mode", 0) == 0, "training");
  KeepsShape(to, node);
  std::vector<uint32_t> inputs;
  for (size_t i = 0; i < 5; ++i) {
    Require(i == 0 || ElementsOf(ShapeOf(InputOf(*to, node, i))) == shape[1],
            "factors of another extent");
    inputs.push_back(FloatsOf(to, InputIndex(node, i)));
  }
  Say(to, node, node.op);
  AddHost(
      to, node.name, node.op,
      {inputs,
       {ProductOfAxes(shape, 0, 1), ProductOfAxes(shape, 1, 2),
        ProductOfAxes(shape, 2, shape.size()), FloatBits(node.Float("epsilon", 1e-5f))},
       {NewFloats(to, node)}},
      0);
}

void Lrn(OnnxLowering* to, const OnnxNode& node) {
  const Shape& shape = ShapeOf(InputOf(*to, node, 0));
  Require(shape.size() >= 2, "no channels");
  KeepsShape(to, node);
  const int64_t size = node.Int("size", 1);
  Require(size >= 1 && size <= 1 << 20, "a size out of range");
  const uint32_t in = FloatsOf(to, InputIndex(node, 0));
  Say(to, node, node.op);
  AddHost(to, node.name, node.op,
          {{in},
           {ProductOfAxes(shape, 0, 1), ProductOfAxes(shape, 1, 2),
            ProductOfAxes(shape, 2, shape.size()), static_cast<int32_t>(size),
            FloatBits(node.Float("alpha", 1e-4f)), FloatBits(node.Float("beta", 0.75f)),
            FloatBits(node.Float("bias", 1.0f))},
           {NewFloats(to, node)}},
          SizeOf(shape) * static_cast<uint64_t>(std::min<int64_t>(size, shape[1])));
}

// ---- products

int64_t At(const OnnxNode& node, const char* name, size_t i, size_t count,
           int64_t otherwise) {
  const std::vector<int64_t> list = node.Ints(name, Shape(count, otherwise));
  Require(list.size() == count, "attributes of another length than the spatial axes");
  Require(list[i] >= 0 && list[i] <= 65536, "a window, stride or pad out of range");
  return list[i];
}

// The pad in front of spatial axis i, which has these extents in input, output and window.
int64_t PadInFront(const OnnxNode& node, size_t i, size_t spatial,
                   const Shape& extents) {
  const std::string mode = node.Text("auto_pad", "NOTSET");
  if (mode == "VALID") return 0;
  if (mode == "NOTSET") return At(node, "pads", i, 2 * spatial, 0);
  const int64_t span = At(node, "dilations", i, spatial, 1) * (extents[2] - 1) + 1;
  const int64_t reach = (extents[1] - 1) * At(node, "strides", i, spatial, 1) + span;
  const int64_t total = std::max<int64_t>(reach - extents[0], 0);
  return mode == "SAME_LOWER" ? total - total / 2 : total / 2;
}

// x, weight and output with two spatial axes; see ConvOptionsOfOnnx.
Options WindowOptions(OnnxLowering* to, const OnnxNode& node) {
  Shape x = ShapeOf(InputOf(*to, node, 0)), w = ShapeOf(InputOf(*to, node, 1)),
        y = ShapeOf(OutputOf(*to, node));
  Require(
      x.size() == w.size() && y.size() == x.size() && (x.size() == 3 || x.size() == 4),
      "other than one or two spatial axes");
  const int64_t groups = node.Int("group", 1);
  Require(groups >= 1 && groups <= x[1] && x[1] % groups == 0 && y[1] % groups == 0 &&
              x[1] / groups == w[1] && y[1] == w[0] && x[0] == y[0],
          "a weight that does not fit the channels");
  const size_t spatial = x.size() - 2, last = spatial - 1;
  const bool two = spatial == 2;
  const auto pair = [&](const char* name, int64_t otherwise, size_t each) {
    const size_t count = spatial * each;
    return std::make_pair(two ? At(node, name, 0, count, otherwise) : otherwise,
                          At(node, name, last, count, otherwise));
  };
  const auto strides = pair("strides", 1, 1), dilations = pair("dilations", 1, 1);
  const auto pad = [&](size_t i) {
    return PadInFront(node, i, spatial, {x[i + 2], y[i + 2], w[i + 2]});
  };
  const auto pads = std::make_pair(two ? pad(0) : 0, pad(last));
  for (Shape* shape : {&x, &w, &y}) {
    if (!two) shape->insert(shape->begin() + 2, 1);
  }
  Options options;
  for (const int64_t extent :
       {x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[2], w[3], node.Int("group", 1),
        strides.first, strides.second, dilations.first, dilations.second, pads.first,
        pads.second}) {
    Require(extent >= 0 && extent <= 1 << 24, "an extent out of range");
    options.push_back(static_cast<int32_t>(extent));
  }
  return options;
}

uint64_t ConvWork(OnnxLowering* to, const OnnxNode& node) {
  const Shape& w = ShapeOf(InputOf(*to, node, 1));
  return SizeOf(ShapeOf(OutputOf(*to, node))) *
         (SizeOf(w) / static_cast<uint64_t>(w[0]));
}

void Convolution(OnnxLowering* to, const OnnxNode& node) {
  const Options options = WindowOptions(to, node);
  Agree(HasElements(to, node, 2, ShapeOf(InputOf(*to, node, 1))[0]), node);
  const uint32_t x = FloatsOf(to, InputIndex(node, 0));
  const uint32_t w = FloatsOf(to, InputIndex(node, 1));
  const uint32_t bias =
      HasInput(node, 2)
          ? FloatsOf(to, node.inputs[2])
          : Filled(to, node.name + "/bias",
                   static_cast<int32_t>(ShapeOf(InputOf(*to, node, 1))[0]));
  Say(to, node, node.op);
  AddHost(to, node.name, node.op, {{x, w, bias}, options, {NewFloats(to, node)}},
          ConvWork(to, node));
}

// For rows and for columns: input and output extent, window, stride, dilation, pad in
// front.
Options AxesOf(const OnnxNode& node, const Shape& in, const Shape& out,
               const Shape& window) {
  const size_t spatial = window.size();
  Require((spatial == 1 || spatial == 2) && in.size() == spatial + 2 &&
              out.size() == in.size(),
          "other than one or two spatial axes");
  const std::string mode = node.Text("auto_pad", "NOTSET");
  const bool computed =
      (mode != "NOTSET" && mode != "VALID") || node.Has("output_shape");
  Require(node.op != "ConvTranspose" || !computed, "pads that the runtime computes");
  Options options;
  if (spatial == 1) options = {1, 1, 1, 1, 1, 0};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t pad =
        PadInFront(node, i, spatial, {in[i + 2], out[i + 2], window[i]});
    for (const int64_t number :
         {in[i + 2], out[i + 2], window[i], At(node, "strides", i, spatial, 1),
          At(node, "dilations", i, spatial, 1), pad}) {
      Require(number >= 0 && number <= 1 << 20, "an extent out of range");
      options.push_back(static_cast<int32_t>(number));
    }
  }
  return options;
}

// Averages of dequantised numbers, quantised again: rounded once.
void QLinearPool(OnnxLowering* to, const OnnxNode& node, const Options& options,
                 uint64_t work) {
  const OnnxEnds ends = EndsOf(to, node);
  OnnxPlace place = PlaceOf(to, InputIndex(node, 0));
  const Numbers stored = place.numbers;
  place.numbers = ends.in;
  SetPlace(to, node.inputs[0], place);
  const uint32_t x = FloatsOf(to, node.inputs[0]);
  place.numbers = stored;
  SetPlace(to, node.inputs[0], place);
  const Shape& out = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = Straight(out.size());
  Numbers real;
  real.floats = true;
  real.dtype = SLUICE_DTYPE_INT32;
  const std::string name = OutputOf(*to, node).name + "/real";
  const uint32_t averages = NewTensor(to, name, DimsIn(out, order), real);
  AddHost(to, name, "AveragePool", {{x}, options, {averages}}, work);
  const uint32_t y = NewOutput(to, node, 0, order, DimsIn(out, order), ends.out);
  Say(to, node, node.op);
  AddHost(to, node.name, "QuantizeLinear",
          {{averages, FloatConstant(to, name + ".scale", {1}, {ends.out.affine.scale}),
            IntegerConstant(to, name + ".zero", {ends.out.affine.zero})},
           {1, 1},
           {y}},
          0);
}

Numbers WholeNumbers() {
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return numbers;
}

void Pool(OnnxLowering* to, const OnnxNode& node) {
  const Shape& in = ShapeOf(InputOf(*to, node, 0));
  const Shape& out = ShapeOf(OutputOf(*to, node));
  const Shape window = node.Ints("kernel_shape", {});
  const bool indices = node.outputs.size() > 1 && node.outputs[1] >= 0;
  Require(!indices || node.Int("storage_order", 0) == 0,
          "indices of the maxima, columns first");
  const bool whole = node.Int("count_include_pad", 0) != 0;
  Require(!whole || node.Int("ceil_mode", 0) == 0, "windows that are cut off");
  for (const int64_t dilation : node.Ints("dilations", {})) {
    // The inference of older libraries does not know them.
    Require(dilation == 1 || node.op == "MaxPool", "averages of dilated windows");
  }
  const Options axes = AxesOf(node, in, out, window);
  Agree(in[0] * in[1] == out[0] * out[1], node);
  Options options = {ProductOfAxes(in, 0, 2)};
  options.insert(options.end(), axes.begin(), axes.end());
  options.push_back(whole ? 1 : 0);
  if (node.op == "com.microsoft.QLinearAveragePool") {
    return QLinearPool(to, node, options, SizeOf(out) * SizeOf(window));
  }
  const uint32_t x = FloatsOf(to, InputIndex(node, 0));
  if (node.op == "AveragePool") Say(to, node, node.op);
  if (node.outputs[0] >= 0) {
    AddHost(to, node.name, node.op, {{x}, options, {NewFloats(to, node)}},
            SizeOf(out) * SizeOf(window));
  }
  if (!indices) return;
  const uint32_t places = NewOutput(to, node, 1, Straight(out.size()),
                                    DimsIn(out, Straight(out.size())), WholeNumbers());
  AddHost(to, node.name, "MaxPoolIndices", {{x}, options, {places}},
          SizeOf(out) * SizeOf(window));
}

void TransposedConvolution(OnnxLowering* to, const OnnxNode& node) {
  const Shape& in = ShapeOf(InputOf(*to, node, 0));
  const Shape& w = ShapeOf(InputOf(*to, node, 1));
  const Shape& out = ShapeOf(OutputOf(*to, node));
  Require(w.size() == in.size() && w.size() >= 3, "a weight of another rank");
  const int64_t groups = node.Int("group", 1);
  Require(groups >= 1 && groups <= in[1] && in[1] % groups == 0 && w[0] == in[1] &&
              out.size() == in.size() && out[1] % groups == 0 &&
              out[1] / groups == w[1] && in[0] == out[0],
          "a weight that does not fit the channels");
  Agree(HasElements(to, node, 2, out[1]), node);
  const Options axes = AxesOf(node, in, out, Shape(w.begin() + 2, w.end()));
  Options options = {ProductOfAxes(in, 0, 1), ProductOfAxes(in, 1, 2),
                     ProductOfAxes(out, 1, 2),
                     static_cast<int32_t>(node.Int("group", 1))};
  options.insert(options.end(), axes.begin(), axes.end());
  const uint32_t x = FloatsOf(to, InputIndex(node, 0));
  const uint32_t weight = FloatsOf(to, InputIndex(node, 1));
  const uint32_t bias =
      HasInput(node, 2) ? FloatsOf(to, node.inputs[2])
                        : Filled(to, node.name + "/bias", static_cast<int32_t>(out[1]));
  Say(to, node, node.op);
  AddHost(to, node.name, node.op, {{x, weight, bias}, options, {NewFloats(to, node)}},
          SizeOf(in) * (SizeOf(w) / static_cast<uint64_t>(w[0])));
}

// ---- dynamic quantisation

uint32_t ZeroPoint(OnnxLowering* to, const OnnxNode& node, size_t i) {
  if (HasInput(node, i)) return PlainTensor(to, node.inputs[i]);
  return IntegerConstant(to, node.name + "/zero" + std::to_string(i), {0});
}

// MatMulInteger and ConvInteger, whose sums have 32 bits.
void IntegerProduct(OnnxLowering* to, const OnnxNode& node) {
  const int a = InputIndex(node, 0), b = InputIndex(node, 1);
  const Shape &sa = ShapeOf(ValueOf(*to, a)), &sb = ShapeOf(ValueOf(*to, b)),
              &out = ShapeOf(OutputOf(*to, node));
  const bool conv = node.op == "ConvInteger";
  const Options options = conv ? WindowOptions(to, node) : MatrixOptions(out, sa, sb);
  const int64_t zeros = conv ? sb[0] : sb.size() == 1 ? 1 : sb.back();
  const bool one = HasElements(to, node, 3, 1);
  Agree(HasElements(to, node, 2, 1) && (one || HasElements(to, node, 3, zeros)), node);
  for (const int operand : {a, b}) {
    Require(OnnxTypeBytes(ValueOf(*to, operand).type) == 1,
            "operands that are not 8 bit");
  }
  const uint32_t first = PlainTensor(to, a), second = PlainTensor(to, b);
  const uint32_t zero_a = ZeroPoint(to, node, 2), zero_b = ZeroPoint(to, node, 3);
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  const AxisOrder order = Straight(out.size());
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(out, order), numbers);
  AddHost(to, node.name, node.op, {{first, second, zero_a, zero_b}, options, {ofmap}},
          conv ? ConvWork(to, node) : SizeOf(out) * static_cast<uint64_t>(sa.back()));
}

void DynamicQuantise(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const AxisOrder order = Straight(ShapeOf(ValueOf(*to, input)).size());
  const uint32_t in = FloatsOf(to, input);
  Require(node.outputs.size() == 3, "an output that is left out");
  KeepsShape(to, node);
  Agree(ElementsOf(ShapeOf(OutputOf(*to, node, 1))) == 1 &&
            ShapeOf(OutputOf(*to, node, 2)).empty(),
        node);
  Numbers stored;
  const bool is_signed = OutputOf(*to, node).type == kOnnxInt8;
  stored.dtype = is_signed ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
  const uint32_t quantised = NewOutput(
      to, node, 0, order, DimsIn(ShapeOf(ValueOf(*to, input)), order), stored);
  const uint32_t scale = NewFloats(to, node, 1);
  const uint32_t zero = NewOutput(to, node, 2, {}, {}, stored);
  AddHost(to, node.name, node.op, {{in}, {0}, {quantised, scale, zero}}, 0);
}

// Cast of int32 to floats, and back: the fraction is cut off.
void Cast(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  KeepsShape(to, node);
  if (OutputOf(*to, node).type == kOnnxInt32 &&
      ValueOf(*to, input).type == kOnnxFloat) {
    const uint32_t floats = FloatsOf(to, input);
    AddHost(to, node.name, "CastToInt32", {{floats}, {0}, {NewInt32s(to, node)}}, 0);
    return;
  }
  Require(OutputOf(*to, node).type == kOnnxFloat && IsInt32(to, input),
          "floats that become integers of another type than int32");
  const uint32_t in = PlainTensor(to, input);
  const std::string& name = OutputOf(*to, node).name;
  AddHost(to, node.name, "DequantizeLinear",
          {{in, FloatConstant(to, name + "/one", {1}, {1.0f}),
            IntegerConstant(to, name + "/zero", {0})},
           {1, 1},
           {NewFloats(to, node)}},
          0);
}

using Maker = void (*)(OnnxLowering*, const OnnxNode&);

// False: `make` cannot lower the node, and nothing has changed.
bool Lowers(OnnxLowering* to, const OnnxNode& node, Maker make) {
  const OnnxMark mark = MarkOf(*to);
  try {
    if (to->computes_floats) make(to, node);
    return to->computes_floats;
  } catch (const Unsupported&) {
    Rewind(to, mark);
  }
  return false;
}

void AnyCast(OnnxLowering* to, const OnnxNode& node) {
  if (!Lowers(to, node, Cast)) LowerOnnxKinds(to, node);
}
void AnyReduce(OnnxLowering* to, const OnnxNode& node) {
  if (OutputOf(*to, node).type == kOnnxFloat) return Reduce(to, node);
  LowerOnnxKinds(to, node);
}
void AnyGather(OnnxLowering* to, const OnnxNode& node) {
  if (InputOf(*to, node, 1).constant) return LowerOnnxPick(to, node);
  LowerOnnxKinds(to, node);
}

// Products whose sums a unit computes, or else the host.
void AnyProduct(OnnxLowering* to, const OnnxNode& node) {
  const bool plain = node.op == "MatMul" || node.op == "Gemm";
  if (!plain || !Lowers(to, node, LowerOnnxSums)) LowerOnnxContraction(to, node);
}
void AnyConvolution(OnnxLowering* to, const OnnxNode& node) {
  if (!Lowers(to, node, LowerOnnxSums)) Convolution(to, node);
}
void AnyTransposed(OnnxLowering* to, const OnnxNode& node) {
  if (!Lowers(to, node, LowerOnnxSums)) TransposedConvolution(to, node);
}
void AnyIntegerProduct(OnnxLowering* to, const OnnxNode& node) {
  if (Lowers(to, node, LowerOnnxSums)) return;
  if (node.op == "MatMulInteger" && Lowers(to, node, LowerOnnxContraction)) return;
  IntegerProduct(to, node);
}

struct Entry {
  Maker make;
  std::vector<const char*> ops;
};

std::vector<Entry> HostEntries() {
  return {
      {Curve, {"Abs", "Neg", "Ceil", "Floor", "Round", "Exp"}},
      {Curve, {"Log", "Sqrt", "Erf", "Sin", "Cos", "Tanh"}},
      {Curve, {"Sigmoid", "Softsign", "Softplus", "Mish", "Gelu", "Relu"}},
      {Curve, {"Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Clip"}},
      {Curve, {"Reciprocal", "com.microsoft.Gelu", "Sign", "Tan", "Atan", "Sinh"}},
      {Curve, {"Cosh", "Asinh", "Celu", "ThresholdedRelu", "Swish", "Shrink"}},
      {Curve, {"com.microsoft.QuickGelu", "com.microsoft.FastGelu"}},
      {Binary,
       {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "PRelu", "Sum", "Mod"}},
      {AnyReduce,
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1",
        "ReduceProd", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
        "GlobalAveragePool", "GlobalMaxPool"}},
      {Softmax, {"Softmax", "LogSoftmax"}},
      {LayerNorm,
       {"LayerNormalization", "InstanceNormalization", "RMSNormalization",
        "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"}},
      {BatchNorm, {"BatchNormalization"}},
      {Lrn, {"LRN"}},
      {AnyProduct,
       {"MatMul", "Gemm", "Einsum", "com.microsoft.FusedMatMul", "QLinearMatMul",
        "com.microsoft.QGemm"}},
      {AnyConvolution, {"Conv"}},
      {AnyTransposed, {"ConvTranspose"}},
      {Pool, {"AveragePool", "MaxPool", "com.microsoft.QLinearAveragePool"}},
      {AnyIntegerProduct, {"MatMulInteger", "ConvInteger"}},
      {DynamicQuantise, {"DynamicQuantizeLinear"}},
      {LowerOnnxRecurrent, {"LSTM", "GRU", "RNN", "com.microsoft.DynamicQuantizeLSTM"}},
      {LowerOnnxGridSample, {"GridSample"}},
      {LowerOnnxRegions, {"RoiAlign", "MaxUnpool"}},
      {AnyCast, {"Cast"}},
      {AnyGather, {"Gather", "GatherElements", "GatherND"}},
      {LowerOnnxKinds,
       {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Not", "And", "Or",
        "Xor", "IsNaN", "Where", "ArgMax", "ArgMin", "Hardmax", "TopK", "CumSum"}},
      {LowerOnnxPick,
       {"Slice", "Tile", "Pad", "Expand", "ReverseSequence", "Concat", "Trilu",
        "ScatterND", "ScatterElements"}},
      {LowerOnnxComposed,
       {"Mean", "GroupNormalization", "com.microsoft.BiasGelu",
        "com.microsoft.SkipLayerNormalization",
        "com.microsoft.SkipSimplifiedLayerNormalization"}},
  };
}

const std::map<std::string, Maker>& Makers() {
  static const std::map<std::string, Maker> makers = [] {
    std::map<std::string, Maker> map;
    for (const Entry& entry : HostEntries()) {
      for (const char* op : entry.ops) map[op] = entry.make;
    }
    return map;
  }();
  return makers;
}

}  // namespace

bool HasOnnxFloats(const std::string& op) { return Makers().count(op) != 0; }

void LowerOnnxFloats(OnnxLowering* to, const OnnxNode& node) {
  Makers().at(node.op)(to, node);
}

}  // namespace sluice::import
