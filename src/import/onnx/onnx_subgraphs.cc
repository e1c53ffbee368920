// SPDX-License-Identifier: Apache-2.0
// If and Loop without subgraphs: the branch that is taken, or both and a Where; a loop of a
// known length as often as it runs.
#include <algorithm>
#include <optional>

#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Numbers = std::vector<int64_t>;
using Names = std::map<std::string, std::string>;

constexpr int64_t kMostRuns = 64;      // of a loop
constexpr int64_t kMostNodes = 16384;  // of all runs
constexpr int kMostSteps = 8;          // of the arithmetic behind a condition

const onnx::GraphProto* GraphOf(const onnx::NodeProto& node, const char* name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

// Also in subgraphs, which see the names around them.
void Rename(const Names& names, onnx::NodeProto* node) {
  const auto other = [&](std::string* name) {
    const auto found = names.find(*name);
    if (found != names.end()) *name = found->second;
  };
  for (auto& input : *node->mutable_input()) other(&input);
  for (auto& attribute : *node->mutable_attribute()) {
    if (!attribute.has_g()) continue;
    for (auto& inner : *attribute.mutable_g()->mutable_node()) Rename(names, &inner);
    for (auto& output : *attribute.mutable_g()->mutable_output()) {
      other(output.mutable_name());
    }
  }
}

// The graph's nodes, with names of their own; what stands for its outputs.
std::vector<std::string> Inlined(Rewriter* r, const onnx::GraphProto& graph,
                                 Names names, const std::string& part) {
  for (const auto& tensor : graph.initializer()) {
    onnx::TensorProto* made = r->NewConstant();
    const std::string name = made->name();
    *made = tensor;
    made->set_name(name);
    names[tensor.name()] = name;
  }
  for (onnx::NodeProto node : graph.node()) {
    Rename(names, &node);
    for (auto& output : *node.mutable_output()) {
      if (output.empty()) continue;
      const std::string name = r->node.output(0) + part + output;
      names[output] = name;
      output = name;
    }
    if (!node.name().empty()) node.set_name(r->node.output(0) + part + node.name());
    r->nodes.push_back(node);
  }
  std::vector<std::string> outputs;
  for (const auto& output : graph.output()) {
    const auto found = names.find(output.name());
    outputs.push_back(found == names.end() ? output.name() : found->second);
  }
  return outputs;
}

// Short integers or a condition that follow from constants and shapes in so many steps.
bool Known(const Rewriter& r, const std::string& name, Numbers* numbers, int steps) {
  if (r.Integers(name, numbers)) return true;
  const onnx::TensorProto* tensor = r.Constant(name);
  if (tensor != nullptr) {
    const bool raw = tensor->raw_data().size() == 1;
    if (tensor->data_type() != onnx::TensorProto::BOOL ||
        (!raw && tensor->int32_data_size() != 1)) {
      return false;
    }
    *numbers = {raw ? tensor->raw_data()[0] : tensor->int32_data(0)};
    return true;
  }
  const onnx::NodeProto* writer = nullptr;
  for (const auto& other : r.graph().node()) {
    if (other.output_size() == 1 && other.output(0) == name) writer = &other;
  }
  if (writer == nullptr || steps == 0 || writer->input_size() == 0) return false;
  const std::string& op = writer->op_type();
  if (op == "Shape") {
    *numbers = r.Shape(writer->input(0));
    return !numbers->empty() && writer->attribute_size() == 0;
  }
  Numbers a, b;
  if (!Known(r, writer->input(0), &a, steps - 1)) return false;
  if (op == "Identity" || op == "Cast" || op == "Squeeze" || op == "Unsqueeze") {
    *numbers = a;
    return true;
  }
  if (op == "Not" && a.size() == 1) {
    *numbers = {a[0] == 0 ? 1 : 0};
    return true;
  }
  if (writer->input_size() != 2 || !Known(r, writer->input(1), &b, steps - 1) ||
      b.size() != 1) {
    return false;
  }
  if (op == "Gather") {
    const int64_t size = static_cast<int64_t>(a.size()),
                  at = b[0] < 0 ? b[0] + size : b[0];
    if (at < 0 || at >= size) return false;
    *numbers = {a[static_cast<size_t>(at)]};
    return true;
  }
  if (a.size() != 1) return false;
  const std::optional<bool> holds = op == "Equal"     ? std::optional(a[0] == b[0])
                                    : op == "Greater" ? std::optional(a[0] > b[0])
                                    : op == "Less"    ? std::optional(a[0] < b[0])
                                    : op == "And"
                                        ? std::optional(a[0] != 0 && b[0] != 0)
                                    : op == "Or" ? std::optional(a[0] != 0 || b[0] != 0)
                                                 : std::nullopt;
  if (holds.has_value()) *numbers = {*holds ? 1 : 0};
  return holds.has_value();
}

std::string Number(Rewriter* r, int64_t number) {
  onnx::TensorProto* tensor = r->NewConstant();
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_int64_data(number);
  return tensor->name();
}

using Rows = std::vector<std::vector<std::string>>;

// Adds a run's results from `first` on as a row each.
void Stack(Rewriter* r, const std::vector<std::string>& results, size_t first,
           Rows* rows) {
  for (size_t i = 0; i < rows->size(); ++i) {
    const std::string& value = results[first + i];
    (*rows)[i].push_back(r->version >= 13
                             ? r->Op("Unsqueeze", {value, r->Whole({0})})
                             : r->Op("Unsqueeze", {value}, {{"axes", {0}, true}}));
  }
}

}  // namespace

