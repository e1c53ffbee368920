// SPDX-License-Identifier: Apache-2.0
// Tiles and addresses of small layers, compared with bytes that are counted by hand.
#include "plan/mesh/node_fit.h"

#include <doctest/doctest.h>

#include <vector>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::NodeLayers;
using sluice_test::SplitOf;

constexpr NodeRegion kOne = {{0, 0}, {1, 1}};

// 256 -> 8 -> 4. The first layer reads 256 bytes, 2,048 of weights and 96 of
// parameters; its 8 bytes take 16, which is the alignment.
struct Dense : NodeLayers {
  Dense() : NodeLayers(Chain(1, 1, 1, 256).Dense(8).Dense(4).Done()) {
    first = Make(0, kOne);
    second = Make(1, kOne);
  }
  NodeLayer *first, *second;
};

TEST_CASE("node fit: a part that is sent on is made in one tile, if it has room") {
  Dense d;
  int64_t base = 64;
  // Nobody reads it yet.
  CHECK(FitWholeParts(d.first, 1 << 16, &base) == Status::kInfeasible);
  REQUIRE(Connect(d.second, kRoleInput0, d.first));
  REQUIRE(FitWholeParts(d.first, 64 + 2416, &base) == Status::kOk);
  CHECK(base == 64 + 256 + 2048 + 96 + 16);
  CHECK(d.first->per_slice == 1);
  CHECK(d.first->accumulators == 0);
  CHECK(d.first->roles[kRoleWeight].bytes == 2048);
  CHECK(d.first->roles[kRoleWeight].count == 1);
}

TEST_CASE(
    "node fit: without room for whole weights the sum is cut, as little as needed") {
  Dense d;
  REQUIRE(Connect(d.second, kRoleInput0, d.first));
  // Of 64 channels at a time there are two buffers: 2 * 64 + 2 * 512 + 96 + 16, and 32
  // for the sums. Of 128 one buffer takes as much, two take 2,448.
  int64_t base = 0;
  REQUIRE(FitWholeParts(d.first, 2400, &base) == Status::kOk);
  CHECK(base == 1296);
  CHECK(d.first->tiling.c_chunk == 64);
  CHECK(d.first->tiling.doubled);
  CHECK(d.first->per_slice == 4);
  CHECK(d.first->accumulators == 1);
  CHECK(d.first->accumulator_begin + d.first->accumulator_bytes == 1296);
  // Too little for one piece of all outputs.
  base = 0;
  REQUIRE(FitWholeParts(d.first, 100, &base) == Status::kOk);
  CHECK(base <= 100);
  CHECK(d.first->tiling.chunk[3] < 8);
  base = 0;
  CHECK(FitWholeParts(d.first, 32, &base) == Status::kInfeasible);
}

TEST_CASE(
    "node fit: a chain of nodes works on pieces of K, so that none waits for all") {
  NodeLayers m(Chain(1, 8, 8, 64).Conv(64, 1).Conv(64, 1).Done());
  NodeLayer* chain = m.Make(0, {{0, 0}, {1, 2}}, SplitOf(kDimN, 1, kDimC, 2));
  NodeLayer* alone = m.Make(0, kOne);
  for (NodeLayer* l : {chain, alone}) {
    REQUIRE(Connect(m.Make(1, kOne), kRoleInput0, l));
    int64_t base = 0;
    REQUIRE(FitWholeParts(l, 1 << 16, &base) == Status::kOk);
  }
  CHECK(alone->per_slice == 1);
  CHECK(chain->trips[3] > 1);
  CHECK(chain->trips[kLoopC] == 1);
}

TEST_CASE("node fit: what lands is counted for all slots, and only there") {
  Dense d;
  CHECK(SetSlots(d.second, kRoleInput0, 2) == 0);  // not connected
  REQUIRE(Connect(d.second, kRoleInput0, d.first));
  CHECK(SetSlots(d.second, kRoleInput0, 2) == 32);
  CHECK(d.second->roles[kRoleInput0].bytes == 16);
  CHECK(d.second->roles[kRoleInput0].count == 2);
  CHECK(SetSlots(d.second, kRoleWeight, 2) == 0);
}

TEST_CASE("node fit: what is stored may be made in one tile too") {
  NodeLayers m(Chain(1, 16, 16, 16).Conv(64, 3).Done());
  for (const bool whole : {false, true}) {
    NodeLayer* l = m.Make(0, {{0, 0}, {2, 2}}, SplitOf(kDimP, 2, kDimQ, 2));
    l->whole = whole;
    int64_t base = 0;
    REQUIRE(FitTiles(l, 1 << 16, &m.memory, &base) == Status::kOk);
    CHECK((l->per_slice == 1) == whole);
  }
}

TEST_CASE("node fit: a slice may not need more than the same slice of its producer") {
  NodeLayers m(Chain(2, 1, 1, 256).Dense(8).Dense(4).Done());
  NodeLayer* producer = m.Make(0, kOne, WholeOnEach(), 2);
  NodeLayer* in_slices = m.Make(1, kOne, WholeOnEach(), 2);
  NodeLayer* whole = m.Make(1, kOne);
  REQUIRE(Connect(in_slices, kRoleInput0, producer));
  REQUIRE(Connect(whole, kRoleInput0, producer));
  CHECK(SetSlots(in_slices, kRoleInput0, 1) == 16);
  CHECK(SetSlots(whole, kRoleInput0, 1) == -1);
}

// How often tiles of all nodes add up channel c of each element of the output.
std::vector<int> Computed(const NodeLayer& l, int32_t c) {
  std::vector<int> times(8 * 8 * 32);
  for (uint32_t i = 0; i < l.nodes; ++i) {
    for (int64_t t = 0; t < l.end_time; ++t) {
      NodeTile tile;
      if (!TileAt(l, i, t, &tile) || c < tile.c_begin || c >= tile.c_end) continue;
      const Box& b = tile.box;
      for (int32_t h = b.begin[1]; h < b.begin[1] + b.extent[1]; ++h)
        for (int32_t w = b.begin[2]; w < b.begin[2] + b.extent[2]; ++w)
          for (int32_t k = b.begin[3]; k < b.begin[3] + b.extent[3]; ++k)
            ++times[static_cast<size_t>((h * 8 + w) * 32 + k)];
    }
  }
  return times;
}

TEST_CASE("node fit: tiles cover the output once, in the room that there is") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done());
  int64_t tiles_before = 0;
  for (const int64_t room : {8192, 4096, 2048, 1024}) {
    CAPTURE(room);
    NodeLayer* l = m.Make(0, {{0, 0}, {2, 2}}, SplitOf(kDimK, 2, kDimC, 2));
    int64_t base = 512;
    REQUIRE(FitTiles(l, 512 + room, &m.memory, &base) == Status::kOk);
    CHECK(base <= 512 + room);
    for (const NodeRole& role : l->roles) {
      if (role.tensor == kNone) continue;
      CHECK(role.begin >= 512);
      CHECK(role.begin % 16 == 0);
      CHECK(role.begin + role.bytes * role.count <= base);
    }
    for (const int32_t c : {0, 7, 8, 15}) {
      for (const int times : Computed(*l, c)) CHECK(times == 1);
    }
    CHECK(l->per_slice >= tiles_before);
    tiles_before = l->per_slice;
  }
  CHECK(tiles_before > 4);
  NodeLayer* l = m.Make(0, {{0, 0}, {2, 2}});
  int64_t base = 0;
  CHECK(FitTiles(l, 64, &m.memory, &base) == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
