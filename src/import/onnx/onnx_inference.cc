// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_inference.h"

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
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

// The number of elements of every constant by name, over all scopes; if two have one
// name, the larger number. A name that a node writes is not a constant.
class Constants {
 public:
  explicit Constants(const onnx::GraphProto& graph) { Collect(graph); }

  bool IsShort(const std::string& name) const {
    const auto found = elements_.find(name);
    return found != elements_.end() && found->second <= kMostAxes;
  }
  // Extents of a constant, stored or dequantised; empty where they are not known.
  std::vector<int64_t> DimsOf(const std::string& name) const {
    const auto found = dims_.find(name);
    return found == dims_.end() ? std::vector<int64_t>() : found->second;
  }

 private:
  void Note(const std::string& name, int64_t elements) {
    int64_t& known = elements_[name];
    known = std::max(known, elements);
  }

  void Collect(const onnx::GraphProto& graph) {
    std::unordered_map<std::string, std::vector<int64_t>> given;  // shapes for Reshape
    for (const auto& tensor : graph.initializer()) {
      const auto& numbers = tensor.int64_data();
      const bool positive = std::all_of(numbers.begin(), numbers.end(),
                                        [](int64_t number) { return number > 0; });
      if (!numbers.empty() && numbers.size() < 9 && positive)
        given[tensor.name()] = {numbers.begin(), numbers.end()};
      Note(tensor.name(), ElementsOfConstant(tensor));
      NoteDims(tensor.name(), {tensor.dims().begin(), tensor.dims().end()});
    }
    for (const auto& input : graph.input()) {
      if (elements_.count(input.name()) == 0) Note(input.name(), kMostAxes + 1);
    }
    for (const auto& node : graph.node()) {
      for (const std::string& output : node.output()) Note(output, LengthOf(node));
      if (node.op_type() == "DequantizeLinear" && node.input_size() > 0 &&
          node.output_size() > 0) {
        NoteDims(node.output(0), DimsOf(node.input(0)));
      }
      if (node.op_type() == "Reshape" && node.input_size() > 1 &&
          node.output_size() > 0) {
        const auto shape = given.find(node.input(1));
        if (shape != given.end()) NoteDims(node.output(0), shape->second);
      }
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

  // Two constants with one name and different extents: the extents are not known.
  void NoteDims(const std::string& name, const std::vector<int64_t>& dims) {
    const auto [known, added] = dims_.emplace(name, dims);
    if (!added && known->second != dims) known->second.clear();
  }

  std::unordered_map<std::string, int64_t> elements_;
  std::unordered_map<std::string, std::vector<int64_t>> dims_;
};

// Names of the values of a graph whose type is known: those of the graphs around it, too.
using Names = std::unordered_set<std::string>;

void AddTyped(const onnx::GraphProto& graph, Names* names) {
  for (const auto& tensor : graph.initializer()) names->insert(tensor.name());
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) {
      if (info.has_type()) names->insert(info.name());
    }
  }
}

// Hides nodes from the inference for the lifetime of this object.
class Hider {
 public:
  explicit Hider(onnx::ModelProto* model)
      : model_(model), constants_(model->graph()), opsets_(model->opset_import_size()) {
    onnx::OperatorSetIdProto* opset = model->add_opset_import();
    opset->set_domain(kHidden);
    opset->set_version(1);
    Hide(model->mutable_graph(), {});
  }
  ~Hider() {
    for (auto& [node, domain] : hidden_) node->set_domain(domain);
    for (onnx::NodeProto* node : windows_) node->mutable_attribute()->RemoveLast();
    model_->mutable_opset_import()->DeleteSubrange(opsets_, 1);
  }
  Hider(const Hider&) = delete;
  Hider& operator=(const Hider&) = delete;

 private:
  // ONNX 1.12 ends the program at the Shape of a value without type. The importer computes
  // such shapes itself as soon as the value's extents are known.
  static bool IsShapeOfUnknown(const onnx::NodeProto& node, const Names& typed) {
    return node.op_type() == "Shape" &&
           (node.input_size() < 1 || typed.count(node.input(0)) == 0);
  }

  // ONNX's inference takes attributes and inputs that an operator must have for present, with
  // the type that they must have. What Scan counts must fit its body besides.
  bool IsIncomplete(const onnx::NodeProto& node) const {
    if (node.op_type() == "Scan") return true;
    const onnx::OpSchema* schema = nullptr;
    for (const auto& opset : model_->opset_import()) {
      if (opset.domain() != node.domain()) continue;
      schema = onnx::OpSchemaRegistry::Schema(
          node.op_type(), static_cast<int>(opset.version()), node.domain());
    }
    if (schema == nullptr) return false;  // the inference skips it
    if (node.input_size() < schema->min_input() ||
        node.output_size() < schema->min_output()) {
      return true;
    }
    std::unordered_set<std::string> right;
    for (const auto& attribute : node.attribute()) {
      const auto known = schema->attributes().find(attribute.name());
      if (known == schema->attributes().end()) continue;
      if (known->second.type != attribute.type()) return true;
      right.insert(attribute.name());
    }
    return std::any_of(schema->attributes().begin(), schema->attributes().end(),
                       [&](const auto& named) {
                         return named.second.required && right.count(named.first) == 0;
                       });
  }

