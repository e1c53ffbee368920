// SPDX-License-Identifier: Apache-2.0
// ResNeXt-50, DenseNet-121, FCN and DeepLabV3: their stages, and what torchvision publishes
// of them.
#include <doctest/doctest.h>

#include <string>

#include "counts.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

using sluice_test::CheckNear;
using sluice_test::CountsOf;
using sluice_test::NetworkCounts;

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

TEST_CASE("residual: ResNeXt-50 has 25.03 million weights and 4.23 billion MACs") {
  const NetworkCounts c = CountsOf("resnext50");
  CHECK(c.convolutions == 53);
  CHECK(c.matrices == 1);
  CHECK(c.additions == 16);
  CheckNear(c.weights, 25.03e6, 0.003);
  CheckNear(c.macs, 4.23e9, 0.001);
}

// Norms in front of convolutions cannot be folded away and are 62 depthwise layers.
TEST_CASE("residual: DenseNet-121 has 120 convolutions and 2.83 billion MACs") {
  const NetworkCounts c = CountsOf("densenet121");
  CHECK(c.convolutions - c.depthwise == 120);
  CHECK(c.depthwise == 6 + 12 + 24 + 16 + 4);
  CHECK(c.matrices == 1);
  CHECK(c.additions == 0);
  CheckNear(c.weights, 7.98e6, 0.01);
  CheckNear(c.macs, 2.83e9, 0.006);
}

// torchvision's figures are for images of 520 x 520 and include an auxiliary head, 3x3
// and 1x1 on the 1024 channels of stage 3, which inference does not need. At 224 x 224
// all maps are smaller by 28 / 65 a side.
constexpr double kSmaller = 28.0 * 28 / (65 * 65);
constexpr double kAuxiliary = (9.0 * 1024 * 256 + 256 * 21) * 65 * 65;

TEST_CASE("residual: FCN and DeepLabV3 stand on a dilated ResNet-50") {
  const NetworkCounts fcn = CountsOf("fcn");
  CHECK(fcn.convolutions == 53 + 2);
  CHECK(fcn.matrices == 0);
  CheckNear(fcn.weights, 32.95e6, 0.002);
  CheckNear(fcn.macs, (152.72e9 - kAuxiliary) * kSmaller, 0.001);
  const NetworkCounts deeplab = CountsOf("deeplabv3");
  CHECK(deeplab.convolutions == 53 + 5 + 3);
  CHECK(deeplab.pools == 2);  // in front of the stages and in the pyramid
  CheckNear(deeplab.weights, 39.63e6, 0.002);
  CheckNear(deeplab.macs, (178.72e9 - kAuxiliary) * kSmaller, 0.001);
}

}  // namespace
}  // namespace sluice::zoo
