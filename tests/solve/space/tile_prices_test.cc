// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tile_prices.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"

namespace sluice {
namespace {

// More tiles than are remembered, each asked for twice.
TEST_CASE("space tile prices: what is remembered is what a tile declares") {
  sluice_test::SpaceCase c(sluice_test::ChainGraph(4));
  // So slow that sums which a tile reads or leaves there count.
  Hardware& machine = c.nouns.hardware;
  std::vector<MemoryLevel> levels(machine.levels.begin(), machine.levels.end());
  levels[machine.scratchpad_level].bandwidth = {1, 4};
  machine.levels = {levels.data(), levels.size()};
  TilePrices prices(c.problem);
  Arena arena(c.nouns.arena.memory());
  REQUIRE(prices.Init(&arena) == Status::kOk);
  int tiles = 0;
  for (int again = 0; again < 2; ++again) {
    for (uint32_t p = 0; p < c.problem.layer.size(); ++p) {
      const Layer& layer = c.problem.at(p);
      const Tensor& out = c.nouns.graph.tensors[layer.outputs[0]];
      const int32_t read = c.nouns.graph.tensors[layer.inputs[0]].extent[3];
      int64_t last = 1;
      for (const int32_t extent : out.extent) last *= extent;
      for (int64_t i = 0; i < last; ++i) {
        Box box = {};
        int64_t rest = i;
        for (int a = 0; a < kAxes; ++a) {
          box.extent[a] = 1 + static_cast<int32_t>(rest % out.extent[a]);
          rest /= out.extent[a];
        }
        const TileBoxes boxes = BoxesOf(c.nouns.graph, layer, box, 0, read);
        for (int part = 0; part < 4; ++part) {
          const TileSum sum = {read, part % 2 == 0, part < 2};
          const PricedLayer of = {c.coster, machine, c.nouns.graph, layer,
                                  c.problem.layer[p]};
          const TileCost want = DeclaredCost(of, boxes, sum);
          const TileCost got = prices.Of(p, boxes, sum);
          REQUIRE(got.cycles == want.cycles);
          REQUIRE(got.energy_pj == want.energy_pj);
        }
        ++tiles;
      }
    }
  }
  CHECK(tiles > 2 * 2048);
}

TEST_CASE("space tile prices: equal layers share theirs, other sizes do not") {
  sluice_test::GraphSpec g;
  g.tensors = {
      {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1},    {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 0},
      {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 0},    {{8, 1, 1, 8}, SLUICE_DTYPE_INT8, 3, 3},
      {{8, 1, 1, 8}, SLUICE_DTYPE_INT8, 3, 3}, {{4, 1, 1, 8}, SLUICE_DTYPE_INT8, 3, 3},
      {{8, 3}, SLUICE_DTYPE_INT32, 3, 3},      {{4, 3}, SLUICE_DTYPE_INT32, 3, 3},
      {{1, 4, 4, 4}, SLUICE_DTYPE_INT8, 2}};
  const std::vector<int32_t> attributes = {1, 1, 1, 1, 0, 0, 0, 0, 1};
  g.layers.push_back({SLUICE_OP_CONV, {0, 3, 6}, {1}, attributes});
  g.layers.push_back({SLUICE_OP_CONV, {1, 4, 6}, {2}, attributes});
  g.layers.push_back({SLUICE_OP_CONV, {2, 5, 7}, {8}, attributes});
  const sluice_test::SpaceCase c(g);
  TilePrices prices(c.problem);
  Arena arena(c.nouns.arena.memory());
  REQUIRE(prices.Init(&arena) == Status::kOk);
  CHECK(prices.alike(0) == prices.alike(1));
  CHECK(prices.alike(1) != prices.alike(2));
}

}  // namespace
}  // namespace sluice
