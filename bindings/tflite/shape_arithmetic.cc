// SPDX-License-Identifier: Apache-2.0
#include "shape_arithmetic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "import/error.h"
#include "import/tflite/fold_constants.h"
#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

using Op = tflite::BuiltinOperator;

bool Is(const RuntimeNode& node, Op op) { return node.code == static_cast<int>(op); }

// Operators by which converters compute shapes, or constants from shapes.
bool IsArithmetic(const RuntimeNode& node) {
  static constexpr Op kOps[] = {
      Op::SHAPE,         Op::STRIDED_SLICE, Op::SLICE,  Op::PACK, Op::GATHER,
      Op::CONCATENATION, Op::CAST,          Op::ADD,    Op::SUB,  Op::MUL,
      Op::REDUCE_PROD,   Op::TILE,          Op::RESHAPE};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](Op op) { return Is(node, op); });
}

using Nodes = std::vector<std::pair<int, RuntimeNode>>;

// The nodes of the plan that belong to shape arithmetic, in order; empty if no shape is
// computed.
Nodes ArithmeticOf(TfLiteContext* context, const std::vector<int>& plan) {
  Nodes nodes;
  bool needed = false;
  for (const int index : plan) {
    RuntimeNode node = ReadNode(context, index);
    if (!IsArithmetic(node)) continue;
    needed = needed || HasComputedShape(context, node);
    nodes.emplace_back(index, std::move(node));
  }
  if (!needed) nodes.clear();
  return nodes;
}

bool WritesSmallIntegers(TfLiteContext* context, const RuntimeNode& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](int output) {
    return IsSmallInteger(TensorAt(context, output).type);
  });
}

// Whether an input of the graph leaves another extent open than the first.
bool HasOpenInnerExtent(TfLiteContext* context, const std::vector<int>& plan) {
  std::unordered_set<int> written;
  for (const int index : plan) {
    const RuntimeNode node = ReadNode(context, index);
    for (const int input : node.inputs) {
      if (input < 0 || written.count(input) != 0) continue;
      const TfLiteIntArray* declared = TensorAt(context, input).dims_signature;
      if (declared == nullptr) continue;
      for (int axis = 1; axis < declared->size; ++axis) {
        if (declared->data[axis] < 0) return true;
      }
    }
    written.insert(node.outputs.begin(), node.outputs.end());
  }
  return false;
}

// Removes nodes that the model refuses. false: they contradict their tensors.
bool AddAndFold(RuntimeModel* model, Nodes* nodes) {
  const auto refused = [model](const std::pair<int, RuntimeNode>& node) {
    try {
      model->Add(node.second);
    } catch (const NodeRefused&) {
      return true;
    }
    return false;
  };
  nodes->erase(std::remove_if(nodes->begin(), nodes->end(), refused), nodes->end());
  try {
    model->Fold();
  } catch (const import::Error&) {
    return false;
  }
  return true;
}

Shapes TwiceAsMany(Shapes shapes) {
  for (auto& [tensor, dims] : shapes) {
    if (!dims.empty() && dims[0] <= 0x3fffffff) dims[0] *= 2;
  }
  return shapes;
}

// Whether the RESHAPE that writes this tensor is given the shape that the tensor has.
bool GivesDeclared(const RuntimeModel& model, int output) {
  const int32_t at = model.IndexOf(output);
  for (const import::TfliteOperator& op : model.model().operators) {
    if (op.code != static_cast<int>(Op::RESHAPE) || op.outputs[0] != at) continue;
    return GivenShape(model.model(), op) ==
           model.model().tensors[static_cast<size_t>(at)].shape;
  }
  return false;
}

std::vector<int> ShapeOfReshape(const import::TfliteModel& model,
                                const import::TfliteOperator& reshape) {
  if (reshape.inputs.size() < 2 || reshape.inputs[1] < 0) return {};
  const auto& input = model.tensors[static_cast<size_t>(reshape.inputs[0])];
  const auto& operand = model.tensors[static_cast<size_t>(reshape.inputs[1])];
  if (operand.data == nullptr || operand.shape.size() != 1 ||
      operand.type != static_cast<int>(tflite::TensorType::INT32)) {
    return {};
  }
  std::vector<int> shape(operand.data_bytes / sizeof(int32_t));
  if (shape.empty()) return {};
  std::memcpy(shape.data(), operand.data, shape.size() * sizeof(int32_t));
  int64_t all = 1, told = 1;
  for (const int extent : input.shape) all *= extent;
  int* left_over = nullptr;
  for (int& extent : shape) {
    if (extent == -1 && left_over == nullptr) {
      left_over = &extent;
    } else if (extent <= 0 || told > 0x7fffffff / extent) {
      return {};
    } else {
      told *= extent;
    }
  }
  if (left_over != nullptr) *left_over = static_cast<int>(all / told);
  return shape;
}

