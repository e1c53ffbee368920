// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment_keys.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("segment keys: equal for equal layers alike connected, and for no others") {
  sluice_test::SpaceCase c(sluice_test::RowGraph(5, {1, 8, 8, 4}));
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentKeys keys(c.problem);
  REQUIRE(keys.Init(&arena) == Status::kOk);
  LoopChoice rows, more;
  rows.Add(1, 2);
  more.Add(1, 4);
  const Held second[] = {{1, false}}, third[] = {{2, false}}, stored[] = {{2, true}};
  const Span<const Held> none, one(second, 1), two(third, 1), other(stored, 1);
  const uint64_t key = keys.Of({one, 1, 3, rows});
  CHECK(key != 0);
  CHECK(keys.Of({two, 2, 4, rows}) == key);
  CHECK(keys.Of({other, 2, 4, rows}) != key);
  CHECK(keys.Of({none, 2, 4, rows}) != key);
  CHECK(keys.Of({two, 2, 4, more}) != key);
  CHECK(keys.Of({two, 2, 3, rows}) != key);
  // The first layer reads the network's input, the last one makes its output.
  CHECK(keys.Of({none, 0, 2, rows}) != keys.Of({none, 1, 3, rows}));
  CHECK(keys.Of({none, 3, 5, rows}) != keys.Of({none, 1, 3, rows}));
}

}  // namespace
}  // namespace sluice
