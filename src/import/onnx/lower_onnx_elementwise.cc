// SPDX-License-Identifier: Apache-2.0
// ONNX: activations, arithmetic on two operands, norms, softmax, reductions,
// quantisation.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_numbers.h"

namespace sluice::import {
namespace {

using Function = std::function<float(float)>;

// A LOOKUP with a table of 256 entries: exact for every function of one 8-bit operand.
void AddCurve(OnnxLowering* to, const OnnxNode& node, int input, Numbers in,
              const Numbers& target, const Function& f) {
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  OnnxPlace place = PlaceOf(to, input);
  in.dtype = place.numbers.dtype;
  Require(in.dtype == SLUICE_DTYPE_INT8 || in.dtype == SLUICE_DTYPE_UINT8,
          "operands that are not 8 bit");
  if (!in.known || !target.known) CountShapesOnly(to, node);
  const Numbers out = target.known ? target : Numbers();
  const uint32_t ifmap = TensorAs(to, input, place.order, DimsIn(shape, place.order));
  place.tensor =
      Curved(to, OutputOf(*to, node).name, ifmap,
             OnnxTable({in.dtype, in.affine}, {out.dtype, out.affine}, f), out);
  place.numbers = out;
  place.layer = -1;
  SetPlace(to, node.outputs[0], place);
}

void AddCurve(OnnxLowering* to, const OnnxNode& node, int input, const Function& f) {
  AddCurve(to, node, input, PlaceOf(to, input).numbers, TargetOf(*to, node.outputs[0]),
           f);
}

float FloatOf(const OnnxValue& value, size_t i) {
  float f = 0;
  Require(
      value.has_data && value.type == kOnnxFloat && value.data.size() >= 4 * (i + 1),
      "a number that is no float32 constant");
  std::memcpy(&f, value.data.data() + 4 * i, 4);
  return f;
}

// Reads the single number of a constant; false when only its shape is known.
bool ScalarOf(const OnnxLowering& to, int index, float* scalar) {
  const OnnxValue& value = ValueOf(to, index);
  const OnnxConstant constant = ConstantOf(to, index);
  if (constant.stored != nullptr && constant.stored->data.size() == 1) {
    const uint8_t bits = constant.stored->data[0];
    const int stored =
        constant.stored->type == kOnnxInt8 ? static_cast<int8_t>(bits) : bits;
    *scalar = constant.scales[0] * static_cast<float>(stored - constant.zeros[0]);
    return true;
  }
  if (!value.has_data || value.type != kOnnxFloat || value.data.size() != 4)
    return false;
  std::memcpy(scalar, value.data.data(), 4);
  return true;
}

}  // namespace

void LowerOnnxCurve(OnnxLowering* to, const OnnxNode& node) {
  Require(node.op != "com.microsoft.FastGelu" || !HasInput(node, 1),
          "a bias in front of the function");
  const std::function<float(float)> curve = OnnxCurve(node);
  if (curve == nullptr) throw Error(Fault::kBadInput, node.op + " is no function");
  const OnnxEnds ends = EndsOf(to, node);
  AddCurve(to, node, InputIndex(node, 0), ends.in, ends.out, curve);
}

void LowerOnnxClamp(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const float infinity = std::numeric_limits<float>::infinity();
  float low = 0, high = infinity;
  if (node.op == "Clip") {
    low = node.Float("min", -infinity);
    high = node.Float("max", infinity);
    if (HasInput(node, 1)) low = FloatOf(InputOf(*to, node, 1), 0);
    if (HasInput(node, 2)) high = FloatOf(InputOf(*to, node, 2), 0);
  }
  OnnxPlace place = PlaceOf(to, input);
  if (place.layer >= 0 && ReadOnce(*to, input)) {
    if (!place.numbers.known) CountShapesOnly(to, node);
    const Numbers& n = place.numbers;
    const Range range = ClampRange(n.dtype, n.affine, low, high);
    auto& attributes = to->graph.attributes(static_cast<size_t>(place.layer));
    int32_t& least = attributes[static_cast<size_t>(place.act_min)];
    int32_t& most = attributes[static_cast<size_t>(place.act_min) + 1];
    least = std::clamp(range.min, least, most);
    most = std::clamp(range.max, least, most);
    place.numbers.rms *= 0.7071;
    place.per_channel = false;
    return SetPlace(to, node.outputs[0], place);
  }
  AddCurve(to, node, input, [=](float x) { return std::clamp(x, low, high); });
}

namespace {

// The axis order of an operand of this rank that matches the result's `order`
// (broadcast: leading axes are missing).
AxisOrder Own(const AxisOrder& order, size_t rank) {
  const int missing = static_cast<int>(order.size() - rank);
  AxisOrder own;
  for (const int axis : order) {
    if (axis >= missing) own.push_back(axis - missing);
  }
  return own;
}

Dims Stretched(const std::vector<int64_t>& shape, const AxisOrder& order) {
  std::vector<int64_t> full(order.size() - shape.size(), 1);
  full.insert(full.end(), shape.begin(), shape.end());
  return DimsIn(full, order);
}

struct Operand {
  int value;
  Numbers numbers;
};

// An operator with two operands. MINIMUM and MAXIMUM have no attributes: they output one
// of their operands unchanged.
struct BinaryRow {
  uint16_t op;
  // Computes the attributes; nullptr = there are none.
  std::vector<int32_t> (*attributes)(const Affine&, const Affine&, const Affine&,
                                     const Range&);
  int act_min;  // index of ACT_MIN among the attributes
  bool adds;    // the output is wider than operands of equal spread
  Arithmetic kind;
};
constexpr BinaryRow kAdd = {SLUICE_OP_ADD, SumAttributes, SLUICE_BINARY_ACT_MIN, true,
                            Arithmetic::kSum};
constexpr BinaryRow kSub = {SLUICE_OP_SUB, SumAttributes, SLUICE_BINARY_ACT_MIN, true,
                            Arithmetic::kDifference};
constexpr BinaryRow kMul = {SLUICE_OP_MUL, ProductAttributes, SLUICE_BINARY_ACT_MIN,
                            false, Arithmetic::kProduct};
constexpr BinaryRow kPrelu = {SLUICE_OP_PRELU, PreluAttributes, SLUICE_PRELU_ACT_MIN,
                              false, Arithmetic::kNone};
constexpr BinaryRow kMinimum = {SLUICE_OP_MINIMUM, nullptr, 0, false,
                                Arithmetic::kNone};
constexpr BinaryRow kMaximum = {SLUICE_OP_MAXIMUM, nullptr, 0, false,
                                Arithmetic::kNone};

struct BinaryLayer {
  BinaryRow row;
  Operand a, b;
  Numbers out;
  bool exact;  // by the model's scales; else by expected spreads
};

Stored8 StoredAs(const Numbers& numbers) { return {numbers.dtype, numbers.affine}; }

std::vector<int32_t> BinaryAttributes(OnnxLowering* to, const OnnxNode& node,
                                      const BinaryLayer& layer) {
  if (layer.row.attributes == nullptr) return {};
  const Range range = DtypeRange(layer.out.dtype);
  if (layer.exact && layer.row.kind != Arithmetic::kNone) {
    Chosen chosen = ChooseBinary(layer.row.kind, StoredAs(layer.a.numbers),
                                 StoredAs(layer.b.numbers), StoredAs(layer.out));
    if (chosen.unlike != 0) {
      CountRounded(to, node,
                   "for " + std::to_string(chosen.unlike) +
                       " of 65536 pairs of bytes a tie is rounded the other way");
    }
    return chosen.attributes;
  }
  if (layer.exact) {
    CountRounded(to, node, kTies);
    return layer.row.attributes(layer.a.numbers.affine, layer.b.numbers.affine,
                                layer.out.affine, range);
  }
  const Affine wide = {static_cast<float>(1.0 / 32), 0};
  const Affine unit = {static_cast<float>(1.41 / 32), 0};
  return layer.row.attributes(wide, wide, layer.row.adds ? unit : wide, range);
}

// Converts an 8-bit tensor to `dtype`: int8 and uint8 differ by 128 in stored values
// and zero point.
uint32_t OfType(OnnxLowering* to, const OnnxNode& node, uint32_t tensor, uint8_t dtype,
                Numbers* numbers) {
  Numbers from = *numbers;
  from.dtype = to->graph.tensors()[tensor].dtype;
  numbers->dtype = dtype;
  if (from.dtype == dtype) return tensor;
  numbers->affine.zero += dtype == SLUICE_DTYPE_UINT8 ? 128 : -128;
  return Requantised(to, OutputOf(*to, node).name + "/second", tensor, from, *numbers);
}

// Adds one layer with two operands and sets the output's place.
void AddBinary(OnnxLowering* to, const OnnxNode& node, BinaryLayer binary) {
  const Operand& a = binary.a;
  Operand& b = binary.b;
  const std::vector<int64_t>& shape = ShapeOf(OutputOf(*to, node));
  const std::vector<int64_t>& sa = ShapeOf(ValueOf(*to, a.value));
  const std::vector<int64_t>& sb = ShapeOf(ValueOf(*to, b.value));
  Require(sa.size() <= shape.size() && sb.size() <= shape.size(),
          "ranks that disagree");
  AxisOrder order = Straight(shape.size());
  if (sb == shape && PlaceOf(to, b.value).tensor != kNoTensor) {
    order = PlaceOf(to, b.value).order;
  }
  if (sa == shape && !ValueOf(*to, a.value).constant)
    order = PlaceOf(to, a.value).order;
  const Dims dims = DimsIn(shape, order);
  const Dims da = Stretched(sa, order), db = Stretched(sb, order);
  for (size_t i = 0; i < dims.size(); ++i) {
    Require((da[i] == dims[i] || da[i] == 1) && (db[i] == dims[i] || db[i] == 1),
            "extents that do not broadcast within four axes");
  }
  const uint32_t first = TensorAs(to, a.value, Own(order, sa.size()), da);
  const uint32_t second =
      OfType(to, node, TensorAs(to, b.value, Own(order, sb.size()), db),
             to->graph.tensors()[first].dtype, &b.numbers);
  const std::vector<int32_t> attributes = BinaryAttributes(to, node, binary);
  const uint32_t ofmap = NewOutput(to, node, 0, order, dims, binary.out);
  const int layer =
      AddLayer(to, node.name, binary.row.op, {first, second}, ofmap, attributes);
  if (attributes.empty()) return;
  OnnxPlace place = PlaceOf(to, node.outputs[0]);
  place.layer = layer;
  place.act_min = binary.row.act_min;
  SetPlace(to, node.outputs[0], place);
}

const BinaryRow& BinaryRowOf(const std::string& op) {
  if (op == "Add" || op == "Sum" || op == "com.microsoft.QLinearAdd") return kAdd;
  if (op == "Sub") return kSub;
  if (op == "Min") return kMinimum;
  if (op == "Max") return kMaximum;
  return kMul;  // Div multiplies by the reciprocal
}

// Drops factors and biases per channel behind a convolution whose weights are seeded:
// folding them in changes neither shapes nor costs.
bool Absorbed(OnnxLowering* to, const OnnxNode& node, int input, int constant) {
  const OnnxPlace& place = PlaceOf(to, input);
  if (place.layer < 0 || !place.per_channel || !ReadOnce(*to, input)) return false;
  const size_t rank = ShapeOf(ValueOf(*to, input)).size();
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, constant));
  if (shape.size() > rank || ShapeOf(OutputOf(*to, node)).size() != rank) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int axis = static_cast<int>(i + rank - shape.size());
    if (shape[i] != 1 && axis != place.order.back()) return false;
  }
  CountShapesOnly(to, node);
  Alias(to, node.outputs[0], input, place.order);
  return true;
}

