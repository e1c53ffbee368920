// SPDX-License-Identifier: Apache-2.0
// ONNX: comparisons, conditions, integers and sorting, computed by the host's functions for
// TensorFlow Lite, which take operands of any type (firmware-sim/host_tflite.h).
#include <algorithm>
#include <iterator>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

// Types as the host's functions number them.
enum { kFloats = 0, kInt32 = 2, kUint8 = 3, kBool = 6, kInt8 = 9 };

struct Typed {
  uint32_t tensor;
  int type;
  Shape shape;
};

int KindOf(int type) {
  switch (type) {
    case kOnnxFloat:
      return kFloats;
    case kOnnxInt32:
    case kOnnxInt64:
      return kInt32;
    case kOnnxBool:
      return kBool;
    case kOnnxInt8:
      return kInt8;
    case kOnnxUint8:
      return kUint8;
    default:
      throw Unsupported("operands of type " + OnnxTypeName(type));
  }
}

// Integers have 32 bits in the graph.
uint32_t StoredNumbers(OnnxLowering* to, const OnnxValue& value) {
  Require(value.has_integers, "integers that are no stored constant");
  std::vector<int32_t> numbers;
  for (const int64_t number : value.integers) {
    numbers.push_back(
        static_cast<int32_t>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX)));
  }
  return IntegerConstant(to, value.name + "/numbers", numbers);
}

Typed OperandOf(OnnxLowering* to, const OnnxNode& node, size_t i) {
  const int input = InputIndex(node, i);
  const OnnxValue& value = ValueOf(*to, input);
  const Shape& shape = ShapeOf(value);
  Require(shape.size() <= 8, "more than eight axes");
  int type = KindOf(value.type);
  if (type == kFloats) return {FloatsOf(to, input), type, shape};
  const bool computed = value.constant && value.has_integers && !value.has_data;
  if (type == kBool && computed) {
    std::vector<uint8_t> bytes;
    for (const int64_t number : value.integers) bytes.push_back(number != 0 ? 1 : 0);
    return {to->graph.AddConstant(value.name, SLUICE_DTYPE_UINT8,
                                  {static_cast<int32_t>(bytes.size())}, bytes.data(),
                                  bytes.size()),
            type, shape};
  }
  if (type == kInt32 && value.constant) return {StoredNumbers(to, value), type, shape};
  const uint32_t tensor = PlainTensor(to, input);
  const uint8_t dtype = to->graph.tensors()[tensor].dtype;
  const bool bytes = dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8;
  Require(type == kInt32 ? dtype == SLUICE_DTYPE_INT32 : bytes,
          "integers that are stored in another type than the model's");
  return {tensor, type, shape};
}

Typed ResultOf(OnnxLowering* to, const OnnxNode& node, size_t i = 0) {
  const OnnxValue& value = OutputOf(*to, node, i);
  const int type = KindOf(value.type);
  const Shape& shape = ShapeOf(value);
  Require(shape.size() <= 8, "more than eight axes");
  if (type == kFloats) return {NewFloats(to, node, i), type, shape};
  Numbers numbers;
  numbers.dtype = type == kInt32  ? SLUICE_DTYPE_INT32
                  : type == kInt8 ? SLUICE_DTYPE_INT8
                                  : SLUICE_DTYPE_UINT8;
  const AxisOrder order = Straight(shape.size());
  return {NewOutput(to, node, i, order, DimsIn(shape, order), numbers), type, shape};
}

Typed NumberOf(OnnxLowering* to, const OnnxNode& node, const char* part,
               int64_t number) {
  return {IntegerConstant(to, node.name + part, {static_cast<int32_t>(number)}),
          kInt32,
          {1}};
}

void Call(OnnxLowering* to, const std::string& name, const std::string& function,
          const std::vector<Typed>& in, const std::vector<Typed>& out,
          const std::vector<int32_t>& numbers) {
  std::vector<int32_t> options = {static_cast<int32_t>(in.size()),
                                  static_cast<int32_t>(out.size()),
                                  static_cast<int32_t>(numbers.size())};
  OnnxOperands operands;
  for (const std::vector<Typed>* list : {&in, &out}) {
    for (const Typed& kind : *list) {
      options.insert(options.end(), {kind.type, 0, 0});
      AppendShape(kind.shape, kind.shape.size(), &options);
      (list == &in ? operands.inputs : operands.outputs).push_back(kind.tensor);
    }
  }
  options.insert(options.end(), numbers.begin(), numbers.end());
  operands.options = std::move(options);
  AddHost(to, name, "tflite." + function, std::move(operands), 0);
}

