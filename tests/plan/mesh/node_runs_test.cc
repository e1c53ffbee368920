// SPDX-License-Identifier: Apache-2.0
// Runs of a small network: where DRAM is slow layers stay together, where a layer by itself
// costs nothing they do not.
#include "plan/mesh/node_runs.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::HardwareSpec;

GraphSpec Network() {
  return Chain(8, 8, 8, 8).Conv(16, 3).Conv(16, 3, 1, true).Conv(16, 1).Pool(2).Done();
}

struct Found : sluice_test::NodeLayers {
  explicit Found(double alone_cost, int64_t capacity = 1 << 14)
      : NodeLayers(Network(), 4, 2), alone(4, alone_cost), order{0, 1, 2, 3} {
    status = FindRuns({n.graph,
                       n.hardware,
                       lowering,
                       capacity,
                       {order.data(), order.size()},
                       WholeMesh(n.hardware),
                       {alone.data(), alone.size()},
                       0,
                       1,
                       coster,
                       &budget},
                      &n.arena, &runs);
  }
  std::vector<double> alone;
  std::vector<uint32_t> order;
  Span<NodeRun> runs;
  Status status;
};

TEST_CASE("node runs: layers that cost much by themselves stay together") {
  const Found found(1e9);
  REQUIRE(found.status == Status::kOk);
  REQUIRE(found.runs.size() >= 1);
  uint32_t layers = 0;
  for (const NodeRun& run : found.runs) {
    CHECK(run.first == layers);
    layers += run.layers;
    CHECK(8 % run.slices == 0);
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      int64_t parts = 1;
      for (const int32_t p : run.deal.parts[axis]) parts *= p;
      CHECK(parts <= run.region.extent[axis]);
    }
  }
  CHECK(layers == 4);
  CHECK(found.runs[0].layers > 1);
}

TEST_CASE("node runs: layers that cost nothing by themselves stay alone") {
  const Found found(0);
  REQUIRE(found.status == Status::kOk);
  CHECK(found.runs.empty());
}

TEST_CASE("node runs: no run where nothing fits") {
  const Found found(1e9, 64);
  REQUIRE(found.status == Status::kOk);
  CHECK(found.runs.empty());
}

TEST_CASE("node runs: what is found fits, and is executed to the right bytes") {
  const Found found(1e9);
  HardwareSpec h = sluice_test::MeshOf(4, 2, 1 << 14);
  const std::vector<NodeRun> runs(found.runs.begin(), found.runs.end());
  const sluice_test::MeshRun run = RunOnMesh(Network(), h, {}, false, runs);
  CHECK_MESSAGE(run.Good(), run.Why());
  CHECK(run.nodes.groups == runs.size());
}

}  // namespace
}  // namespace sluice
