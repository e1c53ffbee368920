// SPDX-License-Identifier: Apache-2.0
// Streams for several nodes: verified, with outputs equal to the graph's, bit by bit.
#include <doctest/doctest.h>

#include "base/rng.h"
#include "plan/mesh/mesh_run.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

using sluice::NodeRegion;
using sluice::NodeSplit;

HardwareSpec Mesh(uint32_t cols, uint32_t rows, uint64_t scratchpad = 8192) {
  HardwareSpec h;
  h.node_cols = cols;
  h.node_rows = rows;
  h.scratchpad_bytes = scratchpad;
  h.dram_numerator = 16;
  return h;
}

NodeRegion All(const HardwareSpec& h) { return {{0, 0}, {h.node_cols, h.node_rows}}; }

TEST_CASE("mesh: a layer is dealt out along any of its dims, and any two") {
  const GraphSpec graphs[] = {
      Chain(2, 9, 8, 6).Conv(10, 3).Done(), Chain(4, 1, 1, 40).Dense(24).Done(),
      Chain(2, 8, 9, 12).Conv(12, 3, 1, true).Done(), Chain(2, 8, 8, 5).Pool(2).Done()};
  const HardwareSpec h = Mesh(2, 2);
  int forwarding = 0, all_four = 0;
  for (const GraphSpec& g : graphs) {
    for (uint32_t a = 0; a < sluice::kDims; ++a) {
      for (uint32_t b = 0; b < sluice::kDims; ++b) {
        if (a == sluice::kDimR || a == sluice::kDimS || b == sluice::kDimR ||
            b == sluice::kDimS) {
          continue;
        }
        const MeshRun run =
            RunOnMesh(g, h, {{1, {OnNodes(0, All(h), SplitOf(a, 2, b, 2))}}});
        CAPTURE(a);
        CAPTURE(b);
        INFO(run.Why());
        CHECK(run.Good());
        forwarding += run.sim.forward_bytes > 0;
        all_four += run.computing.size() == 4;
      }
    }
  }
  CHECK(forwarding >= 10);  // sums over nodes
  CHECK(all_four >= 60);
}

TEST_CASE("mesh: words that several nodes need are read from DRAM once") {
  const GraphSpec g = Chain(8, 1, 1, 64).Dense(32).Done();
  const HardwareSpec four = Mesh(2, 2, 65536);
  for (const uint32_t dim : {sluice::kDimN, sluice::kDimK}) {
    const MeshRun split =
        RunOnMesh(g, four, {{1, {OnNodes(0, All(four), SplitOf(dim, 2, dim, 2))}}});
    REQUIRE(split.Good());
    CHECK(split.computing.size() == 4);
    CHECK(split.report.dram_read_bytes == 8 * 64 + 64 * 32 + 32 * 3 * 4);
    CHECK(split.report.spill_bytes == 0);
  }
}

TEST_CASE(
    "mesh: a sum over more nodes than slices that land does not stop a pipeline") {
  // The first of eight links would begin slices whose bytes the last one still needs.
  const GraphSpec g = Chain(8, 4, 4, 16).Conv(16, 1).Conv(16, 1).Conv(8, 1).Done();
  for (const uint64_t scratchpad : {1024, 2048, 16384}) {
    const HardwareSpec h = Mesh(10, 1, scratchpad);
    const MeshRun run =
        RunOnMesh(g, h,
                  {{8,
                    {OnNodes(0, {{0, 0}, {1, 1}}, sluice::WholeOnEach()),
                     OnNodes(1, {{1, 0}, {8, 1}}, SplitOf(sluice::kDimC, 8)),
                     OnNodes(2, {{9, 0}, {1, 1}}, sluice::WholeOnEach())}}});
    CAPTURE(scratchpad);
    INFO(run.Why());
    CHECK(run.Good());
    CHECK(run.nodes.pipelined == 1);
    CHECK(run.computing.size() == 10);
  }
}

