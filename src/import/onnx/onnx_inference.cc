// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_inference.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/error.h"
#include "import/onnx/stand_ins.h"

namespace sluice::import {
namespace {

constexpr int64_t kMostAxes = 64;
constexpr char kHidden[] = "sluice.hidden";  // a domain in which ONNX knows no operator

int64_t ElementsOfConstant(const onnx::TensorProto& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > kMostAxes || elements > kMostAxes) return kMostAxes + 1;
    elements *= dim;
  }
  return elements;
}

// Elements of every constant by name, over all scopes; of two with one name the larger.
// Names that a node writes are no constants.
class Constants {
 public:
  explicit Constants(const onnx::GraphProto& graph) { Collect(graph); }

  bool IsShort(const std::string& name) const {
    const auto found = elements_.find(name);
    return found != elements_.end() && found->second <= kMostAxes;
  }

 private:
  void Note(const std::string& name, int64_t elements) {
    int64_t& known = elements_[name];
    known = std::max(known, elements);
  }

  void Collect(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) {
      Note(tensor.name(), ElementsOfConstant(tensor));
    }
    for (const auto& input : graph.input()) {
      if (elements_.count(input.name()) == 0) Note(input.name(), kMostAxes + 1);
    }
    for (const auto& node : graph.node()) {
      for (const std::string& output : node.output()) Note(output, LengthOf(node));
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) Collect(attribute.g());
        for (const auto& part : attribute.graphs()) Collect(part);
      }
    }
  }

  static int64_t LengthOf(const onnx::NodeProto& node) {
    if (node.op_type() != "Constant") return kMostAxes + 1;
    int64_t length = 1;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t())
        length = std::max(length, ElementsOfConstant(attribute.t()));
      length = std::max<int64_t>(length, attribute.ints_size());
    }
    return length;
  }

  std::unordered_map<std::string, int64_t> elements_;
};

// Hides nodes for as long as it lives.
class Hider {
 public:
  explicit Hider(onnx::ModelProto* model)
      : model_(model), constants_(model->graph()), opsets_(model->opset_import_size()) {
    onnx::OperatorSetIdProto* opset = model->add_opset_import();
    opset->set_domain(kHidden);
    opset->set_version(1);
    Hide(model->mutable_graph());
  }
  ~Hider() {
    for (auto& [node, domain] : hidden_) node->set_domain(domain);
    model_->mutable_opset_import()->DeleteSubrange(opsets_, 1);
  }
  Hider(const Hider&) = delete;
  Hider& operator=(const Hider&) = delete;

 private:
  void Hide(onnx::GraphProto* graph) {
    for (auto& node : *graph->mutable_node()) {
      const int at = node.op_type() == "ConstantOfShape" ? 0
                     : node.op_type() == "Expand"        ? 1
                                                         : -1;
      if (at >= 0 && (node.input_size() <= at || !constants_.IsShort(node.input(at)))) {
        hidden_.emplace_back(&node, node.domain());
        node.set_domain(kHidden);
      }
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) Hide(attribute.mutable_g());
        for (auto& part : *attribute.mutable_graphs()) Hide(&part);
      }
    }
  }

  onnx::ModelProto* model_;
  const Constants constants_;
  const int opsets_;
  std::vector<std::pair<onnx::NodeProto*, std::string>> hidden_;
};

// The inference divides by these without looking.
bool MustBePositive(const std::string& attribute) {
  static const char* const names[] = {"strides",   "dilations",   "kernel_shape",
                                      "blocksize", "num_outputs", "group"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return attribute == name; });
}

// And adds or multiplies these without looking.
bool InRange(const onnx::AttributeProto& attribute) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t least = MustBePositive(attribute.name()) ? 1
                        : attribute.name() == "pads"     ? -kMost
                                                         : INT64_MIN;
  const int64_t most = least == INT64_MIN ? INT64_MAX : kMost;
  const auto inside = [&](int64_t number) { return number >= least && number <= most; };
  return (attribute.type() != onnx::AttributeProto::INT || inside(attribute.i())) &&
         std::all_of(attribute.ints().begin(), attribute.ints().end(), inside);
}

void CheckAttributes(const onnx::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (!InRange(attribute)) {
        throw Error(Fault::kBadInput,
                    "node " + (node.name().empty() ? node.op_type() : node.name()) +
                        " has an impossible value of " + attribute.name());
      }
      if (attribute.has_g()) CheckAttributes(attribute.g());
      for (const auto& part : attribute.graphs()) CheckAttributes(part);
    }
  }
}

}  // namespace

void InferOnnxShapes(onnx::ModelProto* model) {
  model->clear_functions();  // local functions are no operators of this importer
  CheckAttributes(model->graph());
  const StandIns stand_ins(model);
  const Hider hider(model);
  try {
    onnx::shape_inference::InferShapes(*model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 0, true));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw Error(Fault::kBadInput, "shapes contradict each other: " + what);
  }
}

}  // namespace sluice::import
