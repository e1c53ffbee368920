// SPDX-License-Identifier: Apache-2.0
// Float inputs and outputs that a model quantises itself.
#include "import/tflite/float_borders.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
constexpr auto kReal = tflite::TensorType::FLOAT32;
constexpr auto kInt8 = tflite::TensorType::INT8;

// Fields of the tensor with a given name.
struct Facts {
  int dtype = 0, kind = 0, zero_point = 0;
  float scale = 0;
};

Facts FactsOf(const ImportAndGraph& import, const std::string& name) {
  const wire::Graph& g = *wire::GetGraph(import.graph.data());
  for (uint32_t t = 0; t < g.tensor_name()->size(); ++t) {
    if (g.names()->Get(g.tensor_name()->Get(t))->str() != name) continue;
    return {g.tensor_dtype()->Get(t), g.tensor_kind()->Get(t),
            g.tensor_zero_point()->Get(t), g.tensor_scale()->Get(t)};
  }
  return {};
}

// real -> QUANTIZE -> RELU -> DEQUANTIZE -> real
TEST_CASE("tflite borders: scale and zero point are the input's and the output's") {
  TinyModel model;
  const int in = model.AddTensor("in", {1, 8}, kReal, 0, 0);
  const int x = model.AddTensor("x", {1, 8}, kInt8, 0.5f, -3);
  const int y = model.AddTensor("y", {1, 8}, kInt8, 0.25f, 7);
  const int out = model.AddTensor("out", {1, 8}, kReal, 0, 0);
  model.AddOperator(BuiltinOperator::QUANTIZE, {in}, {x});
  model.AddOperator(BuiltinOperator::RELU, {x}, {y});
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {y}, {out});
  const ImportAndGraph import = Import(model.Finish({in}, {out}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_REQUANTIZE});
  const Facts input = FactsOf(import, "in"), output = FactsOf(import, "out");
  CHECK(input.dtype == SLUICE_DTYPE_INT8);
  CHECK(input.kind == 1);
  CHECK(input.zero_point == -3);
  CHECK(input.scale == 0.5f);
  CHECK(output.dtype == SLUICE_DTYPE_INT8);
  CHECK(output.kind == 2);
  CHECK(output.zero_point == 7);
  CHECK(output.scale == 0.25f);
  REQUIRE(import.folded.size() == 2);
  CHECK(import.folded[0].name == "QUANTIZE");
  CHECK(import.folded[0].reason == kScaleOfBorder);
  CHECK(import.folded[1].name == "DEQUANTIZE");
}

TEST_CASE("tflite borders: floats that are only moved are quantised all the way") {
  TinyModel model;
  const int in = model.AddTensor("in", {2, 4}, kReal, 0, 0);
  const int flat = model.AddTensor("flat", {1, 8}, kReal, 0, 0);
  const int x = model.AddTensor("x", {1, 8}, kInt8, 0.5f, -3);
  const int y = model.AddTensor("y", {1, 8}, kInt8, 0.5f, -3);
  const int half = model.AddTensor("half", {1, 8}, kReal, 0, 0);
  const int out = model.AddTensor("out", {1, 16}, kReal, 0, 0);
  model.AddOperator(BuiltinOperator::RESHAPE, {in}, {flat});
  model.AddOperator(BuiltinOperator::QUANTIZE, {flat}, {x});
  model.AddOperator(BuiltinOperator::RELU, {x}, {y});
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {y}, {half});
  const auto options = tflite::CreateConcatenationOptions(model.builder(), 1);
  model.AddOperator(BuiltinOperator::CONCATENATION, {half, half}, {out},
                    BuiltinOptions::ConcatenationOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({in}, {out}));
  CHECK(OpsOf(import) ==
        std::vector<int>{SLUICE_OP_RESHAPE, SLUICE_OP_REQUANTIZE, SLUICE_OP_CONCAT});
  CHECK(OutputFor(import, Stored({-3, -2, -1, 0, 1, -4, -5, 9})) ==
        Stored({-3, -2, -1, 0, 1, -3, -3, 9, -3, -2, -1, 0, 1, -3, -3, 9}));
}

TEST_CASE("tflite borders: what is output twice, or passes through, is copied") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 8}, kInt8, 0.5f, -3);
  const int a = model.AddTensor("a", {1, 8}, kReal, 0, 0);
  const int b = model.AddTensor("b", {1, 8}, kReal, 0, 0);
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {x}, {a});
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {x}, {b});
  const ImportAndGraph import = Import(model.Finish({x}, {a, b}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_RESHAPE, SLUICE_OP_RESHAPE});
  CHECK(OutputFor(import, Stored({1, 2, 3, 4, 5, 6, 7, 8})) ==
        Stored({1, 2, 3, 4, 5, 6, 7, 8}));
}

Bytes Floats(const std::vector<float>& values) {
  Bytes bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("tflite borders: floats with two scales, or in an operator, stay floats") {
  TinyModel two;
  const int in = two.AddTensor("in", {1, 8}, kReal, 0, 0);
  const int x = two.AddTensor("x", {1, 8}, kInt8, 0.5f, -3);
  const int y = two.AddTensor("y", {1, 8}, kInt8, 0.25f, -3);
  two.AddOperator(BuiltinOperator::QUANTIZE, {in}, {x});
  two.AddOperator(BuiltinOperator::QUANTIZE, {in}, {y});
  const ImportAndGraph both = Import(two.Finish({in}, {x, y}));
  CHECK(OpsOf(both) == std::vector<int>{SLUICE_OP_OPAQUE, SLUICE_OP_OPAQUE});
  CHECK(OutputFor(both, Floats({0, 0.5f, -1, 2, 900, 0.3f, 0.25f, -900})) ==
        Stored({-3, -2, -5, 1, 127, -2, -2, -128}));
  TinyModel middle;
  const int p = middle.AddTensor("p", {1, 8}, kInt8, 0.5f, -3);
  const int q = middle.AddTensor("q", {1, 8}, kReal, 0, 0);
  const int r = middle.AddTensor("r", {1, 8}, kReal, 0, 0);
  middle.AddOperator(BuiltinOperator::DEQUANTIZE, {p}, {q});
  middle.AddOperator(BuiltinOperator::RELU, {q}, {r});
  const ImportAndGraph island = Import(middle.Finish({p}, {r}));
  CHECK(OpsOf(island) == std::vector<int>{SLUICE_OP_OPAQUE, SLUICE_OP_OPAQUE});
  REQUIRE(island.opaque.size() == 2);
  CHECK(island.opaque[0].name == "DEQUANTIZE");
  CHECK(island.opaque[1].reason == "by a host function");
  CHECK(OutputFor(island, Stored({-3, -2, -5, 1, 127, -128, 0, 3})) ==
        Floats({0, 0.5f, 0, 2, 65, 0, 1.5f, 3}));
}

}  // namespace
}  // namespace sluice::import
