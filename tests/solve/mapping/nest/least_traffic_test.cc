// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/least_traffic.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice::least_traffic {
namespace {

int64_t Tiles(int64_t extent, int64_t length) { return (extent + length - 1) / length; }

// The least over all tiles of P x K x C and all operands that may stay.
double TryAll(const MappingProblem& problem, const Boundary& b) {
  const int64_t* x = problem.extent;
  double least = 1e300;
  for (int64_t p = 1; p <= x[kDimP]; ++p) {
    for (int64_t k = 1; k <= x[kDimK]; ++k) {
      for (int64_t c = 1; c <= x[kDimC]; ++c) {
        const int64_t tile[] = {p * c, k * c, p * k};
        double used = 0;
        bool fits = true;
        for (uint32_t v = 0; v < kOperands; ++v) {
          const double words = static_cast<double>(tile[v]);
          used += words * b.word_share[v];
          fits = fits && (b.own_words[v] == 0 || words <= b.own_words[v]);
        }
        if (!fits || used > 1 + 1e-9) continue;
        const int64_t count[] = {Tiles(x[kDimK], k), Tiles(x[kDimP], p),
                                 Tiles(x[kDimC], c)};
        const int64_t words[] = {x[kDimP] * x[kDimC], x[kDimK] * x[kDimC],
                                 x[kDimP] * x[kDimK]};
        for (uint32_t still = 0; still < kOperands; ++still) {
          double sum = 0;
          for (uint32_t v = 0; v < kOperands; ++v) {
            const double n = v == still ? 1.0 : static_cast<double>(count[v]);
            const WordPrice& price = b.price[v];
            sum += static_cast<double>(words[v]) *
                   (price.read * (n - std::min(n, price.first_visits)) +
                    price.write * n + price.last);
          }
          least = std::min(least, sum);
        }
      }
    }
  }
  return least;
}

Boundary RandomBoundary(Rng* rng) {
  Boundary b = {};
  const double room = 8 + rng->Below(400);
  for (uint32_t v = 0; v < kOperands; ++v) {
    b.moves[v] = true;
    b.price[v].read = 1 + rng->Below(9);
    b.word_share[v] = (1 + rng->Below(4)) / room;
    if (rng->Below(4) == 0) b.own_words[v] = 1 + rng->Below(60);
  }
  b.price[kOutput].write = rng->Below(9);
  b.price[kOutput].last = 3;
  b.price[kOutput].first_visits = 1;
  return b;
}

TEST_CASE("least traffic: equals that of trying all tiles of a product") {
  Rng rng(7);
  int cut = 0;
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const MappingProblem problem =
        GemmProblem(1, 1 + rng.Below(17), 1 + rng.Below(17), 1 + rng.Below(17), 1);
    Boundary b = RandomBoundary(&rng);
    Scratch scratch;
    TileCounts counts;
    REQUIRE(CountTiles(problem, 1000000, &scratch.arena, &counts) == Status::kOk);
    const double expected = TryAll(problem, b);
    CHECK(LeastTraffic(counts, b) == doctest::Approx(expected).epsilon(1e-9));
    Boundary wide = b;
    for (uint32_t v = 0; v < kOperands; ++v) wide.word_share[v] = wide.own_words[v] = 0;
    cut += expected > LeastTraffic(counts, wide) * 1.01 ? 1 : 0;
    // Fewer lengths give a lower bound, and not a much lower one.
    TileCounts joined;
    REQUIRE(CountTiles(problem, 30, &scratch.arena, &joined) == Status::kOk);
    const double lower = LeastTraffic(joined, b);
    CHECK(lower <= expected * (1 + 1e-9));
    CHECK(lower >= expected * 0.4);
  }
  CHECK(cut > 100);
}

TEST_CASE("least traffic: rows that windows share are fetched again for each tile") {
  const MappingProblem problem = ConvProblem({1, 1, 1, 8, 1, 3, 1, 1, 1});
  Boundary b = {};
  b.moves[kInput] = true;
  b.price[kInput].read = 1;
  b.own_words[kInput] = 4;  // two outputs need four rows
  Scratch scratch;
  TileCounts counts;
  REQUIRE(CountTiles(problem, 1000, &scratch.arena, &counts) == Status::kOk);
  CHECK(LeastTraffic(counts, b) == 16);
  b.sliding = true;
  CHECK(LeastTraffic(counts, b) == 10);
}

}  // namespace
}  // namespace sluice::least_traffic
