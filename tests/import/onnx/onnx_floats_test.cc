// SPDX-License-Identifier: Apache-2.0
// Floats between quantised layers: inputs, constants and outputs that hold the bits of
// floats.
#include <cstring>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

Bytes BitsOf(const std::vector<float>& floats) {
  Bytes bytes(floats.size() * 4);
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

std::vector<float> FloatsIn(const Bytes& bytes) {
  std::vector<float> floats(bytes.size() / 4);
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

TEST_CASE("onnx floats: an operator without a quantised output ends in floats") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 0.25f, 1);
  model.Reals("c", {1, 2}, {3, 0.5f});
  model.Node("Mul", {"xq", "c"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.empty());
  REQUIRE(import.hosted.size() == 1);
  CHECK(import.hosted[0].name == "Mul");
  CHECK(import.rounded.empty());
  REQUIRE(import.interface.size() == 2);
  CHECK(Says(import.interface[1], "int32 [1, 2], bits of floats"));
  // (5 - 1) / 4 * 3 and (-3 - 1) / 4 * 0.5
  CHECK(FloatsIn(OutputFor(import, {5, static_cast<uint8_t>(-3)})) ==
        std::vector<float>{3, -0.5f});
}

TEST_CASE("onnx floats: an input that nobody quantises at once is floats, too") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Reals("c", {2, 2}, {1, 2, 3, 4});
  model.Node("Sub", {"x", "c"}, {"d"});
  model.Node("Transpose", {"d"}, {"t"});
  model.Quantised("t", "y", 0.5f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Says(import.interface[0], "bits of floats"));
  // 0.5 and 1.5 steps are ties, which are rounded to even.
  const Bytes want = {0, 2, 2, static_cast<uint8_t>(-128)};
  CHECK(OutputFor(import, BitsOf({1.25f, 3, 3.75f, -1e9f})) == want);
}

TEST_CASE("onnx floats: quantised constants are floats of their slices") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1.0f, 0);
  model.Reals("w.s", {2}, {0.5f, 2});
  model.Int8s("w.z", {2}, {0, 0});
  model.Int8s("w.q", {2, 2}, {1, 2, 3, 4});
  TinyOnnx::Int(model.Node("DequantizeLinear", {"w.q", "w.s", "w.z"}, {"w"}), "axis",
                0);
  model.Node("Div", {"xq", "w"}, {"y"});
  model.Output("y");
  CHECK(FloatsIn(OutputFor(Import(model.Finish()), {1, 2, 12, 8})) ==
        std::vector<float>{2, 2, 2, 1});
}

TEST_CASE("onnx floats: without quantised activations floats stand for shapes") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Reals("c", {1, 2}, {3, 0.5f});
  model.Node("Mul", {"x", "c"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.hosted.empty());
  CHECK(import.shapes_only.size() == 1);
}

// Numbers of 16 bits, quantised and dequantised by these zero points.
TinyOnnx Wide(int type, int32_t zero, float scale_behind) {
  TinyOnnx model(21);
  model.Input("x", {1, 4});
  model.Reals("s", {}, {0.5f});
  model.Reals("t", {}, {scale_behind});
  onnx::TensorProto* tensor = model.graph->add_initializer();
  tensor->set_name("z");
  tensor->set_data_type(type);
  tensor->add_int32_data(zero);
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("DequantizeLinear", {"q", "t", "z"}, {"y"});
  model.Output("y");
  return model;
}

TEST_CASE("onnx floats: 16-bit numbers are floats that are rounded to steps") {
  const Bytes input = BitsOf({0.25f, 0.75f, 1e9f, -1e9f});
  const auto signed16 = Wide(onnx::TensorProto::INT16, 10, 0.5f).Finish();
  CHECK(FloatsIn(OutputFor(Import(signed16), input)) ==
        std::vector<float>{0, 1, 32757 * 0.5f, -32778 * 0.5f});
  const auto unsigned16 = Wide(onnx::TensorProto::UINT16, 30000, 0.5f).Finish();
  CHECK(FloatsIn(OutputFor(Import(unsigned16), input)) ==
        std::vector<float>{0, 1, 35535 * 0.5f, -15000});
}

TEST_CASE("onnx floats: 16-bit numbers that two scales describe are refused") {
  const auto bytes = Wide(onnx::TensorProto::INT16, 0, 0.25f).Finish();
  CHECK(Says(Complaint(bytes), "dequantised by another scale or zero point"));
  TinyOnnx border(21);
  border.Input("x", {1, 4}, onnx::TensorProto::INT16);
  border.Reals("s", {}, {0.5f});
  border.Node("DequantizeLinear", {"x", "s"}, {"y"});
  border.Quantised("y", "out", 0.5f, 0);
  border.Output("out");
  CHECK(Says(Complaint(border.Finish()), "16-bit numbers at the border of the graph"));
}

TEST_CASE(
    "onnx floats: a model of floats alone has placeholders around a host function") {
  TinyOnnx model;
  model.Input("x", {1, 4, 5, 5});
  model.Floats("w", {4, 4, 1, 1});
  model.Node("Conv", {"x", "w"}, {"c"});
  TinyOnnx::Int(model.Node("LRN", {"c"}, {"l"}), "size", 3);
  model.Node("Conv", {"l", "w"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.size() == 2);  // 2 Conv, 1 LRN
  REQUIRE(import.hosted.size() == 1);
  CHECK(import.hosted[0].name == "LRN");
  CHECK(Count(import, SLUICE_OP_CONV) == 2);
  CHECK(OutputFor(import, Bytes(100, 9)).size() == 100);
}

TEST_CASE("onnx floats: weights that the exporter computes only give a shape there") {
  TinyOnnx model;
  model.Input("x", {3, 1, 2});
  model.Floats("w", {1, 16, 2});
  model.Floats("r", {1, 16, 4});
  model.Node("Sigmoid", {"w"}, {"ws"});  // not folded
  TinyOnnx::Int(model.Node("LSTM", {"x", "ws", "r"}, {"y"}), "hidden_size", 4);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  REQUIRE(import.shapes_only.size() == 1);
  CHECK(import.shapes_only[0].name == "LSTM");
  CHECK(OutputFor(import, Bytes(6, 9)).size() == 12);
}

}  // namespace
}  // namespace sluice_test
