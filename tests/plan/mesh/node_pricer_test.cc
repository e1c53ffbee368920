// SPDX-License-Identifier: Apache-2.0
// Prices of a layer on nodes: leakage of one node, room that is reserved, remembered nests.
#include "plan/mesh/node_pricer.h"

#include <doctest/doctest.h>

#include "plan/mesh/segment_network.h"
#include "presets/presets.h"
#include "support/read_graph.h"
#include "zoo/zoo.h"

namespace sluice {
namespace {

struct Priced {
  Priced() {
    const std::vector<uint8_t> g = zoo::MakeZooGraph("mlp_l", {});
    const std::vector<uint8_t> h = presets::LoadPreset("kapla-4x4");
    REQUIRE(ReadGraph(g.data(), g.size(), &arena, &graph, &diagnostic) == Status::kOk);
    REQUIRE(ReadHardware(h.data(), h.size(), &arena, &hardware, &diagnostic) ==
            Status::kOk);
    Lowering lowering = {};
    REQUIRE(Lower(graph, hardware, &arena, &lowering, &diagnostic) == Status::kOk);
    REQUIRE(NetworkOfGraph({graph, hardware, lowering, 0}, &arena, &layers,
                           &diagnostic) == Status::kOk);
  }
  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Graph graph = {};
  Hardware hardware = {};
  Diagnostic diagnostic = {};
  Span<SegmentLayer> layers;
};

TEST_CASE("node pricer: a node leaks its part of what the chip leaks") {
  Priced p;
  p.hardware.leakage_pj_per_cycle = 32;
  CHECK(WithNodeLeakage(p.hardware).leakage_pj_per_cycle == 2);  // of 16 nodes
  CHECK(p.hardware.leakage_pj_per_cycle == 32);
}

TEST_CASE("node pricer: more nodes take fewer cycles, and no room is infeasible") {
  Priced p;
  Budget budget;
  NodeParallelOptions options;
  NodePricer pricer(p.layers, p.hardware, options, &budget, &p.memory);
  const LayerPricer ask = pricer.pricer();
  LayerQuery query = {};
  query.position = 0;
  query.region = {{0, 0}, {1, 1}};
  LayerPrice one = {}, all = {}, again = {};
  REQUIRE(ask.price(ask.user, query, &one, &p.diagnostic) == Status::kOk);
  query.region = WholeMesh(p.hardware);
  REQUIRE(ask.price(ask.user, query, &all, &p.diagnostic) == Status::kOk);
  CHECK(NodesUsed(one.split) == 1);
  CHECK(NodesUsed(all.split) > 1);
  CHECK(all.cost.layer.cycles < one.cost.layer.cycles);
  REQUIRE(ask.price(ask.user, query, &again, &p.diagnostic) == Status::kOk);
  CHECK(again.cost.layer.energy_pj == all.cost.layer.energy_pj);
  query.reserved_bytes = p.hardware.scratchpad().capacity_bytes;
  CHECK(ask.price(ask.user, query, &again, &p.diagnostic) == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
