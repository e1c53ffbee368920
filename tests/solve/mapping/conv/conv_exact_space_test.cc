// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv/conv_exact_space.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/solve/mapping/conv/random_conv.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using namespace conv_exact;

// A layer, an array, and all ways to spread the layer over the array.
struct Spread {
  Machine machine;
  MappingProblem problem;
  MapConstraints constraints;
  Scratch scratch;
  ConvSpace space;
  Vector<SpatialChoice> choices{&scratch.arena};

  explicit Spread(Rng* rng) : problem(RandomLayer(rng)) {
    RandomArray(rng, &machine);
    for (MemoryLevel& level : machine.levels) level.capacity_bytes = 0;
    constraints.wide = true;
    REQUIRE(Make() == Status::kOk);
    REQUIRE(ListSpatialChoices(&space, &choices) == Status::kOk);
    REQUIRE(choices.size() > 0);
  }
  Status Make() {
    return MakeConvSpace({problem, machine.hardware, constraints}, 7, &space,
                         &scratch.diagnostic);
  }
};

// A random point: loop factors are divisors of the passes at each level; taps and groups
// are those of the space.
Point RandomPoint(Rng* rng, const SpatialChoice& choice) {
  Point point;
  const auto divisor = [&](int64_t n) {
    int64_t f = 1 + rng->Below(static_cast<uint32_t>(n));
    while (n % f != 0) --f;
    return f;
  };
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t passes = choice.passes[d];
    const bool taps = d == kDimR || d == kDimS;
    point.t0[d] = d == kDimG                   ? 1
                  : taps && rng->Below(2) == 0 ? passes
                                               : divisor(passes);
    if (taps && point.t0[d] != passes) point.t0[d] = 1;
    point.t1[d] = d == kDimG ? 1 : divisor(passes / point.t0[d]);
    if (taps) point.t1[d] = passes / point.t0[d];
    point.t2[d] = passes / point.t0[d] / point.t1[d];
  }
  point.inner1 = rng->Below(kGroups);
  point.inner2 = rng->Below(kGroups);
  return point;
}

PointCost CostOf(const Spread& s, const SpatialChoice& choice, const Point& point,
                 double* array_pj) {
  PointCost cost = {};
  int64_t passes[kDims], tile[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    passes[d] = point.t0[d] * point.t1[d];
    tile[d] = passes[d] * choice.spread[d];
  }
  AddDramCost(s.space, StepsAbove(s.space, choice, passes, tile), point.inner2, &cost);
  *array_pj = -cost.energy_pj;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(s.problem, v)) continue;
    AddArrayCost(s.space, choice, point, v, v == kStill[point.inner1], &cost);
  }
  *array_pj += cost.energy_pj;
  return cost;
}

TEST_CASE("conv space: the closed form is what the cost model says of the nest") {
  Rng rng(5);
  for (int round = 0; round < 400; ++round) {
    Spread s(&rng);
    s.machine.hardware.leakage_pj_per_cycle = 0;
    for (int i = 0; i < 5; ++i) {
      const SpatialChoice& choice =
          s.choices[rng.Below(static_cast<uint32_t>(s.choices.size()))];
      Point point = RandomPoint(&rng, choice);
      CAPTURE(round);
      // If the innermost group has no loops, the closed form counts less reuse than the
      // cost model. The best over all choices of innermost groups is the same for both.
      double array_pj = 0, best = 1e300, best_nest = 1e300;
      for (uint32_t inner = 0; inner < kGroups * kGroups; ++inner) {
        point.inner1 = inner % kGroups;
        point.inner2 = inner / kGroups;
        const PointCost closed = CostOf(s, choice, point, &array_pj);
        LayerCost cost;
        REQUIRE(EvaluateNest(s.problem, s.machine.hardware,
                             NestOfPoint(s.space, choice, point), CostOptions{}, &cost,
                             &s.scratch.diagnostic) == Status::kOk);
        const double pj = s.space.fixed_pj + closed.energy_pj;
        CHECK(pj >= cost.energy_pj * (1 - 1e-9));
        best_nest = std::min(best_nest, cost.energy_pj);
        if (pj >= best * (1 - 1e-9)) continue;
        best = pj;
        const double cycles = LatencyOf(s.space, choice, closed);
        CHECK(cycles > static_cast<double>(cost.cycles) - 1);
        s.space.constraints.delay_exponent = 1;
        CHECK(ObjectiveOf(s.space, choice, closed) == doctest::Approx(pj * cycles));
      }
      CHECK(best == doctest::Approx(best_nest).epsilon(1e-9));
      // Bounds on the array's energy: for any tiles, and with the lists of divisors known.
      double least[kGroups];
      LeastArrayPj(s.space, choice, nullptr, least);
      CHECK(least[point.inner1] <= array_pj + 1e-6);
      std::vector<int64_t> divisors[kDims];
      Span<const int64_t> spans[kDims];
      for (uint32_t d = 0; d < kDims; ++d) {
        for (int64_t f = 1; f <= choice.passes[d]; ++f) {
          if (choice.passes[d] % f == 0) divisors[d].push_back(f);
        }
        spans[d] = {divisors[d].data(), divisors[d].size()};
      }
      double sharper[kGroups];
      LeastArrayPj(s.space, choice, spans, sharper);
      CHECK(sharper[point.inner1] <= array_pj + 1e-6);
      CHECK(sharper[point.inner1] >= least[point.inner1]);
    }
  }
}