TEST_CASE("mesh: a pipeline forwards, stores its end alone and works in parallel") {
  const GraphSpec g =
      Chain(8, 8, 8, 8).Conv(16, 3).Conv(16, 3).Pool(2).Conv(8, 1).Done();
  const HardwareSpec h = Mesh(4, 2, 16384);
  const auto column = [](uint32_t c) { return NodeRegion{{c, 0}, {1, 2}}; };
  MeshSegment pipeline;
  for (const int32_t slices : {1, 2, 4, 8}) {
    CAPTURE(slices);
    pipeline.top_batch = slices;
    pipeline.layers = {OnNodes(0, column(0), SplitOf(0, 1, sluice::kDimK, 2)),
                       OnNodes(1, column(1), SplitOf(0, 1, sluice::kDimP, 2)),
                       OnNodes(2, column(2), SplitOf(0, 1, sluice::kDimG, 2)),
                       OnNodes(3, column(3), SplitOf(0, 1, sluice::kDimP, 2))};
    const MeshRun run = RunOnMesh(g, h, {pipeline});
    INFO(run.Why());
    REQUIRE(run.Good());
    CHECK(run.nodes.pipelined == 1);
    CHECK(run.computing.size() == 8);
    CHECK(run.sim.forward_bytes > 0);
    CHECK(run.report.dram_write_bytes == 8 * 4 * 4 * 8);
    // Layer by layer on the same nodes, one after the other.
    std::vector<MeshSegment> apart;
    for (const auto& at : pipeline.layers) apart.push_back({1, {at}});
    const MeshRun slow = RunOnMesh(g, h, apart);
    REQUIRE(slow.Good());
    CHECK(run.report.latency_cycles < slow.report.latency_cycles);
    CHECK(run.report.dram_read_bytes < slow.report.dram_read_bytes);
  }
}

TEST_CASE("mesh: what stays on its nodes takes no DRAM between layers") {
  const GraphSpec g = Chain(4, 6, 6, 8).Conv(8, 3).Conv(8, 3).Done();
  const HardwareSpec h = Mesh(2, 2, 16384);
  const NodeSplit split = SplitOf(sluice::kDimK, 2, sluice::kDimP, 2);
  const MeshRun run =
      RunOnMesh(g, h, {{2, {OnNodes(0, All(h), split), OnNodes(1, All(h), split)}}});
  INFO(run.Why());
  REQUIRE(run.Good());
  CHECK(run.nodes.pipelined == 1);
  CHECK(run.report.dram_write_bytes == 4 * 6 * 6 * 8);
}

TEST_CASE("mesh: a result that nobody reads has a place in DRAM beside a pipeline") {
  const GraphSpec g =
      Chain(4, 8, 8, 8).Conv(8, 3).Conv(8, 3).Conv(8, 3).Unread().Conv(8, 1).Done();
  const HardwareSpec h = Mesh(2, 2, 16384);
  const auto column = [](uint32_t c) { return NodeRegion{{c, 0}, {1, 2}}; };
  const MeshSegment pipeline = {
      2,
      {OnNodes(0, column(0), SplitOf(0, 1, sluice::kDimK, 2)),
       OnNodes(1, column(1), SplitOf(0, 1, sluice::kDimK, 2))}};
  const MeshSegment unread = {1, {OnNodes(2, All(h), SplitOf(sluice::kDimK, 2))}};
  const MeshSegment end = {1, {OnNodes(3, All(h), SplitOf(sluice::kDimK, 2))}};
  const MeshRun run = RunOnMesh(g, h, {pipeline, unread, end});
  INFO(run.Why());
  CHECK(run.Good());
  CHECK(run.nodes.pipelined == 1);
  // The unread layer and another reader of its input, in one pipeline.
  MeshSegment both = pipeline;
  both.layers.push_back(OnNodes(2, column(0), SplitOf(0, 1, sluice::kDimK, 2)));
  both.layers.push_back(OnNodes(3, column(1), SplitOf(0, 1, sluice::kDimK, 2)));
  const MeshRun together = RunOnMesh(g, h, {both});
  INFO(together.Why());
  CHECK(together.Good());
}

