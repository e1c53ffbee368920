// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tile_estimate.h"

#include <doctest/doctest.h>
#include <float.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("tile estimate: it is above its bounds, and cut short at what others cost") {
  for (const int64_t capacity : {1 << 9, 1 << 11, 1 << 16}) {
    const sluice_test::SpaceCase c(sluice_test::ChainGraph(2), capacity);
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    TilePrices prices(c.problem);
    REQUIRE(prices.Init(&arena) == Status::kOk);
    int fitted = 0, refused = 0;
    for (uint32_t whole : {0u, 1u << kRoleOutput}) {
      const TileFacts facts =
          FactsOfTiles({c.problem, &prices, SpaceGoal{1, 1}}, 0, whole);
      for (int way = 0; way < 2 * 4 * 4; ++way) {
        LoopChoice loops;
        loops.Add(0, 1 + way % 2);
        loops.Add(1, 1 << way / 2 % 4);
        loops.Add(3, 1 << way / 8 % 4);
        const TileBound bound = LeastOf(facts, loops);
        double cost = 0;
        if (!EstimateTiles(facts, loops, DBL_MAX, &cost)) {
          ++refused;
          continue;
        }
        ++fitted;
        CHECK(bound.bytes <= static_cast<double>(facts.room));
        CHECK(bound.cost <= cost);
        double least = 0;
        REQUIRE(EstimateTiles(facts, loops, bound.cost, &least));
        CHECK(least == bound.cost);
      }
    }
    CHECK(fitted > 0);
    CHECK((refused > 0) == (capacity < 1 << 16));
  }
}

TEST_CASE(
    "tile estimate: an input is loaded again where a loop around its own repeats") {
  const sluice_test::SpaceCase c(sluice_test::ChainGraph(1));
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  TilePrices prices(c.problem);
  REQUIRE(prices.Init(&arena) == Status::kOk);
  const TileFacts facts = FactsOfTiles({c.problem, &prices, SpaceGoal{1, 1}}, 0, 0);
  LoopChoice rows;
  rows.Add(1, 4);
  CHECK_FALSE(Reloads(facts, rows));
  LoopChoice rows_first = rows, channels_first;
  rows_first.Add(3, 4);  // all weights again for each piece of rows
  channels_first.Add(3, 4);
  channels_first.Add(1, 4);  // all rows again for each part of the channels
  CHECK(Reloads(facts, rows_first));
  CHECK(Reloads(facts, channels_first));
}

}  // namespace
}  // namespace sluice
