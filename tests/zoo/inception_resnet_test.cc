// SPDX-License-Identifier: Apache-2.0
// Inception-ResNet v1 against the channels and extents of its published figures.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "counts.h"

namespace sluice_test {
namespace {

// Szegedy et al., "Inception-v4", figures 7 and 10 to 15.
constexpr int64_t kStem =
    27 * 32 + 9 * (32 * 32 + 32 * 64) + 64 * 80 + 9 * (80 * 192 + 192 * 256);
constexpr int64_t kBlockA = 3 * 256 * 32 + 3 * 9 * 32 * 32 + 96 * 256;
constexpr int64_t kReduceA = 9 * 256 * 384 + 256 * 192 + 9 * (192 * 192 + 192 * 256);
constexpr int64_t kBlockB = 2 * 896 * 128 + 2 * 7 * 128 * 128 + 256 * 896;
constexpr int64_t kReduceB = 3 * 896 * 256 + 9 * (256 * 384 + 3 * 256 * 256);
constexpr int64_t kBlockC = 2 * 1792 * 192 + 2 * 3 * 192 * 192 + 384 * 1792;

TEST_CASE(
    "inception_resnet: weights are those of the stem, 20 blocks and 2 reductions") {
  const NetworkCounts c = CountsOf("inception_resnet_v1");
  CHECK(c.convolutions == 6 + 5 * 7 + 4 + 10 * 5 + 7 + 5 * 5);
  CHECK(c.additions == 5 + 10 + 5);
  CHECK(c.pools == 4);  // stem, two reductions, before the classes
  CHECK(c.matrices == 1);
  CHECK(c.weights == kStem + 5 * kBlockA + kReduceA + 10 * kBlockB + kReduceB +
                         5 * kBlockC + 1792 * 1000);
}

TEST_CASE("inception_resnet: blocks add at 35 x 35, 17 x 17 and 8 x 8") {
  const Bytes bytes = sluice::zoo::MakeZooGraph("inception_resnet_v1", {});
  const GraphReader graph(bytes);
  std::vector<std::array<int64_t, 4>> sums;
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    if (graph.Op(l) == SLUICE_OP_ADD) sums.push_back(graph.Dims(graph.Output(l)));
  }
  const auto times = [&](const std::array<int64_t, 4>& dims) {
    return std::count(sums.begin(), sums.end(), dims);
  };
  CHECK(times({1, 35, 35, 256}) == 5);
  CHECK(times({1, 17, 17, 896}) == 10);
  CHECK(times({1, 8, 8, 1792}) == 5);
}

}  // namespace
}  // namespace sluice_test