// Calls visit(factors per axis and dim) for all that the fanouts and extents allow.
template <typename Visit>
void ForAllFactors(const Spread& s, uint32_t axis, uint32_t d, int64_t used,
                   int64_t (*factor)[kDims], const Visit& visit) {
  if (axis == 2) return visit();
  if (d == kDims) return ForAllFactors(s, axis + 1, 0, 1, factor, visit);
  const Fanout& fanout = s.machine.fanouts[axis];
  const int64_t most = MayUnroll(fanout, d) ? s.problem.extent[d] : 1;
  for (int64_t f = 1; f <= most && f * used <= fanout.extent; ++f) {
    factor[axis][d] = f;
    ForAllFactors(s, axis, d + 1, used * f, factor, visit);
  }
  factor[axis][d] = 1;
}

TEST_CASE("conv space: every way to fill the array, up to idle units and mirroring") {
  Rng rng(6);
  for (int round = 0; round < 60; ++round) {
    Spread s(&rng);
    CAPTURE(round);
    for (const SpatialChoice& c : s.choices) {
      for (uint32_t a = 0; a < 2; ++a) {
        int64_t used = 1;
        for (uint32_t d = 0; d < kDims; ++d) {
          used *= c.axis[a][d];
          CHECK((c.axis[a][d] == 1 || MayUnroll(s.machine.fanouts[a], d)));
        }
        CHECK(used <= s.machine.fanouts[a].extent);
      }
      for (uint32_t d = 0; d < kDims; ++d) {
        CHECK(c.spread[d] == c.axis[0][d] * c.axis[1][d]);
        CHECK(c.passes[d] == (s.problem.extent[d] + c.spread[d] - 1) / c.spread[d]);
      }
    }
    // For every way to fill the array, some listed way has no more passes of any dim.
    int64_t factor[2][kDims];
    ForAllFactors(s, 0, 0, 1, factor, [&] {
      int64_t passes[2][kDims];  // as they are, and rows and columns exchanged
      for (uint32_t d = 0; d < kDims; ++d) {
        const int64_t spread = factor[0][d] * factor[1][d];
        passes[0][d] = (s.problem.extent[d] + spread - 1) / spread;
      }
      std::copy(passes[0], passes[0] + kDims, passes[1]);
      std::swap(passes[1][kDimP], passes[1][kDimQ]);
      std::swap(passes[1][kDimR], passes[1][kDimS]);
      bool found = false;
      for (const SpatialChoice& c : s.choices) {
        for (int mirror = 0; mirror < (s.space.square ? 2 : 1) && !found; ++mirror) {
          found = std::equal(c.passes, c.passes + kDims, passes[mirror]);
        }
      }
      REQUIRE(found);
    });
  }
}

TEST_CASE("conv space: input words of all tiles, and the least between two tiles") {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    Spread s(&rng);
    const MappingProblem& p = s.problem;
    int64_t tile[kDims], small[kDims], large[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      const uint32_t extent = static_cast<uint32_t>(p.extent[d]);
      large[d] = 1 + rng.Below(extent);
      small[d] = 1 + rng.Below(static_cast<uint32_t>(large[d]));
      tile[d] = small[d] + rng.Below(static_cast<uint32_t>(large[d] - small[d] + 1));
    }
    double words =
        static_cast<double>(p.extent[kDimN] * p.extent[kDimC] * p.extent[kDimG]);
    for (int axis = 0; axis < 2; ++axis) {
      int64_t sum = 0;
      const int64_t outputs = p.extent[kDimP + axis], taps = p.extent[kDimR + axis];
      for (int64_t o = 0; o < outputs; o += tile[kDimP + axis]) {
        for (int64_t t = 0; t < taps; t += tile[kDimR + axis]) {
          sum += WindowSpan(p, axis, std::min(tile[kDimP + axis], outputs - o),
                            std::min(tile[kDimR + axis], taps - t));
        }
      }
      CHECK(SpanSum(p, axis, tile[kDimP + axis], tile[kDimR + axis]) ==
            static_cast<double>(sum));
      words *= static_cast<double>(sum);
    }
    CHECK(InputWords(s.space, tile) == words);
    CHECK(LeastInputWords(s.space, small, large) <= words);
    CHECK(LeastInputWords(s.space, tile, tile) == words);
  }
  for (const int64_t n : {1, 2, 12, 36, 97, 360}) {
    Scratch scratch;
    Vector<int64_t> divisors(&scratch.arena);
    REQUIRE(ListDivisors(n, &divisors) == Status::kOk);
    size_t i = 0;
    for (int64_t f = 1; f <= n; ++f) {
      if (n % f == 0) CHECK(divisors[i++] == f);
    }
    CHECK(i == divisors.size());
  }
}

TEST_CASE("conv space: what the exact search does not take is named") {
  Rng rng(8);
  Spread s(&rng);
  const auto says = [&](const char* text) {
    return std::string(s.scratch.diagnostic.message).find(text) != std::string::npos;
  };
  s.constraints.top_tile[kDimK] = -1;
  CHECK(s.Make() == Status::kBadInput);
  CHECK(says("a fixed tile of -1"));
  s.machine.fanouts[0].multicast = false;
  CHECK(s.Make() == Status::kUnsupported);
  CHECK(says("multicasts and reduces"));
  s.machine.levels[1].may_hold = 5;
  s.problem.operands = 7;
  CHECK(s.Make() == Status::kUnsupported);
  CHECK(says("all operands in the scratchpad"));
  s.machine.AddLevel(0, 30, 30);
  s.machine.Finish();
  CHECK(s.Make() == Status::kUnsupported);
  CHECK(says("2 or 3 levels, not 4"));
}

}  // namespace
}  // namespace sluice
