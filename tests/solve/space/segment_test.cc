// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space segment: what later layers read stays while it fits") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  REQUIRE(maker.Make({}, 0, 1, LoopChoice{}));
  CHECK(maker.cost().load == 256);
  CHECK(maker.cost().store == 0);
  REQUIRE(maker.held().size() == 1);
  CHECK(maker.held()[0].root == 3);
  CHECK_FALSE(maker.held()[0].stored);
  const Held held[] = {{3, false}};
  REQUIRE(maker.Make(Span<const Held>(held, 1), 2, 3, LoopChoice{}));
  CHECK(maker.cost().load == 0);
  CHECK(maker.cost().store == 512);
  CHECK(maker.LastUseOfHeld(3) == 2);
  CHECK(maker.held().size() == 0);
}

// Layer 0 reads a state, layer 1 appends a row to it, layer 2 reads it again.
TEST_CASE("space segment: a state is not read on both sides of an append") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 4},
               {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 2},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 2}};
  g.parameters = {{0, 7}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  g.layers = {{SLUICE_OP_REQUANTIZE, {0}, {2}, same},
              {SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {2, 0}},
              {SLUICE_OP_REQUANTIZE, {0}, {3}, same}};
  sluice_test::MakerCase c(g);
  CHECK(c.maker.Make({}, 0, 2, LoopChoice{}));
  CHECK(c.maker.Make({}, 1, 3, LoopChoice{}));
  CHECK_FALSE(c.maker.Make({}, 0, 3, LoopChoice{}));
}

TEST_CASE("space segment: no loop runs from one piece of a joined root to the next") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  LoopChoice cut;
  cut.count = 1;
  cut.trips[0] = 2;
  cut.cut[0] = 3;  // the pieces are channels
  CHECK_FALSE(maker.Make({}, 0, 3, cut));
  CHECK(maker.Make({}, 0, 1, cut));
  cut.cut[0] = 1;
  CHECK(maker.Make({}, 0, 3, cut));
}

TEST_CASE("space segment: what does not fit goes through DRAM in tiles") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph(), 512);
  SegmentMaker& maker = c.maker;
  CHECK_FALSE(maker.Make({}, 0, 3, LoopChoice{}));
  LoopChoice rows;
  rows.count = 1;
  rows.cut[0] = 1;
  rows.trips[0] = 8;
  REQUIRE(maker.Make({}, 0, 3, rows));
  CHECK(maker.cost().peak <= 512);
  CHECK(maker.cost().load == 256);
  CHECK(maker.cost().store == 512);
}

TEST_CASE("space segment: what was begun before comes back from DRAM in two frames") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.Add(1, 8);
  const auto slots = [&]() -> uint32_t {
    for (const SpaceImage& image : maker.images()) {
      if (image.root == 3) return image.slots;
    }
    return 0;
  };
  // Half of root 3 was made earlier and is loaded by rows; the layers of the segment compute
  // the other half from it.
  REQUIRE(maker.Make({}, 1, 3, rows));
  CHECK(maker.cost().load == 256);
  CHECK(maker.cost().exposed == 0);
  CHECK(slots() == 2);
  const int64_t peak = maker.cost().peak;
  // With room for one slot only, the load of a frame waits for the iteration before.
  sluice_test::MakerCase crowded(sluice_test::JoinedGraph(), peak - 1);
  SegmentMaker& other = crowded.maker;
  REQUIRE(other.Make({}, 1, 3, rows));
  CHECK(other.cost().peak < peak);
  CHECK(other.cost().exposed > 0);
}

// Input 0 of 4 rows is resized to 32: output rows that are neighbours read the same 2 rows.
TEST_CASE(
    "space segment: frames move on where the first iterations read the same rows") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 4, 4, 16}, SLUICE_DTYPE_INT8, 1},
               {{1, 4, 4, 16}, SLUICE_DTYPE_INT8, 0},
               {{1, 32, 4, 16}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, {0, 1 << 30, 1, 0, -128, 127}},
              {SLUICE_OP_RESIZE_BILINEAR, {1}, {2}, {0, 1}}};
  sluice_test::MakerCase c(g);
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.Add(1, 32);
  REQUIRE(maker.Make({}, 0, 2, rows));
  for (const SpaceImage& image : maker.images()) {
    CAPTURE(image.root);
    CHECK(image.loop == 0);  // a new frame in each iteration
    if (image.root != 2) CHECK(image.bytes < 4 * 4 * 16);
  }
}

TEST_CASE(
    "space segment: the frames that change least often have one slot where two "
    "do not fit") {
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  g.tensors[0].dims = {4, 8, 8, 4};
  g.tensors[3].dims = g.tensors[4].dims = {4, 8, 8, 16};
  LoopChoice loops;  // an image of 256 bytes, its channels in 4 parts
  loops.Add(0, 4);
  loops.Add(3, 4);
  const sluice_test::SpaceCase large(g), small(g, 1200);
  for (const bool squeezed : {false, true}) {
    CAPTURE(squeezed);
    const SpaceProblem& p = squeezed ? small.problem : large.problem;
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    SegmentMaker maker(p);
    REQUIRE(maker.Init(&arena) == Status::kOk);
    REQUIRE(maker.Make({}, 0, 2, loops));
    CHECK((maker.cost().exposed > 0) == squeezed);
    CHECK(maker.cost().peak <= p.capacity);
    for (const SpaceImage& image : maker.images()) {
      if (image.root == 0) CHECK(image.slots == (squeezed ? 1 : 2));
      if (image.root == 4) CHECK(image.slots == 2);
    }
  }
}

}  // namespace
}  // namespace sluice
