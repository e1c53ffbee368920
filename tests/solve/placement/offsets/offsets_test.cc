// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/offsets.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

// Complete by a different argument than the solver's: a placement can be pushed down
// until every buffer lies at 0, a multiple of its alignment above the end of another
// one or of a blocked range, or at a bank border. Depth first over all of those.
bool BruteForceFits(const Buffers& b, int64_t capacity) {
  const size_t n = b.ranges.size();
  std::vector<int64_t> at(n, -1);
  std::vector<bool> done(n, false);
  const auto meets = [&](size_t i, size_t j) {
    for (int64_t t = 0; t < 32; ++t) {
      const auto x = sluice_test::UsedAt(b, i, t), y = sluice_test::UsedAt(b, j, t);
      if (x.first != x.second && y.first != y.second) return true;
    }
    return false;
  };
  struct Recursion {
    const Buffers& b;
    int64_t capacity;
    std::vector<int64_t>& at;
    std::vector<bool>& done;
    decltype(meets)& meet;
    bool Go(size_t left) {
      if (left == 0) {
        return sluice_test::JudgeOffsets(b, at.data(), capacity).empty();
      }
      for (size_t i = 0; i < at.size(); ++i) {
        if (done[i]) continue;
        const LiveRange& r = b.ranges[i];
        std::vector<int64_t> places{0};
        for (size_t j = 0; j < at.size(); ++j) {
          if (done[j] && meet(i, j)) places.push_back(at[j] + b.ranges[j].bytes);
        }
        for (const ReservedRegion& g : b.reserved) places.push_back(g.offset + g.bytes);
        for (int64_t k = 1; b.bank_bytes != 0 && k * b.bank_bytes < capacity; ++k) {
          places.push_back(k * b.bank_bytes);
        }
        if (r.fixed_offset >= 0) places = {r.fixed_offset};
        for (int64_t& p : places) p = (p + r.alignment - 1) / r.alignment * r.alignment;
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        for (int64_t p : places) {
          if (p + r.bytes > capacity) continue;
          bool free = true;
          for (size_t j = 0; j < at.size() && free; ++j) {
            free = !done[j] || !meet(i, j) || p >= at[j] + b.ranges[j].bytes ||
                   at[j] >= p + r.bytes;
          }
          if (!free) continue;
          done[i] = true;
          at[i] = p;
          if (Go(left - 1)) return true;
          done[i] = false;
        }
      }
      return false;
    }
  };
  return Recursion{b, capacity, at, done, meets}.Go(n);
}

// For plain buffers sorted by begin: any offset, one buffer after the other.
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

Buffers RandomBuffers(Rng* rng, uint32_t count, bool extras) {
  Buffers b;
  b.bank_bytes = extras && rng->Below(2) == 0 ? 8 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t begin = rng->Below(8);
    LiveRange& r = b.Add(begin, begin + 1 + rng->Below(5), 1 + rng->Below(6));
    if (!extras) continue;
    if (rng->Below(3) == 0) r.alignment = int64_t{1} << rng->Below(3);
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.banks = 1 + rng->Below(3);
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.single_bank = true;
    if (r.end - r.begin >= 3 && rng->Below(2) == 0) {
      r.first_gap = static_cast<uint32_t>(b.gaps.size());
      r.gap_count = 1;
      b.gaps.push_back(LiveGap{r.begin + 1, r.end - 1, 0, 0});
    }
  }
  if (extras && rng->Below(2) == 0) {
    b.reserved.push_back(ReservedRegion{2, 5, rng->Below(6), 1 + rng->Below(4)});
  }
  if (extras && rng->Below(3) == 0 && b.reserved.empty() && b.ranges[0].banks == 0 &&
      !b.ranges[0].single_bank) {
    b.ranges[0].fixed_offset = b.ranges[0].alignment * rng->Below(3);
  }
  return b;
}

Status Place(const Buffers& b, int64_t capacity, const OffsetOptions& options,
             Ground* ground, OffsetPlan* plan) {
  Budget budget;
  return PlaceOffsets(b.Set(), capacity, options,
                      Workspace{&budget, &ground->arena, &ground->diagnostic}, plan);
}