// y = f(x, c) for one number c.
bool ByScalar(OnnxLowering* to, const OnnxNode& node, int x, int c, bool swapped) {
  if (!ValueOf(*to, c).constant || ElementsOf(ShapeOf(ValueOf(*to, c))) != 1)
    return false;
  if (ShapeOf(OutputOf(*to, node)) != ShapeOf(ValueOf(*to, x))) return false;
  float s = 1;
  if (!ScalarOf(*to, c, &s)) CountShapesOnly(to, node);
  const std::string& op = node.op;
  Function f = [=](float v) { return v * s; };
  if (op == "Add" || op == "Sum") f = [=](float v) { return v + s; };
  if (op == "Sub") f = [=](float v) { return swapped ? s - v : v - s; };
  if (op == "Div") f = [=](float v) { return swapped ? (v == 0 ? 0 : s / v) : v / s; };
  if (op == "Min") f = [=](float v) { return std::min(v, s); };
  if (op == "Max") f = [=](float v) { return std::max(v, s); };
  if (op == "Pow") {
    f = [=](float v) {
      const float power = swapped ? std::pow(s, v) : std::pow(v, s);
      return std::isfinite(power) ? power : 0.0f;
    };
  }
  AddCurve(to, node, x, f);
  return true;
}

void QLinearBinary(OnnxLowering* to, const OnnxNode& node) {
  const Operand a = {InputIndex(node, 0), QLinearInput(to, node, 0)};
  const Operand b = {InputIndex(node, 3), QLinearInput(to, node, 3)};
  AddBinary(to, node,
            {BinaryRowOf(node.op), a, b, ScaleAndZero(*to, node, 6, 7), true});
}

}  // namespace

