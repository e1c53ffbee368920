// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_tile.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

TEST_CASE(
    "gemm tiles: the least weighted sum of all that fit, and a tile that has it") {
  Rng rng(21);
  int none = 0, some = 0;
  for (int round = 0; round < 2000; ++round) {
    const uint32_t extents[] = {1, 4, 6, 12, 30};
    std::vector<uint32_t> list[3], room[3];
    Span<const uint32_t> divisors[3];
    TileScratch scratch;
    TileProblem problem = {};
    const int still = static_cast<int>(rng.Below(4));  // 3: all have weight
    for (int d = 0; d < 3; ++d) {
      const uint32_t extent = extents[rng.Below(5)];
      for (uint32_t f = 1; f <= extent; ++f) {
        if (extent % f == 0) list[d].push_back(f);
      }
      room[d].resize(list[d].size());
      divisors[d] = {list[d].data(), list[d].size()};
      scratch.lengths[d] = room[d].data();
      const uint32_t count = static_cast<uint32_t>(list[d].size());
      problem.bound[d] = list[d][rng.Below(count)];
      do {
        problem.step[d] = list[d][rng.Below(count)];
      } while (problem.bound[d] % problem.step[d] != 0);
      problem.weight[d] = d == still ? 0 : 0.25 * (1 + rng.Below(40));
    }
    problem.holds = static_cast<uint8_t>(rng.Below(8));
    problem.words = rng.Below(200);
    double least = __builtin_huge_val();
    uint32_t t[3];
    const auto axis = [&](auto self, int d, double sum) -> void {
      if (d == 3) {
        const int64_t tile[] = {t[0], t[1], t[2]};
        const bool fits = GemmFootprint(tile, problem.holds) <= problem.words;
        CHECK(TileFits(t, problem.holds, problem.words) == fits);
        if (fits && sum < least) least = sum;
        return;
      }
      for (t[d] = problem.step[d]; t[d] <= problem.bound[d]; t[d] += problem.step[d]) {
        if (problem.bound[d] % t[d] != 0) continue;
        if (problem.weight[d] == 0 && t[d] != problem.step[d]) continue;
        self(self, d + 1, sum + problem.weight[d] / t[d]);
      }
    };
    axis(axis, 0, 0);
    uint32_t best[3];
    const double found = BestTile(divisors, problem, scratch, best);
    CAPTURE(round);
    ++(std::isinf(least) ? none : some);
    if (std::isinf(least)) {
      CHECK(std::isinf(found));
      continue;
    }
    CHECK(found == doctest::Approx(least).epsilon(1e-12));
    CHECK(TileFits(best, problem.holds, problem.words));
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      CHECK(best[d] % problem.step[d] == 0);
      CHECK(problem.bound[d] % best[d] == 0);
      sum += problem.weight[d] / best[d];
    }
    CHECK(sum == doctest::Approx(found).epsilon(1e-12));
  }
  CHECK(none > 50);
  CHECK(some > 1000);
}

}  // namespace
}  // namespace sluice
