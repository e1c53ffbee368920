// SPDX-License-Identifier: Apache-2.0
#include "import/training/training_step.h"

#include <cmath>

#include "half_step.h"

namespace sluice::import {
namespace {

TEST_CASE("training: shares of an error are added up, and their spread is kept") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {2, 3}), y = half.Tensor("y", {2, 3});
  const LayerRow layer = half.Layer(SLUICE_OP_RESHAPE, {x}, y, {});
  CHECK(ErrorOf(&half.step, layer) == half.error);
  CHECK(half.Added().empty());
  const uint32_t other = half.Tensor("other", {6});
  half.step.spread[other] = 16;
  PassError(&half.step, y, other);  // reshaped to y's extents
  const uint32_t whole = ErrorOf(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_RESHAPE, SLUICE_OP_ADD});
  CHECK(half.AddedLayer(1).outputs == TensorList{whole});
  CHECK(ShapeIn(half.step, whole) == ShapeIn(half.step, y));
  CHECK(SpreadOf(half.step, whole) ==
        doctest::Approx(std::sqrt((32.0 * 32 + 16 * 16) / 2)));
}

TEST_CASE("training: a ReLU inside a layer stops errors, other clamps do not") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  const LayerRow layer = half.Layer(SLUICE_OP_REQUANTIZE, {x}, y, {});
  CHECK(ErrorBeforeRelu(&half.step, layer, -5, -128) == half.error);
  const uint32_t passed = ErrorBeforeRelu(&half.step, layer, -5, -5);
  CHECK(half.Added() == Ops{SLUICE_OP_RELU_GRADIENT});
  CHECK(half.AddedLayer(0).inputs == TensorList{half.error, y});
  CHECK(half.AddedLayer(0).attributes[SLUICE_BINARY_ZERO1] == -5);
  CHECK(SpreadOf(half.step, passed) == doctest::Approx(32 / std::sqrt(2.0)));
}

TEST_CASE("training: sums of one length share their parameters") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  half.Layer(SLUICE_OP_REQUANTIZE, {x}, y, {});
  TrainingStep* step = &half.step;
  const uint32_t nine = AddErrorParameters(step, {4, 9, kWeightSpread}, half.error);
  CHECK(AddErrorParameters(step, {4, 9, kWeightSpread}, half.error) == nine);
  CHECK(AddErrorParameters(step, {4, 25, kWeightSpread}, half.error) != nine);
  CHECK(step->graph.tensors()[nine].dims == Dims{4, 3});
  step->graph.LimitConstants(200);
  CHECK_THROWS(AddErrorParameters(step, {1000, 9, kWeightSpread}, half.error));
}

}  // namespace
}  // namespace sluice::import
