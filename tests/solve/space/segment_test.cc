// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace sluice
