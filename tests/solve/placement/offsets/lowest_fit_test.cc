// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/lowest_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "solve/placement/offsets/offsets.h"
#include "tests/solve/placement/judge.h"

using namespace sluice;

namespace {

bool Meet(const LiveRange& a, int64_t at_a, const LiveRange& b, int64_t at_b) {
  return a.begin < b.end && b.begin < a.end && at_a < at_b + b.bytes &&
         at_b < at_a + a.bytes;
}

// The lowest multiple of the alignment that is free, found by trying all.
int64_t LowestFree(const std::vector<LiveRange>& ranges, const std::vector<int64_t>& at,
                   size_t b, int64_t capacity) {
  const LiveRange& range = ranges[b];
  for (int64_t x = 0; x + range.bytes <= capacity; x += range.alignment) {
    bool free = true;
    for (size_t o = 0; o < ranges.size() && free; ++o) {
      free = at[o] == kFreeOffset || !Meet(range, x, ranges[o], at[o]);
    }
    if (free) return x;
  }
  return kFreeOffset;
}

}  // namespace

TEST_CASE("placing around: the largest first, each at its lowest free address") {
  Rng rng(3);
  int placed_some = 0, failed_some = 0, overlaps = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t n = 2 + rng.Below(12);
    const int64_t capacity = 24 + rng.Below(40);
    std::vector<LiveRange> ranges(n);
    for (LiveRange& r : ranges) {
      r.begin = rng.Below(8);
      r.end = r.begin + 1 + rng.Below(5);
      r.alignment = int64_t{1} << rng.Below(4);
      r.bytes = 1 + rng.Below(12);
      const int64_t at = rng.Below(5) * 8;
      if (rng.Below(3) == 0 && at + r.bytes <= capacity) r.fixed_offset = at;
    }
    std::vector<int64_t> expected(n);
    std::vector<size_t> free;
    bool overlap = false;
    for (size_t b = 0; b < n; ++b) {
      expected[b] = ranges[b].fixed_offset;
      if (expected[b] == kFreeOffset) free.push_back(b);
      for (size_t o = 0; o < b && expected[b] != kFreeOffset; ++o) {
        overlap = overlap || (expected[o] != kFreeOffset &&
                              Meet(ranges[b], expected[b], ranges[o], expected[o]));
      }
    }
    std::stable_sort(free.begin(), free.end(), [&](size_t a, size_t b) {
      return ranges[a].bytes > ranges[b].bytes;
    });
    bool fits = true;
    for (size_t b : free) {
      expected[b] = fits ? LowestFree(ranges, expected, b, capacity) : kFreeOffset;
      fits = fits && expected[b] != kFreeOffset;
    }
    sluice_test::Ground ground;
    std::vector<int64_t> offsets(n);
    bool placed = false;
    Diagnostic diagnostic = {};
    const Status status =
        PlaceAround(Span<const LiveRange>(ranges.data(), n), capacity, &ground.arena,
                    Span<int64_t>(offsets.data(), n), &placed, &diagnostic);
    if (overlap) {
      ++overlaps;
      CHECK(status == Status::kBadInput);
      continue;
    }
    REQUIRE(status == Status::kOk);
    REQUIRE(placed == fits);
    (fits ? placed_some : failed_some) += 1;
    if (fits) CHECK(offsets == expected);
  }
  CHECK(placed_some > 100);
  CHECK(failed_some > 100);
  CHECK(overlaps > 100);
}
