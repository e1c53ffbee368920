// SPDX-License-Identifier: Apache-2.0
#include "zoo/network.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace sluice::zoo {
namespace {

TEST_CASE("network: windows are padded as TensorFlow pads them, or not at all") {
  Network net("windows");
  const Fmap image = net.Input("image", {2, 224, 224, 3});
  const Fmap same = net.Convolution("same", image, 8, {3, 2}, true);
  CHECK(same.dims == Dims{2, 112, 112, 8});
  CHECK(same.rms == doctest::Approx(Network::kSpread / std::sqrt(2.0)));
  const auto& layer = net.writer().layers().back();
  CHECK(layer.attributes[SLUICE_CONV_PAD_TOP] == 0);
  CHECK(layer.attributes[SLUICE_CONV_PAD_BOTTOM] == 1);
  CHECK(layer.attributes[SLUICE_CONV_ACT_MIN] == 0);
  const Fmap valid = net.Convolution("valid", image, 8, {3, 2, Padding::kValid}, false);
  CHECK(valid.dims == Dims{2, 111, 111, 8});
  const Fmap depthwise = net.Depthwise("depthwise", same, {5, 1}, false);
  CHECK(depthwise.dims == same.dims);
  const uint32_t weight = net.writer().layers().back().inputs[1];
  CHECK(net.writer().tensors()[weight].dims == Dims{1, 5, 5, 8});
}

TEST_CASE("network: a product says what is transposed, and its factor") {
  Network net("product");
  const Fmap a = net.Input("a", {1, 2, 3, 8}), b = net.Input("b", {1, 2, 5, 8});
  const Fmap y = net.Matmul("y", {a, b, true, -128, 0.25}, {1, 2, 3, 5}, 20);
  CHECK(y.dims == Dims{1, 2, 3, 5});
  CHECK(y.rms == 20);
  const auto& layer = net.writer().layers().back();
  CHECK(layer.inputs == std::vector<uint32_t>{a.tensor, b.tensor});
  CHECK(layer.attributes[SLUICE_MATMUL_TRANSPOSE_B] == 1);
  CHECK(layer.attributes[SLUICE_MATMUL_A_ZERO] == -128);
  CHECK(layer.attributes[SLUICE_MATMUL_B_ZERO] == 0);
  CHECK(layer.attributes[SLUICE_MATMUL_MULTIPLIER] == 1 << 30);
  CHECK(layer.attributes[SLUICE_MATMUL_SHIFT] == -1);
}

TEST_CASE("network: equal parameters are one tensor, weights are seeded by name") {
  Network net("shared");
  CHECK(net.Parameters(8, 0.5, 4, 0) == net.Parameters(8, 0.5, 4, 0));
  CHECK(net.Parameters(8, 0.5, 4, 0) != net.Parameters(8, 0.25, 4, 0));
  const uint32_t a = net.Weight("a", {4}), b = net.Weight("b", {4});
  const auto& tensors = net.writer().tensors();
  CHECK(tensors[a].source_offset != tensors[b].source_offset);
}

}  // namespace
}  // namespace sluice::zoo
