// SPDX-License-Identifier: Apache-2.0
// Addresses for what a section keeps on chip, in a small chain.
#include "plan/fused/place_section.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/placed_run.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::SearchedRun;

TEST_CASE("place section: at once, buffers lie beside each other within the capacity") {
  SearchedRun s(Chain(4));
  QuickPlacement quick;
  REQUIRE(PlaceAtOnce(&s.section, 1 << 16, true, &s.budget, &s.n.arena, &quick) ==
          Status::kOk);
  REQUIRE(quick.status == Status::kOk);
  CHECK(s.Lies(quick.plan.offsets, 1 << 16));
}

TEST_CASE("place section: too little is answered, with offsets of the lowest peak") {
  SearchedRun s(Chain(4));
  int64_t largest = 0;
  for (const LiveRange& r : s.section.buffers.ranges) largest = Max(largest, r.bytes);
  QuickPlacement quick;
  REQUIRE(PlaceAtOnce(&s.section, largest, true, &s.budget, &s.n.arena, &quick) ==
          Status::kOk);
  CHECK(quick.status != Status::kOk);
  CHECK(!s.Lies(quick.plan.offsets, largest));
}

TEST_CASE("place section: a scheme that does not lie is tightened until it does") {
  SearchedRun s(Chain(4));
  const auto place = [&](int64_t capacity) {
    s.section.run.problem.buffer_bytes = capacity;
    return PlaceOrTighten(&s.section, capacity, &s.budget, &s.n.arena);
  };
  const int64_t used = s.section.result.score.minimum_bytes;
  REQUIRE(place(2 * used) == Status::kOk);
  CHECK(s.Lies(s.section.offsets, 2 * used));
  CHECK(s.section.result.score.minimum_bytes == used);
  REQUIRE(place(used / 2) == Status::kOk);
  CHECK(s.Lies(s.section.offsets, used / 2));
  CHECK(s.section.result.score.minimum_bytes <= used / 2);
  const Status none = place(16);
  CHECK((none == Status::kInfeasible || none == Status::kStopped));
}

}  // namespace
}  // namespace sluice
