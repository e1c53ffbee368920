// SPDX-License-Identifier: Apache-2.0
#include "shape_arithmetic.h"

#include <algorithm>
#include <utility>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

using Op = tflite::BuiltinOperator;

bool Is(const RuntimeNode& node, Op op) { return node.code == static_cast<int>(op); }

// Operators by which converters compute shapes, or constants from shapes.
bool IsArithmetic(const RuntimeNode& node) {
  static constexpr Op kOps[] = {
      Op::SHAPE,   Op::RANK,        Op::STRIDED_SLICE, Op::SLICE,     Op::PACK,
      Op::UNPACK,  Op::GATHER,      Op::CONCATENATION, Op::CAST,      Op::ADD,
      Op::SUB,     Op::MUL,         Op::FLOOR_DIV,     Op::FLOOR_MOD, Op::MINIMUM,
      Op::MAXIMUM, Op::REDUCE_PROD, Op::RANGE,         Op::FILL,      Op::TILE,
      Op::RESHAPE, Op::SQUEEZE,     Op::EXPAND_DIMS};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](Op op) { return Is(node, op); });
}

using Nodes = std::vector<std::pair<int, RuntimeNode>>;

bool WritesSmallIntegers(TfLiteContext* context, const RuntimeNode& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](int output) {
    return IsSmallInteger(TensorAt(context, output).type);
  });
}

bool ReadsOneOf(const RuntimeNode& node, const std::unordered_set<int>& tensors) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int input) { return tensors.count(input) != 0; });
}

// Whether all outputs of the node become constants of the model.
bool Folds(RuntimeModel* model, RuntimeNode node) {
  node.folds = true;
  try {
    model->Add(node);
  } catch (const NodeRefused&) {
    return false;
  } catch (const import::Error&) {  // it contradicts its tensors
    return false;
  }
  return !node.outputs.empty() && model->IsFolded(node.outputs[0]);
}

}  // namespace

KnownShapes FindKnownShapes(TfLiteContext* context, const std::vector<int>& plan) {
  KnownShapes known;
  Nodes nodes;
  bool needed = false;
  for (const int index : plan) {
    nodes.emplace_back(index, ReadNode(context, index));
    needed = needed || Is(nodes.back().second, Op::SHAPE);
  }
  if (!needed) return known;
  RuntimeModel model(context);
  for (const auto& [index, node] : nodes) {
    if (IsArithmetic(node) && Folds(&model, node)) {
      known.folded[index] = node;
      known.tensors.insert(node.outputs.begin(), node.outputs.end());
      if (WritesSmallIntegers(context, node)) continue;
      known.shapes.insert(node.outputs.begin(), node.outputs.end());
    } else if (ReadsOneOf(node, known.shapes)) {
      known.readers[index] = node;
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
    const auto reader = known.readers.find(index);
    return reader != known.readers.end() &&
           std::any_of(reader->second.inputs.begin(), reader->second.inputs.end(),
                       [&](int t) { return comes(t) && known.shapes.count(t) != 0; });
  };
  const auto last = std::remove_if(nodes->begin(), nodes->end(), torn);
  const bool some = last != nodes->end();
  nodes->erase(last, nodes->end());
  return some;
}

}  // namespace sluice::delegate
