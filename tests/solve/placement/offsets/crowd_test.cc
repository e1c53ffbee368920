// SPDX-License-Identifier: Apache-2.0
// Buffers of which most are alive at once, placed without their pairs.
#include "solve/placement/offsets/crowd.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/solve/placement/offsets/tried_offsets.h"

namespace sluice {
namespace {

using sluice_test::Buffers;
using sluice_test::Ground;

Status Place(const Buffers& b, int64_t good_enough, Budget* budget, Ground* ground,
             OffsetPlan* plan) {
  *plan = OffsetPlan();
  REQUIRE(ground->arena.Allocate(b.ranges.size(), &plan->offsets) == Status::kOk);
  return PlaceCrowd(b.Set(), good_enough,
                    Workspace{budget, &ground->arena, &ground->diagnostic}, plan);
}

// Chains of buffers of one size, each without a break: the same bytes at all times.
Buffers Chains(Rng* rng, int chains) {
  Buffers b;
  for (int i = 0; i < chains; ++i) {
    const int64_t bytes = 64 * (1 + rng->Below(256));
    for (int64_t from = 0, k = 0; k < 10; ++k) {
      const int64_t next =
          k == 9 ? 2000 : std::min(from + 1 + rng->Below(400), 1990 + k);
      b.Add(from, next, bytes).alignment = 64;
      from = next;
    }
  }
  return b;
}

TEST_CASE("crowd: pairs alive together are counted as one by one") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const Buffers b = sluice_test::RandomBuffers(&rng, 1 + rng.Below(20), true);
    uint64_t pairs = 0, expected = 0;
    for (size_t i = 0; i < b.ranges.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        expected += b.ranges[i].fixed_offset < 0 && b.ranges[j].fixed_offset < 0 &&
                    b.ranges[i].begin < b.ranges[j].end &&
                    b.ranges[j].begin < b.ranges[i].end;
      }
    }
    Ground ground;
    REQUIRE(CountMeetings(b.Set().buffers, &ground.arena, &pairs) == Status::kOk);
    CHECK(pairs == expected);
  }
}

TEST_CASE("crowd: regions, fixed buffers, gaps and alignments are kept") {
  Rng rng(4);
  for (int round = 0; round < 3000; ++round) {
    Buffers b = sluice_test::RandomBuffers(&rng, 1 + rng.Below(30), true);
    b.bank_bytes = 0;
    for (LiveRange& r : b.ranges) {
      r.banks = 0;
      r.single_bank = false;
    }
    for (uint32_t i = rng.Below(4); i > 0; --i) {  // regions may overlap each other
      const int64_t begin = rng.Below(8);
      b.reserved.push_back(
          {begin, begin + 1 + rng.Below(6), rng.Below(40), 1 + int64_t{rng.Below(9)}});
    }
    // Fixed ones have all the time to themselves, above the regions.
    for (uint32_t i = rng.Below(3); i > 0; --i)
      b.Add(rng.Below(6), 9, 8).fixed_offset = 60 + 20 * int64_t{i};
    if (b.ranges[0].fixed_offset >= 0) b.ranges[0].fixed_offset = 1024;
    Ground ground;
    Budget budget;
    OffsetPlan plan;
    REQUIRE(Place(b, 0, &budget, &ground, &plan) == Status::kOk);
    REQUIRE(plan.offsets.size() == b.ranges.size());
    const std::string wrong =
        sluice_test::JudgeOffsets(b, plan.offsets.data(), plan.peak);
    CHECK_MESSAGE(wrong.empty(), "round ", round, ": ", wrong);
    CHECK(plan.peak >= sluice_test::MostAtOnce(b));
    int64_t peak = 0;
    for (size_t i = 0; i < b.ranges.size(); ++i)
      peak = std::max(peak, plan.offsets[i] + b.ranges[i].bytes);
    CHECK(plan.peak == peak);
  }
}

