// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/buffer_beam.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

// The most bytes that live together.
int64_t LoadOf(const Buffers& b) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // ends first
  for (const LiveRange& r : b.ranges) {
    changes.push_back({r.begin, r.bytes});
    changes.push_back({r.end, -r.bytes});
  }
  std::sort(changes.begin(), changes.end());
  int64_t load = 0, most = 0;
  for (const auto& change : changes) most = std::max(most, load += change.second);
  return most;
}

bool Place(const Buffers& b, int64_t capacity, uint32_t width) {
  Ground ground;
  Budget budget;
  std::vector<int64_t> offsets(b.ranges.size(), -1);
  bool placed = false;
  REQUIRE(PlaceByTime(b.Set(), capacity, width,
                      Workspace{&budget, &ground.arena, &ground.diagnostic},
                      Span<int64_t>(offsets.data(), offsets.size()),
                      &placed) == Status::kOk);
  if (placed) CHECK(sluice_test::JudgeOffsets(b, offsets.data(), capacity) == "");
  return placed;
}

}  // namespace

TEST_CASE(
    "buffer beam: offsets are legal, never within less than what lives together") {
  Rng rng(3);
  int placed = 0;
  for (int i = 0; i < 2000; ++i) {
    Buffers b;
    const int64_t unit = rng.Below(2) == 0 ? 1 : 16;
    for (uint32_t k = 0; k < 12; ++k) {
      const int64_t begin = rng.Below(10);
      b.Add(begin, begin + rng.Below(6), unit * rng.Below(9)).alignment =
          rng.Below(2) == 0 ? 1 : unit;
    }
    CAPTURE(i);
    const int64_t load = LoadOf(b);
    CHECK(!Place(b, load - 1, 16));
    placed += Place(b, load, 16);
    CHECK(Place(b, 3 * load, 1));
  }
  CHECK(placed > 1500);
}

TEST_CASE("buffer beam: other kinds of buffers are left to others") {
  for (int kind = 0; kind < 6; ++kind) {
    Buffers b;
    LiveRange& range = b.Add(0, 2, 24);
    b.bank_bytes = 64;
    if (kind == 1) range.fixed_offset = 0;
    if (kind == 2) range.banks = 1;
    if (kind == 3) range.single_bank = true;
    if (kind == 4) range.alignment = 16;  // no divisor of 24
    if (kind == 5) b.reserved.push_back({0, 1, 32, 8});
    CHECK(Place(b, 128, 4) == (kind == 0));
  }
}

TEST_CASE("buffer beam: ten thousand buffers within 5 % of what lives together") {
  for (const uint64_t seed : {5u, 9005u}) {
    Rng rng(seed);
    for (const uint32_t longest : {24u, 100u}) {
      Buffers b;
      for (int i = 0; i < 10000; ++i) {
        const int64_t begin = i + rng.Below(16);
        b.Add(begin, begin + 1 + rng.Below(longest), 64 * (1 + rng.Below(256)))
            .alignment = 64;
      }
      CHECK(Place(b, LoadOf(b) * 21 / 20, 4));
    }
  }
}

TEST_CASE(
    "buffer beam: a few huge buffers among thousands do not make it try all ways to "
    "place what begins at once") {
  Rng rng(7);
  Buffers b;
  for (int64_t i = 0; i < 10000; ++i) {
    const int64_t begin = i + rng.Below(16);
    const bool huge = rng.Below(200) == 0;
    const int64_t end = begin + 1 + rng.Below(huge ? 200 : 60);
    b.Add(begin, end, huge ? 4000 + rng.Below(4000) : 1 + rng.Below(256));
  }
  // Time counts the looks at the budget, of which there is one for some ten thousand
  // blocks that the beam passes.
  struct Looks {
    static uint64_t Now(void* user) { return ++*static_cast<uint64_t*>(user); }
  };
  uint64_t looks = 0;
  for (const int percent : {100, 101, 102}) {
    Ground ground;
    Budget budget(Clock{Looks::Now, &looks}, 1000000, 0, nullptr);
    std::vector<int64_t> offsets(b.ranges.size(), -1);
    bool placed = false;
    REQUIRE(PlaceByTime(b.Set(), LoadOf(b) / 100 * percent, 4,
                        Workspace{&budget, &ground.arena, &ground.diagnostic},
                        Span<int64_t>(offsets.data(), offsets.size()),
                        &placed) == Status::kOk);
  }
  MESSAGE(looks << " looks at the budget");
  CHECK(looks < 100000);
}
