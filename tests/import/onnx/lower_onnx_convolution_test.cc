// SPDX-License-Identifier: Apache-2.0
// ONNX's convolutions, products and pools: pads, orders of weights, factors.
#include <cstring>
#include <limits>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

ImportAndGraph ConvWith(const char* mode, int64_t extent, int64_t stride) {
  TinyOnnx model;
  model.Input("x", {1, 3, extent, extent});
  model.Floats("w", {6, 3, 3, 3});
  onnx::NodeProto* node = model.Node("Conv", {"x", "w"}, {"y"});
  TinyOnnx::Ints(node, "strides", {stride, stride});
  onnx::AttributeProto* pad = node->add_attribute();
  pad->set_name("auto_pad");
  pad->set_type(onnx::AttributeProto::STRING);
  pad->set_s(mode);
  model.Output("y");
  return Import(model.Finish());
}

TEST_CASE(
    "onnx convolution: an odd pad stands behind, or in front where that is asked") {
  // An input of 8 with stride 2 gives 4 outputs: (4 - 1) * 2 + 3 - 8 is one row of
  // padding.
  const auto upper = AttributesOf(ConvWith("SAME_UPPER", 8, 2), SLUICE_OP_CONV);
  CHECK(upper.at(SLUICE_CONV_PAD_TOP) == 0);
  CHECK(upper.at(SLUICE_CONV_PAD_BOTTOM) == 1);
  const auto lower = AttributesOf(ConvWith("SAME_LOWER", 8, 2), SLUICE_OP_CONV);
  CHECK(lower.at(SLUICE_CONV_PAD_LEFT) == 1);
  CHECK(lower.at(SLUICE_CONV_PAD_RIGHT) == 0);
  const auto valid = AttributesOf(ConvWith("VALID", 8, 2), SLUICE_OP_CONV);
  CHECK(valid.at(SLUICE_CONV_PAD_BOTTOM) == 0);
  CHECK(valid.at(SLUICE_CONV_STRIDE_H) == 2);
}

TEST_CASE(
    "onnx convolution: rows and columns that no layer reads are left out where asked") {
  TinyOnnx model;
  model.Input("x", {1, 3, 8, 8});
  model.Floats("w", {6, 3, 1, 1});
  model.Floats("v", {4, 6, 1, 1});
  model.Node("Conv", {"x", "w"}, {"y"});
  onnx::NodeProto* node = model.Node("Conv", {"y", "v"}, {"z"});
  TinyOnnx::Ints(node, "strides", {2, 2});
  model.Output("z");
  CHECK(Import(model.Finish()).skipped.empty());
  OnnxImportOptions options;
  options.skip_unread = true;
  const ImportAndGraph import = Import(model.Finish(), options);
  REQUIRE(import.skipped.size() == 1);
  CHECK(import.skipped[0].name == "conv");
  CHECK(AttributesOf(import, SLUICE_OP_CONV).at(SLUICE_CONV_STRIDE_H) == 2);
}

// x [1,2,1,2], weight [2,2,1,1], both in steps of 1/2, y in steps of 1/4.
TinyOnnx Pointwise(float weight_scale = 0.5f) {
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 2});
  model.Quantised("x", "xq", 0.5f, 1);
  model.Stored("w", {2, 2, 1, 1}, {1, 2, 3, -4}, weight_scale, 0);
  model.Reals("b", {2}, {1.0f, -0.5f});
  model.Node("Conv", {"xq", "w", "b"}, {"c"});
  model.Quantised("c", "y", 0.25f, -3);
  model.Output("y");
  return model;
}

TEST_CASE("onnx convolution: a quantised one computes the model's integers") {
  const ImportAndGraph import = Import(Pointwise().Finish());
  CHECK(import.shapes_only.empty());
  const uint32_t parameters = InputOf(import, SLUICE_OP_CONV, 2);
  int32_t rows[6];
  std::memcpy(rows, DataOf(import, parameters), sizeof rows);
  // Biases are in steps of 1/4. The factor 1/2 * 1/2 / (1/4) is 1: 2^30, shift 1.
  CHECK(rows[0] == 4);
  CHECK(rows[1] == 1 << 30);
  CHECK(rows[2] == 1);
  CHECK(rows[3] == -2);
  // Channels last, x - 1 is (1, 2) and (3, -1). The first pixel gives 1 + 4 + 4 - 3 and
  // 3 - 8 - 2 - 3, the second 3 - 2 + 4 - 3 and 9 + 4 - 2 - 3.
  const Bytes want = {6, static_cast<uint8_t>(-10), 2, 8};
  CHECK(OutputFor(import, {2, 3, 4, 0}) == want);
}

