// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/offsets.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "support/shared_data.h"
#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;
using sluice_test::RandomBuffers;

namespace {

Status Place(const Buffers& b, int64_t capacity, const OffsetOptions& options,
             Ground* ground, OffsetPlan* plan) {
  Budget budget;
  return PlaceOffsets(b.Set(), capacity, options,
                      Workspace{&budget, &ground->arena, &ground->diagnostic}, plan);
}

}  // namespace

TEST_CASE("a placement is found or excluded as by trying all that matter") {
  Rng rng(7);
  for (int i = 0; i < 1000; ++i) {
    const Buffers b = RandomBuffers(&rng, 3 + rng.Below(4), i % 2 == 1);
    const int64_t capacity = 6 + rng.Below(12);
    Ground ground;
    OffsetPlan plan;
    const Status status = Place(b, capacity, OffsetOptions(), &ground, &plan);
    const bool fits = sluice_test::BruteForceFits(b, capacity);
    REQUIRE(status == (fits ? Status::kOk : Status::kInfeasible));
    REQUIRE(plan.conflict.empty() == fits);
    if (!fits) continue;
    REQUIRE(sluice_test::JudgeOffsets(b, plan.offsets.data(), capacity) == "");
  }
}

TEST_CASE("plain buffers are placed as others are, without checks and reasons") {
  Rng rng(11);
  for (int i = 0; i < 1000; ++i) {
    const Buffers b = RandomBuffers(&rng, 3 + rng.Below(8), false);
    const int64_t capacity = 6 + rng.Below(12);
    Ground ground;
    OffsetPlan plan, plain;
    OffsetOptions options;
    options.explain = false;
    options.exact = rng.Below(3) != 0;
    const Status status = Place(b, capacity, options, &ground, &plan);
    Budget budget;
    REQUIRE(PlacePlain(b.Set().buffers, capacity, options,
                       Workspace{&budget, &ground.arena, &ground.diagnostic},
                       &plain) == status);
    REQUIRE(plain.peak == plan.peak);
    REQUIRE(std::equal(plain.offsets.begin(), plain.offsets.end(), plan.offsets.begin(),
                       plan.offsets.end()));
  }
}

TEST_CASE("the smallest capacity is the one below which nothing fits") {
  Rng rng(13);
  for (int i = 0; i < 300; ++i) {
    const Buffers b = RandomBuffers(&rng, 3 + rng.Below(4), i % 2 == 1);
    Ground ground;
    OffsetPlan plan;
    OffsetOptions options;
    options.smallest = true;
    if (Place(b, 1000, options, &ground, &plan) != Status::kOk) {
      REQUIRE(i % 2 == 1);  // only limits on banks can exclude every offset
      continue;
    }
    REQUIRE(plan.proved);
    REQUIRE(plan.peak == plan.lower_bound);
    REQUIRE(sluice_test::JudgeOffsets(b, plan.offsets.data(), plan.peak) == "");
    REQUIRE(!sluice_test::BruteForceFits(b, plan.peak - 1));
  }
}

TEST_CASE("every minimalloc instance is solved at its capacity, twice alike") {
  const std::string folder = sluice_test::SharedPath("reference/minimalloc/");
  for (const char* name : {"A", "C", "E", "G", "I", "K"}) {
    Buffers b;
    if (!sluice_test::ReadCsv(folder + name + ".1048576.csv", &b)) {
      MESSAGE("skipped: no minimalloc instances in ", folder);
      return;
    }
    Ground ground;
    OffsetPlan plan, again;
    const double start = sluice_test::CpuSeconds();
    REQUIRE(Place(b, 1048576, OffsetOptions(), &ground, &plan) == Status::kOk);
    CHECK(sluice_test::CpuSeconds() - start < 5.0);
    CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), 1048576) == "");
    REQUIRE(Place(b, 1048576, OffsetOptions(), &ground, &again) == Status::kOk);
    CHECK(std::equal(plan.offsets.begin(), plan.offsets.end(), again.offsets.begin()));
  }
}

TEST_CASE("thousands of buffers are placed by the heuristic in a few milliseconds") {
  Rng rng(5);
  Buffers b;
  for (int i = 0; i < 4000; ++i) {
    const int64_t begin = i + rng.Below(16);
    b.Add(begin, begin + 1 + rng.Below(24), 64 * (1 + rng.Below(256))).alignment = 64;
  }
  OffsetOptions options;
  options.exact = false;
  // With 2 MiB the first order fits. With capacity 0 all orders and swaps are tried.
  for (const int64_t capacity : {int64_t{2} << 20, int64_t{0}}) {
    double best = 1e9;
    int64_t peak = 0, bound = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      Ground ground;
      OffsetPlan plan;
      options.smallest = capacity == 0;
      const double start = sluice_test::CpuSeconds();
      REQUIRE(Place(b, 2 << 20, options, &ground, &plan) == Status::kOk);
      best = std::min(best, sluice_test::CpuSeconds() - start);
      CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), plan.peak) == "");
      peak = plan.peak;
      bound = plan.lower_bound;
    }
    MESSAGE("4000 buffers: peak ", peak, ", bound ", bound, ", ", best * 1e3,
            " ms CPU");
#ifdef NDEBUG
    CHECK(best < (capacity == 0 ? 0.05 : 0.01));
#endif
  }
}

TEST_CASE(
    "a hundred thousand buffers at one moment are judged, not compared in pairs") {
  Buffers b;
  for (int64_t i = 0; i < 100000; ++i) b.Add(0, 4, 64).fixed_offset = 64 * i;
  Ground ground;
  OffsetPlan plan;
  const double start = sluice_test::CpuSeconds();
  REQUIRE(Place(b, int64_t{1} << 30, OffsetOptions(), &ground, &plan) == Status::kOk);
  b.ranges[70000].fixed_offset = 64 * 30000 + 32;
  REQUIRE(Place(b, int64_t{1} << 30, OffsetOptions(), &ground, &plan) ==
          Status::kBadInput);
  CHECK(std::string(ground.diagnostic.message) ==
        "buffer 70000 is fixed over fixed buffer 30000");
  for (LiveRange& r : b.ranges) r.fixed_offset = kFreeOffset;
  REQUIRE(Place(b, 6400, OffsetOptions(), &ground, &plan) == Status::kInfeasible);
  CHECK(plan.irreducible);
  CHECK(plan.conflict.size() == 101);
  CHECK(Place(b, 64000000, OffsetOptions(), &ground, &plan) == Status::kUnsupported);
  MESSAGE((sluice_test::CpuSeconds() - start), " s CPU");
}

TEST_CASE("running out of memory at any point is reported, not fatal") {
  Rng rng(3);
  const Buffers b = RandomBuffers(&rng, 20, false);
  bool done = false;
  for (uint64_t cap = 1 << 10; !done; cap += cap / 4) {
    Memory memory(sluice_test::Malloc(), cap);
    Arena arena(&memory);
    Diagnostic diagnostic{};
    Budget budget;
    OffsetPlan plan;
    const Status status = PlaceOffsets(b.Set(), 30, OffsetOptions(),
                                       Workspace{&budget, &arena, &diagnostic}, &plan);
    done = status != Status::kOutOfMemory;
    CHECK(memory.peak_bytes() <= cap);
  }
}
