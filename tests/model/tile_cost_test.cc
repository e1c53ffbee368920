// SPDX-License-Identifier: Apache-2.0
#include "model/tile_cost.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

std::vector<int32_t> Grid(uint32_t axes, uint32_t tiles) {
  const int32_t extent[4] = {2, 8, 4, 16};
  int32_t counts[4] = {};
  if (!CutGrid(nullptr, extent, axes, tiles, counts)) return {};
  return {counts, counts + 4};
}

TEST_CASE("cut grid: images first, then the cuts with the shortest border") {
  using Counts = std::vector<int32_t>;
  CHECK(Grid(7, 1) == Counts{1, 1, 1, 1});
  CHECK(Grid(7, 2) == Counts{2, 1, 1, 1});
  CHECK(Grid(7, 4) == Counts{2, 2, 1, 1});  // its border has 4 elements, not 8
  CHECK(Grid(6, 4) == Counts{1, 4, 1, 1});  // a border of 12, as 4 + 8 would be
  CHECK(Grid(6, 16) == Counts{1, 8, 2, 1});
  CHECK(Grid(4, 4) == Counts{1, 1, 4, 1});
  // An odd number of tiles does not cut the images.
  CHECK(Grid(7, 7) == Counts{1, 7, 1, 1});
}

TEST_CASE("cut grid: no more parts than elements, none along other axes") {
  CHECK(Grid(6, 11).empty());
  CHECK(Grid(4, 8).empty());
  CHECK(Grid(1, 4).empty());
  CHECK(Grid(0, 2).empty());
  CHECK(Grid(6, 64).empty());
  CHECK_FALSE(Grid(6, 32).empty());
}

struct Counted {
  Scratch scratch;
  TileMemo memo;
  int calls = 0;
  explicit Counted(size_t slots) {
    TileModel model = {};
    model.user = this;
    model.flags = kTileShareLoads;
    model.cost = [](void* user, uint32_t layer, const int32_t extent[4],
                    TileCost* out) {
      ++static_cast<Counted*>(user)->calls;
      *out = {int64_t{1000} * layer + extent[1], 0.5 * extent[3]};
      return extent[2] != 7;
    };
    REQUIRE(memo.Init(&scratch.arena, model, slots) == Status::kOk);
  }
  int64_t Cycles(uint32_t layer, int32_t h, int32_t w = 1) {
    const int32_t extent[4] = {1, h, w, 4};
    TileCost cost = {-1, -1};
    const bool found = memo.Cost(layer, extent, &cost);
    CHECK(found == (cost.cycles > 0));
    if (found) CHECK(cost.energy_pj == 2);
    return cost.cycles;
  }
};

TEST_CASE("tile memo: each layer and extent is asked for once, refusals too") {
  Counted c(64);
  CHECK(c.memo.model().flags == kTileShareLoads);
  for (int i = 0; i < 3; ++i) {
    CHECK(c.Cycles(2, 5) == 2005);
    CHECK(c.Cycles(3, 5) == 3005);
    CHECK(c.Cycles(0, 5) == 5);
    CHECK(c.Cycles(0, 5, 7) == 0);
  }
  CHECK(c.calls == 4);
}

TEST_CASE("tile memo: what was forgotten is asked for again and right") {
  Counted c(1);
  for (int round = 0; round < 2; ++round) {
    for (int32_t h = 1; h <= 500; ++h) REQUIRE(c.Cycles(1, h) == 1000 + h);
  }
  CHECK(c.calls > 500);
  const int before = c.calls;
  CHECK(c.Cycles(1, 500) == 1500);
  CHECK(c.calls == before);
}

}  // namespace
}  // namespace sluice
