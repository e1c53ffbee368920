// SPDX-License-Identifier: Apache-2.0
// What a segment does where frames do not fit.
#include <doctest/doctest.h>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("segment room: what does not fit goes through DRAM in tiles") {
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

TEST_CASE(
    "segment room: the frames that change least often have one slot where two "
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
