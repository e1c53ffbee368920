// SPDX-License-Identifier: Apache-2.0
// L-RASPP on MobileNetV3-Large against what torchvision publishes of it.
#include <doctest/doctest.h>

#include "counts.h"

namespace sluice_test {
namespace {

TEST_CASE("lraspp: 3.22 million weights, and 2.09 billion MACs for 520 x 520") {
  const NetworkCounts c = CountsOf("lraspp");
  CHECK(c.depthwise == 15);
  // The stem; 15 depthwise; 14 expansions; 15 projections; 8 squeezes of two; the last
  // one; 4 of the head.
  CHECK(c.convolutions == 1 + 15 + 14 + 15 + 2 * 8 + 1 + 4);
  CHECK(c.matrices == 0);
  CheckNear(c.weights, 3.22e6, 0.01);
  // 520 is not a multiple of 16: the deep maps are 33 wide, not 32.5.
  CheckNear(c.macs, 2.09e9 * 224 * 224 / (520 * 520), 0.03);
}

TEST_CASE("lraspp: the last stage dilates, so the head sees 14 x 14 and 28 x 28") {
  const Bytes bytes = sluice::zoo::MakeZooGraph("lraspp", {});
  const GraphReader graph(bytes);
  int dilated = 0;
  std::array<int64_t, 4> sum = {}, result = {};
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    const auto out = graph.Dims(graph.Output(l));
    if (graph.Op(l) == SLUICE_OP_DEPTHWISE_CONV &&
        graph.Attribute(l, SLUICE_CONV_DILATION_H) == 2) {
      ++dilated;
      CHECK(out[1] == 14);
      CHECK(out[2] == 14);
    }
    if (graph.Op(l) == SLUICE_OP_ADD) sum = out;
    result = out;
  }
  CHECK(dilated == 3);
  CHECK(sum == std::array<int64_t, 4>{1, 28, 28, 21});
  CHECK(result == std::array<int64_t, 4>{1, 224, 224, 21});
}

}  // namespace
}  // namespace sluice_test
