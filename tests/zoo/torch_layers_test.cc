// SPDX-License-Identifier: Apache-2.0
#include "zoo/torch_layers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace sluice::zoo {
namespace {

TEST_CASE("torch layers: a square window keeps the extents, dilated or not") {
  Network net("square");
  const Fmap x = net.Input("x", {1, 28, 28, 16});
  for (const int32_t dilation : {1, 2, 4}) {
    const std::string name = "d" + std::to_string(dilation);
    const Fmap y = Conv(&net, name, x, 8, Square(3, 1, dilation), false);
    CHECK(y.dims == Dims{1, 28, 28, 8});
    const auto& layer = net.writer().layers().back();
    CHECK(layer.attributes[SLUICE_CONV_PAD_BOTTOM] == dilation);
    CHECK(layer.attributes[SLUICE_CONV_DILATION_W] == dilation);
  }
  CHECK(Conv(&net, "half", x, 8, Square(7, 2), false).dims == Dims{1, 14, 14, 8});
}

TEST_CASE("torch layers: groups thin the weight, depthwise ones have no groups") {
  Network net("groups");
  const Fmap x = net.Input("x", {1, 8, 8, 16});
  Conv(&net, "grouped", x, 32, Grouped(Square(3), 4), true);
  const auto& writer = net.writer();
  const auto weight = [&] {
    return writer.tensors()[writer.layers().back().inputs[1]];
  };
  CHECK(weight().dims == Dims{32, 3, 3, 4});
  CHECK(writer.layers().back().attributes[SLUICE_CONV_GROUPS] == 4);
  DepthwiseConv(&net, "depthwise", x, Square(3), true);
  CHECK(weight().dims == Dims{1, 3, 3, 16});
  CHECK(writer.layers().back().attributes[SLUICE_CONV_GROUPS] == 0);
}

TEST_CASE("torch layers: attention reads tokens and memory") {
  Network net("attention");
  const Fmap tokens = net.Input("tokens", {1, 1, 10, 64});
  const Fmap memory = net.Input("memory", {1, 1, 20, 64});
  CHECK(Attention(&net, "a", tokens, memory, 4).dims == Dims{1, 1, 10, 64});
  std::vector<Dims> products;
  for (const auto& layer : net.writer().layers()) {
    if (layer.op == SLUICE_OP_BATCH_MATMUL) {
      products.push_back(net.writer().tensors()[layer.outputs[0]].dims);
    }
  }
  CHECK(products == std::vector<Dims>{{1, 4, 10, 20}, {1, 4, 10, 16}});
}

TEST_CASE("torch layers: extents are floor((in + 2 pad - reach) / stride) + 1") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 224, 15, 6});
  CHECK(Conv(&net, "a", x, 8, Square(7, 2), true).dims == Dims{1, 112, 8, 8});
  CHECK(Conv(&net, "b", x, 8, Square(3, 1, 6), true).dims == Dims{1, 224, 15, 8});
  // Without pads: (224 - 2) / 2 + 1, (15 - 2) / 2 + 1 rounded down.
  CHECK(AveragePool(&net, "c", x, {2, 2, 2, 2}).dims == Dims{1, 112, 7, 6});
  const Kernel wide = {1, 7, 1, 2, 0, 3};
  CHECK(DepthwiseConv(&net, "d", x, wide, false).dims == Dims{1, 224, 8, 6});
  CHECK(MaxPool(&net, "e", x, Square(3, 2)).dims == Dims{1, 112, 8, 6});
}

TEST_CASE("torch layers: curves go through known points") {
  CHECK(HardSigmoid(-3) == 0);
  CHECK(HardSigmoid(0) == 0.5f);
  CHECK(HardSigmoid(3) == 1);
  CHECK(HardSwish(-3) == 0);
  CHECK(HardSwish(1) == doctest::Approx(1.0 / 6 + 0.5));
  CHECK(HardSwish(5) == 5);
  CHECK(Sigmoid(0) == 0.5f);
  CHECK(Sigmoid(std::log(3.0f)) == doctest::Approx(0.75));
  CHECK(Gelu(0) == 0);
  CHECK(Gelu(1) == doctest::Approx(0.841345));  // the normal distribution at 1
}

TEST_CASE("torch layers: a table holds 127 where a gate is wide open") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 1, 1, 4});
  const Fmap gate = Curve(&net, "g", x, HardSigmoid);
  CHECK(gate.rms == 64);
  const auto& table = net.writer().constants();
  REQUIRE(table.size() == 256);
  // Steps are 1 / 74: -128 is -1.73, so x / 6 + 1/2 = 0.2117, and 127 times that is 27.
  CHECK(*table.At(0x80) == 27);
  CHECK(*table.At(0) == 64);      // one half
  CHECK(*table.At(0x7f) == 100);  // 1.716 / 6 + 1/2 = 0.786
}

TEST_CASE(
    "torch layers: a transposition moves extents, a slice and a resize set them") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 2, 3, 4});
  CHECK(Transpose(&net, "t", x, {0, 2, 1, 3}).dims == Dims{1, 3, 2, 4});
  CHECK(Slice(&net, "s", x, {0, 1, 1, 0}, {1, 1, 2, 4}).dims == Dims{1, 1, 2, 4});
  CHECK(Resize(&net, "r", x, 8, 9).dims == Dims{1, 8, 9, 4});
  const Fmap gate = net.Input("g", {1, 1, 1, 4});
  CHECK(Gate(&net, "m", x, gate).dims == x.dims);
}

}  // namespace
}  // namespace sluice::zoo
