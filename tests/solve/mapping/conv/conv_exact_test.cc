// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv/conv_exact.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/solve/mapping/conv/random_conv.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// Every nest of the mapper's space through EvaluateNest, by plain loops: all factors
// per axis, all divisors, all six orders of the groups per level, taps whole or looped.
struct Plain {
  const MappingProblem& problem;
  const Hardware& hardware;
  MapConstraints constraints;
  bool wide;
  double best = 1e300;
  int64_t tried = 0;
  LoopNest nest, best_nest;

  static const uint8_t* Order(int i) {
    static const uint8_t kOrders[6][kDims] = {
        {kDimQ, kDimP, kDimN, kDimK, kDimS, kDimR, kDimC, kDimG},
        {kDimQ, kDimP, kDimN, kDimS, kDimR, kDimC, kDimK, kDimG},
        {kDimK, kDimQ, kDimP, kDimN, kDimS, kDimR, kDimC, kDimG},
        {kDimK, kDimS, kDimR, kDimC, kDimQ, kDimP, kDimN, kDimG},
        {kDimS, kDimR, kDimC, kDimQ, kDimP, kDimN, kDimK, kDimG},
        {kDimS, kDimR, kDimC, kDimK, kDimQ, kDimP, kDimN, kDimG}};
    return kOrders[i];
  }

  void Leaf() {
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 6; ++b) {
        for (int i = 0; i < kDims; ++i) {
          nest.order[1][i] = Order(a)[i];
          nest.order[2][i] = Order(b)[i];
        }
        Diagnostic diagnostic;
        LayerCost cost;
        CostOptions options;
        options.resident = constraints.resident;
        if (EvaluateNest(problem, hardware, nest, options, &cost, &diagnostic) !=
            Status::kOk) {
          return;  // does not fit, whatever the order
        }
        ++tried;
        const double objective =
            MapObjective(constraints, cost.energy_pj, static_cast<double>(cost.cycles));
        if (objective < best) {
          best = objective;
          best_nest = nest;
        }
      }
    }
  }
  void Split(uint32_t d) {
    if (d == kDims) return Leaf();
    const int64_t extent = problem.extent[d];
    const int64_t spread = SpatialFactor(nest, 1, d);
    const int64_t passes = (extent + spread - 1) / spread;
    const bool taps = d == kDimR || d == kDimS;
    for (int64_t t0 = 1; t0 <= passes; ++t0) {
      if (passes % t0 != 0 || (d == kDimG && t0 > 1)) continue;
      if (taps && t0 != 1 && t0 != passes) continue;
      for (int64_t t1 = 1; t1 <= passes / t0; ++t1) {
        if (passes / t0 % t1 != 0 || (d == kDimG && t1 > 1)) continue;
        if (taps && t0 * t1 != passes) continue;
        const int64_t top = constraints.top_tile[d];
        if (top != 0 && std::min(t0 * t1 * spread, extent) != top) continue;
        nest.temporal[0][d] = t0;
        nest.temporal[1][d] = t1;
        nest.temporal[2][d] = passes / t0 / t1;
        Split(d + 1);
      }
    }
  }
  void Spread(uint32_t axis, uint32_t d) {
    const Fanout* fanout = FanoutAt(hardware, 1, axis);
    if (fanout == nullptr) return Split(0);
    if (d == kDims) return Spread(axis + 1, 0);
    int64_t used = 1;
    for (uint32_t e = 0; e < d; ++e) used *= nest.spatial[1][axis][e];
    for (int64_t f = 1; f * used <= fanout->extent && f <= problem.extent[d]; ++f) {
      if (f > 1 && !MayUnroll(*fanout, d)) break;
      const int64_t passes = (problem.extent[d] + f - 1) / f;
      if ((problem.extent[d] + passes - 1) / passes != f) continue;
      nest.spatial[1][axis][d] = f;
      Spread(axis, d + 1);
    }
    nest.spatial[1][axis][d] = 1;
  }
  void Run() {
    nest = EmptyNest(hardware, problem);
    Spread(0, 0);
  }
};

