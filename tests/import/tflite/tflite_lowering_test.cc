// SPDX-License-Identifier: Apache-2.0
// Facts about TensorFlow Lite's tensors that all operators ask for.
#include "import/tflite/tflite_lowering.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

TfliteTensor Of(const std::vector<int32_t>& shape,
                tflite::TensorType type = tflite::TensorType::INT8) {
  TfliteTensor tensor = {};
  tensor.name = "t";
  tensor.type = static_cast<int>(type);
  tensor.shape = shape;
  tensor.scales = {0.5f};
  tensor.zero_points = {10};
  return tensor;
}

TEST_CASE("tflite lowering: pads so that every window fits, the odd one behind") {
  const auto is = [](const Pads& pads, int32_t before, int32_t after) {
    return pads.before == before && pads.after == after;
  };
  CHECK(is(PadsOf(true, 8, 4, 3, 2, 1), 0, 1));
  CHECK(is(PadsOf(true, 7, 4, 3, 2, 1), 1, 1));
  CHECK(is(PadsOf(true, 8, 8, 3, 1, 2), 2, 2));  // dilated: a window of five
  CHECK(is(PadsOf(true, 8, 4, 1, 2, 1), 0, 0));  // the windows need no pads
  CHECK(is(PadsOf(false, 8, 3, 3, 2, 1), 0, 0));
  CHECK_THROWS_WITH(
      PadsOf(false, 8, 4, 3, 2, 1),
      "an output extent is 4, which does not follow from input 8, window 3 "
      "and stride 2");
  CHECK_THROWS_WITH(PadsOf(true, 8, 8, 3, 0, 1), "a stride or dilation below 1");
}

TEST_CASE("tflite lowering: more than four axes are folded from the front") {
  CHECK(DimsOf(Of({2, 3, 4, 5, 6})) == Dims{6, 4, 5, 6});
  CHECK(DimsOf(Of({3})) == Dims{3});
  CHECK(ExtentsOf(Of({3, 5})) == Extents{1, 1, 3, 5});
  CHECK_THROWS_WITH(DimsOf(Of({-1, 3})),
                    "tensor t has extent -1; convert the model with fixed shapes");
  CHECK_THROWS_WITH(DimsOf(Of({1 << 20, 1 << 20, 1, 1, 1})),
                    "an extent above 2^31 - 1");
}

TEST_CASE("tflite lowering: axes are those of four, counted from either end") {
  CHECK(AxisOf(Of({5, 6}), 0) == 2);
  CHECK(AxisOf(Of({5, 6}), -1) == 3);
  CHECK(AxisOf(Of({1, 2, 3, 4, 5}), 4) == 3);
  CHECK_THROWS_WITH(AxisOf(Of({5, 6}), 2), "axis 2 of tensor t of rank 2");
  CHECK_THROWS_WITH(AxisOf(Of({2, 2, 3, 4, 5}), 4), "more than four axes");
}

TEST_CASE("tflite lowering: types by what they are, exotic ones by their size") {
  CHECK(DtypeOf(Of({1}, tflite::TensorType::BOOL)) == SLUICE_DTYPE_UINT8);
  CHECK(DtypeOf(Of({1}, tflite::TensorType::FLOAT32)) == SLUICE_DTYPE_INT32);
  CHECK_THROWS_WITH(DtypeOf(Of({1}, tflite::TensorType::STRING)),
                    "tensors of type string");
  CHECK(EightBit(Of({1})) == SLUICE_DTYPE_INT8);
  CHECK_THROWS_WITH(EightBit(Of({1}, tflite::TensorType::FLOAT32)), "float32 operands");
}

TEST_CASE("tflite lowering: quantisation is one scale above zero") {
  TfliteTensor tensor = Of({2});
  CHECK(AffineOf(tensor).zero == 10);
  CHECK(SameAffine(tensor, tensor));
  TfliteTensor other = tensor;
  other.zero_points = {11};
  CHECK(!SameAffine(tensor, other));
  tensor.scales = {0.5f, 0.25f};
  CHECK_THROWS_WITH(AffineOf(tensor), "per-axis quantisation of an activation");
  tensor.scales = {0};
  CHECK_THROWS_WITH(AffineOf(tensor), "a scale of zero");
  tensor.scales.clear();
  CHECK_THROWS_WITH(AffineOf(tensor), "an operand without quantisation");
}

TEST_CASE("tflite lowering: fused activations are clamps in stored numbers") {
  const auto range = [](tflite::Activation activation) {
    return Clamped(Of({1}), static_cast<int>(activation));
  };
  CHECK(range(tflite::Activation::NONE).min == -128);
  CHECK(range(tflite::Activation::RELU).min == 10);
  CHECK(range(tflite::Activation::RELU6).max == 22);
  CHECK(range(tflite::Activation::RELU_N1_TO_1).min == 8);
  CHECK(range(tflite::Activation::RELU_N1_TO_1).max == 12);
  CHECK_THROWS_WITH(range(tflite::Activation::TANH), "a fused tanh or sign activation");
}

TEST_CASE("tflite lowering: shapes and axes are constants of 32 or 64 bits") {
  const int64_t wide[] = {-5, int64_t{1} << 40};
  uint8_t bytes[16];
  std::memcpy(bytes, wide, sizeof bytes);
  TfliteTensor tensor = Of({2}, tflite::TensorType::INT64);
  CHECK_THROWS_WITH(Integers(tensor), "shapes or axes that are computed at run time");
  tensor.data = bytes;
  tensor.data_bytes = 16;
  CHECK(Integers(tensor) == std::vector<int64_t>{-5, int64_t{1} << 40});
  tensor.type = static_cast<int>(tflite::TensorType::INT32);
  CHECK(Integers(tensor) == std::vector<int64_t>{-5, -1, 0, 256});
  tensor.type = static_cast<int>(tflite::TensorType::INT8);
  CHECK_THROWS_WITH(Integers(tensor), "shapes or axes of type int8");
}

}  // namespace
}  // namespace sluice::import
