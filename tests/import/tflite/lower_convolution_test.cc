// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of TensorFlow Lite against numbers by hand.
// tests/import/golden_test.cc compares values with the reference kernels.
#include <algorithm>

#include "import/graph_writer.h"
#include "tests/import/tflite/imported.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

TEST_CASE(
    "tflite convolution: a convolution keeps its shapes, factors and activation") {
  const ImportAndGraph import = Import(TinyConvolution());
  CHECK(import.operators == 2);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 2);
  CHECK(graph.layer_op()->Get(0) == SLUICE_OP_CONV);
  CHECK(graph.layer_op()->Get(1) == SLUICE_OP_RESHAPE);
  const auto& attributes = *graph.layer_attributes();
  CHECK(attributes.Get(SLUICE_CONV_INPUT_ZERO) == -3);
  CHECK(attributes.Get(SLUICE_CONV_OUTPUT_ZERO) == 7);
  CHECK(attributes.Get(SLUICE_CONV_ACT_MIN) == 7);  // ReLU: real 0 is stored 7
  CHECK(attributes.Get(SLUICE_CONV_ACT_MAX) == 127);
  const uint32_t parameters = graph.layer_inputs()->Get(2);
  const uint64_t at = graph.tensor_source_offset()->Get(parameters);
  CHECK(at % 16 == 0);
  int32_t row[3];
  std::copy_n(graph.data()->data() + at + 12, 12, reinterpret_cast<uint8_t*>(row));
  CHECK(row[0] == 11);  // second channel's bias
  // 0.5 * 0.01 / 0.25 = 0.02 = 0.64 * 2^-5
  CHECK(row[1] == static_cast<int32_t>(double(0.01f) * 64 * 2147483648.0 + 0.5));
  CHECK(row[2] == -5);
}

TEST_CASE(
    "tflite convolution: a fully connected layer rounds once and flattens its rows") {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", {2, 3, 4}, int8, 0.5f, 0);
  const int w =
      model.AddTensor("w", {5, 4}, int8, 0.25f, 0, std::vector<uint8_t>(20, 1));
  const int y = model.AddTensor("y", {6, 5}, int8, 0.75f, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(tflite::BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    tflite::BuiltinOptions::FullyConnectedOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 2);
  CHECK(graph.layer_op()->Get(0) == SLUICE_OP_RESHAPE);
  CHECK(graph.layer_op()->Get(1) == SLUICE_OP_FULLY_CONNECTED);
  CHECK(graph.layer_attributes()->Get(SLUICE_CONV_ROUNDING) == 1);
}

constexpr auto kInt8 = tflite::TensorType::INT8;
constexpr auto kSame = tflite::Padding::SAME;

TEST_CASE("tflite convolution: one channel by three taps, computed by hand") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 1, 4, 1}, kInt8, 0.5f, 1);
  const int w = model.AddTensor("w", {1, 1, 3, 1}, kInt8, 0.5f, 0, Stored({1, 2, -1}));
  const int b =
      model.AddTensor("b", {1}, tflite::TensorType::INT32, 0.25f, 0, {4, 0, 0, 0});
  const int y = model.AddTensor("y", {1, 1, 4, 1}, kInt8, 0.25f, -3);
  const auto options = tflite::CreateConv2DOptions(model.builder(), kSame, 1, 1);
  model.AddOperator(tflite::BuiltinOperator::CONV_2D, {x, w, b}, {y},
                    tflite::BuiltinOptions::Conv2DOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  // x - 1 is 1, 2, 3, 4 with zeros on both sides; the bias 4 and the zero point -3 are
  // added to each sum.
  CHECK(OutputFor(import, Stored({2, 3, 4, 5})) ==
        Stored({0 + 2 - 2 + 1, 1 + 4 - 3 + 1, 2 + 6 - 4 + 1, 3 + 8 - 0 + 1}));
}

// Returns the first layer with the operator.
LayerRow LayerOf(const Bytes& model, uint16_t op) {
  TfliteImportOptions options;
  const GraphWriter graph(
      WriteRows(ImportTflite(model.data(), model.size(), options).rows));
  for (const LayerRow& layer : graph.layers()) {
    if (layer.op == op) return layer;
  }
  FAIL("no such layer");
  return {};
}

