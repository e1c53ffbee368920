// SPDX-License-Identifier: Apache-2.0
// Which node computes what, for convolutions dealt out by hand.
#include "plan/mesh/node_layer.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::NodeLayers;
using sluice_test::SplitOf;

constexpr NodeRegion kFour = {{0, 0}, {2, 2}};
constexpr NodeRegion kRightColumn = {{1, 0}, {1, 2}};

void CheckBox(const Box& box, const Box& expected) {
  for (int a = 0; a < kAxes; ++a) {
    CAPTURE(a);
    CHECK(box.begin[a] == expected.begin[a]);
    CHECK(box.extent[a] == expected.extent[a]);
  }
}

TEST_CASE("node layer: columns take output channels, rows take rows of the map") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done());
  const NodeLayer& l = *m.Make(0, kFour, SplitOf(kDimK, 2, kDimP, 2));
  CHECK(l.nodes == 4);
  CHECK(l.links == 1);
  for (uint32_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const int32_t row = static_cast<int32_t>(i / 2),
                  column = static_cast<int32_t>(i % 2);
    CHECK(l.shares[i].used);
    CHECK(l.shares[i].next == kNone);
    CheckBox(l.shares[i].box, {{0, 4 * row, 0, 16 * column}, {1, 4, 8, 16}});
    CHECK(l.shares[i].c_begin == 0);
    CHECK(l.shares[i].c_end == 16);
  }
}

TEST_CASE("node layer: a sum over rows is a chain of nodes, each with its channels") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done());
  const NodeLayer& l = *m.Make(0, kRightColumn, SplitOf(kDimN, 1, kDimC, 2));
  CHECK(l.links == 2);
  CHECK(NodeAt(l, 0) == 1);  // of a mesh of two columns
  CHECK(NodeAt(l, 1) == 3);
  CHECK(l.shares[0].next == 1);
  CHECK(l.shares[0].c_end == 8);
  CHECK(l.shares[1].next == kNone);
  CHECK(l.shares[1].link == 1);
  CHECK(l.shares[1].c_begin == 8);
  CHECK(l.shares[1].c_end == 16);
}

TEST_CASE(
    "node layer: nodes that share weights lie together, whatever the split says") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done(), 1, 4);
  NodeSplit split = SplitOf(kDimN, 1, kDimC, 2);
  split.factor[kRows][kDimP] = 2;
  split.order[kRows][kDimC] = split.order[kRows][0];
  split.order[kRows][0] = kDimC;
  const NodeLayer& l = *m.Make(0, {{0, 0}, {1, 4}}, split);
  for (uint32_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(l.shares[i].c_begin == (i < 2 ? 0 : 8));
    CHECK(l.shares[i].box.begin[1] == (i % 2 == 0 ? 0 : 4));
  }
}

TEST_CASE("node layer: nodes behind the last part have no work") {
  NodeLayers m(Chain(1, 4, 4, 4).Conv(6, 1).Done(), 4, 1);
  const NodeLayer& l = *m.Make(0, {{0, 0}, {4, 1}}, SplitOf(kDimK, 4));
  for (uint32_t i = 0; i < 3; ++i) CHECK(l.shares[i].box.extent[3] == 2);
  CHECK(l.shares[2].used);
  CHECK(!l.shares[3].used);
}

TEST_CASE("node layer: a loop of more parts than there are nodes is whole on each") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done());
  const NodeLayer& l = *m.Make(0, kFour, SplitOf(kDimK, 4, kDimP, 2));
  CHECK(l.deal.parts[kColumns][3] == 1);
  CHECK(l.share[3] == 32);
  CHECK(l.share[1] == 4);
}

TEST_CASE("node layer: tiles of a node follow each other, the sum's first") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done());
  NodeLayer* l = m.Make(0, kRightColumn, SplitOf(kDimN, 1, kDimC, 2));
  l->tiling = {{1, 8, 8, 16}, 4, false, true};
  l->trips[3] = l->trips[kLoopC] = 2;
  l->trips[0] = l->trips[1] = l->trips[2] = 1;
  for (int v = 0; v < kNodeLoops; ++v) l->shown[v] = l->trips[v];
  l->per_slice = 4;
  NodeTile tile;
  const struct {
    int32_t k, c;
    bool starts, ends;
  } expected[] = {{0, 0, true, false},
                  {0, 4, false, true},
                  {16, 0, true, false},
                  {16, 4, false, true}};
  for (int t = 0; t < 4; ++t) {
    CAPTURE(t);
    REQUIRE(TileAt(*l, 0, t, &tile));
    CheckBox(tile.box, {{0, 0, 0, expected[t].k}, {1, 8, 8, 16}});
    CHECK(tile.c_begin == expected[t].c);
    CHECK(tile.c_end == expected[t].c + 4);
    CHECK(tile.starts == expected[t].starts);
    CHECK(tile.ends == expected[t].ends);
    CHECK(tile.number == t / 2);
  }
  CHECK(!TileAt(*l, 0, 4, &tile));
  // The next node of the chain is two tiles behind: a whole part of the sum.
  CHECK(!TileAt(*l, 1, 1, &tile));
  REQUIRE(TileAt(*l, 1, 2, &tile));
  CHECK(tile.c_begin == 8);
  CHECK(tile.box.begin[3] == 0);
}

TEST_CASE("node layer: slices follow each other along the batch") {
  NodeLayers m(Chain(2, 8, 8, 16).Conv(16, 1).Conv(8, 3).Done());
  NodeLayer* l = m.Make(1, kRightColumn, SplitOf(kDimN, 1, kDimP, 2), 2);
  CHECK(l->extent[0] == 1);
  l->tiling = {{1, 4, 8, 8}, 16, false, true};
  for (int32_t& trips : l->trips) trips = 1;
  l->per_slice = 1;
  NodeTile tile;
  REQUIRE(TileAt(*l, 1, 1, &tile));
  CHECK(tile.slice == 1);
  CheckBox(tile.box, {{1, 4, 0, 0}, {1, 4, 8, 8}});
  // Four rows of a window of three need one more row, inside the map.
  CheckBox(LandingBox(*l, 0, kRoleInput0, 0), {{0, 0, 0, 0}, {1, 5, 8, 16}});
  CheckBox(LandingBox(*l, 1, kRoleInput0, 1), {{1, 3, 0, 0}, {1, 5, 8, 16}});
}

TEST_CASE("node layer: a producer has room for so many consumers and no more") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(16, 1).Conv(8, 1).Done());
  NodeLayer* producer = m.Make(0, kFour);
  NodeLayer* consumer = m.Make(1, kFour);
  for (uint32_t i = 0; i < kMostSinks; ++i) {
    REQUIRE(Connect(consumer, kRoleInput0, producer));
  }
  CHECK(producer->sink_count == kMostSinks);
  CHECK(producer->sinks[0].consumer == consumer);
  CHECK(producer->sinks[0].role == kRoleInput0);
  CHECK(consumer->roles[kRoleInput0].producer == producer);
  CHECK(!Connect(consumer, kRoleInput0, producer));
  CHECK(producer->sink_count == kMostSinks);
}

}  // namespace
}  // namespace sluice
