// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

// The output of the layer of this name.
Dims ShapeOf(const GraphWriter& graph, const std::string& name) {
  for (const auto& layer : graph.layers()) {
    if (graph.name(layer.name) == name) return graph.tensors()[layer.outputs[0]].dims;
  }
  FAIL("no layer " << name);
  return {};
}

TEST_CASE(
    "residual: ResNeXt has groups, and a convolution as shortcut once per stage") {
  const GraphWriter graph(MakeZooGraph("resnext50", ZooOptions()));
  int grouped = 0, shortcuts = 0;
  for (const auto& layer : graph.layers()) {
    const bool conv = layer.op == SLUICE_OP_CONV;
    grouped += conv && layer.attributes[SLUICE_CONV_GROUPS] == 32 ? 1 : 0;
    const std::string name = graph.name(layer.name);
    shortcuts += name.find(".shortcut") != std::string::npos ? 1 : 0;
  }
  CHECK(grouped == 3 + 4 + 6 + 3);
  CHECK(shortcuts == 4);
  CHECK(ShapeOf(graph, "stage1.0.b") == Dims{1, 56, 56, 128});
  CHECK(ShapeOf(graph, "stage4.2.add") == Dims{1, 7, 7, 2048});
}

TEST_CASE("residual: the last two stages of FCN dilate, their first blocks less") {
  const GraphWriter graph(MakeZooGraph("fcn", ZooOptions()));
  CHECK(ShapeOf(graph, "stage4.2.add") == Dims{1, 28, 28, 2048});
  const auto dilation = [&](const std::string& name) {
    for (const auto& layer : graph.layers()) {
      if (graph.name(layer.name) == name) {
        return layer.attributes[SLUICE_CONV_DILATION_H];
      }
    }
    return -1;
  };
  CHECK(dilation("stage3.0.b") == 1);
  CHECK(dilation("stage3.1.b") == 2);
  CHECK(dilation("stage4.0.b") == 2);
  CHECK(dilation("stage4.1.b") == 4);
}

}  // namespace
}  // namespace sluice::zoo