std::string Show(const LoopNest& nest) {
  std::string text;
  for (uint32_t l = 0; l < nest.levels; ++l) {
    text += " level " + std::to_string(l);
    for (int i = 0; i < kDims; ++i) {
      const int d = nest.order[l][i];
      const int64_t spread = SpatialFactor(nest, l, d);
      if (nest.temporal[l][d] > 1 || spread > 1) {
        text += std::string(" ") + "NKCPQRSG"[d] + std::to_string(nest.temporal[l][d]);
        if (spread > 1) text += "x" + std::to_string(spread);
      }
    }
  }
  return text;
}

TEST_CASE("conv exact: equals plain enumeration through the cost model") {
  Rng rng(4711);
  int compared = 0, infeasible = 0;
  int64_t tried = 0;
  while (compared < 75) {
    Machine machine;
    RandomArray(&rng, &machine);
    const MappingProblem problem = RandomLayer(&rng);
    MapConstraints constraints;
    constraints.wide = true;
    constraints.delay_exponent = rng.Below(2);
    if (rng.Below(4) == 0) constraints.resident = 1u << 2 * rng.Below(2);
    if (OperationCount(problem) > 900) continue;
    Plain plain{problem, machine.hardware, constraints, true, 1e300, 0, {}, {}};
    plain.Run();
    tried += plain.tried;
    Scratch scratch;
    Budget budget;
    MappedNest mapped;
    const Status status =
        MapConvExact({problem, machine.hardware, constraints}, &budget, &scratch.arena,
                     &mapped, &scratch.diagnostic);
    ++compared;
    if (plain.best == 1e300 && status == Status::kOk) {  // the filter is cut
      const int64_t* top = mapped.nest.temporal[2];
      CHECK((top[kDimR] > 1 || top[kDimS] > 1));
      continue;
    }
    if (plain.best == 1e300) {
      CHECK(status == Status::kInfeasible);
      CHECK(scratch.diagnostic.required_bytes > scratch.diagnostic.available_bytes);
      ++infeasible;
      continue;
    }
    INFO(scratch.diagnostic.message);
    REQUIRE(status == Status::kOk);
    // Bounds do not round transfers up to whole cycles; the cost model does.
    const double slack =
        constraints.delay_exponent == 0
            ? 1e-12 * plain.best + 2 * machine.hardware.leakage_pj_per_cycle
            : plain.best * 2.0 / static_cast<double>(mapped.cost.cycles) + 1e-12;
    std::string extents;
    for (int64_t e : problem.extent) extents += " " + std::to_string(e);
    INFO("extents" << extents << " held " << machine.levels[0].may_hold << " operands "
                   << problem.operands << " resident " << constraints.resident);
    INFO("mapped" << Show(mapped.nest));
    INFO("plain " << Show(plain.best_nest));
    CHECK(mapped.objective >= plain.best * (1 - 1e-12));
    CHECK(mapped.objective <= plain.best + slack);
    if (machine.hardware.leakage_pj_per_cycle == 0 && constraints.delay_exponent == 0) {
      CHECK(std::abs(mapped.objective - plain.best) <= 1e-12 * plain.best);
      CHECK(std::abs(mapped.bound - plain.best) <= 1e-9 * plain.best);
    }
    CHECK(mapped.proved);
    CHECK(scratch.memory.live_bytes() == 0);
  }
  MESSAGE(compared << " layers, " << infeasible << " infeasible, " << tried
                   << " nests tried plainly");
  CHECK(compared - infeasible > 50);
}

TEST_CASE("conv exact: a fixed scratchpad tile is kept") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const MappingProblem problem = ConvProblem({1, 128, 64, 28, 28, 3, 3, 1, 2});
  MapConstraints constraints;
  constraints.top_tile[kDimP] = 7;
  constraints.top_tile[kDimK] = 32;
  constraints.top_tile[kDimC] = 64;
  Scratch scratch;
  Budget budget;
  MappedNest fixed, free;
  REQUIRE(MapConvExact({problem, edge.hardware, constraints}, &budget, &scratch.arena,
                       &fixed, &scratch.diagnostic) == Status::kOk);
  int64_t tile[kDims];
  TileExtents(fixed.nest, 1, tile);
  CHECK(tile[kDimP] == 7);
  CHECK(tile[kDimK] == 32);
  CHECK(tile[kDimC] == 64);
  REQUIRE(MapConvExact({problem, edge.hardware, MapConstraints{}}, &budget,
                       &scratch.arena, &free, &scratch.diagnostic) == Status::kOk);
  CHECK(free.cost.energy_pj <= fixed.cost.energy_pj);
}