TEST_CASE("crowd: what fits below fixed bytes lies there") {
  Buffers b;
  b.Add(0, 8, 16).fixed_offset = 32;
  for (int i = 0; i < 4; ++i) b.Add(0, 8, 8);
  b.reserved.push_back({0, 8, 48, 16});
  b.Add(2, 6, 16);
  Ground ground;
  Budget budget;
  OffsetPlan plan;
  REQUIRE(Place(b, 0, &budget, &ground, &plan) == Status::kOk);
  CHECK(sluice_test::JudgeMany(b, plan.offsets.data(), plan.peak).empty());
  CHECK(plan.peak == 80);
}

TEST_CASE("crowd: thousands that nest, or meet at one moment, lie at the bound") {
  Rng rng(5);
  Buffers nested, meeting;
  for (int64_t i = 0; i < 4000; ++i) {
    nested.Add(i, 8000 - i, 64 * (1 + rng.Below(256))).alignment = 64;
    meeting.Add(rng.Below(4000), 4001 + rng.Below(4000), 64 * (1 + rng.Below(256)));
  }
  for (const Buffers* b : {&nested, &meeting}) {
    Ground ground;
    Budget budget;
    OffsetPlan plan;
    const int64_t bound = sluice_test::MostAtOnce(*b);
    REQUIRE(Place(*b, bound, &budget, &ground, &plan) == Status::kOk);
    CHECK(sluice_test::JudgeMany(*b, plan.offsets.data(), plan.peak).empty());
    CHECK(plan.peak == bound);
  }
}

TEST_CASE("crowd: where the same bytes are alive always, full moments come first") {
  Rng rng(6);
  const Buffers b = Chains(&rng, 200);
  const int64_t bound = sluice_test::MostAtOnce(b);
  Ground ground;
  Budget budget;
  OffsetPlan quick, plan;
  // The first order is good enough for more.
  REQUIRE(Place(b, 2 * bound, &budget, &ground, &quick) == Status::kOk);
  REQUIRE(Place(b, bound, &budget, &ground, &plan) == Status::kOk);
  CHECK(sluice_test::JudgeMany(b, plan.offsets.data(), plan.peak).empty());
  CHECK(quick.peak > bound);
  CHECK(plan.peak < quick.peak);
  CHECK(plan.peak <= bound + bound / 100);
}

TEST_CASE("crowd: it stops in the first order without a layout, later with the first") {
  Rng rng(7);
  const Buffers b = Chains(&rng, 20);
  uint64_t now = 0;
  const auto tick = [](void* user) { return ++*static_cast<uint64_t*>(user); };
  const Clock clock = {tick, &now};
  int64_t before = INT64_MAX;
  int none = 0, first = 0, all = 0;
  for (uint64_t deadline = 1; deadline < 2000; deadline += 13) {
    Ground ground;
    now = 0;
    Budget budget(clock, deadline, 0, nullptr);
    OffsetPlan plan;
    const Status status = Place(b, 0, &budget, &ground, &plan);
    if (status != Status::kOk) {
      CHECK(status == Status::kStopped);
      CHECK(plan.offsets.empty());
      ++none;
      continue;
    }
    CHECK(sluice_test::JudgeMany(b, plan.offsets.data(), plan.peak).empty());
    CHECK(plan.peak <= before);
    before = plan.peak;
    (budget.Exhausted() && now < 2000 && budget.stop_reason() != 0 ? first : all) += 1;
  }
  CHECK(none > 0);
  CHECK(first > 0);
  CHECK(all > 0);
}

TEST_CASE("crowd: memory that is refused at any point is reported") {
  Rng rng(8);
  const Buffers b = Chains(&rng, 20);
  bool done = false;
  for (uint64_t cap = 1 << 10; !done; cap += cap / 4) {
    Memory memory(sluice_test::Malloc(), cap);
    Arena arena(&memory);
    Diagnostic diagnostic{};
    Budget budget;
    OffsetPlan plan;
    if (arena.Allocate(b.ranges.size(), &plan.offsets) != Status::kOk) continue;
    const Status status =
        PlaceCrowd(b.Set(), 0, Workspace{&budget, &arena, &diagnostic}, &plan);
    REQUIRE((status == Status::kOk || status == Status::kOutOfMemory));
    done = status == Status::kOk;
  }
}

}  // namespace
}  // namespace sluice
