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

// The nodes of the plan that belong to shape arithmetic, in order; empty if no shape is
// computed.
std::vector<std::pair<int, RuntimeNode>> ArithmeticOf(TfLiteContext* context,
                                                      const std::vector<int>& plan) {
  std::vector<std::pair<int, RuntimeNode>> nodes;
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

}  // namespace

bool HasComputedShape(TfLiteContext* context, const RuntimeNode& node) {
  return Is(node, Op::RESHAPE) && node.inputs.size() > 1 && node.inputs[1] >= 0 &&
         !IsConstant(TensorAt(context, node.inputs[1]));
}

std::vector<int> GivenShape(const import::TfliteModel& model,
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

KnownShapes FindKnownShapes(TfLiteContext* context, const std::vector<int>& plan) {
  KnownShapes known;
  const auto nodes = ArithmeticOf(context, plan);
  if (nodes.empty()) return known;
  const Shapes none;
  RuntimeModel model(context, false, none, {});
  std::vector<std::pair<int, RuntimeNode>> added;
  for (const auto& [index, node] : nodes) {
    try {
      model.Add(node);
      added.emplace_back(index, node);
    } catch (const NodeRefused&) {  // not folded
    }
  }
  try {
    model.Fold();
  } catch (const import::Error&) {
    return known;
  }
  for (const auto& [index, node] : added) {
    if (!node.outputs.empty() && model.IsFolded(node.outputs[0])) {
      known.folded[index] = node;
      known.tensors.insert(node.outputs.begin(), node.outputs.end());
      for (const int output : node.outputs) {
        if (!IsSmallInteger(TensorAt(context, output).type))
          known.shapes.insert(output);
      }
    }
  }
  for (const import::TfliteOperator& op : model.model().operators) {
    if (op.code != static_cast<int>(Op::RESHAPE)) continue;
    const auto& declared = model.model().tensors[static_cast<size_t>(op.outputs[0])];
    if (GivenShape(model.model(), op) != declared.shape) continue;
    for (const auto& [index, node] : added) {
      if (HasComputedShape(context, node) &&
          model.IndexOf(node.outputs[0]) == op.outputs[0]) {
        known.reshapes[index] = node;
      }
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
