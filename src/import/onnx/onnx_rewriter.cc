// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_rewriter.h"

#include <algorithm>
#include <cstring>

namespace sluice::import {
namespace {

constexpr size_t kShort = 64;  // axes, pads, scales

template <typename T, typename List>
bool Numbers(const onnx::TensorProto& tensor, const List& list, size_t most,
             std::vector<T>* out) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return false;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    if (raw.size() > most * sizeof(T) || raw.size() % sizeof(T) != 0) return false;
    out->resize(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(out->data(), raw.data(), raw.size());
    return true;
  }
  if (static_cast<size_t>(list.size()) > most) return false;
  out->assign(list.begin(), list.end());
  return true;
}

}  // namespace

bool Rewriter::Has(int input) const {
  return input < node.input_size() && !node.input(input).empty();
}
bool Rewriter::Gives(int output) const {
  return output < node.output_size() && !node.output(output).empty();
}

const onnx::AttributeProto* Rewriter::Find(const char* name) const {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}
int64_t Rewriter::Int(const char* attribute, int64_t otherwise) const {
  const auto* found = Find(attribute);
  return found == nullptr ? otherwise : found->i();
}
float Rewriter::Float(const char* attribute, float otherwise) const {
  const auto* found = Find(attribute);
  return found == nullptr ? otherwise : found->f();
}
std::vector<int64_t> Rewriter::Ints(const char* attribute) const {
  const auto* found = Find(attribute);
  if (found == nullptr) return {};
  return {found->ints().begin(), found->ints().end()};
}
std::string Rewriter::Text(const char* attribute, const char* otherwise) const {
  const auto* found = Find(attribute);
  return found == nullptr ? otherwise : found->s();
}

std::vector<int64_t> Rewriter::Shape(const std::string& name) const {
  const auto found = shapes_.find(name);
  return found == shapes_.end() ? std::vector<int64_t>() : found->second;
}

onnx::TensorProto* Rewriter::Constant(const std::string& name) const {
  for (auto& tensor : *graph_.mutable_initializer()) {
    if (tensor.name() == name) return &tensor;
  }
  for (auto& other : *graph_.mutable_node()) {
    if (other.op_type() != "Constant" || other.output_size() != 1 ||
        other.output(0) != name) {
      continue;
    }
    for (auto& attribute : *other.mutable_attribute()) {
      if (attribute.name() == "value" && attribute.has_t())
        return attribute.mutable_t();
    }
  }
  return nullptr;
}

bool Rewriter::Integers(const std::string& name, std::vector<int64_t>* numbers) const {
  const onnx::TensorProto* tensor = Constant(name);
  return tensor != nullptr && tensor->data_type() == onnx::TensorProto::INT64 &&
         Numbers(*tensor, tensor->int64_data(), kShort, numbers);
}
bool Rewriter::Floats(const std::string& name, std::vector<float>* numbers,
                      size_t most) const {
  const onnx::TensorProto* tensor = Constant(name);
  return tensor != nullptr && tensor->data_type() == onnx::TensorProto::FLOAT &&
         Numbers(*tensor, tensor->float_data(), most, numbers);
}

std::string Rewriter::Fresh() {
  const std::string& name = node.name().empty() ? node.output(0) : node.name();
  return name + "/part" + std::to_string(made_++);
}

std::string Rewriter::Op(const char* op, const std::vector<std::string>& inputs,
                         const std::vector<Attribute>& attributes) {
  nodes.emplace_back();
  onnx::NodeProto& made = nodes.back();
  made.set_op_type(op);
  made.set_name(Fresh());
  for (const std::string& input : inputs) made.add_input(input);
  const bool three = made.op_type() == "DynamicQuantizeLinear";
  for (int i = 0; i < (three ? 3 : 1); ++i)
    made.add_output(made.name() + "_" + std::to_string(i));
  for (const Attribute& attribute : attributes) {
    onnx::AttributeProto* to = made.add_attribute();
    to->set_name(attribute.name);
    to->set_type(attribute.list ? onnx::AttributeProto::INTS
                                : onnx::AttributeProto::INT);
    if (!attribute.list) to->set_i(attribute.numbers[0]);
    for (const int64_t number : attribute.numbers) {
      if (attribute.list) to->add_ints(number);
    }
  }
  return made.output(0);
}

onnx::TensorProto* Rewriter::NewConstant() {
  onnx::TensorProto* tensor = graph_.add_initializer();
  tensor->set_name(Fresh());
  return tensor;
}

std::string Rewriter::Real(const std::vector<float>& numbers,
                           const std::vector<int64_t>& dims) {
  onnx::TensorProto* tensor = NewConstant();
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  for (const float number : numbers) tensor->add_float_data(number);
  return tensor->name();
}

std::string Rewriter::Whole(const std::vector<int64_t>& numbers) {
  onnx::TensorProto* tensor = NewConstant();
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(numbers.size()));
  for (const int64_t number : numbers) tensor->add_int64_data(number);
  return tensor->name();
}

std::string Rewriter::Product(const char* equation,
                              const std::vector<std::string>& operands) {
  const std::string name = Op("Einsum", operands);
  onnx::AttributeProto* attribute = nodes.back().add_attribute();
  attribute->set_name("equation");
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(equation);
  return name;
}

std::string Part(Rewriter* r, const std::string& x, int64_t begin, int64_t end,
                 int64_t step) {
  return r->Op("Slice", {x, r->Whole({begin}), r->Whole({end}), r->Whole({-1}),
                         r->Whole({step})});
}

std::string Rewriter::Reduced(const char* op, const std::string& x,
                              const std::vector<int64_t>& axes) {
  const bool sum = std::strcmp(op, "ReduceSum") == 0;
  if (version >= 18 || (sum && version >= 13))
    return Op(op, {x, Whole(axes)}, {{"keepdims", {1}}});
  return Op(op, {x}, {{"axes", axes, true}, {"keepdims", {1}}});
}

void Rewriter::Finish(int output, const std::string& value) {
  for (auto& made : nodes) {
    if (made.output(0) != value) continue;
    for (auto& other : nodes) {
      for (auto& input : *other.mutable_input()) {
        if (input == value) input = node.output(output);
      }
    }
    made.set_output(0, node.output(output));
    return;
  }
}

}  // namespace sluice::import