void LowerOnnxBinary(OnnxLowering* to, const OnnxNode& node) {
  if (node.op.find("QLinear") != std::string::npos) return QLinearBinary(to, node);
  if (node.inputs.size() == 1) return LowerOnnxSame(to, node);
  Require(node.inputs.size() == 2, "more than two operands");
  int a = InputIndex(node, 0), b = InputIndex(node, 1);
  const bool swapped = ValueOf(*to, a).constant;
  if (swapped) std::swap(a, b);
  if (ByScalar(to, node, a, b, swapped)) return;
  Require(node.op != "Pow", "powers of one tensor by another");
  if (ValueOf(*to, b).constant && node.op != "Min" && node.op != "Max" &&
      Absorbed(to, node, a, b)) {
    return;
  }
  const Numbers na = PlaceOf(to, a).numbers;
  const bool b_known = ValueOf(*to, b).constant ? ConstantOf(*to, b).stored != nullptr
                                                : PlaceOf(to, b).numbers.known;
  const BinaryRow& row = BinaryRowOf(node.op);
  const bool chooses = row.attributes == nullptr;
  const Numbers target = TargetOf(*to, node.outputs[0]);
  const bool exact = na.known && b_known && target.known && node.op != "Div";
  if (!exact) CountShapesOnly(to, node);
  Numbers out = target.known ? target : Numbers();
  if (exact && ValueOf(*to, b).constant) PlainTensor(to, b);  // with its numbers
  Numbers nb = exact ? PlaceOf(to, b).numbers : Numbers();
  if (chooses) {
    Require(!exact || (na.affine.scale == out.affine.scale &&
                       nb.affine.scale == out.affine.scale &&
                       na.affine.zero == out.affine.zero &&
                       nb.affine.zero == out.affine.zero && na.dtype == out.dtype &&
                       nb.dtype == out.dtype),
            "operands quantised differently");
    if (!exact) out.dtype = na.dtype;
  }
  Operand first = {a, na}, second = {b, nb};
  if (swapped && row.op == SLUICE_OP_SUB) std::swap(first, second);
  AddBinary(to, node, {row, first, second, out, exact});
}

