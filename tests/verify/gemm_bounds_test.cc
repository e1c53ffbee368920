// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_bounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "solve/mapping/gemm/arena_memory.h"

namespace sluice::gemm_terms {
namespace {

constexpr double kInfinity = __builtin_huge_val();

// Lengths and falling costs; sometimes one length alone.
struct RandomAxis {
  std::vector<int64_t> length;
  std::vector<double> cost;
  explicit RandomAxis(Rng* rng) {
    int64_t at = 0;
    double now = 1000;
    for (uint32_t n = rng->Below(4) == 0 ? 1 : 1 + rng->Below(12); n > 0; --n) {
      at += 1 + rng->Below(6);
      now -= rng->Below(40);
      length.push_back(at);
      cost.push_back(now);
    }
  }
  AxisCosts costs() {
    return {Span<int64_t>(length.data(), length.size()),
            Span<double>(cost.data(), cost.size()), length.size()};
  }
};

double TryAll(RandomAxis random[3], const Room& room, const Room& upper,
              const int64_t spread[3]) {
  double least = kInfinity;
  for (size_t x = 0; x < random[0].length.size(); ++x) {
    for (size_t y = 0; y < random[1].length.size(); ++y) {
      for (size_t z = 0; z < random[2].length.size(); ++z) {
        const int64_t tile[3] = {random[0].length[x], random[1].length[y],
                                 random[2].length[z]};
        int64_t wide[3];
        for (int d = 0; d < 3; ++d) wide[d] = tile[d] * spread[d];
        if (!Fit(tile, room.holds, room.words)) continue;
        if (!Fit(wide, upper.holds, upper.words)) continue;
        least =
            std::min(least, random[0].cost[x] + random[1].cost[y] + random[2].cost[z]);
      }
    }
  }
  return least;
}

TEST_CASE("gemm_bounds: the least tile equals that of trying all") {
  Rng rng(11);
  int none = 0, tight = 0;
  for (int i = 0; i < 4000; ++i) {
    CAPTURE(i);
    RandomAxis random[3] = {RandomAxis(&rng), RandomAxis(&rng), RandomAxis(&rng)};
    const AxisCosts axes[3] = {random[0].costs(), random[1].costs(), random[2].costs()};
    const Room room = {static_cast<uint8_t>(rng.Below(8)), rng.Below(1200)};
    const Room upper = {static_cast<uint8_t>(rng.Below(8)), rng.Below(9000)};
    const int64_t spread[3] = {1 + rng.Below(4), 1 + rng.Below(4), 1 + rng.Below(4)};
    const double expected = TryAll(random, room, upper, spread);
    CHECK(LeastTile(axes, room, upper, spread) == expected);
    none += expected == kInfinity ? 1 : 0;
    tight += expected < kInfinity && expected > TryAll(random, {0, 0}, {0, 0}, spread);
  }
  CHECK(none > 60);
  CHECK(tight > 1000);
}

// A problem whose divisors are few.
ClaimedGemm RandomClaim(Rng* rng) {
  const int64_t extents[] = {1, 6, 7, 12, 16, 18, 24};
  ClaimedGemm c = {};
  for (int d = 0; d < 3; ++d) {
    c.extent[d] = extents[rng->Below(7)];
    c.fanout_limit[d] = rng->Below(3) == 0 ? 1 + rng->Below(8) : 0;
    c.read_pj[d] = 0.25 * rng->Below(60);
    c.write_pj[d] = 0.25 * rng->Below(60);
  }
  c.middle_words = rng->Below(300);
  c.inner_words = rng->Below(40);
  c.pe_count = 1 + rng->Below(16);
  c.reuse_form = true;
  c.at_most = true;
  return c;
}

// What a split's tiles cost at least, by trying all tiles of the way.
double TryTiles(const ClaimedGemm& c, const GemmBounds& b, const Way& way,
                const int64_t s[3]) {
  double least = kInfinity;
  int64_t inner[3], middle[3];
  const auto try_middle = [&] {
    if (!Fit(inner, way.inner, c.inner_words)) return;
    if (!Fit(middle, way.middle, c.middle_words)) return;
    double sum = FeedOf(c, way, s);
    for (int d = 0; d < 3; ++d) {
      const int source = In(way.middle, d) ? kMiddle : 0;
      const int64_t loops = middle[d] / (s[d] * inner[d]);
      if (In(way.middle, d)) {
        sum += FillMiddle(c, d, middle[d],
                          !way.merged && d == way.p ? c.extent[d] / middle[d] : 1);
      }
      if (!In(way.inner, d)) continue;
      int64_t kept = d == way.q ? loops : 1;
      if (way.merged) kept = d == way.p ? c.extent[d] / (s[d] * inner[d]) : 1;
      sum += FillInner(c, d, source, s[d], inner[d], kept);
    }
    least = std::min(least, sum);
  };
  const auto each = [&](int d, const auto& self) -> void {
    if (d == 3) return try_middle();
    for (const int64_t l3 : b.divisors[d]) {
      if (c.extent[d] / s[d] % l3 != 0) continue;
      for (const int64_t l1 : b.divisors[d]) {
        if (l1 % (s[d] * l3) != 0) continue;
        // Merged: the middle loops of the other two axes have one trip.
        if (way.merged && d != way.p && l1 != s[d] * l3) continue;
        inner[d] = l3;
        middle[d] = l1;
        self(d + 1, self);
      }
    }
  };
  each(0, each);
  return least;
}

TEST_CASE("gemm_bounds: no tile of a split or a way costs less than its bounds") {
  Rng rng(12);
  int splits = 0, equal = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const ClaimedGemm c = RandomClaim(&rng);
    sluice_tests::ArenaMemory memory;
    GemmBounds bounds;
    REQUIRE(PrepareBounds(c, &memory.arena, &bounds) == Status::kOk);
    CHECK(ForWays(c, [&](const Way& way) {
            WayBounds of;
            CHECK(BoundsOfWay(&bounds, way, &of) == Status::kOk);
            if (rng.Below(12) != 0) return Status::kOk;
            ForSplits(
                bounds, 1, c.pe_count, [&](size_t x, size_t y, size_t z, int64_t) {
                  const size_t at[3] = {x, y, z};
                  const int64_t s[3] = {bounds.unrolls[0][x], bounds.unrolls[1][y],
                                        bounds.unrolls[2][z]};
                  const double slack = 1e-12;
                  const double least = TryTiles(c, bounds, way, s) + slack;
                  const double bound = BoundOfSplit(&bounds, way, of, at);
                  CHECK(bound <= least);
                  CHECK(of.least <= bound + slack);
                  double apart = FeedOf(c, way, s) + LeastInner(&bounds, way, s);
                  if (!way.merged) apart += LeastMiddle(&bounds, way, s, s, true);
                  CHECK(apart <= least);
                  ++splits;
                  equal += apart >= least - 2 * slack ? 1 : 0;
                  return true;
                });
            return Status::kOk;
          }) == Status::kOk);
  }
  CHECK(splits > 1000);
  CHECK(equal > splits / 2);
}

}  // namespace
}  // namespace sluice::gemm_terms
