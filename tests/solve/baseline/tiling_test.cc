// SPDX-License-Identifier: Apache-2.0
#include "solve/baseline/tiling.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/budget.h"
#include "base/rng.h"
#include "solve/baseline/layer_by_layer.h"
#include "support/read_graph.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

using sluice_test::kI8;

GraphSpec Conv(int32_t h, int32_t c, int32_t k, int32_t r, int32_t stride) {
  const int32_t pad = r / 2;
  const int32_t p = (h + 2 * pad - r) / stride + 1;
  GraphSpec g;
  g.tensors.push_back({{1, h, h, c}, kI8, 1});
  g.tensors.push_back({{k, r, r, c}, kI8, 3, 3});
  g.tensors.push_back({{k, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, p, p, k}, kI8, 2});
  g.layers.push_back(
      {SLUICE_OP_CONV, {0, 1, 2}, {3}, {stride, stride, 1, 1, pad, pad, pad, pad, 1}});
  return g;
}

TiledLayer LayerOf(const sluice_test::Nouns& n) {
  const Layer& layer = n.graph.layers[0];
  return TiledLayer{n.graph, n.hardware, layer, OperandsOf(layer),
                    AccumulatedChannels(n.graph, layer)};
}

// Recomputes the largest tile of every operand role by visiting all tiles of a tiling.
void CheckBuffers(const TiledLayer& l, const Tiling& t) {
  const TileBuffers b = BuffersOf(l, t);
  const Tensor& out = l.graph.tensors[l.layer.outputs[0]];
  int64_t largest[kTileRoles] = {};
  Box box = {};
  for (box.begin[1] = 0; box.begin[1] < out.extent[1]; box.begin[1] += t.chunk[1]) {
    for (box.begin[2] = 0; box.begin[2] < out.extent[2]; box.begin[2] += t.chunk[2]) {
      for (box.begin[3] = 0; box.begin[3] < out.extent[3]; box.begin[3] += t.chunk[3]) {
        for (int32_t c = 0; c == 0 || c < l.channels; c += std::max(t.c_chunk, 1)) {
          for (int a = 0; a < kAxes; ++a) {
            box.extent[a] = std::min(t.chunk[a], out.extent[a] - box.begin[a]);
          }
          const TileBoxes boxes =
              BoxesOf(l.graph, l.layer, box, c, std::min(c + t.c_chunk, l.channels));
          for (int r = 0; r < kTileRoles; ++r) {
            if (l.operands.tensor[r] == kNone) continue;
            const Tensor& tensor = l.graph.tensors[l.operands.tensor[r]];
            largest[r] =
                std::max(largest[r], boxes.box[r].elements() * tensor.element_bytes);
          }
        }
      }
    }
  }
  for (int r = 0; r < kTileRoles; ++r) {
    if (l.operands.tensor[r] != kNone) CHECK(b.role_bytes[r] >= largest[r]);
  }
}

TEST_CASE("tiling: every tile fits its buffers, and the buffers the scratchpad") {
  Rng rng(11);
  for (int round = 0; round < 150; ++round) {
    const int32_t r = 1 + 2 * static_cast<int32_t>(rng.Below(3));
    sluice_test::Nouns n(Conv(r + static_cast<int32_t>(rng.Below(12)),
                              1 + static_cast<int32_t>(rng.Below(20)),
                              1 + static_cast<int32_t>(rng.Below(20)), r,
                              1 + static_cast<int32_t>(rng.Below(2))));
    const TiledLayer layer = LayerOf(n);
    int64_t smallest = 0;
    Tiling tiling = {};
    const int64_t capacity = 64 + rng.Below(8000);
    const Status status = ChooseTiling(layer, capacity, &n.arena, &tiling, &smallest);
    if (status == Status::kInfeasible) {
      CHECK(smallest > capacity);
      // The capacity named as smallest is enough; one byte less is not.
      REQUIRE(ChooseTiling(layer, smallest, &n.arena, &tiling, &smallest) ==
              Status::kOk);
      int64_t again = 0;
      CHECK(ChooseTiling(layer, smallest - 1, &n.arena, &tiling, &again) ==
            Status::kInfeasible);
      REQUIRE(ChooseTiling(layer, again, &n.arena, &tiling, &smallest) == Status::kOk);
      CheckBuffers(layer, tiling);
      continue;
    }
    REQUIRE(status == Status::kOk);
    CHECK(BuffersOf(layer, tiling).total_bytes <= capacity);
    CheckBuffers(layer, tiling);
  }
}