bool RewriteIf(Rewriter* r) {
  const onnx::GraphProto *yes = GraphOf(r->node, "then_branch"),
                         *no = GraphOf(r->node, "else_branch");
  const int outputs = r->node.output_size();
  if (yes == nullptr || no == nullptr || yes->output_size() != outputs ||
      no->output_size() != outputs) {
    return false;
  }
  Numbers taken;
  const bool known = Known(*r, r->In(0), &taken, kMostSteps) && taken.size() == 1;
  if (known) {
    const auto values = Inlined(r, taken[0] != 0 ? *yes : *no, {}, "/taken/");
    for (int i = 0; i < outputs; ++i) {
      const std::string& value = values[static_cast<size_t>(i)];
      if (r->Gives(i)) r->Finish(i, r->Op("Identity", {value}));
    }
    return true;
  }
  // Values of other extents have no common tensor.
  for (int i = 0; i < outputs; ++i) {
    if (r->Gives(i) && !r->HasShape(r->node.output(i))) return false;
  }
  const auto first = Inlined(r, *yes, {}, "/then/"),
             second = Inlined(r, *no, {}, "/else/");
  for (int i = 0; i < outputs; ++i) {
    const size_t at = static_cast<size_t>(i);
    if (r->Gives(i)) {
      r->Finish(i, r->Op("Where", {r->In(0), first[at], second[at]}));
    }
  }
  return true;
}

