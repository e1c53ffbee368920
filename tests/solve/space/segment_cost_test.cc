// SPDX-License-Identifier: Apache-2.0
// What SegmentMaker charges for tiles and transfers (segment_cost.cc).
#include <doctest/doctest.h>

#include <algorithm>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("segment cost: a tile waits for its own loads only, and for them in order") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.count = 1;
  rows.cut[0] = 1;
  rows.trips[0] = 4;
  REQUIRE(maker.Make({}, 0, 3, rows));
  CHECK(maker.cost().first_load() == 64);  // two rows of 32 bytes
  CHECK(maker.cost().first_wait == c.problem.DmaCycles(64, 1));
  CHECK(maker.cost().exposed == 0);  // frames are doubled
  // The segment leaves the bytes free that `slack` asks for.
  const int64_t peak = maker.cost().peak;
  c.problem.slack[1] = c.problem.capacity - peak + 1;
  CHECK((!maker.Make({}, 0, 3, rows) || maker.cost().peak <= c.problem.capacity));
  c.problem.slack[1] = 0;
}

TEST_CASE("segment cost: what a later layer loads hides behind the tiles before it") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  // The second layer takes the minimum of the first layer's result and another input.
  g.tensors = {{{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 1},
               {{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 0},
               {{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 1},
               {{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 2}};
  g.layers.resize(1);
  g.layers.push_back({SLUICE_OP_MINIMUM, {1, 2}, {3}, {}});
  g.layers[1].attributes.assign(SLUICE_BINARY_ATTRIBUTES, 0);
  sluice_test::MakerCase c(g);
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.count = 1;
  rows.cut[0] = 1;
  rows.trips[0] = 2;
  REQUIRE(maker.Make({}, 0, 1, rows));
  const int64_t first_tile = maker.cost().cycles / 2;
  REQUIRE(first_tile > 0);
  REQUIRE(maker.Make({}, 0, 2, rows));
  CHECK(maker.cost().first_load() == 256);
  const int64_t one = c.problem.DmaCycles(128, 1), both = c.problem.DmaCycles(256, 1);
  CHECK(maker.cost().first_wait == std::max(one, both - first_tile));
}

// The largest cost with which a limit was asked about a segment.
struct Asked {
  int64_t cycles = 0, load = 0, store = 0;
  double energy_pj = 0;
  int times = 0;

  static bool Note(const void* of, const SpaceCost& least) {
    Asked* asked = static_cast<Asked*>(const_cast<void*>(of));
    asked->cycles = std::max(asked->cycles, least.cycles);
    asked->load = std::max(asked->load, least.load);
    asked->store = std::max(asked->store, least.store);
    asked->energy_pj = std::max(asked->energy_pj, least.energy_pj);
    ++asked->times;
    return false;
  }
  static bool All(const void*, const SpaceCost&) { return true; }
};

TEST_CASE("segment cost: segments are excluded by what they cost at least") {
  int asked_at_all = 0;
  for (const int64_t capacity : {1 << 9, 1 << 10, 1 << 12}) {
    for (const bool joined : {false, true}) {
      sluice_test::MakerCase c(
          joined ? sluice_test::JoinedGraph() : sluice_test::ChainGraph(2), capacity);
      const uint32_t layers = static_cast<uint32_t>(c.problem.layer.size());
      for (int way = 0; way < 5 * 5 * 3 * 2; ++way) {
        LoopChoice loops;
        loops.Add(0, 1 + way / 2 % 2);
        loops.Add(way / 4 % 2 == 0 ? 1 : 3, 1 << way / 8 % 3);
        if (way % 2 != 0) loops.Add(kSumCut, 4);
        if (way / 32 % 2 != 0) loops.slice = capacity / 16;
        for (uint32_t last = 1; last <= layers; ++last) {
          Asked asked;
          const SegmentLimit limit = {Asked::Note, &asked};
          if (!c.maker.Make({}, 0, last, loops, &limit)) continue;
          const SpaceCost& cost = c.maker.cost();
          asked_at_all += asked.times;
          CHECK(asked.cycles <= cost.cycles);
          CHECK(asked.load <= cost.load);
          CHECK(asked.store <= cost.store);
          CHECK(asked.energy_pj <= cost.energy_pj * (1 + 1e-12));
          const SegmentLimit all = {Asked::All, nullptr};
          CHECK((c.maker.Make({}, 0, last, loops, &all) && c.maker.is_excluded()));
        }
      }
    }
  }
  CHECK(asked_at_all > 1000);
}

}  // namespace
}  // namespace sluice
