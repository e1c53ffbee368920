// SPDX-License-Identifier: Apache-2.0
// ONNX models made node by node, as exporters and as liars would.
#ifndef SLUICE_TESTS_IMPORT_ONNX_TINY_ONNX_H_
#define SLUICE_TESTS_IMPORT_ONNX_TINY_ONNX_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice_test {

class TinyOnnx {
 public:
  explicit TinyOnnx(int64_t opset = 13) {
    proto.set_ir_version(7);
    proto.add_opset_import()->set_version(opset);
    graph = proto.mutable_graph();
    graph->set_name("tiny");
  }

  // A negative extent becomes the open dimension "batch".
  void Input(const std::string& name, const std::vector<int64_t>& dims,
             int type = onnx::TensorProto::FLOAT) {
    Describe(graph->add_input(), name, dims, type);
  }
  void Output(const std::string& name, const std::vector<int64_t>& dims = {},
              int type = onnx::TensorProto::FLOAT) {
    onnx::ValueInfoProto* info = graph->add_output();
    if (dims.empty()) {
      info->set_name(name);
      info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    } else {
      Describe(info, name, dims, type);
    }
  }
  onnx::TensorProto* Floats(const std::string& name, const std::vector<int64_t>& dims) {
    onnx::TensorProto* tensor = graph->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    int64_t elements = 1;
    for (const int64_t dim : dims) {
      tensor->add_dims(dim);
      elements *= dim;
    }
    for (int64_t i = 0; i < elements; ++i) tensor->add_float_data(0.5f);
    return tensor;
  }
  void Integers(const std::string& name, const std::vector<int64_t>& values) {
    onnx::TensorProto* tensor = graph->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    for (const int64_t value : values) tensor->add_int64_data(value);
  }
  void Reals(const std::string& name, const std::vector<int64_t>& dims,
             const std::vector<float>& values) {
    onnx::TensorProto* tensor = graph->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t dim : dims) tensor->add_dims(dim);
    for (const float value : values) tensor->add_float_data(value);
  }
  void Int8s(const std::string& name, const std::vector<int64_t>& dims,
             const std::vector<int8_t>& values) {
    onnx::TensorProto* tensor = graph->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT8);
    for (const int64_t dim : dims) tensor->add_dims(dim);
    tensor->set_raw_data(values.data(), values.size());
  }
  // `to` is `from`, quantised to int8 and dequantised again.
  void Quantised(const std::string& from, const std::string& to, float scale,
                 int8_t zero) {
    Reals(to + ".s", {}, {scale});
    Int8s(to + ".z", {}, {zero});
    Node("QuantizeLinear", {from, to + ".s", to + ".z"}, {to + ".q"});
    Node("DequantizeLinear", {to + ".q", to + ".s", to + ".z"}, {to});
  }
  // A constant of int8 numbers, dequantised.
  void Stored(const std::string& name, const std::vector<int64_t>& dims,
              const std::vector<int8_t>& values, float scale, int8_t zero) {
    Reals(name + ".s", {}, {scale});
    Int8s(name + ".z", {}, {zero});
    Int8s(name + ".q", dims, values);
    Node("DequantizeLinear", {name + ".q", name + ".s", name + ".z"}, {name});
  }
  onnx::NodeProto* Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    onnx::NodeProto* node = graph->add_node();
    node->set_op_type(op);
    node->set_name(outputs[0]);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return node;
  }
  static void Ints(onnx::NodeProto* node, const std::string& name,
                   const std::vector<int64_t>& values) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) attribute->add_ints(value);
  }
  static void Int(onnx::NodeProto* node, const std::string& name, int64_t value) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  std::vector<uint8_t> Finish() const {
    const std::string bytes = proto.SerializeAsString();
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  }

  onnx::ModelProto proto;
  onnx::GraphProto* graph;

 private:
  static void Describe(onnx::ValueInfoProto* info, const std::string& name,
                       const std::vector<int64_t>& dims, int type) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const int64_t dim : dims) {
      auto* to = tensor->mutable_shape()->add_dim();
      if (dim < 0) {
        to->set_dim_param("batch");
      } else {
        to->set_dim_value(dim);
      }
    }
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_ONNX_TINY_ONNX_H_
