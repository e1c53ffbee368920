// SPDX-License-Identifier: Apache-2.0
// Activations of uint8 become int8 ones: each number and its zero point are 128 less, so that what
// they stand for is the same and machines whose units multiply int8 alone take them.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "import/onnx/onnx_model.h"

namespace sluice::import {
namespace {

// Where a node has a quantised operand and its zero point, and which of them are outputs.
struct Quantised {
  size_t value, zero;
  bool output, zero_is_output;
};
struct QuantisedRow {
  const char* op;
  std::vector<Quantised> operands;
};

const std::vector<QuantisedRow>& Rows() {
  static const Quantised x = {0, 2, false, false}, y34 = {0, 4, true, false};
  static const std::vector<QuantisedRow> rows = {
      {"QuantizeLinear", {{0, 2, true, false}}},
      {"DequantizeLinear", {x}},
      {"DynamicQuantizeLinear", {{0, 2, true, true}}},
      {"MatMulInteger", {x, {1, 3, false, false}}},
      {"ConvInteger", {x, {1, 3, false, false}}},
      {"QLinearConv", {x, {0, 7, true, false}}},
      {"QLinearMatMul", {x, {3, 5, false, false}, {0, 7, true, false}}},
      {"com.microsoft.QLinearAdd", {x, {3, 5, false, false}, {0, 7, true, false}}},
      {"com.microsoft.QLinearMul", {x, {3, 5, false, false}, {0, 7, true, false}}},
      {"com.microsoft.QGemm", {x, {0, 8, true, false}}},
      {"com.microsoft.QLinearSigmoid", {x, y34}},
      {"com.microsoft.QLinearLeakyRelu", {x, y34}},
      {"com.microsoft.QLinearAveragePool", {x, y34}},
      {"com.microsoft.QLinearGlobalAveragePool", {x, y34}},
      {"com.microsoft.QLinearReduceMean", {x, y34}},
      {"com.microsoft.QLinearSoftmax", {x, y34}}};
  return rows;
}

bool Moves(const OnnxNode& node) {
  if (node.op == "Resize" || node.op == "Upsample")
    return node.Text("mode", "nearest") == "nearest";
  static const char* const kOps[] = {
      "Reshape",      "Flatten", "Squeeze", "Unsqueeze", "Transpose",
      "Identity",     "Split",   "Slice",   "MaxPool",   "DepthToSpace",
      "SpaceToDepth", "Expand",  "Concat",  "Tile"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* name) { return node.op == name; });
}

class Signing {
 public:
  explicit Signing(OnnxModel* model) : model_(*model), group_(model->values.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    stays_.resize(group_.size());
  }

  void Run() {
    for (const OnnxNode& node : model_.nodes) Look(node);
    for (const auto* border : {&model_.inputs, &model_.outputs}) {
      for (const int value : *border) Stay(value);
    }
    for (const auto& [state, next] : model_.states) {
      Stay(state);
      Stay(next);
    }
    const size_t count = group_.size();
    for (OnnxNode& node : model_.nodes) Shift(&node);
    for (size_t v = 0; v < count; ++v) {
      if (Changes(static_cast<int>(v))) model_.values[v].type = kOnnxInt8;
    }
  }

 private:
  OnnxValue& At(int value) { return model_.values[static_cast<size_t>(value)]; }
  bool IsUnsigned(int value) {
    return value >= 0 && At(value).type == kOnnxUint8 && !At(value).constant;
  }
  int Find(int value) {
    while (group_[static_cast<size_t>(value)] != value)
      value = group_[static_cast<size_t>(value)];
    return value;
  }
  void Stay(int value) {
    if (value >= 0) stays_[static_cast<size_t>(Find(value))] = true;
  }
  void Join(int a, int b) {
    if (a < 0 || b < 0) return;
    const bool stays = Stays(a) || Stays(b);
    group_[static_cast<size_t>(Find(a))] = Find(b);
    if (stays) Stay(b);
  }
  bool Stays(int value) { return stays_[static_cast<size_t>(Find(value))]; }
  bool Changes(int value) {
    return value >= 0 && static_cast<size_t>(value) < group_.size() &&
           IsUnsigned(value) && !Stays(value);
  }

