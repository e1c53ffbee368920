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

}  // namespace
}  // namespace sluice