void LowerOnnxPrelu(OnnxLowering* to, const OnnxNode& node) {
  const int x = InputIndex(node, 0), slopes = InputIndex(node, 1);
  Require(!ValueOf(*to, x).constant &&
              ShapeOf(OutputOf(*to, node)) == ShapeOf(ValueOf(*to, x)),
          "slopes that do not broadcast to the input");
  float slope = 1;
  if (ValueOf(*to, slopes).constant && ElementsOf(ShapeOf(ValueOf(*to, slopes))) == 1) {
    ScalarOf(*to, slopes, &slope);
    return AddCurve(to, node, x, [=](float v) { return v < 0 ? slope * v : v; });
  }
  const Numbers in = PlaceOf(to, x).numbers;
  const bool known = ValueOf(*to, slopes).constant
                         ? ConstantOf(*to, slopes).stored != nullptr
                         : PlaceOf(to, slopes).numbers.known;
  const Numbers target = TargetOf(*to, node.outputs[0]);
  const bool exact = in.known && known && target.known;
  if (!exact) CountShapesOnly(to, node);
  if (exact && ValueOf(*to, slopes).constant)
    PlainTensor(to, slopes);  // with its numbers
  const Numbers by = exact ? PlaceOf(to, slopes).numbers : Numbers();
  const Numbers out = target.known ? target : Numbers();
  AddBinary(to, node, {kPrelu, {x, in}, {slopes, by}, out, exact});
}

