// SPDX-License-Identifier: Apache-2.0
// NASNet-A, PNASNet-5, AmoebaNet-D and DARTS against what their authors published.
#include <doctest/doctest.h>

#include "counts.h"

namespace sluice_test {
namespace {

// Zoph et al.: 5.3 million parameters, 564 million multiply-adds for 4 @ 1056.
TEST_CASE("searched: NASNet-A has 564 million MACs in 2 + 12 + 2 cells") {
  const NetworkCounts c = CountsOf("nasnet_a");
  CHECK(c.additions == 5 * (2 + 3 * 4 + 2));
  CHECK(c.matrices == 1);
  CheckNear(c.weights, 5.3e6, 0.01);
  CheckNear(c.macs, 564e6, 0.001);
}

// Liu et al.: 5.1 million parameters, 588 million multiply-adds for 3 cells of 54.
TEST_CASE("searched: PNASNet-5 has 588 million MACs in 2 + 9 cells") {
  const NetworkCounts c = CountsOf("pnasnet5");
  CHECK(c.additions == 5 * (2 + 3 * 3));
  CheckNear(c.weights, 5.1e6, 0.015);
  CheckNear(c.macs, 588e6, 0.001);
}

// Liu et al.: 4.7 million parameters. The published 574 million multiply-adds are more
// than its layers have.
TEST_CASE("searched: DARTS has 4.7 million weights in 14 cells of four sums") {
  const NetworkCounts c = CountsOf("darts");
  CHECK(c.additions == 4 * 14);
  CheckNear(c.weights, 4.7e6, 0.005);
  CHECK(c.macs < 574000000);
  CHECK(c.macs > 525000000);
}

// The size is not a published one, the cells are. Six of a normal cell's ten edges have
// filters, and the last cells give 4 states of 4 * 48 channels.
TEST_CASE("searched: AmoebaNet-D has 12 normal and 4 reducing cells") {
  const NetworkCounts c = CountsOf("amoebanet_d");
  CHECK(c.additions == 5 * (2 + 3 * 4 + 2));
  const Bytes bytes = sluice::zoo::MakeZooGraph("amoebanet_d", {});
  const GraphReader graph(bytes);
  int concats = 0, halved = 0;
  std::array<int64_t, 4> last = {};
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    halved += graph.Op(l) == SLUICE_OP_SLICE;
    if (graph.Op(l) != SLUICE_OP_CONCAT) continue;
    ++concats;
    last = graph.Dims(graph.Output(l));
  }
  CHECK(last == std::array<int64_t, 4>{1, 7, 7, 4 * 4 * 48});
  // A cell behind a reduction halves the state before it, by a concat of its own.
  CHECK(concats == 16 + halved);
  CHECK(halved == 4);
}

}  // namespace
}  // namespace sluice_test
