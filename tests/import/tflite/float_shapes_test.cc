// SPDX-License-Identifier: Apache-2.0
// Models of floats, imported for their shapes alone: the layers' numbers mean nothing.
#include "import/tflite/float_shapes.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
constexpr auto kReal = tflite::TensorType::FLOAT32;

// 1x4x4x2 -> 2x2 convolution to 3 channels -> 1x27 -> softmax; all floats.
Bytes Floats(bool one_is_quantised) {
  TinyModel model;
  const int x =
      model.AddTensor("x", {1, 4, 4, 2}, kReal, one_is_quantised ? 0.5f : 0, 0);
  const int w = model.AddTensor("w", {3, 2, 2, 2}, kReal, 0, 0, Bytes(96, 1));
  const int b = model.AddTensor("b", {3}, kReal, 0, 0, Bytes(12, 1));
  const int y = model.AddTensor("y", {1, 3, 3, 3}, kReal, 0, 0);
  const int z = model.AddTensor("z", {1, 27}, kReal, 0, 0);
  const int p = model.AddTensor("p", {1, 27}, kReal, 0, 0);
  const auto conv = tflite::CreateConv2DOptions(model.builder(), tflite::Padding::VALID,
                                                1, 1, tflite::Activation::RELU);
  model.AddOperator(BuiltinOperator::CONV_2D, {x, w, b}, {y},
                    BuiltinOptions::Conv2DOptions, conv.Union());
  model.AddOperator(BuiltinOperator::RESHAPE, {y}, {z});
  const auto softmax = tflite::CreateSoftmaxOptions(model.builder(), 1);
  model.AddOperator(BuiltinOperator::SOFTMAX, {z}, {p}, BuiltinOptions::SoftmaxOptions,
                    softmax.Union());
  return model.Finish({x}, {p});
}

TEST_CASE("tflite floats: layers of the same shapes, and said") {
  const ImportAndGraph import = Import(Floats(false));
  CHECK(OpsOf(import) ==
        std::vector<int>{SLUICE_OP_CONV, SLUICE_OP_RESHAPE, SLUICE_OP_SOFTMAX});
  REQUIRE(import.shapes_only.size() == 3);
  CHECK(import.shapes_only[0].name == "CONV_2D");
  CHECK(import.shapes_only[2].name == "SOFTMAX");
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  for (uint32_t t = 0; t < graph.tensor_dtype()->size(); ++t) {
    const uint8_t dtype = graph.tensor_dtype()->Get(t);
    CHECK((dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_INT32));
  }
  // Importing again gives the same bytes, and outputs depend on the inputs.
  CHECK(Import(Floats(false)).graph == import.graph);
  const Bytes out = OutputFor(import, Bytes(32, 77));
  CHECK(out.size() == 27);
  CHECK(std::count(out.begin(), out.end(), out[0]) < 27);
}

TEST_CASE("tflite floats: a model that is quantised in part is not taken for one") {
  const ImportAndGraph part = Import(Floats(true));
  CHECK(part.shapes_only.empty());
  CHECK(std::any_of(part.opaque.begin(), part.opaque.end(), [](const auto& entry) {
    return entry.name == "CONV_2D" && entry.reason == kByHostFunction;
  }));
  CHECK(Import(TinyConvolution()).shapes_only.empty());
}

TEST_CASE("tflite floats: a model that stores integers as weights keeps its numbers") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 4}, kReal, 0, 0);
  const int w = model.AddTensor("w", {2, 4}, tflite::TensorType::INT8, 0.125f, 0,
                                Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  const int y = model.AddTensor("y", {1, 2}, kReal, 0, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y},
                    BuiltinOptions::FullyConnectedOptions, options.Union());
  CHECK(Import(model.Finish({x}, {y})).shapes_only.empty());
}

}  // namespace
}  // namespace sluice::import
