// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "half_step.h"

namespace sluice::import {
namespace {

const std::vector<int32_t> kTwoByTwo = {2, 2, 2, 2, 0, 0, 0, 0, -128, 127};

TEST_CASE("training: a max pool's error goes to the largest of a window") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {1, 4, 4, 3}), y = half.Tensor("y", {1, 2, 2, 3});
  const LayerRow layer = half.Layer(SLUICE_OP_MAX_POOL, {x}, y, kTwoByTwo);
  PassMaxPool(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_MAX_POOL_GRADIENT});
  CHECK(half.AddedLayer(0).inputs == TensorList{half.error, x});
  // A quarter of the elements get the whole error.
  CHECK(SpreadOf(half.step, half.ShareOf(x)) == doctest::Approx(16));
}

TEST_CASE("training: an average over everything spreads its error everywhere") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {1, 4, 4, 3}), y = half.Tensor("y", {1, 1, 1, 3});
  const LayerRow layer =
      half.Layer(SLUICE_OP_AVERAGE_POOL, {x}, y, {4, 4, 4, 4, 0, 0, 0, 0, -128, 127});
  PassAveragePool(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_RESIZE_NEAREST});
}

TEST_CASE("training: an average over windows spreads its error by ones") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {1, 4, 4, 3}), y = half.Tensor("y", {1, 2, 2, 3});
  const LayerRow layer = half.Layer(SLUICE_OP_AVERAGE_POOL, {x}, y, kTwoByTwo);
  PassAveragePool(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_TRANSPOSED_CONV});
  const TensorRow& ones = half.step.graph.tensors()[half.AddedLayer(0).inputs[1]];
  CHECK(ones.dims == Dims{1, 2, 2, 3});
  const uint8_t* first = half.step.graph.constants().At(ones.source_offset);
  CHECK(std::count(first, first + 12, uint8_t{1}) == 12);

  HalfStep small;
  const uint32_t u = small.Tensor("u", {1, 4, 4, 3}),
                 v = small.Tensor("v", {1, 2, 2, 3});
  const LayerRow refused = small.Layer(SLUICE_OP_AVERAGE_POOL, {u}, v, kTwoByTwo);
  small.step.graph.LimitConstants(11);
  CHECK_THROWS(PassAveragePool(&small.step, refused));
}

}  // namespace
}  // namespace sluice::import