void CheckAgainstBruteForce(const Buffers& b, int64_t capacity) {
  Ground ground;
  OffsetPlan plan;
  const Status status = Place(b, capacity, OffsetOptions(), &ground, &plan);
  const bool fits = BruteForceFits(b, capacity);
  REQUIRE(status == (fits ? Status::kOk : Status::kInfeasible));
  if (fits) {
    REQUIRE(sluice_test::JudgeOffsets(b, plan.offsets.data(), capacity) == "");
    return;
  }
  // The conflict is infeasible alone, and feasible without any one of its members.
  REQUIRE(plan.irreducible);
  REQUIRE(!plan.conflict.empty());
  for (size_t left_out = 0; left_out <= plan.conflict.size(); ++left_out) {
    Buffers part = b;
    part.ranges.clear();
    for (size_t i = 0; i < plan.conflict.size(); ++i) {
      if (i != left_out) part.ranges.push_back(b.ranges[plan.conflict[i]]);
    }
    REQUIRE(BruteForceFits(part, capacity) == (left_out < plan.conflict.size()));
  }
}

}  // namespace

TEST_CASE("exact placement agrees with brute force on plain buffers") {
  Rng rng(7);
  for (int i = 0; i < 1500; ++i) {
    const Buffers b = RandomBuffers(&rng, 3 + rng.Below(5), false);
    CheckAgainstBruteForce(b, 6 + rng.Below(10));
  }
}

TEST_CASE("exact placement agrees with brute force on gaps, banks and fixed bytes") {
  Rng rng(11);
  for (int i = 0; i < 1500; ++i) {
    const Buffers b = RandomBuffers(&rng, 3 + rng.Below(4), true);
    CheckAgainstBruteForce(b, 6 + rng.Below(12));
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
      REQUIRE(i % 2 == 1);  // only banks can close every place
      continue;
    }
    REQUIRE(plan.proved);
    REQUIRE(plan.peak == plan.lower_bound);
    REQUIRE(sluice_test::JudgeOffsets(b, plan.offsets.data(), plan.peak) == "");
    REQUIRE(!BruteForceFits(b, plan.peak - 1));
  }
}

