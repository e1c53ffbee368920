// SPDX-License-Identifier: Apache-2.0
// A model's own functions, and Identity.
#include <cstring>

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// Twice(x, FACTOR): a cast of x by the attribute, added to itself.
void AddTwice(TinyOnnx* model) {
  onnx::FunctionProto* twice = model->proto.add_functions();
  twice->set_name("Twice");
  twice->set_domain("own");
  twice->add_input("a");
  twice->add_output("b");
  twice->add_attribute("slope");
  onnx::NodeProto* node = twice->add_node();
  node->set_op_type("LeakyRelu");
  node->add_input("a");
  node->add_output("t");
  onnx::AttributeProto* alpha = node->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_ref_attr_name("slope");
  node = twice->add_node();
  node->set_op_type("Add");
  node->add_input("t");
  node->add_input("t");
  node->add_output("b");
}

onnx::NodeProto* Call(TinyOnnx* model, const std::string& from, const std::string& to,
                      float slope) {
  onnx::NodeProto* call = model->Node("Twice", {from}, {to});
  call->set_domain("own");
  onnx::AttributeProto* attribute = call->add_attribute();
  attribute->set_name("slope");
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(slope);
  return call;
}

TEST_CASE("onnx functions: each call is the function's nodes, with its attributes") {
  TinyOnnx model;
  AddTwice(&model);
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  Call(&model, "xq", "m", 0.5f);
  Call(&model, "m", "y", 0.25f);
  model.Output("y");
  CHECK(RealsFor(model, {static_cast<uint8_t>(-4), 3}) == Reals{-2, 12});
}

TEST_CASE("onnx functions: those that call each other endlessly are refused") {
  TinyOnnx model;
  AddTwice(&model);
  onnx::NodeProto* again = model.proto.mutable_functions(0)->mutable_node(0);
  again->set_op_type("Twice");
  again->set_domain("own");
  again->clear_attribute();
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  Call(&model, "xq", "y", 0.5f);
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "call each other endlessly"));
}

TEST_CASE("onnx functions: a bias behind Identity is a constant as any other") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Stored("w", {2, 2}, {1, 0, 0, 1}, 1, 0);
  model.Reals("b", {2}, {10, 20});
  model.Node("Identity", {"b"}, {"same"});
  model.Node("Gemm", {"xq", "w", "same"}, {"t"});
  model.Quantised("t", "y", 1, 0);
  model.Output("y");
  CHECK(OutputFor(Import(model.Finish()), {1, 2}) == Bytes{11, 22});
}

TEST_CASE("onnx functions: a scale that the model computes, behind a Transpose") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  model.Node("Transpose", {"q"}, {"t"});
  model.Node("DequantizeLinear", {"t", "s", "z"}, {"w"});
  model.Quantised("w", "y", 1, 0);
  model.Output("y");
  // From -55 to 200 in 255 steps of 1: what was stored is what comes back, turned.
  const std::vector<float> x = {-55, 200, 10, -20};
  Bytes input(16);
  std::memcpy(input.data(), x.data(), 16);
  CHECK(OutputFor(Import(model.Finish()), input) ==
        Bytes{static_cast<uint8_t>(-55), 10, 127, static_cast<uint8_t>(-20)});
}

}  // namespace
}  // namespace sluice_test
