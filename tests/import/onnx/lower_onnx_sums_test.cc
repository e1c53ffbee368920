// SPDX-License-Identifier: Apache-2.0
// Products of which a unit computes the sums.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// x is quantised when the model runs: from 0 to 255 in steps of 1.
TinyOnnx Dynamic(const std::string& op, const std::vector<int64_t>& x,
                 const std::vector<int64_t>& w, const std::vector<int8_t>& weights) {
  TinyOnnx model;
  model.Input("x", x);
  model.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  model.Int8s("w", w, weights);
  model.Int8s("wz", {}, {1});
  onnx::NodeProto* node = model.Node(op, {"q", "w", "z", "wz"}, {"i"});
  if (op == "ConvInteger") TinyOnnx::Ints(node, "pads", {0, 1, 0, 0});
  TinyOnnx::Int(model.Node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  model.Output("y");
  return model;
}

TEST_CASE("onnx sums: integers whose zero point is known at run time") {
  const TinyOnnx rows = Dynamic("MatMulInteger", {2, 2}, {2, 3}, {2, 3, 4, 0, 1, 11});
  // Without zero points: x is -55, 0, 200, 5; w is 1, 2, 3, -1, 0, 10.
  CHECK(RealsFor(rows, BitsOfReals({-55, 0, 200, 5})) ==
        Reals{-55, -110, -165, 195, 400, 650});
  const ImportAndGraph import = Import(rows.Finish());
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 1);
  CHECK(import.rounded.empty());
}

TEST_CASE("onnx sums: padding of integers adds nothing") {
  const TinyOnnx conv =
      Dynamic("ConvInteger", {1, 1, 1, 3}, {2, 1, 1, 2}, {2, 3, 1, 0});
  // Weights 1, 2 and 0, -1 over 0 | -55, 0, 200.
  CHECK(RealsFor(conv, BitsOfReals({-55, 0, 200})) ==
        Reals{-110, -55, 400, 55, 0, -200});
  CHECK(Count(Import(conv.Finish()), SLUICE_OP_CONV) == 1);
}

TEST_CASE("onnx sums: a zero point for each channel is a second weight") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Int8s("wq", {2, 2}, {-128, 127, 100, -100});
  model.Int8s("wz", {2}, {127, -128});
  model.Reals("ws", {2}, {1, 2});
  TinyOnnx::Int(model.Node("DequantizeLinear", {"wq", "ws", "wz"}, {"w"}), "axis", 1);
  model.Node("MatMul", {"xq", "w"}, {"y"});
  model.Output("y");
  // x is 1, 2; w is -255, 510, -27, 56.
  CHECK(RealsFor(model, {2, 4}) == Reals{-255 - 54, 510 + 112});
  CHECK(Count(Import(model.Finish()), SLUICE_OP_FULLY_CONNECTED) == 2);
}

TEST_CASE("onnx sums: 16-bit numbers are a high and a low byte") {
  TinyOnnx model(21);
  model.Input("x", {1, 2, 1, 2});
  model.Reals("s", {}, {0.5f});
  onnx::TensorProto* zero = model.graph->add_initializer();
  zero->set_name("z");
  zero->set_data_type(onnx::TensorProto::INT16);
  zero->add_int32_data(-300);
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"xq"});
  model.Stored("w", {1, 2, 1, 1}, {3, -2}, 0.25f, 1);
  model.Reals("b", {1}, {10});
  model.Node("Conv", {"xq", "w", "b"}, {"y"});
  model.Output("y");
  // Steps 2000, -6, 0, 7 of 0.5; weights 0.5 and -0.75.
  CHECK(RealsFor(model, BitsOfReals({1000, -3, 0, 3.5f})) ==
        Reals{510, 10 - 1.5f - 2.625f});
  CHECK(Count(Import(model.Finish()), SLUICE_OP_CONV) == 2);
}

}  // namespace
}  // namespace sluice_test