TEST_CASE("mesh: a sum of two branches of one segment, and a sum over nodes in it") {
  Chain chain(4, 6, 6, 8);
  chain.Conv(8, 3);
  const uint32_t early = chain.last();
  const GraphSpec g = chain.Conv(8, 3).MinimumWith(early).Done();
  const HardwareSpec h = Mesh(3, 2, 16384);
  const auto column = [](uint32_t c) { return NodeRegion{{c, 0}, {1, 2}}; };
  const MeshRun run =
      RunOnMesh(g, h,
                {{2,
                  {OnNodes(0, column(0), SplitOf(0, 1, sluice::kDimP, 2)),
                   OnNodes(1, column(1), SplitOf(0, 1, sluice::kDimC, 2)),
                   OnNodes(2, column(2), SplitOf(0, 1, sluice::kDimQ, 2))}}});
  INFO(run.Why());
  REQUIRE(run.Good());
  CHECK(run.nodes.pipelined == 1);
  CHECK(run.report.dram_write_bytes == 4 * 6 * 6 * 8);
}

TEST_CASE(
    "mesh: layers one by one in another order than the graph's keep their tensors") {
  // The second branch runs between the layers of the first.
  Chain chain(4, 6, 6, 8);
  chain.Conv(8, 3).Conv(8, 3);
  const uint32_t first = chain.last();
  GraphSpec g = chain.Conv(8, 3).Conv(8, 3).MinimumWith(first).Done();
  g.layers[2].inputs[0] = g.layers[0].inputs[0];
  const HardwareSpec h = Mesh(2, 2, 16384);
  std::vector<sluice_test::MeshSegment> one_by_one;
  for (const uint32_t layer : {0, 2, 1, 3, 4}) {
    one_by_one.push_back({1, {OnNodes(layer, {{0, 0}, {2, 2}}, SplitOf(0, 1))}});
  }
  const MeshRun run = RunOnMesh(g, h, one_by_one);
  INFO(run.Why());
  REQUIRE(run.Good());
  CHECK(run.nodes.groups == 5);
}

TEST_CASE("mesh: a segment that fits no scratchpad runs layer by layer") {
  const GraphSpec g = Chain(1, 16, 16, 16).Conv(16, 3).Conv(16, 3).Done();
  const HardwareSpec h = Mesh(2, 1, 3000);
  const MeshRun run = RunOnMesh(g, h,
                                {{1,
                                  {OnNodes(0, {{0, 0}, {1, 1}}, SplitOf(0, 1)),
                                   OnNodes(1, {{1, 0}, {1, 1}}, SplitOf(0, 1))}}});
  INFO(run.Why());
  REQUIRE(run.Good());
  CHECK(run.nodes.pipelined == 0);
  CHECK(run.nodes.groups == 2);
}

TEST_CASE("mesh: random graphs in random segments on random meshes are right") {
  int good = 0, pipelined = 0, forwarding = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    sluice::Rng rng(seed);
    RandomGraphLimits limits;
    limits.layers = 8;
    limits.elements = 800;
    const GraphSpec g = MakeRandomGraph(seed, limits);
    HardwareSpec h = Mesh(1 + rng.Below(4), 1 + rng.Below(3), 2048u << rng.Below(5));
    h.hop_latency_cycles = rng.Below(5);
    h.alignment_bytes = 1u << rng.Below(6);
    if (h.node_cols * h.node_rows == 1) h.node_cols = 2;
    const MeshRun run = RunOnMesh(g, h, RandomSegments(&rng, g, h), seed % 2 == 0);
    if (run.status == sluice::Status::kInfeasible) continue;
    INFO("seed " << seed << ": " << run.Why());
    CHECK(run.Good());
    good += run.Good();
    pipelined += run.nodes.pipelined > 0;
    forwarding += run.sim.forward_bytes > 0;
  }
  MESSAGE(good << " plans, " << pipelined << " with pipelines, " << forwarding
               << " with forwards");
  CHECK(good > 200);
  CHECK(pipelined > 30);
  CHECK(forwarding > 50);
}

}  // namespace
}  // namespace sluice_test
