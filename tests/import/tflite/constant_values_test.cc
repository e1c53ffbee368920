// SPDX-License-Identifier: Apache-2.0
// Arithmetic on constants.
#include "import/tflite/constant_values.h"

#include "tests/import/tflite/folded.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using Ints = std::vector<int32_t>;

// The folded result of an operator on two lists.
std::optional<Ints> Of(BuiltinOperator op, const Ints& a, const Ints& b,
                       const Ints& shape) {
  FoldedModel m;
  const int result = m.Result(shape);
  m.model.AddOperator(op, {m.Ints(a), m.Ints(b)}, {result});
  m.Fold(result);
  return m.IntsOf(result);
}

TEST_CASE(
    "tflite constants: integers are added, multiplied and divided, and broadcast") {
  CHECK(Of(BuiltinOperator::ADD, {1, 2, 3}, {10}, {3}) == Ints{11, 12, 13});
  CHECK(Of(BuiltinOperator::SUB, {5}, {1, 2}, {2}) == Ints{4, 3});
  CHECK(Of(BuiltinOperator::MUL, {INT32_MAX}, {2}, {1}) == Ints{-2});
  CHECK(Of(BuiltinOperator::DIV, {-7}, {2}, {1}) == Ints{-3});
  CHECK(Of(BuiltinOperator::FLOOR_DIV, {-7, 7}, {2}, {2}) == Ints{-4, 3});
  CHECK(Of(BuiltinOperator::FLOOR_MOD, {-7, 7}, {4}, {2}) == Ints{1, 3});
  CHECK(Of(BuiltinOperator::MINIMUM, {-7, 7}, {4}, {2}) == Ints{-7, 4});
  CHECK(Of(BuiltinOperator::MAXIMUM, {-7, 7}, {4}, {2}) == Ints{4, 7});
  CHECK_FALSE(Of(BuiltinOperator::DIV, {1}, {0}, {1}).has_value());
  CHECK_FALSE(Of(BuiltinOperator::FLOOR_MOD, {1}, {0}, {1}).has_value());
}

TEST_CASE("tflite constants: ranges run in either direction, fills have any shape") {
  const auto range = [](int32_t from, int32_t to, int32_t step, int32_t count) {
    FoldedModel m;
    const int result = m.Result({count});
    m.model.AddOperator(BuiltinOperator::RANGE,
                        {m.Scalar(from), m.Scalar(to), m.Scalar(step)}, {result});
    m.Fold(result);
    return m.IntsOf(result);
  };
  CHECK(range(1, 8, 3, 3) == Ints{1, 4, 7});
  CHECK(range(3, 0, -1, 3) == Ints{3, 2, 1});
  CHECK(range(3, 0, 1, 0) == Ints{});
  CHECK_FALSE(range(0, 3, 0, 3).has_value());
  FoldedModel m;
  const int result = m.Result({2, 2});
  m.model.AddOperator(BuiltinOperator::FILL, {m.Ints({2, 2}), m.Scalar(9)}, {result});
  m.Fold(result);
  CHECK(m.IntsOf(result) == Ints{9, 9, 9, 9});
}

TEST_CASE("tflite constants: casts go to floats and back, truncating") {
  FoldedModel m;
  const int halves =
      m.model.AddTensor("h", {2}, tflite::TensorType::FLOAT32, 0, 0,
                        {0, 0, 0x20, 0x40, 0, 0, 0x20, 0xc0});  // 2.5 and -2.5
  const int result = m.Result({2}), real = m.Result({2}, tflite::TensorType::FLOAT32),
            again = m.Result({2});
  m.model.AddOperator(BuiltinOperator::CAST, {halves}, {result});
  m.model.AddOperator(BuiltinOperator::CAST, {result}, {real});
  m.model.AddOperator(BuiltinOperator::CAST, {real}, {again});
  m.Fold(again);
  CHECK(m.IntsOf(result) == Ints{2, -2});
  CHECK(m.IntsOf(real) == Ints{0x40000000, static_cast<int32_t>(0xc0000000)});
  CHECK(m.IntsOf(again) == Ints{2, -2});
}

TEST_CASE("tflite constants: a rank, zeros like a tensor, a product of extents") {
  FoldedModel m;
  const int rank = m.Result({}), zeros = m.Result({1, 8}), product = m.Result({});
  m.model.AddOperator(BuiltinOperator::RANK, {m.x}, {rank});
  m.model.AddOperator(BuiltinOperator::ZEROS_LIKE, {m.x}, {zeros});
  m.model.AddOperator(BuiltinOperator::REDUCE_PROD, {m.Ints({3, 4, 5}), m.Ints({0})},
                      {product});
  m.Fold(product);
  CHECK(m.IntsOf(rank) == Ints{2});
  CHECK(m.IntsOf(zeros) == Ints(8, 0));
  CHECK(m.IntsOf(product) == Ints{60});
}

TEST_CASE("tflite constants: a product without declared extents keeps its axes") {
  for (const bool keeps : {false, true}) {
    FoldedModel m;
    const int product = m.Result({});
    const auto options = tflite::CreateReducerOptions(m.model.builder(), keeps);
    m.model.AddOperator(BuiltinOperator::REDUCE_PROD, {m.Ints({3, 4}), m.Ints({0})},
                        {product}, tflite::BuiltinOptions::ReducerOptions,
                        options.Union());
    m.Fold(product);
    CHECK(m.IntsOf(product) == Ints{12});
    CHECK(m.read.tensors.at(static_cast<size_t>(product)).shape ==
          Ints(keeps ? 1 : 0, 1));
  }
}

TEST_CASE("tflite constants: weights that are stored as half floats") {
  FoldedModel m;
  const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000, 0x3555};
  Bytes bytes(sizeof halves);
  std::memcpy(bytes.data(), halves, sizeof halves);
  const int h = m.model.AddTensor("h", {6}, tflite::TensorType::FLOAT16, 0, 0, bytes);
  const int f = m.Result({6}, tflite::TensorType::FLOAT32);
  m.model.AddOperator(tflite::BuiltinOperator::DEQUANTIZE, {h}, {f});
  m.Fold(f);
  const TfliteTensor& made = m.read.tensors.at(static_cast<size_t>(f));
  REQUIRE(made.data_bytes == 24);
  std::vector<float> values(6);
  std::memcpy(values.data(), made.data, 24);
  CHECK(values == std::vector<float>{1, -2, 5.9604645e-8f, 65504, 0, 0.333251953125f});
}

}  // namespace
}  // namespace sluice::import
