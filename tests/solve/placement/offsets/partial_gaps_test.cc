// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/partial_gaps.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

Status Search(const Buffers& b, int64_t capacity, std::vector<int64_t>* at) {
  Ground ground;
  Budget budget;
  Sections sections;
  REQUIRE(CutSections(b.Set(), &ground.arena, &sections) == Status::kOk);
  at->assign(sections.buffers.size(), 0);
  return ExactWithGaps(b.Set(), sections, capacity, ExactLimits(),
                       Workspace{&budget, &ground.arena, &ground.diagnostic},
                       {at->data(), at->size()});
}

}  // namespace

TEST_CASE("a gap that keeps some bytes is honoured") {
  Buffers b;
  b.gaps.push_back({2, 4, 0, 4});
  LiveRange& r = b.Add(0, 6, 8);
  r.first_gap = 0;
  r.gap_count = 1;
  b.Add(2, 4, 4);
  std::vector<int64_t> at;
  REQUIRE(Search(b, 12, &at) == Status::kOk);
  CHECK(sluice_test::JudgeOffsets(b, at.data(), 12) == "");
  REQUIRE(Search(b, 8, &at) == Status::kOk);
  CHECK(sluice_test::JudgeOffsets(b, at.data(), 8) == "");
  CHECK(Search(b, 7, &at) == Status::kInfeasible);
}

TEST_CASE("gaps that keep bytes: placed or excluded exactly as trying all offsets") {
  Rng rng(19);
  int beyond = 0, excluded = 0;
  for (int i = 0; i < 1500; ++i) {
    const Buffers b = sluice_test::PartialBuffers(&rng, 2 + rng.Below(4));
    const int64_t capacity = 6 + rng.Below(5);
    std::vector<int64_t> at, tried;
    const bool fits = sluice_test::GridFits(b, capacity, &tried);
    CAPTURE(i);
    REQUIRE(Search(b, capacity, &at) == (fits ? Status::kOk : Status::kInfeasible));
    excluded += !fits;
    if (!fits) continue;
    REQUIRE(sluice_test::JudgeOffsets(b, at.data(), capacity) == "");
    Buffers whole = b;
    for (LiveRange& r : whole.ranges) r.gap_count = 0;
    tried.clear();
    beyond += !sluice_test::GridFits(whole, capacity, &tried);
  }
  MESSAGE(excluded, " excluded; ", beyond, " fit only because gaps are used");
  CHECK(beyond > 50);
  CHECK(excluded > 50);
}
