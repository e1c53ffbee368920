// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tiles.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space tiles: numbers of parts give different sizes, the finest among them") {
  const TripList list = TripsOf(12);
  int32_t last = 12;
  for (int i = 0; i < list.size; ++i) {
    const int32_t step = (12 + list.trips[i] - 1) / list.trips[i];
    CHECK(step < last);
    last = step;
  }
  CHECK(last == 1);
  CHECK(TripsOf(1).size == 0);
}

TEST_CASE("space tiles: an axis is cut where those before it are cut into ones") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  const int32_t extent[kAxes] = {2, 3, 4, 64};
  const OuterCuts cuts(c.nouns.graph, c.problem.at(0), extent);
  REQUIRE(cuts.size() == 1 + 2 + 2);
  CHECK(cuts.at(0).count == 1);
  CHECK(cuts.at(0).trips[0] == 2);
  const LoopChoice last = cuts.at(4);
  REQUIRE(last.count == 3);
  for (int a = 0; a < 3; ++a) {
    CHECK(last.cut[a] == a);
    CHECK(last.trips[a] == extent[a]);
  }
}

TEST_CASE("space tiles: where windows overlap along rows only, columns are cut first") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 6, 8, 4}, SLUICE_DTYPE_INT8, 1},
               {{4, 3, 1, 4}, SLUICE_DTYPE_INT8, 3, 3},
               {{4, 3}, SLUICE_DTYPE_INT32, 3, 3},
               {{1, 4, 8, 4}, SLUICE_DTYPE_INT32, 2}};
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 0, 0, 0, 0, 1}});
  const sluice_test::SpaceCase c(g);
  const OuterCuts cuts(c.nouns.graph, c.problem.at(0), c.nouns.graph.tensors[3].extent);
  CHECK(cuts.at(0).cut[0] == 2);
  CHECK(cuts.at(cuts.size() - 1).cut[1] == 1);
}

// A convolution of 3 x 3 over 48 rows of 96 columns.
sluice_test::GraphSpec Windowed(int32_t filter) {
  sluice_test::GraphSpec g;
  g.tensors = {{{2, 48, 96, 4}, SLUICE_DTYPE_INT8, 1},
               {{4, filter, filter, 4}, SLUICE_DTYPE_INT8, 3, 3},
               {{4, 3}, SLUICE_DTYPE_INT32, 3, 3},
               {{2, 48, 96, 4}, SLUICE_DTYPE_INT8, 2}};
  const int32_t pad = filter / 2;
  g.layers.push_back(
      {SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, pad, pad, pad, pad, 1}});
  return g;
}

TEST_CASE("space tiles: square pieces are at most about twice as wide as high") {
  const sluice_test::SpaceCase c(Windowed(3));
  const SquareCuts cuts(c.nouns.graph, c.problem.at(0),
                        c.nouns.graph.tensors[3].extent);
  REQUIRE(cuts.size() > 4);
  int32_t rows = 0;
  for (int i = 0; i < cuts.size(); ++i) {
    const LoopChoice loops = cuts.at(i);
    REQUIRE(loops.count == 3);
    CHECK(loops.cut[0] == 0);
    CHECK(loops.trips[0] == 2);
    CHECK(loops.cut[1] == 1);
    CHECK(loops.cut[2] == 2);
    const int32_t height = (47 + loops.trips[1]) / loops.trips[1];
    const int32_t width = (95 + loops.trips[2]) / loops.trips[2];
    CHECK(width <= 2 * height);
    CHECK(2 * width >= height);
    CHECK(loops.trips[1] >= rows);
    rows = loops.trips[1];
  }
  const sluice_test::SpaceCase pointwise(Windowed(1));
  CHECK(SquareCuts(pointwise.nouns.graph, pointwise.problem.at(0),
                   pointwise.nouns.graph.tensors[3].extent)
            .size() == 0);
}

TEST_CASE("space tiles: choices are in order of cost, and known for equal layers") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph(), 512);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Budget budget;
  TilePrices prices(c.problem);
  REQUIRE(prices.Init(&arena) == Status::kOk);
  TileChooser chooser(c.problem, &prices, SpaceGoal{1, 1}, &budget, &arena);
  const TileChoices* first = nullptr;
  REQUIRE(chooser.Choose(0, 0, &first) == Status::kOk);
  REQUIRE(first->count > 0);
  for (int i = 1; i < first->count; ++i) CHECK(first->cost[i - 1] <= first->cost[i]);
  const double cost = first->cost[0];
  const TileChoices* again = nullptr;
  REQUIRE(chooser.Choose(1, 0, &again) == Status::kOk);
  CHECK(again->cost[0] == cost);
}

}  // namespace
}  // namespace sluice
