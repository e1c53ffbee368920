// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/stand_ins.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace sluice::import {
namespace {

// Operators of ONNX that older libraries do not know, whose result has the extents of their
// first operand.
bool IsNew(const onnx::NodeProto& node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return false;
  static const char* const kOps[] = {"Gelu",
                                     "Mish",
                                     "GroupNormalization",
                                     "Swish",
                                     "LayerNormalization",
                                     "RMSNormalization",
                                     "SimplifiedLayerNormalization"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* op) { return node.op_type() == op; });
}

struct Row {
  const char* op;        // in the domain com.microsoft
  const char* stand_in;  // of ONNX
  std::vector<int> inputs;
  int first = -1;  // if not -1, instead of `inputs`: inputs first, first + 3, ...
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"QLinearAdd", "Add", {0, 3}},
      {"QLinearMul", "Mul", {0, 3}},
      {"QLinearSigmoid", "Identity", {0}},
      {"QLinearLeakyRelu", "Identity", {0}},
      {"QLinearSoftmax", "Identity", {0}},
      {"QLinearConcat", "Concat", {}, 2},
      {"QLinearAveragePool", "AveragePool", {0}},
      {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}},
      {"QLinearReduceMean", "ReduceMean", {0}},
      {"QLinearWhere", "Where", {0, 1, 4}},
      {"QGemm", "Gemm", {0, 3}},
      {"QuantizeLinear", "QuantizeLinear", {0, 1, 2}},
      {"DequantizeLinear", "DequantizeLinear", {0, 1, 2}},
      {"FusedMatMul", "MatMul", {0, 1}},
      {"DynamicQuantizeLSTM", "LSTM", {0, 1, 2}},
      {"Gelu", "Identity", {0}},
      {"FastGelu", "Identity", {0}},
      {"QuickGelu", "Identity", {0}},
      {"BiasGelu", "Identity", {0}},
      {"SkipLayerNormalization", "Identity", {0}},
      {"SimplifiedLayerNormalization", "Identity", {0}},
      {"SkipSimplifiedLayerNormalization", "Identity", {0}},
  };
  return rows;
}

bool HasFlag(const onnx::NodeProto& node, const char* name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.i() != 0) return true;
  }
  return false;
}

onnx::NodeProto MakeStandIn(const onnx::NodeProto& node, const Row& row) {
  onnx::NodeProto other = node;
  other.clear_domain();
  other.set_op_type(row.stand_in);
  other.clear_input();
  for (const int input : row.inputs) {
    if (input < node.input_size()) other.add_input(node.input(input));
  }
  for (int i = row.first; i >= 0 && i < node.input_size(); i += 3) {
    other.add_input(node.input(i));
  }
  return other;
}

}  // namespace

StandIns::StandIns(onnx::ModelProto* model) {
  for (auto& node : *model->mutable_graph()->mutable_node()) {
    if (IsNew(node)) {
      replaced_.emplace_back(&node, MakeStandIn(node, {"", "Identity", {0}}));
      node.Swap(&replaced_.back().second);
      continue;
    }
    if (node.domain() != "com.microsoft" || HasFlag(node, "channels_last") ||
        HasFlag(node, "transA") || HasFlag(node, "transBatchA") ||
        HasFlag(node, "transBatchB")) {
      continue;
    }
    for (const Row& row : Rows()) {
      if (node.op_type() != row.op) continue;
      replaced_.emplace_back(&node, MakeStandIn(node, row));
      node.Swap(&replaced_.back().second);
      break;
    }
  }
}

StandIns::~StandIns() {
  for (auto& [node, other] : replaced_) node->Swap(&other);
}

}  // namespace sluice::import