// Functions of operands that broadcast.
const char* FunctionOf(const OnnxNode& node) {
  static const char* const kFunctions[][2] = {
      {"Greater", "GREATER"}, {"GreaterOrEqual", "GREATER_EQUAL"},
      {"Less", "LESS"},       {"LessOrEqual", "LESS_EQUAL"},
      {"Equal", "EQUAL"},     {"Not", "LOGICAL_NOT"},
      {"And", "LOGICAL_AND"}, {"Or", "LOGICAL_OR"},
      {"Xor", "NOT_EQUAL"},   {"IsNaN", "NOT_EQUAL"},
      {"Where", "SELECT_V2"}, {"Add", "ADD"},
      {"Sub", "SUB"},         {"Mul", "MUL"},
      {"Min", "MINIMUM"},     {"Max", "MAXIMUM"},
      {"Mod", "FLOOR_MOD"},   {"Cast", "CAST"},
      {"Abs", "ABS"},         {"Neg", "NEG"},
      {"Div", "DIV"}};
  for (const auto& pair : kFunctions) {
    if (node.op == pair[0]) return pair[1];
  }
  throw Unsupported("an operator on integers that the host does not have");
}

int64_t AxisIn(OnnxLowering* to, const OnnxNode& node, int64_t axis) {
  return AxisOf(InputOf(*to, node, 0), axis);
}

void Arg(OnnxLowering* to, const OnnxNode& node) {
  Require(node.Int("select_last_index", 0) == 0, "the last of equal maxima");
  const bool least = node.op == "ArgMin";
  const Typed x = OperandOf(to, node, 0);
  const Typed axis = NumberOf(to, node, "/axis", AxisIn(to, node, node.Int("axis", 0)));
  Call(to, node.name, least ? "ARG_MIN" : "ARG_MAX", {x, axis}, {ResultOf(to, node)},
       {least ? 1 : 0});
}

void Hardmax(OnnxLowering* to, const OnnxNode& node) {
  Require(to->model.opset >= 13, "rows of several axes");
  const int64_t at = AxisIn(to, node, node.Int("axis", -1));
  const Typed x = OperandOf(to, node, 0);
  Typed which = x;
  which.type = kInt32;
  which.shape[static_cast<size_t>(at)] = 1;
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  which.tensor = NewTensor(to, node.name + "/which",
                           DimsIn(which.shape, Straight(which.shape.size())), numbers);
  Call(to, node.name + "/which", "ARG_MAX", {x, NumberOf(to, node, "/axis", at)},
       {which}, {0});
  const Typed on = {FloatConstant(to, node.name + "/on", {1}, {1}), kFloats, {1}},
              off = {FloatConstant(to, node.name + "/off", {1}, {0}), kFloats, {1}};
  const Typed depth = NumberOf(to, node, "/depth", x.shape[static_cast<size_t>(at)]);
  Call(to, node.name, "ONE_HOT", {which, depth, on, off}, {ResultOf(to, node)},
       {static_cast<int32_t>(at)});
}

void Sorted(OnnxLowering* to, const OnnxNode& node) {
  const int64_t rank = static_cast<int64_t>(ShapeOf(InputOf(*to, node, 0)).size());
  Require(AxisIn(to, node, node.Int("axis", -1)) + 1 == rank,
          "another axis than the last one");
  Require(node.Int("largest", 1) != 0, "the least instead of the largest");
  Require(node.outputs.size() == 2 && node.outputs[1] >= 0,
          "an output that is left out");
  const Typed x = OperandOf(to, node, 0);
  const Typed y = ResultOf(to, node), which = ResultOf(to, node, 1);
  Require(!y.shape.empty(), "no axis to sort");
  Call(to, node.name, "TOPK_V2", {x, NumberOf(to, node, "/k", y.shape.back())},
       {y, which}, {});
}

void Running(OnnxLowering* to, const OnnxNode& node) {
  const Shape axis = IntegersOf(*to, node, 1);
  Require(axis.size() == 1, "no axis to sum along");
  const Typed x = OperandOf(to, node, 0);
  CountRounded(to, node, kHostFloats);
  Call(to, node.name, "CUMSUM",
       {x, NumberOf(to, node, "/axis", AxisIn(to, node, axis[0]))},
       {ResultOf(to, node)},
       {static_cast<int32_t>(node.Int("exclusive", 0)),
        static_cast<int32_t>(node.Int("reverse", 0))});
}

// Sums, products and extremes of integers.
void Reduced(OnnxLowering* to, const OnnxNode& node) {
  static const char* const kFunctions[][2] = {{"ReduceSum", "SUM"},
                                              {"ReduceProd", "REDUCE_PROD"},
                                              {"ReduceMax", "REDUCE_MAX"},
                                              {"ReduceMin", "REDUCE_MIN"}};
  std::vector<int32_t> axes;
  const std::vector<bool> gone = ReducedAxes(*to, node);
  for (size_t a = 0; a < gone.size(); ++a) {
    if (gone[a]) axes.push_back(static_cast<int32_t>(a));
  }
  const Typed which = {IntegerConstant(to, node.name + "/axes", axes),
                       kInt32,
                       {static_cast<int64_t>(axes.size())}};
  for (const auto& pair : kFunctions) {
    if (node.op != pair[0]) continue;
    const Typed x = OperandOf(to, node, 0);
    return Call(to, node.name, pair[1], {x, which}, {ResultOf(to, node)}, {});
  }
  throw Unsupported("means and norms of integers");
}