  static int Operand(const OnnxNode& node, size_t i, bool output) {
    const std::vector<int>& list = output ? node.outputs : node.inputs;
    return i < list.size() ? list[i] : -1;
  }

  static std::vector<Quantised> RowOf(const OnnxNode& node) {
    for (const QuantisedRow& row : Rows()) {
      if (node.op == row.op) return row.operands;
    }
    std::vector<Quantised> operands;
    if (node.op != "com.microsoft.QLinearConcat") return operands;
    operands.push_back({0, 1, true, false});
    for (size_t i = 2; i + 2 < node.inputs.size(); i += 3)
      operands.push_back({i, i + 2, false, false});
    return operands;
  }

  void Look(const OnnxNode& node) {
    const std::vector<Quantised> row = RowOf(node);
    // Operators with one type for all operands, whose constants do not change.
    const bool moves = Moves(node);
    const bool alike = moves || node.op == "com.microsoft.QLinearAdd" ||
                       node.op == "com.microsoft.QLinearMul" ||
                       node.op == "com.microsoft.QLinearSoftmax";
    std::vector<int> known;
    for (const Quantised& q : row) LookAt(node, q, &known);
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const int value : *list) {
        if (!IsUnsigned(value)) continue;
        const bool is_known =
            std::find(known.begin(), known.end(), value) != known.end();
        if (moves) known.push_back(value);
        if (!is_known && !moves) Stay(value);
      }
    }
    if (!alike || known.empty()) return;
    for (const int value : known) Join(value, known[0]);
    if (HasConstantBytes(node, row)) Stay(known[0]);
  }

  void LookAt(const OnnxNode& node, const Quantised& q, std::vector<int>* known) {
    const int value = Operand(node, q.value, q.output),
              zero = Operand(node, q.zero, q.zero_is_output);
    if (!IsUnsigned(value)) return;
    known->push_back(value);
    if (IsUnsigned(zero)) {
      known->push_back(zero);
      Join(value, zero);
    } else if (zero >= 0 && !IsStoredZero(zero)) {
      Stay(value);
    }
  }

  // Among operands that are no zero points.
  bool HasConstantBytes(const OnnxNode& node, const std::vector<Quantised>& row) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int value = node.inputs[i];
      const bool zero = std::any_of(row.begin(), row.end(), [&](const Quantised& q) {
        return q.zero == i && !q.zero_is_output;
      });
      if (!zero && value >= 0 && At(value).constant && At(value).type == kOnnxUint8)
        return true;
    }
    return false;
  }

  bool IsStoredZero(int value) {
    return At(value).has_data && At(value).type == kOnnxUint8;
  }

  // Gives operands that change their zero points.
  void Shift(OnnxNode* node) {
    for (const Quantised& q : RowOf(*node)) {
      if (!Changes(Operand(*node, q.value, q.output)) || q.zero_is_output) continue;
      const int zero = Operand(*node, q.zero, false);
      if (zero >= 0 && !At(zero).constant) continue;  // changes itself
      if (node->inputs.size() <= q.zero) node->inputs.resize(q.zero + 1, -1);
      node->inputs[q.zero] = ShiftedZero(zero);
    }
  }

  int ShiftedZero(int zero) {
    const auto known = shifted_.find(zero);
    if (known != shifted_.end()) return known->second;
    OnnxValue value;
    if (zero >= 0) value = At(zero);
    value.name += "/signed";
    value.type = kOnnxInt8;
    value.has_shape = value.constant = value.has_data = true;
    value.has_integers = false;
    value.producer = -1;
    Bytes bytes(zero >= 0 ? value.data.size() : 1);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>((zero >= 0 ? value.data[i] : 0) ^ 0x80);
    value.data = OnnxData(std::move(bytes));
    model_.values.push_back(std::move(value));
    return shifted_[zero] = static_cast<int>(model_.values.size() - 1);
  }

  OnnxModel& model_;
  std::vector<int> group_;
  std::vector<bool> stays_;
  std::map<int, int> shifted_;
};

}  // namespace

void UseSignedNumbers(OnnxModel* model) { Signing(model).Run(); }

}  // namespace sluice::import
