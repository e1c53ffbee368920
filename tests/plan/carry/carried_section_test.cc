// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carried_section.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/carried_case.h"

namespace sluice {
namespace {

using sluice_test::CarriedCase;
using sluice_test::Chain;
using sluice_test::EarlierPlan;

template <typename T>
std::vector<T> All(Span<T> span) {
  return {span.begin(), span.end()};
}

TEST_CASE("carried section: the start has the order, cuts and tiles of before") {
  // Layers 5, 6 and 7 of the graph; 9 is an append, which is in no group.
  CarriedLayer layers[10] = {};
  layers[6] = {6, 0, 0, /*group=*/1, /*fusion=*/1, 4, 0};
  layers[5] = {5, 0, 1, 1, 1, 4, 1};
  layers[7] = {7, 0, 2, 2, 1, 3, 0};
  CarriedSchedule carried;
  carried.layer = {layers, 10};
  uint32_t run[] = {5, 6, 7};
  uint32_t local[10];
  for (uint32_t& l : local) l = kNone;
  Section section = {};
  section.run.layer = {run, 3};
  const uint32_t ranked[] = {6, 5, 9, 7};
  Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  bool touched = false;
  REQUIRE(StartOfCarried(carried, {ranked, 4}, {local, 10}, &arena, &section,
                         &touched) == Status::kOk);
  CHECK(touched);
  CHECK(All(section.start.order) == std::vector<uint32_t>{1, 0, 2});
  CHECK(All(section.start.cut) ==
        std::vector<uint8_t>{uint8_t{kCutDram}, uint8_t{kCutNone}, uint8_t{kCutFine}});
  CHECK(All(section.start.tiles) == std::vector<int32_t>{4, 4, 3});
  CHECK(All(section.touched) == std::vector<uint8_t>{1, 0, 0});
  CHECK(local[5] == 0);
  CHECK(local[7] == 2);
  CHECK(local[9] == kNone);
  layers[5].touched = 0;
  layers[7].fusion = 2;  // another group of layers
  REQUIRE(StartOfCarried(carried, {ranked, 4}, {local, 10}, &arena, &section,
                         &touched) == Status::kOk);
  CHECK(!touched);
  CHECK(section.start.cut[2] == kCutDram);
}

TEST_CASE("carried section: what is held has the times and addresses of before") {
  const EarlierPlan before(Chain(8, 16), 1536);
  CarriedCase after(before, Chain(8, 16), {}, 1536);
  Section* s = after.Listed();
  bool held = false;
  REQUIRE(HoldTimes(after.Call(), s, &held) == Status::kOk);
  REQUIRE(held);
  for (size_t b = 0; b < s->offsets.size(); ++b) {
    CHECK(s->offsets[b] == before.out.notation.buffer[b]);
  }
  CarriedCase smaller(before, Chain(8, 16), {}, 256);
  s = smaller.Listed();
  REQUIRE(HoldTimes(smaller.Call(), s, &held) == Status::kOk);
  CHECK(!held);
}

TEST_CASE("carried section: times that are adopted fit, and are not much slower") {
  const EarlierPlan before(Chain(8, 16), 1536);
  for (const int64_t capacity : {1536, 1024}) {
    CAPTURE(capacity);
    CarriedCase after(before, Chain(8, 16), {3}, capacity);
    Section* s = after.Listed();
    // As a search leaves it, with a list schedule.
    REQUIRE(SolveSection(after.plan, SearchOf(after.plan, *s, 0), &after.budget,
                         &after.n.arena, s) == Status::kOk);
    const int64_t listed = s->result.score.latency_cycles;
    REQUIRE(AdoptTimes(after.Call(), &after.budget, s) == Status::kOk);
    CHECK(s->result.score.latency_cycles <= listed + listed / 10);
    REQUIRE(s->offsets.size() == s->buffers.ranges.size());
    for (size_t b = 0; b < s->offsets.size(); ++b) {
      CHECK(s->offsets[b] + s->buffers.ranges[b].bytes <= capacity);
    }
  }
}

}  // namespace
}  // namespace sluice