TEST_CASE("tiling: buffers of a max pool's gradient hold the ifmap of every tile") {
  // Windows of 4 x 3, strides 1 x 4, pads 2 2 0 2: padding clips the first ifmap rows.
  GraphSpec g;
  g.tensors.push_back({{1, 6, 4, 3}, kI8, 1});
  g.tensors.push_back({{1, 7, 12, 3}, kI8, 1});
  g.tensors.push_back({{1, 7, 12, 3}, kI8, 2});
  g.layers.push_back({SLUICE_OP_MAX_POOL_GRADIENT,
                      {0, 1},
                      {2},
                      {4, 3, 1, 4, 2, 2, 0, 2, -128, 127, 0}});
  sluice_test::Nouns n(g);
  const TiledLayer layer = LayerOf(n);
  for (int32_t rows = 1; rows <= 7; ++rows) {
    for (int32_t columns = 1; columns <= 12; ++columns) {
      CAPTURE(rows);
      CAPTURE(columns);
      Tiling tiling = {};
      tiling.chunk[0] = 1;
      tiling.chunk[1] = rows;
      tiling.chunk[2] = columns;
      tiling.chunk[3] = 3;
      CheckBuffers(layer, tiling);
    }
  }
}

TEST_CASE(
    "tiling: a weight gradient's ifmap has two buffers when a late tile cuts it") {
  // A filter of 3 over 2 rows with pads of 0 and 2: the first row of the error needs the
  // whole ifmap, the second its last row only. The second tile is loaded while the first
  // computes, so it must not take the first one's bytes.
  GraphSpec g;
  g.tensors.push_back({{1, 2, 16, 1}, kI8, 1});
  g.tensors.push_back({{1, 2, 16, 12}, kI8, 1});
  g.tensors.push_back({{12, 3, 4, 1}, kI8, 2});
  g.layers.push_back({SLUICE_OP_WEIGHT_GRADIENT,
                      {0, 1},
                      {2},
                      {1, 1, 1, 1, 0, 0, 2, 3, 1, 0, 0, 0, -128, 127, 1 << 30, 0}});
  sluice_test::Nouns n(g);
  const TiledLayer layer = LayerOf(n);
  const Tiling tiling = {{12, 3, 4, 1}, 1, true, true};
  const Box whole = WholeBox(n.graph.tensors[2]);
  const Box first = BoxesOf(n.graph, layer.layer, whole, 0, 1).box[kRoleInput0];
  const Box second = BoxesOf(n.graph, layer.layer, whole, 1, 2).box[kRoleInput0];
  CHECK(first.extent[1] == 2);
  CHECK(second.extent[1] == 1);
  CHECK(BuffersOf(layer, tiling).role_buffers[kRoleInput0] == 2);
}

TEST_CASE("tiling: the last tile of an axis in units is shorter than its unit") {
  // An array that demands 13 rows at a time cuts 16 rows into tiles of 13 and 3. The first
  // tile needs the whole ifmap, which has 3 rows of padding at each end; a second tile of
  // 13 rows would need it too. The tile of 3 rows needs the last rows of the ifmap only.
  GraphSpec g;
  g.tensors.push_back({{1, 13, 1, 2}, kI8, 1});
  g.tensors.push_back({{4, 4, 1, 2}, kI8, 3, 3});
  g.tensors.push_back({{4, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 16, 1, 4}, kI8, 2});
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 3, 0, 3, 0, 1}});
  sluice_test::Nouns n(g);
  n.hardware.array.k = n.hardware.array.c = 1;
  n.hardware.array.p = 13;
  n.hardware.array.demands = 4;  // of p
  const TiledLayer layer = LayerOf(n);
  const Tiling tiling = {{1, 13, 1, 4}, 2, true, true};
  const Box whole = WholeBox(n.graph.tensors[3]);
  Box first = whole, last = whole;
  first.extent[1] = last.begin[1] = 13;
  last.extent[1] = 3;
  CHECK(BoxesOf(n.graph, layer.layer, first, 0, 2).box[kRoleInput0].extent[1] == 13);
  CHECK(BoxesOf(n.graph, layer.layer, last, 0, 2).box[kRoleInput0].extent[1] == 3);
  CHECK(BuffersOf(layer, tiling).role_buffers[kRoleInput0] == 2);
}

TEST_CASE("tiling: what fits whole needs no cut of C and double buffers when cut") {
  sluice_test::Nouns n(Conv(8, 4, 8, 3, 1));
  const TiledLayer layer = LayerOf(n);
  Tiling tiling = {};
  int64_t smallest = 0;
  REQUIRE(ChooseTiling(layer, 1 << 20, &n.arena, &tiling, &smallest) == Status::kOk);
  CHECK(tiling.c_chunk == 4);
  CHECK(tiling.doubled);
}

TEST_CASE("tiling: what fits whole is cut into a few tiles at most") {
  // Each further tile costs a wait, a load and a store on both sides of its border.
  for (const int32_t side : {14, 28, 56, 112}) {
    for (const int32_t r : {1, 3, 5}) {
      sluice_test::Nouns n(Conv(side, 32, 64, r, 1));
      const TiledLayer layer = LayerOf(n);
      Tiling tiling = {};
      int64_t smallest = 0;
      REQUIRE(ChooseTiling(layer, 8 << 20, &n.arena, &tiling, &smallest) ==
              Status::kOk);
      int64_t tiles = 1;
      for (const int32_t trips : BuffersOf(layer, tiling).trips) tiles *= trips;
      CAPTURE(side);
      CAPTURE(r);
      CHECK(tiles <= 12);
    }
  }
}

