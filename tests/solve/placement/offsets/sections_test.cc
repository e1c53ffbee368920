// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/sections.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/solve/placement/offsets/tried_offsets.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

namespace {

using Set = std::set<uint32_t>;

Set SetOf(Span<const uint32_t> span) { return Set(span.begin(), span.end()); }

bool UsesBytes(const Buffers& b, uint32_t source, int64_t time) {
  const auto bytes = sluice_test::UsedAt(b, source, time);
  return bytes.first != bytes.second;
}

}  // namespace

TEST_CASE("sections: three buffers beside fixed bytes, by hand") {
  Buffers b;
  b.Add(0, 4, 8);
  b.Add(1, 3, 4).fixed_offset = 16;
  b.Add(2, 6, 4);
  b.Add(4, 8, 8);
  b.reserved.push_back({5, 6, 4, 2});
  Ground ground;
  Sections s;
  REQUIRE(CutSections(b.Set(), &ground.arena, &s) == Status::kOk);
  // The first buffer ends before the last begins, so they never meet.
  REQUIRE(s.count == 2);
  CHECK(SetOf(s.MembersOf(0)) == Set{0, 1});
  CHECK(SetOf(s.MembersOf(1)) == Set{1, 2});
  REQUIRE(s.buffers.size() == 3);
  CHECK(s.buffers[1].source == 2);
  CHECK(SetOf(s.NearOf(s.buffers[1])) == Set{0, 2});
  CHECK(s.RangesOf(s.buffers[1])[0].begin == 0);
  CHECK(s.RangesOf(s.buffers[1])[0].end == 2);
  CHECK(s.ClosedAbove(0, 0) == 4);
  CHECK(s.ClosedAbove(0, 17) == 3);
  CHECK(s.ClosedAbove(1, 5) == 1);
  // The last two buffers have 12 bytes together, which do not all fit below the reserved
  // bytes.
  CHECK(s.lower_bound == 20);
  CHECK(s.fixed_peak == 20);
  CHECK(s.Lowest(s.buffers[0], 0) == 0);
  CHECK(s.Lowest(s.buffers[0], 9) == 20);
  CHECK(s.Lowest(s.buffers[1], 1) == 6);
  CHECK(s.Lowest(s.buffers[2], 0) == 6);
  b.ranges[1].fixed_offset = 0;
  REQUIRE(CutSections(b.Set(), &ground.arena, &s) == Status::kOk);
  CHECK(s.lower_bound == 16);  // 4 fixed and 12 above
}

TEST_CASE("sections: who meets whom and where each may lie, moment by moment") {
  Rng rng(41);
  for (int i = 0; i < 600; ++i) {
    const Buffers b = sluice_test::RandomBuffers(&rng, 3 + rng.Below(4), i % 3 != 0);
    CAPTURE(i);
    Ground ground;
    Sections s;
    REQUIRE(CutSections(b.Set(), &ground.arena, &s) == Status::kOk);
    std::vector<Set> near(s.buffers.size());
    std::vector<bool> seen(s.count);
    for (int64_t t = 0; t < 16; ++t) {
      Set alive;
      for (uint32_t u = 0; u < s.buffers.size(); ++u) {
        if (UsesBytes(b, s.buffers[u].source, t)) alive.insert(u);
      }
      for (uint32_t u : alive) near[u].insert(alive.begin(), alive.end());
      bool within = alive.empty();
      for (uint32_t k = 0; k < s.count; ++k) {
        const Set members = SetOf(s.MembersOf(k));
        within |=
            std::includes(members.begin(), members.end(), alive.begin(), alive.end());
        seen[k] = seen[k] || members == alive;
      }
      CHECK(within);
    }
    CHECK(std::count(seen.begin(), seen.end(), false) == 0);
    bool nowhere = false;  // some buffer may lie in no bank
    for (uint32_t u = 0; u < s.buffers.size(); ++u) {
      near[u].erase(u);
      CHECK(SetOf(s.NearOf(s.buffers[u])) == near[u]);
      // Tries the buffer at every address, beside the fixed buffers only.
      Buffers alone = b;
      alone.ranges = {b.ranges[s.buffers[u].source]};
      for (const LiveRange& r : b.ranges) {
        if (r.fixed_offset != kFreeOffset) alone.ranges.push_back(r);
      }
      int64_t lowest = kNowhere;
      for (int64_t at = 39; at >= 0; --at) {
        std::vector<int64_t> offsets{at, b.ranges[0].fixed_offset};
        if (sluice_test::JudgeOffsets(alone, offsets.data(), 1000).empty()) lowest = at;
        const int64_t found = s.Lowest(s.buffers[u], at);
        CHECK((found == lowest || (lowest == kNowhere && found >= 40)));
      }
      nowhere |= s.Lowest(s.buffers[u], 0) >= kNowhere;
    }
    if (nowhere) {
      CHECK(s.lower_bound >= kNowhere);
    } else {
      CHECK(!sluice_test::BruteForceFits(b, s.lower_bound - 1));
    }
  }
}
