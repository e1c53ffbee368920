// SPDX-License-Identifier: Apache-2.0
// A model's own functions: their nodes stand in the place of each call. Also what exporters and
// quantisers leave that needs no operator of its own.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/error.h"
#include "import/onnx/onnx_rewrites.h"

namespace sluice::import {
namespace {

constexpr int kMostNodes = 1 << 17;
constexpr int kMostDepth = 32;  // of functions that call functions

using Names = std::map<std::string, std::string>;
using Functions =
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>;

// nullptr: the call does not give the attribute. Defaults of functions are not read, as older
// libraries do not name them.
const onnx::AttributeProto* Given(const onnx::NodeProto& call,
                                  const std::string& name) {
  for (const auto& attribute : call.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

void Replace(const Names& names, const onnx::NodeProto& call, onnx::NodeProto* node) {
  for (auto& input : *node->mutable_input()) {
    const auto found = names.find(input);
    if (found != names.end()) input = found->second;
  }
  auto* attributes = node->mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    onnx::AttributeProto& attribute = *attributes->Mutable(i);
    if (!attribute.ref_attr_name().empty()) {
      const auto* given = Given(call, attribute.ref_attr_name());
      if (given == nullptr) {
        attributes->DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = *given;
      attribute.set_name(name);
    }
    if (!attribute.has_g()) continue;
    for (auto& inner : *attribute.mutable_g()->mutable_node())
      Replace(names, call, &inner);
    for (auto& output : *attribute.mutable_g()->mutable_output()) {
      const auto found = names.find(output.name());
      if (found != names.end()) output.set_name(found->second);
    }
  }
}

void Inline(const onnx::NodeProto& call, const onnx::FunctionProto& function,
            onnx::GraphProto* to) {
  const std::string part =
      (call.name().empty() && call.output_size() > 0 ? call.output(0) : call.name()) +
      "/";
  Names names;
  for (int i = 0; i < function.input_size(); ++i)
    names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
  Names outputs;
  for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
    if (!call.output(i).empty()) outputs[function.output(i)] = call.output(i);
  for (onnx::NodeProto node : function.node()) {
    Replace(names, call, &node);
    for (auto& output : *node.mutable_output()) {
      if (output.empty()) continue;
      const auto found = outputs.find(output);
      const std::string name = found != outputs.end() ? found->second : part + output;
      names[output] = name;
      output = name;
    }
    if (!node.name().empty()) node.set_name(part + node.name());
    *to->add_node() = node;
    if (to->node_size() > kMostNodes)
      throw Error(Fault::kTooLarge, "functions with more than 131072 nodes");
  }
  // An input that the function gives out again.
  for (const auto& [inner, outer] : outputs) {
    bool passed = false;
    for (const auto& input : function.input()) passed |= input == inner;
    if (!passed) continue;
    onnx::NodeProto* same = to->add_node();
    same->set_op_type("Identity");
    same->set_name(outer);
    same->add_input(names[inner]);
    same->add_output(outer);
  }
}

}  // namespace

namespace {

// Names of the values that each Identity hands on; outputs of the model keep theirs.
Names HandedOn(const onnx::GraphProto& graph) {
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  Names names;
  for (const auto& node : graph.node()) {
    const bool plain = node.domain().empty() || node.domain() == "ai.onnx";
    if (!plain || node.op_type() != "Identity" || node.input_size() != 1 ||
        node.output_size() != 1 || node.input(0).empty() || node.output(0).empty() ||
        node.input(0) == node.output(0) || outputs.count(node.output(0)) != 0) {
      continue;
    }
    const auto before = names.find(node.input(0));
    names[node.output(0)] = before == names.end() ? node.input(0) : before->second;
  }
  return names;
}

onnx::NodeProto NodeOf(const std::string& op, const std::vector<std::string>& inputs,
                       const std::string& output) {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

// Numbers that were quantised at run time, dequantised by their scale: (x - zero) * scale.
void Dequantise(const onnx::NodeProto& node, onnx::GraphProto* to) {
  std::vector<std::string> reals;
  for (int i = 0; i < 3 && i < node.input_size(); ++i) {
    if (i == 1 || node.input(i).empty()) continue;
    reals.push_back(node.output(0) + "/real" + std::to_string(i));
    *to->add_node() = NodeOf("Cast", {node.input(i)}, reals.back());
    onnx::AttributeProto* type = to->mutable_node(to->node_size() - 1)->add_attribute();
    type->set_name("to");
    type->set_type(onnx::AttributeProto::INT);
    type->set_i(onnx::TensorProto::FLOAT);
  }
  std::string real = reals[0];
  if (reals.size() == 2) {
    real = node.output(0) + "/above";
    *to->add_node() = NodeOf("Sub", reals, real);
  }
  *to->add_node() = NodeOf("Mul", {real, node.input(1)}, node.output(0));
}

}  // namespace

void TidyOnnx(onnx::ModelProto* model) {
  onnx::GraphProto* graph = model->mutable_graph();
  const Names names = HandedOn(*graph);
  std::set<std::string> scales;
  for (const auto& node : graph->node()) {
    if (node.op_type() == "DynamicQuantizeLinear" && node.output_size() > 1)
      scales.insert(node.output(1));
  }
  if (names.empty() && scales.empty()) return;
  onnx::GraphProto made;
  for (onnx::NodeProto node : graph->node()) {
    if (node.output_size() == 1 && names.count(node.output(0)) != 0) continue;
    Replace(names, {}, &node);
    const bool at_run = node.op_type() == "DequantizeLinear" && node.input_size() > 1 &&
                        node.output_size() == 1 && scales.count(node.input(1)) != 0;
    if (at_run) {
      Dequantise(node, &made);
    } else {
      *made.add_node() = node;
    }
  }
  graph->mutable_node()->Swap(made.mutable_node());
}

void RequireWideScales(const onnx::GraphProto& graph) {
  std::set<std::string> halves;
  for (const auto& tensor : graph.initializer()) {
    const bool half = tensor.data_type() == onnx::TensorProto::FLOAT16 ||
                      tensor.data_type() == onnx::TensorProto::BFLOAT16;
    if (half) halves.insert(tensor.name());
  }
  for (const auto& node : graph.node()) {
    const bool scaled =
        node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
    if (!scaled || node.input_size() < 2 || halves.count(node.input(1)) == 0) continue;
    throw Error(Fault::kUnsupported,
                "node " + node.name() + " (" + node.op_type() +
                    ") has a scale of 16 bits: convert the model's floats to float32 "
                    "before it is quantised");
  }
}

void InlineOnnxFunctions(onnx::ModelProto* model) {
  if (model->functions_size() == 0) return;
  Functions functions;
  for (const auto& function : model->functions())
    functions[{function.domain(), function.name()}] = &function;
  const auto of = [&](const onnx::NodeProto& node) -> const onnx::FunctionProto* {
    const auto found = functions.find({node.domain(), node.op_type()});
    return found == functions.end() ? nullptr : found->second;
  };
  for (int depth = 0; depth < kMostDepth; ++depth) {
    onnx::GraphProto made;
    bool any = false;
    for (const auto& node : model->graph().node()) {
      const onnx::FunctionProto* function = of(node);
      any |= function != nullptr;
      if (function != nullptr) {
        Inline(node, *function, &made);
      } else {
        *made.add_node() = node;
      }
    }
    if (!any) return;
    model->mutable_graph()->mutable_node()->Swap(made.mutable_node());
  }
  throw Error(Fault::kUnsupported,
              "functions of the model that call each other endlessly");
}

}  // namespace sluice::import