TEST_CASE("tiling: a memo gives what would be chosen, and goes on from call to call") {
  GraphSpec g = Conv(24, 8, 8, 3, 1);
  // The same layer again, then one of another shape.
  g.tensors[3].kind = 0;
  g.tensors.push_back({{8, 3, 3, 8}, kI8, 3, 3});
  g.tensors.push_back({{8, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 24, 24, 8}, kI8, 0});
  g.layers.push_back({SLUICE_OP_CONV, {3, 4, 5}, {6}, g.layers[0].attributes});
  g.tensors.push_back({{4, 3, 3, 8}, kI8, 3, 3});
  g.tensors.push_back({{4, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 24, 24, 4}, kI8, 2});
  g.layers.push_back({SLUICE_OP_CONV, {6, 7, 8}, {9}, g.layers[0].attributes});
  sluice_test::Nouns n(g);
  Lowering lowering = {};
  REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
          Status::kOk);
  TilingMemo memo(&n.arena);
  Budget budget;
  for (int round = 0; round < 2; ++round) {
    Program with(&n.arena, n.hardware), without(&n.arena, n.hardware);
    REQUIRE(ScheduleLayerByLayer(
                {n.graph, n.hardware, lowering, 2000, TileCoster{}, &budget, &memo},
                &n.arena, &with, &n.diagnostic) == Status::kOk);
    for (uint32_t l = 0; l < 3; ++l) {
      REQUIRE(AppendLayer({n.graph, n.hardware, lowering, 2000, TileCoster{}, &budget},
                          l, &n.arena, &without) == Status::kOk);
    }
    REQUIRE(with.size() == without.size());
    REQUIRE(with.tile_count() == without.tile_count());
    for (uint32_t t = 0; t < with.tile_count(); ++t) {
      const TileStep a = TileOf(with, t), b = TileOf(without, t);
      for (int x = 0; x < kAxes; ++x) {
        REQUIRE(a.origin[x] == b.origin[x]);
        REQUIRE(a.operand[kRoleOutput].extent[x] == b.operand[kRoleOutput].extent[x]);
      }
      REQUIRE(a.cycles == b.cycles);
    }
  }
}

// A tile of layer l is cheap if it has cheap[l] output channels, and expensive otherwise.
struct Prices {
  int32_t cheap[2];
  int asked = 0;
};

bool PriceOf(void* user, uint32_t layer, const int32_t extent[4], int32_t,
             TileCost* out) {
  Prices* prices = static_cast<Prices*>(user);
  ++prices->asked;
  *out = TileCost{extent[3] == prices->cheap[layer] ? 1 : 1000000, 0};
  return true;
}

TEST_CASE("tiling: the coster's tiles are taken, and it is not asked about all") {
  sluice_test::Nouns n(Conv(24, 8, 16, 3, 1));
  TiledLayer layer = LayerOf(n);
  Tiling tiling = {};
  int64_t smallest = 0;
  REQUIRE(ChooseTiling(layer, 1 << 20, &n.arena, &tiling, &smallest) == Status::kOk);
  const int32_t without = tiling.chunk[3];
  CHECK(without > 2);
  for (const int32_t cheap : {16, 8, 4, 2}) {
    Prices prices = {{cheap, 0}};
    layer.coster = TileCoster{&prices, PriceOf};
    REQUIRE(ChooseTiling(layer, 1 << 20, &n.arena, &tiling, &smallest) == Status::kOk);
    CAPTURE(cheap);
    CHECK(tiling.chunk[3] == cheap);
    CHECK(tiling.cycles < 1000000);
    CHECK(prices.asked <= 30);
  }
}

TEST_CASE("tiling: equal layers of different costs are tiled each as it costs") {
  GraphSpec g = Conv(24, 8, 8, 3, 1);
  g.tensors[3].kind = 0;
  g.tensors.push_back({{8, 3, 3, 8}, kI8, 3, 3});
  g.tensors.push_back({{8, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 24, 24, 8}, kI8, 2});
  g.layers.push_back({SLUICE_OP_CONV, {3, 4, 5}, {6}, g.layers[0].attributes});
  sluice_test::Nouns n(g);
  Lowering lowering = {};
  REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
          Status::kOk);
  for (const bool by_layer : {true, false}) {
    Prices prices = {{2, 4}};
    TilingMemo memo(&n.arena);
    Budget budget;
    Program program(&n.arena, n.hardware);
    REQUIRE(
        ScheduleLayerByLayer({n.graph, n.hardware, lowering, 1 << 20,
                              TileCoster{&prices, PriceOf, by_layer}, &budget, &memo},
                             &n.arena, &program, &n.diagnostic) == Status::kOk);
    // Without by_layer the coster promises equal costs for the tiles of equal layers.
    CHECK(TileOf(program, 0).operand[kRoleOutput].extent[3] == 2);
    const TileStep last =
        TileOf(program, static_cast<uint32_t>(program.tile_count() - 1));
    CHECK(last.operand[kRoleOutput].extent[3] == (by_layer ? 4 : 2));
  }
}

}  // namespace
}  // namespace sluice
