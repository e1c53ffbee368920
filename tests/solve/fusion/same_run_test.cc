// SPDX-License-Identifier: Apache-2.0
// Runs of layers that may share one schedule, and each difference that forbids sharing.
#include "solve/fusion/same_run.h"

#include <doctest/doctest.h>

#include "tests/solve/fusion/lowered.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::Lowered;

struct Run : Lowered {
  Run(const GraphSpec& graph, const std::vector<uint32_t>& layers) : Lowered(graph) {
    REQUIRE(MakeFusionRun({n.graph, n.hardware, lowering, 1 << 16},
                          {layers.data(), layers.size()}, &n.arena,
                          &run) == Status::kOk);
  }
  FusionRun run;
};

TEST_CASE("same run: equal layers of one chain, or of two graphs, are the same") {
  const Run a(Chain(6), {0, 1}), b(Chain(6), {2, 3}), c(Chain(4), {0, 1});
  CHECK(SameRun(a.run, a.run));
  CHECK(SameRun(a.run, b.run));
  CHECK(SameRun(a.run, c.run));
}

TEST_CASE("same run: length, shape, attributes, operator and readers tell runs apart") {
  const Run a(Chain(6), {0, 1});
  CHECK(!SameRun(a.run, Run(Chain(6), {0, 1, 2}).run));
  CHECK(!SameRun(a.run, Run(Chain(6, 8), {0, 1}).run));
  GraphSpec other = Chain(6);
  other.layers[1].attributes[0] = 3;
  CHECK(!SameRun(a.run, Run(other, {0, 1}).run));
  other = Chain(6);
  other.layers[1].op = SLUICE_OP_MAX_POOL;
  other.layers[1].attributes = {1, 1, 1, 1, 0, 0, 0, 0, -128, 127};
  CHECK(!SameRun(a.run, Run(other, {0, 1}).run));
  // Layer 3 reads the result of layer 0, so that result must be stored.
  other = Chain(6);
  other.layers[3].inputs = {1};
  other.tensors[3].kind = 2;
  CHECK(!SameRun(a.run, Run(other, {0, 1}).run));
}

}  // namespace
}  // namespace sluice