TEST_CASE("conv exact: odd extents give a nest or numbers") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const auto map = [&](MappingProblem problem, Scratch* scratch) {
    Budget budget;
    MappedNest mapped;
    const Status status =
        MapConvExact({problem, edge.hardware, MapConstraints{}}, &budget,
                     &scratch->arena, &mapped, &scratch->diagnostic);
    if (status == Status::kOk) {
      Diagnostic diagnostic;
      CHECK(CheckNest(problem, edge.hardware, mapped.nest, 0, &diagnostic) ==
            Status::kOk);
    }
    return status;
  };
  const int64_t two31 = int64_t{1} << 31;
  SUBCASE("all ones, primes and 2^31 map") {
    for (int64_t extent : {int64_t{1}, int64_t{7}, int64_t{8191}, two31 - 1, two31}) {
      for (uint32_t d = 0; d < kDims; ++d) {
        MappingProblem problem = ConvProblem({1, 1, 1, 1, 1, 1, 1, 1, 2});
        problem.extent[d] = extent;
        Scratch scratch;
        const Status status = map(problem, &scratch);
        INFO("dim " << d << " extent " << extent << ": " << scratch.diagnostic.message);
        CHECK(status == Status::kOk);
      }
    }
  }
  SUBCASE("zero and negative extents name the dim") {
    for (int64_t extent : {int64_t{0}, int64_t{-3}}) {
      MappingProblem problem = ConvProblem({1, 8, 8, 8, 8, 3, 3, 1, 2});
      problem.extent[kDimC] = extent;
      Scratch scratch;
      CHECK(map(problem, &scratch) == Status::kBadInput);
      const std::string message = scratch.diagnostic.message;
      CHECK(message ==
            "extent C is " + std::to_string(extent) + ", must be at least 1");
    }
  }
  SUBCASE("work beyond 2^53 is refused") {
    Scratch scratch;
    CHECK(map(GemmProblem(1, two31, two31, two31, 2), &scratch) == Status::kBadInput);
    CHECK(std::string(scratch.diagnostic.message).find("2147483648") !=
          std::string::npos);
  }
  SUBCASE("capacities below one element report bytes") {
    edge.levels[0].capacity_bytes = 4;
    Scratch scratch;
    CHECK(map(ConvProblem({1, 8, 8, 8, 8, 3, 3, 1, 2}), &scratch) ==
          Status::kInfeasible);
    CHECK(scratch.diagnostic.required_bytes == 6);
    CHECK(scratch.diagnostic.available_bytes == 4);
    edge.levels[0].capacity_bytes = 512;
    edge.levels[1].capacity_bytes = 5;
    CHECK(map(ConvProblem({1, 8, 8, 8, 8, 3, 3, 1, 2}), &scratch) ==
          Status::kInfeasible);
    CHECK(scratch.diagnostic.required_bytes == 6);
    CHECK(scratch.diagnostic.available_bytes == 5);
  }
  SUBCASE("filters too large for the scratchpad are cut") {
    edge.levels[1].capacity_bytes = 200;
    Scratch scratch;
    CHECK(map(ConvProblem({1, 2, 2, 4, 4, 11, 11, 1, 2}), &scratch) == Status::kOk);
  }
  SUBCASE("fanouts of one unit") {
    for (Fanout& fanout : edge.fanouts) fanout.extent = 1;
    Scratch scratch;
    CHECK(map(ConvProblem({1, 8, 8, 8, 8, 3, 3, 1, 2}), &scratch) == Status::kOk);
  }
}

}  // namespace
}  // namespace sluice
