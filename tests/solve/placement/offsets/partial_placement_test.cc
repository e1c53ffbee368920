// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/partial_placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

std::vector<int64_t> StateOf(const PartialPlacement& p) {
  std::vector<int64_t> all;
  const auto add = [&all](const auto& list) {
    for (const auto& item : list) all.push_back(static_cast<int64_t>(item));
  };
  add(p.offset), add(p.least), add(p.floor), add(p.candidates), add(p.top), add(p.load);
  add(p.crossing);
  return all;
}

// Floors, loads and crossings, counted from the buffers.
void CheckCounts(const PartialPlacement& p) {
  const Sections& sections = p.sections;
  for (uint32_t s = 0; s < sections.count; ++s) {
    int64_t floor = kNowhere, load = 0;
    uint32_t candidates = 0, crossing = 0;
    for (uint32_t u = 0; u < sections.buffers.size(); ++u) {
      const SectionedBuffer& b = sections.buffers[u];
      if (p.offset[u] >= 0) continue;
      crossing += b.begin_section < s && s < b.end_section ? 1 : 0;
      for (const SectionRange& r : sections.RangesOf(b)) {
        if (s < r.begin || s >= r.end) continue;
        load += b.bytes;
        candidates = p.least[u] < floor ? 1 : candidates + (p.least[u] == floor);
        floor = std::min(floor, p.least[u]);
      }
    }
    REQUIRE(p.load[s] == load);
    REQUIRE(p.floor[s] == floor);
    if (floor < kNowhere) REQUIRE(p.candidates[s] == candidates);
    REQUIRE(p.crossing[s] == crossing);
  }
}

}  // namespace

TEST_CASE("partial placement: counts are those of the buffers, and undone exactly") {
  Rng rng(5);
  int placed = 0, uncovered = 0;
  for (int round = 0; round < 300; ++round) {
    const Buffers b = sluice_test::RandomBuffers(&rng, 6, round % 2 == 1);
    Ground ground;
    Sections sections;
    REQUIRE(CutSections(b.Set(), &ground.arena, &sections) == Status::kOk);
    std::vector<int64_t> offsets(sections.buffers.size());
    PartialPlacement p(sections, 24, &ground.arena, {offsets.data(), offsets.size()});
    Vector<uint32_t> spare(&ground.arena);
    REQUIRE(AllocatePartial(&ground.arena, &p) == Status::kOk);
    if (StartPartial(&p) != Status::kOk) continue;
    std::vector<size_t> marks;
    std::vector<std::vector<int64_t>> states;
    for (int step = 0; step < 12; ++step) {
      CheckCounts(p);
      marks.push_back(p.undo.size());
      states.push_back(StateOf(p));
      const uint32_t section = static_cast<uint32_t>(
          std::min_element(p.floor.begin(), p.floor.end()) - p.floor.begin());
      const int64_t floor = p.floor[section];
      if (floor == kNowhere) break;
      bool ok = true;
      if (rng.Below(3) == 0) {
        REQUIRE(LeaveUncovered(&p, section, &spare, &ok) == Status::kOk);
        CHECK(spare.size() == 0);
        if (ok) CHECK(p.floor[section] > floor);
        ++uncovered;
      } else {
        for (uint32_t u : sections.MembersOf(section)) {
          if (p.least[u] != floor) continue;
          REQUIRE(PlaceBuffer(&p, u, floor, &ok) == Status::kOk);
          CHECK(p.offset[u] == floor);
          break;
        }
        ++placed;
      }
      if (!ok) break;
    }
    for (size_t i = marks.size(); i-- > 0;) {
      UndoTo(&p, marks[i]);
      REQUIRE(StateOf(p) == states[i]);
    }
  }
  CHECK(placed > 200);
  CHECK(uncovered > 100);
}

TEST_CASE("partial placement: a buffer rests on the ground or on another one") {
  Buffers b;
  b.Add(0, 2, 4);
  b.Add(1, 3, 4);
  Ground ground;
  Sections sections;
  REQUIRE(CutSections(b.Set(), &ground.arena, &sections) == Status::kOk);
  std::vector<int64_t> offsets(2);
  PartialPlacement p(sections, 16, &ground.arena, {offsets.data(), offsets.size()});
  REQUIRE(AllocatePartial(&ground.arena, &p) == Status::kOk);
  REQUIRE(StartPartial(&p) == Status::kOk);
  CHECK(RestsOnSomething(p, 1, 0));
  CHECK_FALSE(RestsOnSomething(p, 1, 4));  // nothing is below it yet
  bool ok = true;
  REQUIRE(PlaceBuffer(&p, 0, 0, &ok) == Status::kOk);
  CHECK(ok);
  CHECK(p.least[1] == 4);
  CHECK(RestsOnSomething(p, 1, 4));
  CHECK_FALSE(RestsOnSomething(p, 1, 5));
  UndoTo(&p, 0);
  CHECK(p.offset[0] == -1);
}
