// SPDX-License-Identifier: Apache-2.0
#include "half_step.h"

namespace sluice::import {
namespace {

std::vector<int32_t> BinaryAttributes(int32_t zero0, int32_t zero1) {
  std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
  a[SLUICE_BINARY_ZERO0] = zero0;
  a[SLUICE_BINARY_ZERO1] = zero1;
  a[SLUICE_BINARY_ACT_MIN] = -128;
  a[SLUICE_BINARY_ACT_MAX] = 127;
  return a;
}

TEST_CASE(
    "training: both terms of a sum get its error, a broadcast one the sum of it") {
  HalfStep half;
  const uint32_t a = half.Tensor("a", {1, 4, 4, 3}), b = half.Tensor("b", {3});
  const uint32_t y = half.Tensor("y", {1, 4, 4, 3});
  const LayerRow layer = half.Layer(SLUICE_OP_ADD, {a, b}, y, BinaryAttributes(0, 0));
  PassBinary(&half.step, layer);
  CHECK(half.ShareOf(a) == half.error);
  CHECK(half.Added() == Ops{SLUICE_OP_REDUCE});
  CHECK(half.AddedLayer(0).inputs == TensorList{half.error});
  CHECK(half.AddedLayer(0).attributes[SLUICE_REDUCE_AXES] == (1 << 1 | 1 << 2));
}

TEST_CASE("training: factors get the error times the other factor") {
  HalfStep half;
  const uint32_t a = half.Tensor("a", {4, 3}), b = half.Tensor("b", {4, 3});
  const uint32_t y = half.Tensor("y", {4, 3});
  const LayerRow layer = half.Layer(SLUICE_OP_MUL, {a, b}, y, BinaryAttributes(5, 7));
  PassBinary(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_MUL, SLUICE_OP_MUL});
  CHECK(half.AddedLayer(0).inputs == TensorList{half.error, b});
  CHECK(half.AddedLayer(0).attributes[SLUICE_BINARY_ZERO1] == 7);
  CHECK(half.AddedLayer(1).inputs == TensorList{half.error, a});
  CHECK(half.AddedLayer(1).attributes[SLUICE_BINARY_ZERO1] == 5);
}

TEST_CASE("training: a requantised ReLU stops errors where it cut off") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  const LayerRow layer =
      half.Layer(SLUICE_OP_REQUANTIZE, {x}, y, {0, 1 << 30, 1, 0, 0, 127});
  PassRequantise(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_RELU_GRADIENT});
  CHECK(half.AddedLayer(0).outputs == TensorList{half.ShareOf(x)});
}

TEST_CASE("training: errors are multiplied by the slopes of a table") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  std::vector<int8_t> absolute(256);  // indexed by the input's bits
  for (int i = 0; i < 256; ++i) {
    absolute[static_cast<size_t>(i)] = static_cast<int8_t>(i < 128 ? i : 255 - i);
  }
  const uint32_t table =
      half.step.graph.AddConstant("t", SLUICE_DTYPE_INT8, {256}, absolute.data(), 256);
  const LayerRow layer = half.Layer(SLUICE_OP_LOOKUP, {x, table}, y, {});
  PassLookup(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_LOOKUP, SLUICE_OP_MUL});
  const GraphWriter& graph = half.step.graph;
  const TensorRow& row = graph.tensors()[half.AddedLayer(0).inputs[1]];
  const auto slope = [&](int value) {
    const uint8_t bits = static_cast<uint8_t>(value);
    return int{static_cast<int8_t>(*graph.constants().At(row.source_offset + bits))};
  };
  CHECK(slope(3) == 32);
  CHECK(slope(-3) == -32);
  CHECK(slope(127) == 16);  // 127 has one neighbour only
}

TEST_CASE("training: a table that the graph does not hold is left to the host") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {8}), y = half.Tensor("y", {8});
  const uint32_t table = half.Weight("t", {256});
  const LayerRow layer = half.Layer(SLUICE_OP_LOOKUP, {x, table}, y, {});
  PassLookup(&half.step, layer);
  CHECK(half.Added() == Ops{SLUICE_OP_OPAQUE});
}

}  // namespace
}  // namespace sluice::import
