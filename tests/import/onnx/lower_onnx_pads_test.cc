// SPDX-License-Identifier: Apache-2.0
// ONNX's Pad: which layers it becomes, and what they put around a tensor.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// Pads of a [1, 1, 1, 2] quantised with the step 0.5 and the zero point 7.
TinyOnnx Padded(const std::vector<int64_t>& pads) {
  TinyOnnx model(18);
  model.Input("x", {1, 1, 1, 2});
  model.Quantised("x", "xq", 0.5f, 7);
  model.Integers("pads", pads);
  return model;
}

Bytes OutputOf(TinyOnnx* model, const std::vector<std::string>& inputs) {
  model->Node("Pad", inputs, {"r"});
  model->Quantised("r", "y", 0.5f, 7);
  model->Output("y");
  const ImportAndGraph import = Import(model->Finish());
  CHECK(import.hosted.empty());
  return OutputFor(import, {1, 2});
}

TEST_CASE("onnx pads: rows and columns of the zero point") {
  TinyOnnx model = Padded({0, 0, 0, 1, 0, 0, 1, 0});
  CHECK(OutputOf(&model, {"xq", "pads"}) == Bytes{7, 1, 2, 7, 7, 7});
}

TEST_CASE("onnx pads: channels, listed axes and another value") {
  TinyOnnx channels = Padded({0, 1, 0, 0, 0, 0, 0, 0});
  // Channels last: each column has the pad in front of its number.
  CHECK(OutputOf(&channels, {"xq", "pads"}) == Bytes{7, 1, 7, 2});
  TinyOnnx listed = Padded({1, 2});
  listed.Integers("axes", {-1});
  listed.Reals("value", {}, {1.5f});
  onnx::ValueInfoProto* info = listed.graph->add_value_info();
  info->set_name("r");
  info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : {1, 1, 1, 5}) {
    auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->add_dim()->set_dim_value(extent);
  }
  CHECK(OutputOf(&listed, {"xq", "pads", "value", "axes"}) == Bytes{10, 1, 2, 10, 10});
}

TEST_CASE(
    "onnx pads: a value between two steps is the host's, as the runtime pads floats") {
  TinyOnnx model = Padded({0, 0, 0, 1, 0, 0, 0, 0});
  model.Reals("value", {}, {0.625f});
  model.Node("Pad", {"xq", "pads", "value"}, {"r"});
  model.Quantised("r", "y", 0.25f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  REQUIRE(import.hosted.size() >= 1);
  CHECK(import.hosted[0].name == "Pad");
  // 0.625 is 2.5 steps of 0.25, a tie; 1 and 2 are -3 and -2.5.
  CHECK(OutputFor(import, {1, 2}) ==
        Bytes{2, static_cast<uint8_t>(-12), static_cast<uint8_t>(-10)});
}

TEST_CASE("onnx pads: quantised numbers are padded by a number of their type") {
  TinyOnnx model;
  model.Input("x", {1, 1, 1, 2});
  model.Reals("s", {}, {0.5f});
  model.Int8s("z", {}, {7});
  model.Int8s("value", {}, {-5});
  model.Integers("pads", {0, 0, 0, 0, 0, 0, 0, 1});
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("Pad", {"q", "pads", "value"}, {"p"});
  model.Node("DequantizeLinear", {"p", "s", "z"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_PAD) == 1);
  CHECK(OutputFor(import, {1, 2}) == Bytes{1, 2, static_cast<uint8_t>(-5)});
}

TEST_CASE("onnx pads: negative pads of floats alone are the host's") {
  TinyOnnx model;
  model.Input("x", {1, 2, 4, 4});
  model.Integers("pads", {0, 0, -1, 0, 0, 0, 0, 0});
  model.Node("Pad", {"x", "pads"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  REQUIRE(import.hosted.size() == 1);
  CHECK(import.hosted[0].name == "Pad");
}

}  // namespace
}  // namespace sluice_test