void LowerOnnxBatchNorm(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  if (Absorbed(to, node, input, InputIndex(node, 1))) return;
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const OnnxPlace place = PlaceOf(to, input);
  if (shape.size() >= 2 && place.layer >= 0 && place.per_channel &&
      ReadOnce(*to, input) && place.order.back() == 1) {
    CountShapesOnly(to, node);
    return Alias(to, node.outputs[0], input, place.order);
  }
  Require(shape.size() == 4, "other than two spatial axes");
  CountShapesOnly(to, node);
  const AxisOrder order = ChannelsLast(4);
  const Dims dims = DimsIn(shape, order);
  const uint32_t ifmap = TensorAs(to, input, order, dims);
  const int32_t channels = dims[3];
  const uint32_t weight = SeededTensor(to, node.name + "/factors", {1, 1, 1, channels});
  const Factor f = QuantiseFactor(32.0 / (74 * place.numbers.rms));
  to->graph.NeedRows(static_cast<uint64_t>(channels));
  std::vector<int32_t> rows;
  for (int32_t c = 0; c < channels; ++c) {
    rows.insert(rows.end(), {0, f.multiplier, f.shift});
  }
  const uint32_t parameters =
      to->graph.AddConstant(node.name + "/parameters", SLUICE_DTYPE_INT32,
                            {channels, 3}, rows.data(), rows.size() * 4);
  const uint32_t ofmap = NewOutput(to, node, 0, order, dims, Numbers());
  std::vector<int32_t> attributes(SLUICE_CONV_ATTRIBUTES);
  attributes[SLUICE_CONV_INPUT_ZERO] =
      place.numbers.known ? place.numbers.affine.zero : 0;
  attributes[SLUICE_CONV_ACT_MIN] = -128;
  attributes[SLUICE_CONV_ACT_MAX] = 127;
  OnnxPlace after = PlaceOf(to, node.outputs[0]);
  after.layer = AddLayer(to, node.name, SLUICE_OP_DEPTHWISE_CONV,
                         {ifmap, weight, parameters}, ofmap, attributes);
  after.act_min = SLUICE_CONV_ACT_MIN;
  after.per_channel = true;
  SetPlace(to, node.outputs[0], after);
}

void LowerOnnxLayerNorm(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const bool rms = node.op == "RMSNormalization" ||
                   node.op == "com.microsoft.SimplifiedLayerNormalization" ||
                   node.op == "SimplifiedLayerNormalization";
  Require(AxisOf(ValueOf(*to, input), node.Int("axis", -1)) + 1 ==
              static_cast<int>(shape.size()),
          "another axis than the last one");
  CountShapesOnly(to, node);
  const AxisOrder order = Straight(shape.size());
  const Dims dims = DimsIn(shape, order);
  const uint32_t ifmap = PlainTensor(to, input);
  const Factor f = QuantiseFactor(32.0 * 256 / (1 << 20));
  to->graph.NeedRows(static_cast<uint64_t>(dims.back()));
  std::vector<int32_t> rows;
  for (int32_t c = 0; c < dims.back(); ++c) {
    rows.insert(rows.end(), {0, f.multiplier, f.shift});
  }
  const uint32_t parameters =
      to->graph.AddConstant(node.name + "/parameters", SLUICE_DTYPE_INT32,
                            {dims.back(), 3}, rows.data(), rows.size() * 4);
  const uint32_t ofmap = NewOutput(to, node, 0, order, dims, Numbers());
  AddLayer(to, node.name, rms ? SLUICE_OP_RMS_NORM : SLUICE_OP_LAYER_NORM,
           {ifmap, parameters}, ofmap, {0, 0, 0, -128, 127});
}

