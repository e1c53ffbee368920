// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/mesh/node_array.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/solve/mapping/mesh/small_node.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

TEST_CASE("node array: the least of two visits that share a room, by trying a grid") {
  Rng rng(81);
  for (int round = 0; round < 300; ++round) {
    const double a = 1 + rng.Below(50), b = 1 + rng.Below(50);
    const double whole_x = 1 + rng.Below(40), whole_y = 1 + rng.Below(40);
    const double room = 1 + rng.Below(400);
    double best = 1e300;
    for (int i = 0; i <= 4000; ++i) {
      const double x = 1 + (whole_x - 1) * i / 4000;
      const double y = std::min(whole_y, room / x);
      if (y < 1) continue;
      best = std::min(best, a * whole_x / x + b * whole_y / y);
    }
    const double found = LeastVisits(a, whole_x, b, whole_y, room);
    CHECK(found <= best * (1 + 1e-9));
    CHECK(found >= best * 0.999);
  }
}

TEST_CASE("node array: least energy and cycles are those of the exact search") {
  Rng rng(82);
  for (int round = 0; round < 60; ++round) {
    Machine m;
    MakeSmallMesh(&m, 1, 1, round % 2 == 0 ? 12 : 40, 0);
    m.hardware.leakage_pj_per_cycle = 0;
    const MappingProblem problem = SmallLayer(&rng);
    Scratch scratch, exact;
    ArrayTable table(&scratch.arena, 0);
    MapConstraints constraints;
    CAPTURE(round);
    double pj[2], cycles[2];
    for (int again = 0; again < 2; ++again) {  // searched, then remembered
      REQUIRE(LeastOnArray({problem, m.hardware, constraints}, &table, &pj[again],
                           &cycles[again], &scratch.diagnostic) == Status::kOk);
    }
    CHECK(table.entries.size() == 1);
    CHECK(pj[0] == pj[1]);
    CHECK(cycles[0] == cycles[1]);
    OuterPrice free = {};
    constraints.outer = &free;
    Budget budget;
    MappedNest nest;
    REQUIRE(MapConvExact({problem, m.hardware, constraints}, &budget, &exact.arena,
                         &nest, &exact.diagnostic) == Status::kOk);
    CHECK(pj[0] == doctest::Approx(nest.objective).epsilon(1e-9));
    constraints.energy_exponent = 0;
    constraints.delay_exponent = 1;
    REQUIRE(MapConvExact({problem, m.hardware, constraints}, &budget, &exact.arena,
                         &nest, &exact.diagnostic) == Status::kOk);
    CHECK(cycles[0] == doctest::Approx(nest.objective).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace sluice