// Numbers between the steps of an operator.
Typed Between(OnnxLowering* to, const OnnxNode& node, const char* part, Typed like) {
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  like.tensor = NewTensor(to, node.name + part,
                          DimsIn(like.shape, Straight(like.shape.size())), numbers);
  return like;
}

// Element by element, by indices of the run: each counts from where its row begins.
void PickedElements(OnnxLowering* to, const OnnxNode& node) {
  Typed x = OperandOf(to, node, 0);
  const Typed which = OperandOf(to, node, 1);
  Require(which.type == kInt32, "indices that are not int32 or int64");
  Require(which.shape.size() == x.shape.size() &&
              which.shape == ShapeOf(OutputOf(*to, node)),
          "ranks that disagree");
  const size_t axis = static_cast<size_t>(AxisIn(to, node, node.Int("axis", 0)));
  const int64_t all = ElementsOf(which.shape);
  Require(all <= INT32_MAX && ElementsOf(x.shape) <= INT32_MAX,
          "an extent above 2^31 - 1");
  to->graph.NeedRoom(static_cast<uint64_t>(all) * 4);
  std::vector<int32_t> begins;
  int64_t step = 1;
  for (int64_t i = 0; i < all; ++i) {
    int64_t rest = i, begin = 0, stride = 1;
    for (size_t a = x.shape.size(); a-- > 0; stride *= x.shape[a]) {
      if (a == axis) step = stride;
      const int64_t at = rest % which.shape[a];
      Require(at < x.shape[a] || a == axis, "ranks that disagree");
      begin += a == axis ? 0 : at * stride;
      rest /= which.shape[a];
    }
    begins.push_back(static_cast<int32_t>(begin));
  }
  const Typed inside = Between(to, node, "/inside", which),
              scaled = Between(to, node, "/scaled", which),
              flat = Between(to, node, "/flat", which);
  Call(to, node.name, "FLOOR_MOD",
       {which, NumberOf(to, node, "/extent", x.shape[axis])}, {inside}, {});
  Call(to, node.name, "MUL", {inside, NumberOf(to, node, "/step", step)}, {scaled},
       {0});
  const Typed begin = {IntegerConstant(to, node.name + "/begins", begins), kInt32,
                       which.shape};
  Call(to, node.name, "ADD", {scaled, begin}, {flat}, {0});
  x.shape = {ElementsOf(x.shape)};
  Call(to, node.name, "GATHER", {x, flat}, {ResultOf(to, node)}, {0, 0});
}

// Indices that are computed at run time.
void Picked(OnnxLowering* to, const OnnxNode& node) {
  const Typed x = OperandOf(to, node, 0), which = OperandOf(to, node, 1);
  Require(which.type == kInt32, "indices that are not int32 or int64");
  if (node.op == "GatherND") {
    Require(node.Int("batch_dims", 0) == 0, "batches of indices");
    return Call(to, node.name, "GATHER_ND", {x, which}, {ResultOf(to, node)}, {});
  }
  const int32_t axis = static_cast<int32_t>(AxisIn(to, node, node.Int("axis", 0)));
  Call(to, node.name, "GATHER", {x, which}, {ResultOf(to, node)}, {axis, 0});
}

}  // namespace

void LowerOnnxKinds(OnnxLowering* to, const OnnxNode& node) {
  if (node.op == "ArgMax" || node.op == "ArgMin") return Arg(to, node);
  if (node.op == "Hardmax") return Hardmax(to, node);
  if (node.op == "TopK") return Sorted(to, node);
  if (node.op == "CumSum") return Running(to, node);
  if (node.op == "Gather" || node.op == "GatherND") return Picked(to, node);
  if (node.op == "GatherElements") return PickedElements(to, node);
  if (node.op.compare(0, 6, "Reduce") == 0) return Reduced(to, node);
  const bool twice = node.op == "IsNaN";  // what is no number differs from itself
  std::vector<Typed> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    operands.push_back(OperandOf(to, node, i));
  }
  if (twice) operands.push_back(operands[0]);
  const size_t value = node.op == "Where" ? 1 : 0;
  for (size_t i = value; i < operands.size(); ++i) {
    Require(operands[i].type == operands[value].type, "operands of several types");
  }
  const char* function = FunctionOf(node);
  const bool arithmetic =
      node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div";
  Require(!arithmetic || operands.size() == 2, "more than two operands");
  Call(to, node.name, function, operands, {ResultOf(to, node)}, {arithmetic ? 0 : 1});
}

}  // namespace sluice::import