namespace {

// Rows of a softmax: how many elements lie in front of, along and behind its axis.
struct SoftmaxRows {
  int32_t outer, row, inner;
};

SoftmaxRows SoftmaxRowsOf(const OnnxLowering& to, const OnnxNode& node, bool flat) {
  const std::vector<int64_t>& shape = ShapeOf(InputOf(to, node, 0));
  const int axis = AxisOf(InputOf(to, node, 0), node.Int("axis", flat ? 1 : -1));
  Require(ElementsOf(shape) <= INT32_MAX, "an extent above 2^31 - 1");
  SoftmaxRows rows = {1, 1, 1};
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    int32_t& to_extent = i < axis            ? rows.outer
                         : i == axis || flat ? rows.row
                                             : rows.inner;
    to_extent *= static_cast<int32_t>(shape[static_cast<size_t>(i)]);
  }
  return rows;
}

// QLinearSoftmax on the host, with onnxruntime's table of exponentials.
void QLinearSoftmax(OnnxLowering* to, const OnnxNode& node) {
  const OnnxEnds ends = EndsOf(to, node);
  const SoftmaxRows rows = SoftmaxRowsOf(*to, node, node.Int("opset", 13) < 13);
  Require(ends.in.dtype == ends.out.dtype, "an output of another type");
  const uint32_t ifmap = PlainTensor(to, InputIndex(node, 0));
  const std::vector<int64_t>& shape = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = Straight(shape.size());
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(shape, order), ends.out);
  AddHost(to, node.name, "QLinearSoftmax",
          {{ifmap},
           {rows.outer, rows.row, rows.inner, FloatBits(ends.in.affine.scale),
            FloatBits(ends.out.affine.scale), ends.out.affine.zero},
           {ofmap}},
          0);
}

}  // namespace

// In a quantised model the host computes softmax: the runtime computes it in floats
// between DequantizeLinear and QuantizeLinear, which the units' fixed-point softmax
// does not reproduce.
void LowerOnnxSoftmax(OnnxLowering* to, const OnnxNode& node) {
  if (node.op != "Softmax") return QLinearSoftmax(to, node);
  Require(!to->computes_floats, "exponentials in fixed point");
  CountShapesOnly(to, node);
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const bool flat =
      to->model.opset < 13;  // then `axis` and all axes behind it form one row
  const int axis = AxisOf(ValueOf(*to, input), node.Int("axis", flat ? 1 : -1));
  AxisOrder order = Straight(shape.size());
  if (!flat) {
    order.erase(order.begin() + axis);
    order.push_back(axis);
  }
  const SoftmaxRows rows = SoftmaxRowsOf(*to, node, flat);
  const Dims dims = {rows.outer * rows.inner, rows.row};
  const Numbers in = PlaceOf(to, input).numbers;
  const Factor factor = QuantiseFactor(
      std::min(static_cast<double>(in.affine.scale) * (1 << 26), 2147483647.0));
  Require(factor.shift >= 0 && factor.shift <= 31, "a scale outside the fixed point");
  const double radius =
      31.0 * (1 << 26) / static_cast<double>(int64_t{1} << factor.shift);
  const uint32_t ifmap = TensorAs(to, input, order, dims);
  Numbers out = in;
  out.affine = {1.0f / 256, DtypeRange(in.dtype).min};
  OnnxPlace place;
  place.tensor = NewTensor(to, OutputOf(*to, node).name, dims, out);
  place.order = order;
  AddLayer(
      to, node.name, SLUICE_OP_SOFTMAX, {ifmap}, place.tensor,
      {factor.multiplier, factor.shift, -static_cast<int32_t>(std::floor(radius))});
  SetPlace(to, node.outputs[0], place);
}

namespace {

bool IsGlobal(const OnnxNode& node) {
  return node.op.find("Global") != std::string::npos;
}

}  // namespace