TEST_CASE("every minimalloc instance is solved at its capacity, twice alike") {
  const std::string folder = sluice_test::SharedFolder() + "/reference/minimalloc/";
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

TEST_CASE("infeasible variants get a proof with an irreducible conflict, or say so") {
  const std::string folder = sluice_test::SharedFolder() + "/reference/minimalloc/";
  for (const char* name : {"A", "C", "E", "G", "I", "K"}) {
    for (int variant = 0; variant < 2; ++variant) {
      Buffers b;
      if (!sluice_test::ReadCsv(folder + name + ".1048576.csv", &b)) {
        MESSAGE("skipped: no minimalloc instances in ", folder);
        return;
      }
      // Overload some moments, or shrink the capacity to where C still has room by its
      // sums.
      const int64_t capacity = variant == 0 ? 1048576 : 1039360;
      if (variant == 0) {
        for (size_t i = 0; i < b.ranges.size(); i += 7) b.ranges[i].bytes += 1024;
      }
      Ground ground;
      OffsetPlan plan;
      OffsetOptions options;
      options.max_nodes = 100000;
      const Status status = Place(b, capacity, options, &ground, &plan);
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

TEST_CASE("a proof beyond the sums: fragmentation alone makes it infeasible") {
  Rng rng(17);
  int found = 0;
  for (int i = 0; i < 4000 && found < 5; ++i) {
    const Buffers b = sluice_test::FullBuffers(&rng, 6, 7);  // every moment is full
    Ground ground;
    OffsetPlan plan;
    OffsetOptions heuristic;
    heuristic.exact = false;
    REQUIRE(Place(b, 100, heuristic, &ground, &plan) == Status::kOk);
    const int64_t bound = plan.lower_bound;
    if (Place(b, bound, OffsetOptions(), &ground, &plan) == Status::kOk) continue;
    ++found;
    REQUIRE(plan.irreducible);
    REQUIRE(plan.lower_bound == bound);
    Buffers part;
    for (uint32_t k : plan.conflict) part.ranges.push_back(b.ranges[k]);
    std::vector<int64_t> at;
    CHECK(!SweepFits(part, bound, &at));
  }
  CHECK(found > 0);
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
  // At ease: the first order does. At the bound: all orders and the swaps are tried.
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

TEST_CASE("bad live ranges are refused by the name of the buffer") {
  struct Case {
    const char* message;
    void (*spoil)(Buffers*);
  };
  const Case cases[] = {
      {"buffer 1 has size 0", [](Buffers* b) { b->ranges[1].bytes = 0; }},
      {"buffer 1 has size -5", [](Buffers* b) { b->ranges[1].bytes = -5; }},
      {"buffer 1 brings the sizes beyond 2^60 bytes",
       [](Buffers* b) { b->ranges[1].bytes = INT64_MAX; }},
      {"buffer 1 has an inverted or empty lifetime 5..5",
       [](Buffers* b) { b->ranges[1].begin = b->ranges[1].end = 5; }},
      {"buffer 1 has alignment 12, which is no power of two",
       [](Buffers* b) { b->ranges[1].alignment = 12; }},
      {"buffer 1 is fixed at 6, which its alignment forbids",
       [](Buffers* b) {
         b->ranges[1].alignment = 4;
         b->ranges[1].fixed_offset = 6;
       }},
      {"buffer 1 is fixed over fixed buffer 0",
       [](Buffers* b) { b->ranges[0].fixed_offset = b->ranges[1].fixed_offset = 0; }},
      {"buffer 0 is fixed over reserved region 0",
       [](Buffers* b) {
         b->ranges[0].fixed_offset = 0;
         b->reserved.push_back({0, 9, 5, 1});
       }},
      {"buffer 0 asks for banks, but none are declared",
       [](Buffers* b) { b->ranges[0].banks = 1; }},
      {"buffer 0 names gaps that do not exist",
       [](Buffers* b) { b->ranges[0].gap_count = 1; }},
      {"buffer 0 has a gap outside its life or over another gap, at 7",
       [](Buffers* b) {
         b->gaps.push_back({7, 8, 0, 0});
         b->ranges[0].gap_count = 1;
       }},
  };
  for (const Case& c : cases) {
    Buffers b;
    b.Add(0, 4, 10);
    b.Add(2, 6, 10);
    c.spoil(&b);
    Ground ground;
    OffsetPlan plan;
    CHECK(Place(b, 100, OffsetOptions(), &ground, &plan) == Status::kBadInput);
    CHECK(std::string(ground.diagnostic.message) == c.message);
    CHECK(ground.diagnostic.tensor != SLUICE_NO_INDEX);
  }
}

TEST_CASE("a gap that keeps some bytes is honoured") {
  Buffers b;
  b.gaps.push_back({2, 4, 0, 4});
  LiveRange& r = b.Add(0, 6, 8);
  r.first_gap = 0;
  r.gap_count = 1;
  b.Add(2, 4, 4);
  Ground ground;
  OffsetPlan plan;
  REQUIRE(Place(b, 12, OffsetOptions(), &ground, &plan) == Status::kOk);
  CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), 12) == "");
  REQUIRE(Place(b, 8, OffsetOptions(), &ground, &plan) == Status::kOk);
  CHECK(sluice_test::JudgeOffsets(b, plan.offsets.data(), 8) == "");
  CHECK(Place(b, 7, OffsetOptions(), &ground, &plan) == Status::kInfeasible);
}

namespace {

// Every offset of every buffer, one after the other.
bool GridFits(const Buffers& b, int64_t capacity, std::vector<int64_t>* at) {
  const size_t i = at->size();
  if (i == b.ranges.size()) {
    return sluice_test::JudgeOffsets(b, at->data(), capacity).empty();
  }
  const LiveRange& r = b.ranges[i];
  for (int64_t p = 0; p + r.bytes <= capacity; p += r.alignment) {
    if (r.fixed_offset >= 0 && r.fixed_offset != p) continue;
    bool free = true;
    for (int64_t t = r.begin; t < r.end && free; ++t) {
      const auto x = sluice_test::UsedAt(b, i, t);
      for (size_t j = 0; j < i && free; ++j) {
        const auto y = sluice_test::UsedAt(b, j, t);
        free = x.first == x.second || y.first == y.second ||
               p + x.second <= (*at)[j] + y.first || (*at)[j] + y.second <= p + x.first;
      }
    }
    if (!free) continue;
    at->push_back(p);
    if (GridFits(b, capacity, at)) return true;
    at->pop_back();
  }
  return false;
}

// Gaps that keep some bytes, with all else that limits where a buffer may lie.
Buffers PartialBuffers(Rng* rng, uint32_t count) {
  Buffers b;
  b.bank_bytes = rng->Below(3) == 0 ? 4 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t begin = rng->Below(4);
    LiveRange& r = b.Add(begin, begin + 2 + rng->Below(5), 1 + rng->Below(6));
    if (rng->Below(4) == 0) r.alignment = 2;
    if (b.bank_bytes != 0 && r.bytes <= 4 && rng->Below(3) == 0) r.single_bank = true;
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.banks = 1 + rng->Below(7);
    r.first_gap = static_cast<uint32_t>(b.gaps.size());
    for (int64_t t = r.begin; t < r.end; ++t) {
      if (rng->Below(2) == 0) continue;
      const int64_t low = rng->Below(static_cast<uint32_t>(r.bytes));
      b.gaps.push_back(LiveGap{
          t, t + 1, low, low + rng->Below(static_cast<uint32_t>(r.bytes - low + 1))});
      ++r.gap_count;
    }
  }
  if (rng->Below(3) == 0) {
    b.reserved.push_back(ReservedRegion{1, 3, rng->Below(5), 1 + rng->Below(2)});
  }
  return b;
}

}  // namespace

TEST_CASE("gaps that keep bytes: placed or excluded exactly as trying all offsets") {
  Rng rng(19);
  int beyond = 0, excluded = 0;
  for (int i = 0; i < 1500; ++i) {
    const Buffers b = PartialBuffers(&rng, 2 + rng.Below(4));
    const int64_t capacity = 6 + rng.Below(5);
    Ground ground;
    OffsetPlan plan;
    std::vector<int64_t> at;
    const bool fits = GridFits(b, capacity, &at);
    const Status status = Place(b, capacity, OffsetOptions(), &ground, &plan);
    CAPTURE(i);
    REQUIRE(status == (fits ? Status::kOk : Status::kInfeasible));
    excluded += !fits;
    if (!fits) {
      REQUIRE(plan.irreducible);
      for (size_t left_out = 0; left_out <= plan.conflict.size(); ++left_out) {
        Buffers part = b;
        part.ranges.clear();
        for (size_t k = 0; k < plan.conflict.size(); ++k) {
          if (k != left_out) part.ranges.push_back(b.ranges[plan.conflict[k]]);
        }
        at.clear();
        REQUIRE(GridFits(part, capacity, &at) == (left_out < plan.conflict.size()));
      }
      continue;
    }
    REQUIRE(sluice_test::JudgeOffsets(b, plan.offsets.data(), capacity) == "");
    Buffers whole = b;
    for (LiveGap& gap : whole.gaps) gap = {gap.begin, gap.end, 0, 100};
    for (LiveRange& r : whole.ranges) r.gap_count = 0;
    at.clear();
    beyond += !GridFits(whole, capacity, &at);
    OffsetOptions smallest;
    smallest.smallest = true;
    REQUIRE(Place(b, capacity, smallest, &ground, &plan) == Status::kOk);
    REQUIRE(plan.proved);
    at.clear();
    REQUIRE(!GridFits(b, plan.peak - 1, &at));
  }
  MESSAGE(excluded, " excluded; ", beyond, " fit only because gaps are used");
  CHECK(beyond > 50);
  CHECK(excluded > 50);
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
