// SPDX-License-Identifier: Apache-2.0
// Constants that a DEQUANTIZE makes floats of.
#include "import/tflite/float_weights.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

const uint8_t kStored[] = {1, 2, 255, 4};

// 0: floats, 1: stored [2, 2] with a scale for each row, 2: what is dequantised, 3: result.
TfliteModel Dequantised(Op reader, int32_t axis) {
  TfliteModel model;
  TfliteTensor real = {};
  real.type = static_cast<int>(Type::FLOAT32);
  real.shape = {2, 2};
  TfliteTensor stored = real;
  stored.type = static_cast<int>(Type::INT8);
  stored.data = kStored;
  stored.data_bytes = 4;
  stored.scales = {0.5f, 2};
  stored.zero_points = {0, 0};
  stored.quantised_axis = axis;
  model.tensors = {real, stored, real, real};
  model.operators = {
      {static_cast<int>(Op::DEQUANTIZE), "DEQUANTIZE", {1}, {2}, nullptr},
      {static_cast<int>(reader), "reader", {0, 2}, {3}, nullptr}};
  model.inputs = {0};
  model.outputs = {3};
  return model;
}

TEST_CASE("float weights: a product reads the stored numbers") {
  TfliteModel model = Dequantised(Op::FULLY_CONNECTED, 0);
  uint64_t room = 0;
  std::vector<UnsupportedOperator> folded;
  TakeFloatWeights(&model, &room, &folded);
  REQUIRE(model.operators.size() == 1);
  const TfliteTensor& weight =
      model.tensors[static_cast<size_t>(model.operators[0].inputs[1])];
  CHECK(weight.data == kStored);
  CHECK(weight.means_floats);
  CHECK(!model.tensors[1].means_floats);
  CHECK(model.has_stored_weights);
  REQUIRE(folded.size() == 1);
  CHECK(folded[0].name == "DEQUANTIZE");
}

TEST_CASE("float weights: other readers get floats, within the room") {
  for (const auto& [reader, axis] :
       {std::pair(Op::ADD, 0), std::pair(Op::FULLY_CONNECTED, 1)}) {
    TfliteModel model = Dequantised(reader, axis);
    uint64_t room = 15;
    std::vector<UnsupportedOperator> folded;
    TakeFloatWeights(&model, &room, &folded);
    CHECK(model.operators.size() == 2);  // too large
    room = 16;
    TakeFloatWeights(&model, &room, &folded);
    CHECK(room == 0);
    REQUIRE(model.operators.size() == 1);
    CHECK(model.operators[0].inputs[1] == 2);
    CHECK(!model.has_stored_weights);
    float reals[4];
    REQUIRE(model.tensors[2].data_bytes == 16);
    std::memcpy(reals, model.tensors[2].data, 16);
    CHECK(reals[0] == 0.5f);
    CHECK(reals[1] == (axis == 0 ? 1.0f : 4.0f));
    CHECK(reals[2] == (axis == 0 ? -2.0f : -0.5f));
    CHECK(reals[3] == 8);
  }
}

TEST_CASE("float weights: an output of the model is written by its operator") {
  TfliteModel model = Dequantised(Op::ADD, 0);
  model.outputs = {2, 3};
  uint64_t room = 1000;
  std::vector<UnsupportedOperator> folded;
  TakeFloatWeights(&model, &room, &folded);
  CHECK(model.operators.size() == 2);
}

}  // namespace
}  // namespace sluice::import