std::vector<bool> ReducedAxes(const OnnxLowering& to, const OnnxNode& node) {
  const OnnxValue& input = InputOf(to, node, 0);
  const size_t rank = ShapeOf(input).size();
  const bool global = IsGlobal(node);
  std::vector<int64_t> axes = node.Ints("axes", {});
  const bool qlinear = node.op.find("QLinear") != std::string::npos;
  if (!global && !qlinear && HasInput(node, 1)) axes = IntegersOf(to, node, 1);
  if (axes.empty()) {
    Require(node.Int("noop_with_empty_axes", 0) == 0, "no axis to reduce");
    for (size_t i = global ? 2 : 0; i < rank; ++i) {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  std::vector<bool> gone(rank, false);
  for (const int64_t axis : axes) {
    gone[static_cast<size_t>(AxisOf(input, axis))] = true;
  }
  return gone;
}

namespace {

// Returns the order of the remaining axes, renumbered.
AxisOrder WithoutAxes(const AxisOrder& order, const std::vector<bool>& gone) {
  AxisOrder left;
  for (const int axis : order) {
    if (gone[static_cast<size_t>(axis)]) continue;
    const auto before = gone.begin() + axis;
    left.push_back(axis - static_cast<int>(std::count(gone.begin(), before, true)));
  }
  return left;
}

}  // namespace

void LowerOnnxReduce(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  Require(shape.size() <= 4, "more than four axes");
  const bool max = node.op == "ReduceMax" || node.op == "GlobalMaxPool";
  const bool sum = node.op == "ReduceSum";
  const std::vector<bool> gone = ReducedAxes(*to, node);
  const OnnxPlace place = PlaceOf(to, input);
  int64_t count = 1;
  int32_t mask = 0;
  Dims dims = DimsIn(shape, place.order), kept = dims;
  const size_t lead = 4 - shape.size();
  for (size_t i = 0; i < place.order.size(); ++i) {
    if (!gone[static_cast<size_t>(place.order[i])]) continue;
    mask |= 1 << (lead + i);
    count *= dims[i];
    kept[i] = 1;
  }
  const auto [in, target] = EndsOf(to, node);
  const bool exact = in.known && target.known;
  if (!exact) CountShapesOnly(to, node);
  if (exact && !max) CountRounded(to, node, kFloatSums);
  Numbers out = target.known ? target : Numbers();
  if (max && exact) {
    Require(out.affine.scale == in.affine.scale && out.affine.zero == in.affine.zero,
            "an output quantised unlike the input");
  }
  double factor =
      static_cast<double>(in.affine.scale) / static_cast<double>(out.affine.scale);
  if (!exact) factor = 1;
  if (!sum) factor /= static_cast<double>(count);
  const Factor f = exact ? FactorRoundedOnce(factor) : QuantiseFactor(factor);
  const Range range = DtypeRange(out.dtype);
  const uint32_t ifmap = TensorAs(to, input, place.order, dims);
  const bool keep = IsGlobal(node) || node.Int("keepdims", 1) != 0;
  const AxisOrder order = keep ? place.order : WithoutAxes(place.order, gone);
  const uint32_t ofmap = NewOutput(to, node, 0, order, kept, out);
  AddLayer(to, node.name, SLUICE_OP_REDUCE, {ifmap}, ofmap,
           {mask, max ? SLUICE_REDUCE_KIND_MAX : SLUICE_REDUCE_KIND_SUM,
            in.known ? in.affine.zero : 0, out.affine.zero, f.multiplier, f.shift,
            range.min, range.max});
}

void LowerOnnxArgmax(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  Require(shape.size() <= 4, "more than four axes");
  Require(node.Int("select_last_index", 0) == 0, "the last of equal maxima");
  const int axis = AxisOf(ValueOf(*to, input), node.Int("axis", 0));
  AxisOrder order = Straight(shape.size()), rest;
  order.erase(order.begin() + axis);
  for (const int other : order) rest.push_back(other > axis ? other - 1 : other);
  order.push_back(axis);
  const Dims dims = DimsIn(shape, order);
  Dims out = dims;
  out.back() = 1;
  if (!PlaceOf(to, input).numbers.known) CountShapesOnly(to, node);
  const uint32_t ifmap = TensorAs(to, input, order, dims);
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT64;
  const bool keep = node.Int("keepdims", 1) != 0;
  const uint32_t ofmap = NewOutput(to, node, 0, keep ? order : rest, out, numbers);
  AddLayer(to, node.name, SLUICE_OP_ARGMAX, {ifmap}, ofmap);
}

namespace {

// QuantizeLinear of floats that the host has computed: also done by the host.
void QuantiseFloats(OnnxLowering* to, const OnnxNode& node, const Numbers& target) {
  OnnxPlace place = PlaceOf(to, InputIndex(node, 0));
  const uint32_t floats = place.tensor;
  const std::string& name = OutputOf(*to, node).name;
  place.tensor = NewTensor(to, name, to->graph.tensors()[floats].dims, target);
  place.numbers = target;
  place.layer = -1;
  AddHost(to, name, "QuantizeLinear",
          {{floats, FloatConstant(to, name + "/scale", {1}, {target.affine.scale}),
            IntegerConstant(to, name + "/zero", {target.affine.zero})},
           {1, 1},
           {place.tensor}},
          0);
  SetPlace(to, node.outputs[0], place);
}

}  // namespace

void LowerOnnxUnbounded(OnnxLowering* to, const OnnxNode& node) {
  const bool stores = node.op == "QuantizeLinear";
  const std::vector<int64_t>& shape = ShapeOf(OutputOf(*to, node));
  Numbers numbers;
  const int type = StoredType(*to, node);
  Require(type == kOnnxInt8 || type == kOnnxUint8, "operands that are not 8 bit");
  numbers.dtype = type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
  const std::vector<int64_t> zero = HasInput(node, 2)
                                        ? StoredIntegers(InputOf(*to, node, 2))
                                        : std::vector<int64_t>{0};
  Require(zero.size() == 1, "per-axis quantisation of an activation");
  const uint32_t in =
      stores ? FloatsOf(to, InputIndex(node, 0)) : PlainTensor(to, InputIndex(node, 0));
  const uint32_t scale = FloatConstant(to, node.name + "/scale", {1},
                                       {std::numeric_limits<float>::infinity()});
  const uint32_t shift =
      IntegerConstant(to, node.name + "/zero", {static_cast<int32_t>(zero[0])});
  const AxisOrder order = Straight(shape.size());
  const uint32_t out =
      stores ? NewOutput(to, node, 0, order, DimsIn(shape, order), numbers)
             : NewFloats(to, node);
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, node.op, {{in, scale, shift}, {1, 1}, {out}}, 0);
}

void LowerOnnxQuantise(OnnxLowering* to, const OnnxNode& node) {
  if (IsWide(*to, node)) return LowerOnnxWideQuantise(to, node);
  if (HasInfiniteScale(*to, node)) return LowerOnnxUnbounded(to, node);
  const int input = InputIndex(node, 0);
  const Numbers target = ScaleAndZero(*to, node, 1, 2);
  OnnxPlace place = PlaceOf(to, input);
  if (place.numbers.floats) return QuantiseFloats(to, node, target);
  if (!ReadOnce(*to, input)) place.layer = -1;
  const uint32_t same = place.tensor;
  place.tensor = Requantised(to, OutputOf(*to, node).name, same, place.numbers, target);
  if (place.tensor != same) place.layer = -1;
  place.numbers = target;
  SetPlace(to, node.outputs[0], place);
}

void LowerOnnxDequantise(OnnxLowering* to, const OnnxNode& node) {
  if (IsWide(*to, node)) return LowerOnnxWideDequantise(to, node);
  if (HasInfiniteScale(*to, node)) return LowerOnnxUnbounded(to, node);
  const int input = InputIndex(node, 0);
  Require(node.Int("block_size", 0) == 0, "scales of blocks that are not all constant");
  const Numbers numbers = ScaleAndZero(*to, node, 1, 2);
  OnnxPlace place = PlaceOf(to, input);
  Require(numbers.dtype == place.numbers.dtype,
          "a zero point of another type than the input");
  if (!ReadOnce(*to, input)) place.layer = -1;
  place.numbers = numbers;
  SetPlace(to, node.outputs[0], place);
}

}  // namespace sluice::import
