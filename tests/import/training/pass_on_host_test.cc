// SPDX-License-Identifier: Apache-2.0
#include "half_step.h"

namespace sluice::import {
namespace {

TEST_CASE("training: the host reads the error and each input and output once") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {2, 8}), y = half.Tensor("y", {2, 8});
  const uint32_t table = half.Weight("t", {8});
  const LayerRow layer = half.Layer(SLUICE_OP_SOFTMAX, {x, table, x, kNoTensor}, y, {});
  PassOnHost(&half.step, layer);
  REQUIRE(half.Added() == Ops{SLUICE_OP_OPAQUE});
  const LayerRow& host = half.AddedLayer(0);
  CHECK(host.inputs == TensorList{half.error, y, x, table});
  CHECK(host.outputs == TensorList{half.ShareOf(x)});  // constants are not trained
  CHECK(host.attributes[0] == 16);  // cycles: one per byte of the errors it writes
  const uint32_t what = static_cast<uint32_t>(host.attributes[2]);
  CHECK(half.step.graph.name(what) == "gradient");
}

TEST_CASE("training: the host has no work without an error or a trained input") {
  HalfStep half;
  const uint32_t x = half.Tensor("x", {2, 8}), y = half.Tensor("y", {2, 8});
  const LayerRow layer = half.Layer(SLUICE_OP_SOFTMAX, {x}, y, {});
  PassErrorOnHost(&half.step, layer, kNoTensor);
  half.step.trained[x] = false;
  PassOnHost(&half.step, layer);
  CHECK(half.Added().empty());
}

}  // namespace
}  // namespace sluice::import
