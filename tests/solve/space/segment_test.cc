// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space segment: what later layers read stays while it fits") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker maker(c.problem);
  REQUIRE(maker.Init(&arena) == Status::kOk);
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

TEST_CASE("space segment: a tile waits for its own loads only, and for them in order") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker maker(c.problem);
  REQUIRE(maker.Init(&arena) == Status::kOk);
  LoopChoice rows;
  rows.count = 1;
  rows.cut[0] = 1;
  rows.trips[0] = 4;
  REQUIRE(maker.Make({}, 0, 3, rows));
  CHECK(maker.cost().first_load == 64);  // two rows of 32 bytes
  CHECK(maker.cost().first_wait == c.problem.DmaCycles(64, 1));
  CHECK(maker.cost().exposed == 0);  // frames are doubled
  // Room that is asked for is left empty.
  const int64_t peak = maker.cost().peak;
  c.problem.slack[1] = c.problem.capacity - peak + 1;
  CHECK((!maker.Make({}, 0, 3, rows) || maker.cost().peak <= c.problem.capacity));
  c.problem.slack[1] = 0;
}

TEST_CASE("space segment: what does not fit goes through DRAM in tiles") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph(), 512);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker maker(c.problem);
  REQUIRE(maker.Init(&arena) == Status::kOk);
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

}  // namespace
}  // namespace sluice
