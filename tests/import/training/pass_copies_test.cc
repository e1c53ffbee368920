// SPDX-License-Identifier: Apache-2.0
#include "half_step.h"

namespace sluice::import {
namespace {

TEST_CASE("training: parts of a concatenation get their part of its error") {
  HalfStep half;
  const uint32_t a = half.Tensor("a", {1, 2, 2, 3}), b = half.Tensor("b", {1, 2, 2, 5});
  const uint32_t y = half.Tensor("y", {1, 2, 2, 8});
  PassConcat(&half.step, half.Layer(SLUICE_OP_CONCAT, {a, b}, y, {3}));
  CHECK(half.Added() == Ops{SLUICE_OP_SLICE, SLUICE_OP_SLICE});
  CHECK(half.AddedLayer(0).attributes == Numbers32{0, 0, 0, 0});
  CHECK(half.AddedLayer(1).attributes == Numbers32{0, 0, 0, 3});
  CHECK(ShapeIn(half.step, half.ShareOf(b)) == Extents{1, 2, 2, 5});
}

TEST_CASE("training: a slice's error is padded, a pad's error is cut out") {
  HalfStep slice;
  const uint32_t x = slice.Tensor("x", {1, 4, 4, 3}),
                 y = slice.Tensor("y", {1, 2, 4, 3});
  PassSliceOrPad(&slice.step, slice.Layer(SLUICE_OP_SLICE, {x}, y, {0, 1, 0, 0}));
  CHECK(slice.Added() == Ops{SLUICE_OP_PAD});
  CHECK(slice.AddedLayer(0).attributes == Numbers32{0, 1, 0, 0, 0});
  CHECK(ShapeIn(slice.step, slice.ShareOf(x)) == Extents{1, 4, 4, 3});

  HalfStep pad;
  const uint32_t u = pad.Tensor("u", {1, 2, 4, 3}), v = pad.Tensor("v", {1, 4, 4, 3});
  PassSliceOrPad(&pad.step, pad.Layer(SLUICE_OP_PAD, {u}, v, {0, 1, 0, 0, 9}));
  CHECK(pad.Added() == Ops{SLUICE_OP_SLICE});
  CHECK(pad.AddedLayer(0).attributes == Numbers32{0, 1, 0, 0});
}

TEST_CASE("training: errors go back through a transposition, and through a reshape") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {2, 3, 4, 5}), y = half.Tensor("y", {4, 2, 5, 3});
  PassTranspose(&half.step, half.Layer(SLUICE_OP_TRANSPOSE, {x}, y, {2, 0, 3, 1}));
  CHECK(half.Added() == Ops{SLUICE_OP_TRANSPOSE});
  CHECK(half.AddedLayer(0).attributes == Numbers32{1, 3, 0, 2});

  HalfStep shaped;
  const uint32_t u = shaped.Tensor("u", {2, 3, 4}), v = shaped.Tensor("v", {24});
  PassReshape(&shaped.step, shaped.Layer(SLUICE_OP_RESHAPE, {u}, v, {}));
  CHECK(shaped.Added() == Ops{SLUICE_OP_RESHAPE});
  CHECK(ShapeIn(shaped.step, shaped.ShareOf(u)) == Extents{1, 2, 3, 4});
}

TEST_CASE("training: no layer is added without an error, nor for untrained inputs") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  const LayerRow layer = half.Layer(SLUICE_OP_TRANSPOSE, {x}, y, {0, 1, 2, 3});
  half.step.trained[x] = false;
  PassTranspose(&half.step, layer);
  half.step.trained[x] = true;
  half.step.errors[y].clear();  // no layer with a trained input reads y
  PassTranspose(&half.step, layer);
  CHECK(half.Added().empty());
}

}  // namespace
}  // namespace sluice::import