// A Scan over first axes, as often as these are long.
bool RewriteScan(Rewriter* r) {
  const onnx::GraphProto* body = GraphOf(r->node, "body");
  const int scans = static_cast<int>(r->Int("num_scan_inputs", 0)),
            states = r->node.input_size() - scans;
  if (body == nullptr || r->version < 9 || scans < 1 || states < 0 ||
      body->input_size() != r->node.input_size() || body->output_size() < states ||
      r->node.output_size() > body->output_size()) {
    return false;
  }
  for (const char* name : {"scan_input_axes", "scan_output_axes"}) {
    const Numbers axes = r->Ints(name);
    if (Numbers(axes.size(), 0) != axes) return false;
  }
  const Numbers from = r->Ints("scan_input_directions"),
                to = r->Ints("scan_output_directions");
  const Numbers first = r->Shape(r->In(states));
  if (first.empty() || first[0] > kMostRuns ||
      first[0] * body->node_size() > kMostNodes)
    return false;
  const int64_t runs = first[0];
  const auto is_backwards = [](const Numbers& directions, int i) {
    const size_t at = static_cast<size_t>(i);
    return at < directions.size() && directions[at] != 0;
  };
  std::vector<std::string> values;
  for (int i = 0; i < states; ++i) values.push_back(r->In(i));
  const int outputs = body->output_size() - states;
  Rows scanned(static_cast<size_t>(outputs));
  for (int64_t run = 0; run < runs; ++run) {
    Names names;
    for (int i = 0; i < states; ++i)
      names[body->input(i).name()] = values[static_cast<size_t>(i)];
    for (int i = 0; i < scans; ++i) {
      const std::string at = Number(r, is_backwards(from, i) ? runs - 1 - run : run);
      names[body->input(states + i).name()] =
          r->Op("Gather", {r->In(states + i), at}, {{"axis", {0}}});
    }
    const auto next = Inlined(r, *body, names, "/run" + std::to_string(run) + "/");
    values.assign(next.begin(), next.begin() + states);
    Stack(r, next, static_cast<size_t>(states), &scanned);
  }
  for (int i = 0; i < r->node.output_size(); ++i) {
    if (!r->Gives(i)) continue;
    if (i < states) {
      r->Finish(i, r->Op("Identity", {values[static_cast<size_t>(i)]}));
      continue;
    }
    auto& rows = scanned[static_cast<size_t>(i - states)];
    if (is_backwards(to, i - states)) std::reverse(rows.begin(), rows.end());
    r->Finish(i, r->Op("Concat", rows, {{"axis", {0}}}));
  }
  return true;
}

bool RewriteLoop(Rewriter* r) {
  const onnx::GraphProto* body = GraphOf(r->node, "body");
  Numbers runs, goes_on;
  const int states = r->node.input_size() - 2;
  if (body == nullptr || states < 0 || body->input_size() != states + 2 ||
      body->output_size() < states + 1 ||
      r->node.output_size() > body->output_size() - 1 ||
      !r->Integers(r->In(0), &runs) || runs.size() != 1 || runs[0] < 1 ||
      runs[0] > kMostRuns || runs[0] * body->node_size() > kMostNodes) {
    return false;
  }
  if (r->Has(1) &&
      (!Known(*r, r->In(1), &goes_on, kMostSteps) || goes_on != Numbers{1})) {
    return false;
  }
  // It goes on until the end: its condition is the one that it is given.
  std::string condition = body->output(0).name();
  for (const auto& node : body->node()) {
    const bool same = node.op_type() == "Identity" && node.output(0) == condition;
    if (same && node.input(0) == body->input(1).name()) condition = node.input(0);
  }
  if (condition != body->input(1).name()) return false;
  std::vector<std::string> values, rows;
  for (int i = 0; i < states; ++i) values.push_back(r->In(2 + i));
  const int scans = body->output_size() - 1 - states;
  Rows scanned(static_cast<size_t>(scans));
  for (int64_t run = 0; run < runs[0]; ++run) {
    Names names = {{body->input(0).name(), Number(r, run)}};
    onnx::TensorProto* on = r->NewConstant();
    on->set_data_type(onnx::TensorProto::BOOL);
    on->add_int32_data(1);
    names[body->input(1).name()] = on->name();
    for (int i = 0; i < states; ++i) {
      names[body->input(2 + i).name()] = values[static_cast<size_t>(i)];
    }
    const auto next = Inlined(r, *body, names, "/run" + std::to_string(run) + "/");
    values.assign(next.begin() + 1, next.begin() + 1 + states);
    Stack(r, next, 1 + static_cast<size_t>(states), &scanned);
  }
  for (int i = 0; i < r->node.output_size(); ++i) {
    if (!r->Gives(i)) continue;
    const size_t at = static_cast<size_t>(i);
    r->Finish(i, i < states ? r->Op("Identity", {values[at]})
                            : r->Op("Concat", scanned[at - static_cast<size_t>(states)],
                                    {{"axis", {0}}}));
  }
  return true;
}

}  // namespace sluice::import
