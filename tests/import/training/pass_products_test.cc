// SPDX-License-Identifier: Apache-2.0
// tests/zoo/training_test.cc checks in exact integers that these layers are adjoint to
// those whose gradients they compute. Here: which layers are added, on which tensors.
#include "half_step.h"

namespace sluice::import {
namespace {

std::vector<int32_t> ConvAttributes(int32_t stride, int32_t groups) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = stride;
  a[SLUICE_CONV_PAD_TOP] = a[SLUICE_CONV_PAD_LEFT] = 1;
  a[SLUICE_CONV_GROUPS] = groups;
  a[SLUICE_CONV_ACT_MIN] = -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  return a;
}

TEST_CASE("training: a convolution gives its weight a gradient, its input an error") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {1, 8, 8, 6}),
                 y = half.Tensor("y", {1, 4, 4, 10});
  const uint32_t w = half.Weight("w", {10, 3, 3, 6});
  const LayerRow layer =
      half.Layer(SLUICE_OP_CONV, {x, w, kNoTensor}, y, ConvAttributes(2, 0));
  PassConvolution(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_WEIGHT_GRADIENT, SLUICE_OP_TRANSPOSED_CONV});
  const LayerRow &gradient = half.AddedLayer(0), &back = half.AddedLayer(1);
  CHECK(gradient.inputs == TensorList{x, half.error});
  CHECK(half.step.graph.name(gradient.name) == "w.gradient");
  const TensorRow &out = half.step.graph.tensors()[gradient.outputs[0]];
  CHECK(out.kind == Kind::kOutput);
  CHECK(out.dims == Dims{10, 3, 3, 6});
  CHECK(back.inputs[0] == half.error);
  CHECK(back.inputs[1] == w);
  CHECK(back.attributes[SLUICE_CONV_STRIDE_H] == 2);
  CHECK(back.attributes[SLUICE_CONV_WEIGHT_LAYOUT] == SLUICE_WEIGHT_LAYOUT_CONV);
  CHECK(ShapeIn(half.step, half.ShareOf(x)) == ShapeIn(half.step, x));
}

TEST_CASE("training: the input of a grouped convolution is the host's") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {1, 4, 4, 6}), y = half.Tensor("y", {1, 4, 4, 4});
  const uint32_t w = half.Weight("w", {4, 3, 3, 3});
  const LayerRow layer =
      half.Layer(SLUICE_OP_CONV, {x, w, kNoTensor}, y, ConvAttributes(1, 2));
  PassConvolution(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_WEIGHT_GRADIENT, SLUICE_OP_OPAQUE});
  CHECK(half.AddedLayer(0).attributes[SLUICE_CONV_GROUPS] == 2);
}

TEST_CASE("training: a fully connected layer's error is reshaped before its input") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {2, 5, 6}), y = half.Tensor("y", {2, 5, 3});
  const uint32_t w = half.Weight("w", {3, 6});
  const LayerRow layer =
      half.Layer(SLUICE_OP_FULLY_CONNECTED, {x, w, kNoTensor}, y, ConvAttributes(0, 0));
  PassFullyConnected(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_RESHAPE, SLUICE_OP_RESHAPE,
                            SLUICE_OP_WEIGHT_GRADIENT, SLUICE_OP_RESHAPE,
                            SLUICE_OP_BATCH_MATMUL, SLUICE_OP_RESHAPE});
  CHECK(half.AddedLayer(0).inputs == TensorList{half.error});
  CHECK(half.AddedLayer(1).inputs == TensorList{x});
  CHECK(ShapeIn(half.step, half.AddedLayer(2).outputs[0]) == Extents{3, 1, 1, 6});
}

TEST_CASE("training: factors of a product get the error times the other one") {
  for (const int32_t transposed : {0, 1}) {
    CAPTURE(transposed);
    HalfStep half;
    const uint32_t a = half.Tensor("a", {1, 2, 3, 4});
    const uint32_t b =
        half.Tensor("b", transposed != 0 ? Dims{1, 2, 5, 4} : Dims{1, 2, 4, 5});
    const uint32_t y = half.Tensor("y", {1, 2, 3, 5});
    const LayerRow layer = half.Layer(SLUICE_OP_BATCH_MATMUL, {a, b}, y,
                                      {transposed, 11, 22, 0, 1 << 30, 0, -128, 127});
    PassMatmul(&half.step, layer);
    CHECK(half.Added() ==
          Ops{SLUICE_OP_BATCH_MATMUL, SLUICE_OP_TRANSPOSE, SLUICE_OP_BATCH_MATMUL});
    const LayerRow &to_a = half.AddedLayer(0), &to_b = half.AddedLayer(2);
    CHECK(to_a.inputs == TensorList{half.error, b});
    CHECK(to_a.attributes[SLUICE_MATMUL_TRANSPOSE_B] == 1 - transposed);
    CHECK(to_a.attributes[SLUICE_MATMUL_B_ZERO] == 22);
    CHECK(half.AddedLayer(1).inputs == TensorList{transposed != 0 ? half.error : a});
    CHECK(to_b.inputs[1] == (transposed != 0 ? a : half.error));
    const auto zero = transposed != 0 ? SLUICE_MATMUL_B_ZERO : SLUICE_MATMUL_A_ZERO;
    CHECK(to_b.attributes[zero] == 11);
    CHECK(ShapeIn(half.step, half.ShareOf(a)) == ShapeIn(half.step, a));
    CHECK(ShapeIn(half.step, half.ShareOf(b)) == ShapeIn(half.step, b));
  }
}

}  // namespace
}  // namespace sluice::import
