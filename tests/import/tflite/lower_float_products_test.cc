// SPDX-License-Identifier: Apache-2.0
// Products of floats: what units and the host make of them, against numbers by hand.
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
constexpr auto kReal = tflite::TensorType::FLOAT32;

Bytes BytesOf(const std::vector<float>& floats) {
  Bytes bytes(floats.size() * 4);
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}
std::vector<float> FloatsOf(const Bytes& bytes) {
  std::vector<float> floats(bytes.size() / 4);
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

// Rows of four by two channels, 1 2 3 4 and 5 6 7 8 in steps of 1 / 8; bias 1 and -1.
Bytes Rows(bool dequantised, bool asymmetric) {
  TinyModel model;
  const int x = model.AddTensor("x", {2, 4}, kReal, 0, 0);
  const int w = model.AddTensor("w", {2, 4}, tflite::TensorType::INT8, 0.125f, 0,
                                Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  const int real = model.AddTensor("real", {2, 4}, kReal, 0, 0);
  const int b = model.AddTensor("b", {2}, kReal, 0, 0, BytesOf({1, -1}));
  const int y = model.AddTensor("y", {2, 2}, kReal, 0, 0);
  if (dequantised) model.AddOperator(BuiltinOperator::DEQUANTIZE, {w}, {real});
  const auto options = tflite::CreateFullyConnectedOptions(
      model.builder(), tflite::Activation::RELU, 0, false, asymmetric);
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, dequantised ? real : w, b},
                    {y}, BuiltinOptions::FullyConnectedOptions, options.Union());
  return model.Finish({x}, {y});
}

TEST_CASE("tflite float products: activations are quantised row by row in each run") {
  const ImportAndGraph import = Import(Rows(false, false));
  CHECK(import.shapes_only.empty());
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_OPAQUE, SLUICE_OP_FULLY_CONNECTED,
                                          SLUICE_OP_OPAQUE});
  REQUIRE(import.rounded.size() == 1);
  CHECK(import.rounded[0].name == "FULLY_CONNECTED");
  // 127 is the largest: 126.6 becomes 127, 0.4 nothing. The second row is 2^-7 of it.
  const Bytes out =
      OutputFor(import, BytesOf({127, 126.6f, 0.4f, 0, -127.0f / 128, 0, 0, 0}));
  CHECK(FloatsOf(out) == std::vector<float>{127 * 3 / 8.0f + 1, 127 * 11 / 8.0f - 1,
                                            1 - 127 / 1024.0f, 0});
}

TEST_CASE("tflite float products: by their range where the model says so") {
  const ImportAndGraph import = Import(Rows(false, true));
  // Both rows are from 0 to 255: 1.4 becomes 1.
  const Bytes out = OutputFor(import, BytesOf({255, 1.4f, 0, 0, 0, 0, 0, 255}));
  CHECK(FloatsOf(out) == std::vector<float>{257 / 8.0f + 1, (255 * 5 + 6) / 8.0f - 1,
                                            255 / 2.0f + 1, 254});
}

TEST_CASE("tflite float products: weights alone leave the activations what they are") {
  const ImportAndGraph import = Import(Rows(true, true));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_OPAQUE, SLUICE_OP_FULLY_CONNECTED,
                                          SLUICE_OP_OPAQUE, SLUICE_OP_OPAQUE});
  const Bytes out = OutputFor(import, BytesOf({255, 1.5f, 0, 0, 0, 0, 0, 0.001f}));
  const std::vector<float> want = {258 / 8.0f + 1, (255 * 5 + 9) / 8.0f - 1, 1.0005f,
                                   0};
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(FloatsOf(out)[i] == doctest::Approx(want[i]).epsilon(1e-6));
}

