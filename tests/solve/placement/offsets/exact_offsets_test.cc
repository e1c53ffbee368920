// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/exact_offsets.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

// Searches for offsets of all buffers; fixed buffers keep their offsets.
Status Search(const Buffers& b, int64_t capacity, const ExactLimits& limits,
              std::vector<int64_t>* at) {
  Ground ground;
  Budget budget;
  Sections sections;
  REQUIRE(CutSections(b.Set(), &ground.arena, &sections) == Status::kOk);
  std::vector<int64_t> free(sections.buffers.size());
  const Status status = ExactOffsets(sections, capacity, limits, &budget, &ground.arena,
                                     {free.data(), free.size()});
  at->clear();
  for (const LiveRange& r : b.ranges) at->push_back(r.fixed_offset);
  for (size_t u = 0; u < free.size(); ++u) (*at)[sections.buffers[u].source] = free[u];
  return status;
}

}  // namespace

TEST_CASE("exact offsets: a fit or none, as by trying all that matter") {
  Rng rng(11);
  int fitting = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool extras = i % 2 == 1;
    const Buffers b =
        sluice_test::RandomBuffers(&rng, 3 + rng.Below(extras ? 3 : 5), extras);
    const int64_t capacity = 6 + rng.Below(12);
    const LiveRange& fixed = b.ranges[0];  // if any; the caller checks that it fits
    if (fixed.fixed_offset != kFreeOffset &&
        fixed.fixed_offset + fixed.bytes > capacity) {
      continue;
    }
    std::vector<int64_t> at;
    const Status status = Search(b, capacity, ExactLimits(), &at);
    const bool fits = sluice_test::BruteForceFits(b, capacity);
    CAPTURE(i);
    REQUIRE(status == (fits ? Status::kOk : Status::kInfeasible));
    fitting += fits;
    if (fits) REQUIRE(sluice_test::JudgeOffsets(b, at.data(), capacity) == "");
  }
  CHECK(fitting > 500);
  CHECK(fitting < 1500);
}

TEST_CASE("exact offsets: a buffer that never uses a byte has a place as well") {
  Buffers b;
  b.gaps.push_back({1, 3, 2, 2});
  b.Add(0, 4, 6);
  b.Add(1, 3, 4).gap_count = 1;
  std::vector<int64_t> at;
  REQUIRE(Search(b, 6, ExactLimits(), &at) == Status::kOk);
  CHECK(sluice_test::JudgeOffsets(b, at.data(), 6) == "");
}

TEST_CASE("exact offsets: a limit on nodes stops the search, and nodes are counted") {
  Rng rng(17);
  const Buffers b = sluice_test::FullBuffers(&rng, 12, 40);
  std::vector<int64_t> at;
  uint64_t nodes = 0;
  ExactLimits limits{20, &nodes};
  CHECK(Search(b, 12, limits, &at) == Status::kStopped);
  CHECK(nodes > 0);
  CHECK(nodes <= 20);
  nodes = 0;
  limits.max_nodes = 0;
  CHECK(Search(b, 40, limits, &at) == Status::kOk);
  CHECK(nodes >= 1);
  CHECK(sluice_test::JudgeOffsets(b, at.data(), 40) == "");
}
