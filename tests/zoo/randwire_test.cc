// SPDX-License-Identifier: Apache-2.0
// The randomly wired network: only three numbers of its wiring, the heads of each
// stage, decide weights and MACs.
#include <doctest/doctest.h>

#include <map>

#include "counts.h"

namespace sluice_test {
namespace {

// Weights of a stage of 10 nodes. `heads` nodes read the stage's input, the others read
// `out` channels; a node is a 3x3 convolution that keeps its channels and a 1x1 one to
// `out`.
constexpr int64_t StageWeights(int64_t heads, int64_t in, int64_t out) {
  return heads * (9 * in * in + in * out) + (10 - heads) * (9 * out * out + out * out);
}

TEST_CASE("randwire: weights and MACs are those of stages with 2, 3 and 2 heads") {
  const NetworkCounts c = CountsOf("randwire");
  CHECK(c.convolutions == 2 + 3 * 10 * 2 + 1);
  const int64_t first = 27 * 32, second = 9 * 32 * 64, last = 256 * 1024;
  const int64_t three = StageWeights(2, 64, 64), four = StageWeights(3, 64, 128),
                five = StageWeights(2, 128, 256);
  CHECK(c.weights == first + second + three + four + five + last);
  CHECK(c.macs == first * 112 * 112 + second * 56 * 56 + three * 28 * 28 +
                      four * 14 * 14 + (five + last) * 7 * 7);
}

TEST_CASE("randwire: 2, 3 and 2 nodes read a stage's input, and halve its extents") {
  const Bytes bytes = sluice::zoo::MakeZooGraph("randwire", {});
  const GraphReader graph(bytes);
  std::map<int64_t, int> heads;  // by extent of their inputs
  for (uint32_t l = 2; l < graph.layers(); ++l) {
    if (graph.Op(l) != SLUICE_OP_CONV) continue;
    if (graph.Attribute(l, SLUICE_CONV_STRIDE_H) != 2) continue;
    ++heads[graph.Dims(graph.Input(l, 0))[1]];
  }
  CHECK(heads == std::map<int64_t, int>{{56, 2}, {28, 3}, {14, 2}});
}

TEST_CASE("randwire: two graphs of one process have the same wiring") {
  CHECK(sluice::zoo::MakeZooGraph("randwire", {}) ==
        sluice::zoo::MakeZooGraph("randwire", {}));
}

}  // namespace
}  // namespace sluice_test