TEST_CASE("onnx convolution: scales of weights that no bias fits are refused") {
  CHECK(Import(Pointwise(0).Finish()).hosted.size() == 2);  // the host computes floats
  for (const float scale : {-1.0f, -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    CAPTURE(scale);
    CHECK(Says(Complaint(Pointwise(scale).Finish()), "a scale is a finite number"));
  }
}

TEST_CASE("onnx convolution: weights have one scale or one for each channel") {
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 2});
  model.Quantised("x", "xq", 0.5f, 1);
  model.Reals("w.s", {3}, {0.5f, 0.5f, 0.5f});
  model.Int8s("w.z", {3}, {0, 0, 0});
  model.Int8s("w.q", {2, 2, 1, 1}, {1, 2, 3, -4});
  TinyOnnx::Int(model.Node("DequantizeLinear", {"w.q", "w.s", "w.z"}, {"w"}), "axis",
                0);
  model.Node("Conv", {"xq", "w"}, {"c"});
  model.Quantised("c", "y", 0.25f, -3);
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "3 scales for the 2 slices of axis 0"));
}

TEST_CASE("onnx convolution: weights lie as the layer reads them") {
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 2});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Stored("w", {2, 1, 1, 2}, {1, 2, 3, 4}, 0.5f, 0);  // by channel, then column
  TinyOnnx::Int(model.Node("Conv", {"xq", "w"}, {"c"}), "group", 2);
  model.Quantised("c", "y", 0.25f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_DEPTHWISE_CONV) == 1);
  const uint32_t weight = InputOf(import, SLUICE_OP_DEPTHWISE_CONV, 1);
  CHECK(DimsOfTensor(import, weight) == std::vector<int32_t>{1, 1, 2, 2});
  const uint8_t* taps = DataOf(import, weight);
  CHECK(Bytes(taps, taps + 4) == Bytes{1, 3, 2, 4});  // by column, then channel
  // Channel 0: 5 + 2 * 7, channel 1: 3 * 6 + 4 * 8.
  CHECK(OutputFor(import, {5, 6, 7, 8}) == Bytes{19, 50});
}

TEST_CASE(
    "onnx convolution: a matrix is transposed at import, and rows keep their axes") {
  TinyOnnx model;
  model.Input("x", {2, 3});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Stored("w", {3, 2}, {1, 2, 3, 4, 5, 6}, 0.5f, 0);
  model.Node("MatMul", {"xq", "w"}, {"c"});
  model.Quantised("c", "y", 0.25f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  const uint32_t weight = InputOf(import, SLUICE_OP_FULLY_CONNECTED, 1);
  CHECK(DimsOfTensor(import, weight) == std::vector<int32_t>{2, 3});
  CHECK(OutputFor(import, {1, 0, 0, 1, 2, 3}) == Bytes{1, 2, 1 + 6 + 15, 2 + 8 + 18});
}

TEST_CASE("onnx convolution: a pool that rounds up reads beyond its end") {
  TinyOnnx model;
  model.Input("x", {1, 1, 1, 5});
  model.Quantised("x", "xq", 0.5f, 0);
  onnx::NodeProto* node = model.Node("MaxPool", {"xq"}, {"p"});
  TinyOnnx::Ints(node, "kernel_shape", {1, 2});
  TinyOnnx::Ints(node, "strides", {1, 2});
  TinyOnnx::Int(node, "ceil_mode", 1);
  model.Quantised("p", "y", 0.5f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(AttributesOf(import, SLUICE_OP_MAX_POOL).at(SLUICE_POOL_PAD_RIGHT) == 1);
  CHECK(OutputFor(import, {1, 4, 3, 2, 9}) == Bytes{4, 3, 9});
}

// In a model of floats alone the host computes them, between placeholders.
TEST_CASE("onnx convolution: what cannot be expressed is the host's, or named") {
  const auto model_of = [](const char* op, const std::vector<int64_t>& weight,
                           const char* attribute, const std::vector<int64_t>& values) {
    TinyOnnx model;
    model.Input("x", {1, 4, 8, 8});
    model.Floats("w", weight);
    const bool pool = std::string(op) == "MaxPool";
    onnx::NodeProto* node =
        pool ? model.Node(op, {"x"}, {"y"}) : model.Node(op, {"x", "w"}, {"y"});
    if (pool) TinyOnnx::Ints(node, "kernel_shape", {3, 3});
    if (values.size() == 1) {
      TinyOnnx::Int(node, attribute, values[0]);
    } else {
      TinyOnnx::Ints(node, attribute, values);
    }
    model.Output("y");
    return model.Finish();
  };
  for (const Bytes& model : {model_of("Conv", {6, 4, 3, 3}, "pads", {3, 0, 3, 0}),
                             model_of("MaxPool", {1}, "dilations", {2, 2}),
                             model_of("ConvTranspose", {4, 3, 3, 3}, "group", {2})}) {
    const ImportAndGraph import = Import(model);
    CHECK(import.hosted.size() == 1);
    CHECK(import.shapes_only.size() == 1);
  }
  CHECK(Says(Complaint(model_of("Conv", {6, 4, 3, 3}, "strides", {70000, 70000})),
             "1 x Conv (a window, stride or dilation out of range)"));
}

}  // namespace
}  // namespace sluice_test