TEST_CASE(
    "tflite convolution: a transposed convolution has the pads of its forward "
    "convolution") {
  const auto spec = [](tflite::Padding padding, int32_t out) {
    return TransposedSpec{tflite::TensorType::INT8,
                          padding,
                          {3, 3, 2},
                          {3, 3},
                          {2, 2},
                          {out, out, 4},
                          true};
  };
  const LayerRow same = LayerOf(TransposedModel(spec(tflite::Padding::SAME, 6)),
                                SLUICE_OP_TRANSPOSED_CONV);
  // 6 rows, stride 2: three windows of three rows cover 7, one row of padding.
  CHECK(same.attributes[SLUICE_CONV_PAD_TOP] == 0);
  CHECK(same.attributes[SLUICE_CONV_PAD_BOTTOM] == 1);
  CHECK(same.attributes[SLUICE_CONV_STRIDE_H] == 2);
  CHECK(same.attributes[SLUICE_CONV_GROUPS] == 0);
  CHECK(same.attributes[SLUICE_CONV_INPUT_ZERO] == -3);
  CHECK(same.attributes[SLUICE_CONV_OUTPUT_ZERO] == 7);
  CHECK(same.attributes[SLUICE_CONV_ACT_MIN] == -128);
  CHECK(same.attributes[SLUICE_CONV_ACT_MAX] == 127);
  const LayerRow valid = LayerOf(TransposedModel(spec(tflite::Padding::VALID, 7)),
                                 SLUICE_OP_TRANSPOSED_CONV);
  CHECK(valid.attributes[SLUICE_CONV_PAD_BOTTOM] == 0);
}

TEST_CASE("tflite convolution: a transposed one scatters its input") {
  TinyModel model;
  const int s = Int32s(&model, "s", {1, 1, 5, 1});
  const int w = model.AddTensor("w", {1, 1, 3, 1}, kInt8, 0.5f, 0, Stored({1, 2, 3}));
  const int x = model.AddTensor("x", {1, 1, 2, 1}, kInt8, 0.5f, 0);
  const int y = model.AddTensor("y", {1, 1, 5, 1}, kInt8, 0.25f, 0);
  const auto options =
      tflite::CreateTransposeConvOptions(model.builder(), tflite::Padding::VALID, 2, 1);
  model.AddOperator(tflite::BuiltinOperator::TRANSPOSE_CONV, {s, w, x}, {y},
                    tflite::BuiltinOptions::TransposeConvOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(OutputFor(import, {5, 7}) == Stored({5, 10, 15 + 7, 14, 21}));
}

TEST_CASE("tflite convolution: operands that cannot be expressed are named") {
  const auto complaint = [](tflite::TensorType type, bool stored, int32_t channels) {
    TinyModel model;
    const int x = model.AddTensor("x", {1, 2, 2, 4}, kInt8, 0.5f, 0);
    std::vector<uint8_t> taps(static_cast<size_t>(4 * channels), 1);
    const int w = model.AddTensor("w", {4, 1, 1, channels}, type, 0.5f, 0,
                                  stored ? taps : std::vector<uint8_t>());
    const int y = model.AddTensor("y", {1, 2, 2, 4}, kInt8, 0.25f, 0);
    const auto options = tflite::CreateConv2DOptions(model.builder(), kSame, 1, 1);
    model.AddOperator(tflite::BuiltinOperator::CONV_2D, {x, w, -1}, {y},
                      tflite::BuiltinOptions::Conv2DOptions, options.Union());
    const std::vector<int32_t> inputs =
        stored ? std::vector<int32_t>{x} : std::vector<int32_t>{x, w};
    const std::string why = MessageOf(model.Finish(inputs, {y}));
    return why.substr(why.find("1 x"));
  };
  CHECK(complaint(kInt8, false, 4) ==
        "1 x CONV_2D (a weight that is computed at run time): y");
  CHECK(complaint(tflite::TensorType::UINT8, true, 4) ==
        "1 x CONV_2D (a weight of another type than the input): y");
  CHECK(complaint(kInt8, true, 3) ==
        "1 x CONV_2D (a weight that does not fit the channels): y");
}

}  // namespace
}  // namespace sluice::import
