// SPDX-License-Identifier: Apache-2.0
// Estimated costs of layers, compared with values computed by hand.
#include "solve/baseline/estimate.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/budget.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;

// Layer 0 computes 128 bytes; layer 1 combines these with the 128 bytes of another input.
// Layer 2 is a view, layer 3 runs on the host.
sluice_test::GraphSpec Layers() {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, kI8, 1},  {{1, 4, 4, 8}, kI8, 1},
                  {{1, 4, 4, 8}, kI8, 0},  {{1, 4, 4, 16}, kI8, 2},
                  {{1, 1, 16, 8}, kI8, 0}, {{1, 1, 16, 8}, kI8, 2}};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {2}, {0, 1 << 30, 1, 0, -128, 127}},
                 {SLUICE_OP_CONCAT, {1, 2}, {3}, {3}},
                 {SLUICE_OP_RESHAPE, {0}, {4}, {}},
                 {SLUICE_OP_OPAQUE, {4}, {5}, {1000, 0, 0}}};
  return spec;
}

struct Estimated {
  Estimated() {
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
  }
  Status Run() {
    size_t layers = 0;
    for (const uint8_t view : lowering.is_view) layers += view == 0 ? 1 : 0;
    costs.assign(layers, BlockCost{-1, -1, 0});
    return EstimateAlone(n.graph, n.hardware, lowering, coster, n.memory,
                         {costs.data(), costs.size()});
  }
  static bool Cost(void*, uint32_t layer, const int32_t extent[4], int32_t,
                   TileCost* cost) {
    CHECK(layer == 0);
    CHECK(extent[1] == 4);  // the whole layer
    *cost = {1000, 7000};
    return true;
  }
  sluice_test::Nouns n{Layers()};
  Lowering lowering = {};
  TileCoster coster = {};
  std::vector<BlockCost> costs;
};

// Energy of moving 256 bytes between DRAM and scratchpad. Estimates add 10 bytes for each
// whole hundred; each bit costs 10 pJ in DRAM and 0.1 pJ in the scratchpad.
constexpr double kMovedPj = 276 * 8 * (10 + 0.1);

TEST_CASE("estimate: bytes moved once and some more, work by the peak") {
  Estimated e;
  REQUIRE(e.lowering.is_view[2] == 1);
  REQUIRE(e.Run() == Status::kOk);
  REQUIRE(e.costs.size() == 3);
  CHECK(e.costs[0].cycles == 69);
  CHECK(e.costs[0].energy_pj ==
        doctest::Approx(kMovedPj + 128 * 0.1 + 256 * 8 * 0.1).epsilon(1e-9));
  CHECK(e.costs[0].steps == 8);
}

TEST_CASE("estimate: of a concatenation what is not in place is read and written") {
  Estimated e;
  REQUIRE(e.lowering.views[2].parent == 3);
  REQUIRE(e.Run() == Status::kOk);
  CHECK(e.costs[1].cycles == 69);
  CHECK(e.costs[1].energy_pj == doctest::Approx(kMovedPj).epsilon(1e-9));
  // The host's layer takes the cycles that it declares.
  CHECK(e.costs[2].cycles == 1000);
  CHECK(e.costs[2].energy_pj == 0);
  CHECK(e.costs[2].steps == 1);
}

TEST_CASE("estimate: tiles cost what the coster says, leakage is for the cycles") {
  Estimated e;
  e.coster.cost = Estimated::Cost;
  e.n.hardware.leakage_pj_per_cycle = 2;
  REQUIRE(e.Run() == Status::kOk);
  CHECK(e.costs[0].cycles == 1100);  // compute-bound; 10 percent more
  CHECK(e.costs[0].energy_pj == doctest::Approx(kMovedPj + 7000 + 2200).epsilon(1e-9));
  CHECK(e.costs[1].energy_pj == doctest::Approx(kMovedPj + 138).epsilon(1e-9));
}

TEST_CASE("estimate: it ends with the call's clock") {
  Estimated e;
  const uint32_t stop = 1;
  Budget clock({}, 0, 0, &stop);
  e.n.memory.Watch(&clock);
  CHECK(e.Run() == Status::kStopped);
  CHECK(e.costs[0].cycles == -1);
  e.n.memory.Watch(nullptr);
}

}  // namespace
}  // namespace sluice
