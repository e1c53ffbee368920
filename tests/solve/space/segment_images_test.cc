// SPDX-License-Identifier: Apache-2.0
// The images that a segment brings.
#include <doctest/doctest.h>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("segment images: what was begun before comes back from DRAM in two frames") {
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

}  // namespace
}  // namespace sluice
