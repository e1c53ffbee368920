// SPDX-License-Identifier: Apache-2.0
// Pools, arithmetic, activations and reductions of TensorFlow Lite by hand.
#include <algorithm>

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

constexpr auto kInt8 = tflite::TensorType::INT8;
using tflite::BuiltinOperator;
using tflite::BuiltinOptions;

// A model of one operator from [1, 1, 1, 4] to [1, 1, 1, 4].
struct Unary {
  Unary(float in, float out, int64_t zero) {
    x = model.AddTensor("x", {1, 1, 1, 4}, kInt8, in, 0);
    y = model.AddTensor("y", {1, 1, 1, 4}, kInt8, out, zero);
  }
  ImportAndGraph Of(BuiltinOperator code, BuiltinOptions type = BuiltinOptions::NONE,
                    flatbuffers::Offset<void> options = 0) {
    model.AddOperator(code, {x}, {y}, type, options);
    return Import(model.Finish({x}, {y}));
  }
  TinyModel model;
  int x, y;
};

TEST_CASE("tflite elementwise: activations in steps of a half, from 10 on") {
  CHECK(OutputFor(Unary(0.5f, 0.5f, 10).Of(BuiltinOperator::RELU),
                  Stored({-3, 0, 5, 127})) == Stored({10, 10, 15, 127}));
  CHECK(OutputFor(Unary(0.5f, 0.5f, 10).Of(BuiltinOperator::RELU6),
                  Stored({-3, 0, 12, 13})) == Stored({10, 10, 22, 22}));
  CHECK(OutputFor(Unary(0.5f, 0.5f, 10).Of(BuiltinOperator::RELU_N1_TO_1),
                  Stored({-3, -2, 1, 3})) == Stored({8, 8, 11, 12}));
  Unary leaky(0.5f, 0.5f, 10);
  const auto options = tflite::CreateLeakyReluOptions(leaky.model.builder(), 0.25f);
  CHECK(OutputFor(leaky.Of(BuiltinOperator::LEAKY_RELU,
                           BuiltinOptions::LeakyReluOptions, options.Union()),
                  Stored({-40, -4, 0, 5})) == Stored({0, 9, 10, 15}));
  CHECK(OutputFor(Unary(0.5f, 1.0f / 256, -128).Of(BuiltinOperator::LOGISTIC),
                  Stored({0, 127, -128, 0})) == Stored({0, 127, -128, 0}));
}

TEST_CASE("tflite elementwise: a quantisation changes scale and zero point") {
  CHECK(OutputFor(Unary(0.5f, 0.25f, -5).Of(BuiltinOperator::QUANTIZE),
                  Stored({0, 1, -3, 100})) == Stored({-5, -3, -11, 127}));
}

ImportAndGraph Binary(BuiltinOperator code, BuiltinOptions type, float second_scale,
                      int32_t second_extent) {
  TinyModel model;
  const int a = model.AddTensor("a", {1, 1, 1, 4}, kInt8, 0.5f, 0);
  std::vector<uint8_t> b_bytes = Stored({2, 4, -6, 8});
  b_bytes.resize(static_cast<size_t>(second_extent));
  const int b = model.AddTensor("b", {second_extent}, kInt8, second_scale, 0, b_bytes);
  const int y = model.AddTensor("y", {1, 1, 1, 4}, kInt8, 0.5f, 0);
  flatbuffers::Offset<void> options = 0;
  if (type == BuiltinOptions::SubOptions) {
    options = tflite::CreateSubOptions(model.builder()).Union();
  } else if (type == BuiltinOptions::MulOptions) {
    options =
        tflite::CreateMulOptions(model.builder(), tflite::Activation::RELU).Union();
  }
  model.AddOperator(code, {a, b}, {y}, type, options);
  return Import(model.Finish({a}, {y}));
}

TEST_CASE(
    "tflite elementwise: differences, products, extremes, and one number for all") {
  const Bytes a = Stored({10, 10, 10, -10});
  // b is in steps of 1/4: 1/2, 1, -3/2, 2.
  CHECK(OutputFor(Binary(BuiltinOperator::SUB, BuiltinOptions::SubOptions, 0.25f, 4),
                  a) == Stored({9, 8, 13, -14}));
  // a is 5 and -5: the last two products are negative, and the ReLU cuts them.
  CHECK(OutputFor(Binary(BuiltinOperator::MUL, BuiltinOptions::MulOptions, 0.25f, 4),
                  a) == Stored({5, 10, 0, 0}));
  CHECK(OutputFor(Binary(BuiltinOperator::MINIMUM, BuiltinOptions::NONE, 0.5f, 4), a) ==
        Stored({2, 4, -6, -10}));
  CHECK(OutputFor(Binary(BuiltinOperator::MAXIMUM, BuiltinOptions::NONE, 0.5f, 1), a) ==
        Stored({10, 10, 10, 2}));
}

TEST_CASE(
    "tflite elementwise: what does not broadcast, or compares two scales, is named") {
  const auto complaint = [](BuiltinOperator code, float scale, int32_t extent) {
    try {
      Binary(code, BuiltinOptions::NONE, scale, extent);
    } catch (const Error& error) {
      const std::string why = error.what();
      return why.substr(why.find("1 x"));
    }
    return std::string();
  };
  CHECK(complaint(BuiltinOperator::MINIMUM, 0.25f, 4) ==
        "1 x MINIMUM (operands quantised differently): y");
  CHECK(complaint(BuiltinOperator::ADD, 0.5f, 3) ==
        "1 x ADD (extents that do not broadcast): y");
}

TEST_CASE("tflite elementwise: a mean over rows and columns leaves channels") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 2, 2, 2}, kInt8, 0.5f, 0);
  const int axes = Int32s(&model, "axes", {1, 2});
  const int y = model.AddTensor("y", {1, 2}, kInt8, 0.25f, 1);
  model.AddOperator(BuiltinOperator::MEAN, {x, axes}, {y});
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_REDUCE});
  CHECK(AttributesOf(import)[SLUICE_REDUCE_AXES] == 2 + 4);
  // The means 4 and -3 of the stored numbers are in steps of 1/2.
  CHECK(OutputFor(import, Stored({1, -3, 3, -3, 5, -3, 7, -3})) == Stored({9, -5}));
}

TEST_CASE("tflite elementwise: pools by their windows, maxima by their place") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 1, 5, 1}, kInt8, 0.5f, 0);
  const int y = model.AddTensor("y", {1, 1, 3, 1}, kInt8, 0.5f, 0);
  const auto options =
      tflite::CreatePool2DOptions(model.builder(), tflite::Padding::SAME, 2, 1, 3, 1);
  model.AddOperator(BuiltinOperator::MAX_POOL_2D, {x}, {y},
                    BuiltinOptions::Pool2DOptions, options.Union());
  CHECK(OutputFor(Import(model.Finish({x}, {y})), Stored({1, 9, 2, -7, -8})) ==
        Stored({9, 9, -7}));
  TinyModel last;
  const int a = last.AddTensor("a", {2, 4}, kInt8, 0.5f, 0);
  const int axis = Int32s(&last, "axis", {-1});
  const int i = last.AddTensor("i", {2}, tflite::TensorType::INT32, 0, 0);
  last.AddOperator(BuiltinOperator::ARG_MAX, {a, axis}, {i});
  CHECK(OutputFor(Import(last.Finish({a}, {i})), Stored({1, 5, 5, 2, -1, -9, -3, 0})) ==
        Stored({1, 0, 0, 0, 3, 0, 0, 0}));
}

}  // namespace
}  // namespace sluice::import