// A depthwise convolution with `w`, or a transposed one, behind a product of rows.
Bytes Image(BuiltinOperator code, bool stored) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 2, 2, 2}, kReal, 0, 0);
  const Bytes numbers = {1, 2, 3, 4, 5, 6, 7, 8};
  const bool spreads = code == BuiltinOperator::TRANSPOSE_CONV;
  const std::vector<int32_t> shape =
      spreads ? std::vector<int32_t>{1, 2, 2, 2} : std::vector<int32_t>{1, 2, 2, 2};
  const int w =
      stored
          ? model.AddTensor("w", shape, tflite::TensorType::INT8, 1, 0, numbers)
          : model.AddTensor("w", shape, kReal, 0, 0, BytesOf({1, 2, 3, 4, 5, 6, 7, 8}));
  // A model whose weights are floats alone is imported for its shapes.
  const int v =
      model.AddTensor("v", {2, 2}, tflite::TensorType::INT8, 1, 0, {1, 0, 0, 1});
  const int z = model.AddTensor("z", {1, 2, 2, 2}, kReal, 0, 0);
  const auto rows = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, v}, {z},
                    BuiltinOptions::FullyConnectedOptions, rows.Union());
  if (spreads) {
    const int extents = Int32s(&model, "extents", {1, 4, 4, 1});
    const int y = model.AddTensor("y", {1, 4, 4, 1}, kReal, 0, 0);
    const auto options = tflite::CreateTransposeConvOptions(
        model.builder(), tflite::Padding::VALID, 2, 2);
    model.AddOperator(code, {extents, w, z}, {y}, BuiltinOptions::TransposeConvOptions,
                      options.Union());
    return model.Finish({x}, {y});
  }
  const int y = model.AddTensor("y", {1, 1, 1, 2}, kReal, 0, 0);
  const auto options = tflite::CreateDepthwiseConv2DOptions(
      model.builder(), tflite::Padding::VALID, 1, 1, 1);
  model.AddOperator(code, {z, w}, {y}, BuiltinOptions::DepthwiseConv2DOptions,
                    options.Union());
  return model.Finish({x}, {y});
}

TEST_CASE("tflite float products: convolutions with stored and with float weights") {
  const Bytes x = BytesOf({127, 0, 127, 0, 0, 127, 0, 127});
  for (const bool stored : {true, false}) {
    const ImportAndGraph depthwise =
        Import(Image(BuiltinOperator::DEPTHWISE_CONV_2D, stored));
    CHECK(FloatsOf(OutputFor(depthwise, x)) ==
          std::vector<float>{127 * (1 + 3), 127 * (6 + 8)});
    const ImportAndGraph spread =
        Import(Image(BuiltinOperator::TRANSPOSE_CONV, stored));
    const std::vector<float> out = FloatsOf(OutputFor(spread, x));
    REQUIRE(out.size() == 16);
    CHECK(out[0] == 127 * 1);
    CHECK(out[5] == 127 * 7);
    CHECK(out[8] == 127 * 2);
    CHECK(out[15] == 127 * 8);
  }
}

TEST_CASE("tflite float products: two activations on a unit") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 8, 8}, kReal, 0, 0);
  Bytes unit(64);
  for (size_t i = 0; i < 8; ++i) unit[9 * i] = 1;
  const int w = model.AddTensor("w", {8, 8}, tflite::TensorType::INT8, 1, 0, unit);
  const int z = model.AddTensor("z", {1, 8, 8}, kReal, 0, 0);
  const int y = model.AddTensor("y", {1, 8, 8}, kReal, 0, 0);
  const auto rows = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w}, {z},
                    BuiltinOptions::FullyConnectedOptions, rows.Union());
  const auto options = tflite::CreateBatchMatMulOptions(model.builder(), true, false);
  model.AddOperator(BuiltinOperator::BATCH_MATMUL, {z, z}, {y},
                    BuiltinOptions::BatchMatMulOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  const std::vector<int> ops = OpsOf(import);
  CHECK(std::count(ops.begin(), ops.end(), SLUICE_OP_BATCH_MATMUL) == 3);
  std::vector<float> in(64);
  in[0] = 127;      // row 0, column 0
  in[8 + 1] = 127;  // row 1, column 1
  in[8 + 2] = -1;
  const std::vector<float> out = FloatsOf(OutputFor(import, BytesOf(in)));
  CHECK(out[0] == 127 * 127);
  CHECK(out[9] == 127 * 127);
  CHECK(out[10] == -127);
  CHECK(out[17] == -127);
  CHECK(out[18] == 1);
  CHECK(out[1] == 0);
}

}  // namespace
}  // namespace sluice::import