  void Hide(onnx::GraphProto* graph, Names typed) {
    AddTyped(*graph, &typed);
    for (auto& node : *graph->mutable_node()) {
      const int at = node.op_type() == "ConstantOfShape" ? 0
                     : node.op_type() == "Expand"        ? 1
                                                         : -1;
      const bool blind = IsIncomplete(node) ||
                         (NeedsWindow(node) && !GiveWindow(&node)) ||
                         IsShapeOfUnknown(node, typed);
      if (blind || (at >= 0 &&
                    (node.input_size() <= at || !constants_.IsShort(node.input(at))))) {
        hidden_.emplace_back(&node, node.domain());
        node.set_domain(kHidden);
      }
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) Hide(attribute.mutable_g(), typed);
        for (auto& part : *attribute.mutable_graphs()) Hide(&part, typed);
      }
    }
  }

  // Without kernel_shape ONNX's inference takes the window from the weight without
  // checking its rank, and for QLinearConv from the wrong input.
  static bool NeedsWindow(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    if (op == "ConvTranspose") return true;
    if (op != "Conv" && op != "QLinearConv" && op != "ConvInteger") return false;
    return std::none_of(
        node.attribute().begin(), node.attribute().end(),
        [](const auto& attribute) { return attribute.name() == "kernel_shape"; });
  }
  // Sets kernel_shape from the weight. False: the weight's extents are not known.
  bool GiveWindow(onnx::NodeProto* node) {
    const int at = node->op_type() == "QLinearConv" ? 3 : 1;
    if (node->input_size() <= at) return false;
    const std::vector<int64_t> dims = constants_.DimsOf(node->input(at));
    if (dims.size() < 3) return false;
    if (node->op_type() == "ConvTranspose") return true;
    onnx::AttributeProto* window = node->add_attribute();
    window->set_name("kernel_shape");
    window->set_type(onnx::AttributeProto::INTS);
    for (size_t i = 2; i < dims.size(); ++i) window->add_ints(dims[i]);
    windows_.push_back(node);
    return true;
  }

  onnx::ModelProto* model_;
  std::vector<onnx::NodeProto*> windows_;
  const Constants constants_;
  const int opsets_;
  std::vector<std::pair<onnx::NodeProto*, std::string>> hidden_;
};

// The inference divides by these attributes without checking for 0.
bool MustBePositive(const std::string& attribute) {
  static const char* const names[] = {"strides",   "dilations",   "kernel_shape",
                                      "blocksize", "num_outputs", "group"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return attribute == name; });
}

// The inference adds or multiplies integer attributes without checking for overflow.
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

// Extents that ONNX's inference leaves out: it knows the rank of Einsum alone.
class EinsumShapes {
 public:
  explicit EinsumShapes(onnx::GraphProto* graph) : graph_(*graph) {
    for (const auto& tensor : graph_.initializer()) {
      dims_[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
    }
    for (const auto* list : {&graph_.input(), &graph_.value_info(), &graph_.output()}) {
      for (const auto& info : *list) Note(info);
    }
  }

  // False: nothing new was found.
  bool Add() {
    bool added = false;
    for (const auto& node : graph_.node()) {
      if (node.op_type() != "Einsum" || node.output_size() != 1) continue;
      std::vector<int64_t> dims;
      if (dims_.count(node.output(0)) != 0 || !Extents(node, &dims)) continue;
      auto* info = graph_.add_value_info();
      info->set_name(node.output(0));
      info->mutable_type()->mutable_tensor_type()->set_elem_type(
          onnx::TensorProto::FLOAT);
      auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
      for (const int64_t extent : dims) shape->add_dim()->set_dim_value(extent);
      dims_[node.output(0)] = dims;
      added = true;
    }
    return added;
  }

 private:
  void Note(const onnx::ValueInfoProto& info) {
    if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape())
      return;
    std::vector<int64_t> dims;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) return;
      dims.push_back(dim.dim_value());
    }
    dims_[info.name()] = dims;
  }

  // Of the result of an equation of letters, with all operands' extents known.
  bool Extents(const onnx::NodeProto& node, std::vector<int64_t>* out) const {
    std::string equation;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "equation") equation = attribute.s();
    }
    equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
    const size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) {
      return false;
    }
    std::unordered_map<char, int64_t> extent;
    size_t at = 0;
    for (const std::string& input : node.input()) {
      const auto dims = dims_.find(input);
      const size_t end = std::min(equation.find(',', at), arrow);
      if (dims == dims_.end() || at > arrow || dims->second.size() != end - at) {
        return false;
      }
      for (size_t i = at; i < end; ++i) extent[equation[i]] = dims->second[i - at];
      at = end + 1;
    }
    for (size_t i = arrow + 2; i < equation.size(); ++i) {
      if (extent.count(equation[i]) == 0) return false;
      out->push_back(extent[equation[i]]);
    }
    return true;
  }

  onnx::GraphProto& graph_;
  std::unordered_map<std::string, std::vector<int64_t>> dims_;
};

void Infer(onnx::ModelProto* model) {
  const StandIns stand_ins(model);
  const Hider hider(model);
  do {
    onnx::shape_inference::InferShapes(*model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 0, true));
  } while (EinsumShapes(model->mutable_graph()).Add());
}

// What the file says about values between the inputs and the outputs. Tools that change a graph
// leave shapes of the graph before; the runtime trusts the operators, not these.
void ForgetDeclared(onnx::GraphProto* graph) {
  graph->clear_value_info();
  for (auto& info : *graph->mutable_output()) {
    if (info.type().has_tensor_type()) {
      info.mutable_type()->mutable_tensor_type()->clear_shape();
    }
  }
}

}  // namespace

void InferOnnxShapes(onnx::ModelProto* model) {
  model->clear_functions();  // local functions are no operators of this importer
  CheckAttributes(model->graph());
  // In older versions constants have no type unless they are inputs, too.
  if (model->ir_version() < 4) model->set_ir_version(4);
  try {
    Infer(model);
    return;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    ForgetDeclared(model->mutable_graph());
  }
  try {
    Infer(model);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw Error(Fault::kBadInput, "shapes contradict each other: " + what);
  }
}

}  // namespace sluice::import
