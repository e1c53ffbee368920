// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/conflict_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/shared_data.h"
#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

using Fits = std::function<bool(const Buffers&)>;

Status Find(const Buffers& b, int64_t capacity, Ground* ground, OffsetPlan* plan) {
  Budget budget;
  return FindConflict(b.Set(), capacity, 0, &budget, &ground->arena, plan);
}

// The buffers of the conflict do not fit together; without any one of them they fit.
void CheckConflict(const Buffers& b, int64_t capacity, const Fits& fits) {
  Ground ground;
  OffsetPlan plan;
  REQUIRE(Find(b, capacity, &ground, &plan) == Status::kOk);
  REQUIRE(plan.irreducible);
  REQUIRE(!plan.conflict.empty());
  REQUIRE(std::is_sorted(plan.conflict.begin(), plan.conflict.end()));
  for (size_t left_out = 0; left_out <= plan.conflict.size(); ++left_out) {
    Buffers part = b;
    part.ranges.clear();
    for (size_t i = 0; i < plan.conflict.size(); ++i) {
      if (i != left_out) part.ranges.push_back(b.ranges[plan.conflict[i]]);
    }
    REQUIRE(fits(part) == (left_out < plan.conflict.size()));
  }
}

// Whether plain buffers, sorted by begin, fit: tries every offset of one buffer after the
// other.
bool SweepFits(const Buffers& b, int64_t capacity, std::vector<int64_t>* at) {
  const size_t i = at->size();
  if (i == b.ranges.size()) return true;
  for (int64_t p = 0; p + b.ranges[i].bytes <= capacity; ++p) {
    bool free = true;
    for (size_t j = 0; j < i && free; ++j) {
      free = b.ranges[j].end <= b.ranges[i].begin ||
             (*at)[j] >= p + b.ranges[i].bytes || p >= (*at)[j] + b.ranges[j].bytes;
    }
    if (!free) continue;
    at->push_back(p);
    if (SweepFits(b, capacity, at)) return true;
    at->pop_back();
  }
  return false;
}

}  // namespace

TEST_CASE("a conflict does not fit, and fits without any one of its buffers") {
  Rng rng(7);
  int conflicts = 0;
  for (int i = 0; i < 2400; ++i) {
    const bool partial = i % 3 == 2;
    const Buffers b = partial
                          ? sluice_test::PartialBuffers(&rng, 2 + rng.Below(4))
                          : sluice_test::RandomBuffers(
                                &rng, 3 + rng.Below(i % 3 == 1 ? 3 : 5), i % 3 == 1);
    const int64_t capacity = 6 + rng.Below(6);
    const Fits fits = [&](const Buffers& part) {
      std::vector<int64_t> at;
      return partial ? sluice_test::GridFits(part, capacity, &at)
                     : sluice_test::BruteForceFits(part, capacity);
    };
    if (fits(b)) continue;
    CAPTURE(i);
    CheckConflict(b, capacity, fits);
    ++conflicts;
  }
  CHECK(conflicts > 500);
}

TEST_CASE("a conflict beyond the sums: fragmentation alone makes it infeasible") {
  Rng rng(17);
  int found = 0;
  for (int i = 0; i < 20000 && found < 5; ++i) {
    const Buffers b = sluice_test::FullBuffers(&rng, 6, 7);  // every moment is full
    std::vector<int64_t> at;
    if (SweepFits(b, 6, &at)) continue;
    ++found;
    Ground ground;
    OffsetPlan plan;
    REQUIRE(Find(b, 6, &ground, &plan) == Status::kOk);
    REQUIRE(plan.irreducible);
    Buffers part;
    for (uint32_t k : plan.conflict) part.ranges.push_back(b.ranges[k]);
    at.clear();
    CHECK(!SweepFits(part, 6, &at));
  }
  CHECK(found > 0);
}

TEST_CASE("overloads: the fullest moment, and the fewest buffers that overload it") {
  Rng rng(29);
  int overloads = 0;
  for (int i = 0; i < 500; ++i) {
    const Buffers b = sluice_test::RandomBuffers(&rng, 3 + rng.Below(6), false);
    int64_t most = 0;
    for (int64_t t = 0; t < 16; ++t) {
      int64_t load = 0;
      for (const LiveRange& r : b.ranges)
        load += r.begin <= t && t < r.end ? r.bytes : 0;
      most = std::max(most, load);
    }
    Ground ground;
    OffsetPlan plan;
    const int64_t capacity = 8 + rng.Below(6);
    REQUIRE(FindOverload(b.Set(), capacity, &ground.arena, &plan) == Status::kOk);
    CHECK(plan.lower_bound == most);
    CHECK(plan.conflict.empty() == (most <= capacity));
    if (plan.conflict.empty()) continue;
    ++overloads;
    CHECK(plan.irreducible);
    int64_t sum = 0, least = INT64_MAX, begin = 0, end = INT64_MAX;
    for (uint32_t k : plan.conflict) {
      sum += b.ranges[k].bytes;
      least = std::min(least, b.ranges[k].bytes);
      begin = std::max(begin, b.ranges[k].begin);
      end = std::min(end, b.ranges[k].end);
    }
    CHECK(begin < end);
    CHECK(sum > capacity);
    CHECK(sum - least <= capacity);
  }
  CHECK(overloads > 100);
}

TEST_CASE("infeasible variants get a proof with an irreducible conflict, or say so") {
  const std::string folder = sluice_test::SharedPath("reference/minimalloc/");
  for (const char* name : {"A", "C", "E", "G", "I", "K"}) {
    for (int variant = 0; variant < 2; ++variant) {
      Buffers b;
      if (!sluice_test::ReadCsv(folder + name + ".1048576.csv", &b)) {
        MESSAGE("skipped: no minimalloc instances in ", folder);
        return;
      }
      // Variant 0 overloads some moments. The other one shrinks the capacity, but not below
      // the largest sum of live bytes of instance C.
      const int64_t capacity = variant == 0 ? 1048576 : 1039360;
      if (variant == 0) {
        for (size_t i = 0; i < b.ranges.size(); i += 7) b.ranges[i].bytes += 1024;
      }
      Ground ground;
      Budget budget;
      OffsetPlan plan;
      OffsetOptions options;
      options.max_nodes = 100000;
      const Status status =
          PlaceOffsets(b.Set(), capacity, options,
                       Workspace{&budget, &ground.arena, &ground.diagnostic}, &plan);
      if (status == Status::kOk) {
        CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), capacity) == "");
      } else if (status == Status::kInfeasible) {
        CHECK(plan.irreducible);
        CHECK(plan.conflict.size() >= 2);
      } else {
        CHECK(status == Status::kStopped);
        CHECK(plan.peak > capacity);
        CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), plan.peak) == "");
      }
    }
  }
}