std::vector<int> ShapeOfExpanded(const import::TfliteModel& model,
                                 const import::TfliteOperator& expand) {
  std::vector<int> shape = model.tensors[static_cast<size_t>(expand.inputs[0])].shape;
  const auto& operand = model.tensors[static_cast<size_t>(expand.inputs[1])];
  int32_t axis = 0;
  if (operand.data == nullptr || operand.data_bytes != sizeof axis) return {};
  std::memcpy(&axis, operand.data, sizeof axis);
  const int32_t rank = static_cast<int32_t>(shape.size());
  if (axis < 0) axis += rank + 1;
  if (axis < 0 || axis > rank) return {};
  shape.insert(shape.begin() + axis, 1);
  return shape;
}

std::vector<int> WithoutOnes(std::vector<int> shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

// The declared shape where it lacks extents of 1 alone.
std::vector<int> ShapeOfSqueezed(const import::TfliteModel& model,
                                 const import::TfliteOperator& squeeze) {
  const auto& declared = model.tensors[static_cast<size_t>(squeeze.outputs[0])].shape;
  const std::vector<int> input =
      WithoutOnes(model.tensors[static_cast<size_t>(squeeze.inputs[0])].shape);
  return WithoutOnes(declared) == input ? declared : input;
}

}  // namespace

bool HasComputedShape(TfLiteContext* context, const RuntimeNode& node) {
  return Is(node, Op::RESHAPE) && node.inputs.size() > 1 && node.inputs[1] >= 0 &&
         !IsConstant(TensorAt(context, node.inputs[1]));
}

std::vector<int> GivenShape(const import::TfliteModel& model,
                            const import::TfliteOperator& op) {
  const auto is = [&op](Op code) { return op.code == static_cast<int>(code); };
  if (is(Op::RESHAPE)) return ShapeOfReshape(model, op);
  if (is(Op::EXPAND_DIMS) && op.inputs.size() > 1) return ShapeOfExpanded(model, op);
  return is(Op::SQUEEZE) ? ShapeOfSqueezed(model, op) : std::vector<int>();
}

KnownShapes FindKnownShapes(TfLiteContext* context, const std::vector<int>& plan) {
  KnownShapes known;
  Nodes nodes = ArithmeticOf(context, plan);
  if (nodes.empty() || HasOpenInnerExtent(context, plan)) return known;
  const Shapes none;
  RuntimeModel model(context, false, none, {});
  if (!AddAndFold(&model, &nodes)) return known;
  std::vector<int> folded;
  for (const auto& [index, node] : nodes) {
    if (node.outputs.empty() || !model.IsFolded(node.outputs[0])) continue;
    known.folded[index] = node;
    known.tensors.insert(node.outputs.begin(), node.outputs.end());
    folded.insert(folded.end(), node.outputs.begin(), node.outputs.end());
    if (WritesSmallIntegers(context, node)) continue;
    known.shapes.insert(node.outputs.begin(), node.outputs.end());
  }
  // GuessShapes has to be right for twice as many images, too. Shapes are computed for
  // them, but no other constants.
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [&](const std::pair<int, RuntimeNode>& node) {
                               return WritesSmallIntegers(context, node.second) &&
                                      !HasComputedShape(context, node.second);
                             }),
              nodes.end());
  const Shapes twice = TwiceAsMany(model.shapes());
  RuntimeModel grown(context, true, twice, folded);
  if (!AddAndFold(&grown, &nodes)) return known;
  for (const auto& [index, node] : nodes) {
    if (HasComputedShape(context, node) && GivesDeclared(model, node.outputs[0]) &&
        GivesDeclared(grown, node.outputs[0])) {
      known.reshapes[index] = node;
    }
  }
  return known;
}

bool DropTorn(const std::unordered_set<int>& inputs,
              const std::unordered_set<int>& outputs, const KnownShapes& known,
              std::vector<int>* nodes) {
  const auto comes = [&](int t) {
    return known.tensors.count(t) != 0 && inputs.count(t) != 0;
  };
  const auto goes = [&](int t) {
    return known.shapes.count(t) != 0 && outputs.count(t) != 0;
  };
  const auto torn = [&](int index) {
    const auto folded = known.folded.find(index);
    if (folded != known.folded.end()) {
      const RuntimeNode& node = folded->second;
      return std::any_of(node.outputs.begin(), node.outputs.end(), goes) ||
             std::any_of(node.inputs.begin(), node.inputs.end(), comes);
    }
    const auto reshape = known.reshapes.find(index);
    return reshape != known.reshapes.end() && comes(reshape->second.inputs[1]);
  };
  const auto last = std::remove_if(nodes->begin(), nodes->end(), torn);
  const bool some = last != nodes->end();
  nodes->erase(last, nodes->end());
  return some;
}

}  // namespace sluice::delegate
