// SPDX-License-Identifier: Apache-2.0
#include "zoo/torch_layers.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace sluice::zoo
