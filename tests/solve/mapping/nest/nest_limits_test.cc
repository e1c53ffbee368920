// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_limits.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "solve/mapping/nest/nest_best.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

NestLimits Limits(const NestRequest& request) {
  Scratch scratch;
  NestLimits limits = {};
  REQUIRE(LimitNests(request, &scratch.arena, &limits) == Status::kOk);
  return limits;
}

// Memories as small as the nest allows, some larger; bandwidths, wires, shares.
void FitMachine(Rng* rng, const MappingProblem& problem, const LoopNest& nest,
                Machine* m) {
  for (uint32_t l = 0; l < m->levels.size(); ++l) {
    MemoryLevel& level = m->levels[l];
    int64_t bytes[kOperands];
    Diagnostic diagnostic = {};
    REQUIRE(LevelBytes(problem, nest, l, 0, bytes, &diagnostic) == Status::kOk);
    const int64_t sum = bytes[0] + bytes[1] + bytes[2];
    const bool outermost = l + 1 == m->levels.size();
    if (!outermost && rng->Below(5) != 0) {
      level.capacity_bytes =
          std::max(int64_t{1}, sum + int64_t{rng->Below(3)} * rng->Below(9));
    }
    if (rng->Below(3) == 0) level.bandwidth = Rational{1 + rng->Below(9), 2};
    level.read_pj_per_bit = 0.1 * rng->Below(60);
    level.write_pj_per_bit = 0.1 * rng->Below(60);
  }
  for (Fanout& fanout : m->fanouts) {
    int64_t used = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      int64_t most = 1;
      for (uint32_t a = 0; a < kMaxAxes; ++a) {
        most = std::max(most, nest.spatial[fanout.level][a][d]);
      }
      used *= most;
    }
    fanout.extent = static_cast<uint32_t>(used + rng->Below(2));
    fanout.transfer_pj_per_bit = rng->Below(3) == 0 ? 0.3 : 0;
  }
  m->hardware.leakage_pj_per_cycle = rng->Below(3) == 0 ? 0.4 : 0;
  m->hardware.mac_pj = m->hardware.vector_op_pj = 0.1;
}

bool Bypasses(const MappingProblem& problem, const Hardware& hardware,
              const LoopNest& nest) {
  const LoopNest empty = EmptyNest(hardware, problem);
  for (uint32_t l = 0; l < nest.levels; ++l) {
    if (((nest.hold[l] ^ empty.hold[l]) & problem.operands) != 0) return true;
  }
  return false;
}

TEST_CASE("nest limits: no nest goes below them") {
  Rng rng(2024);
  int compared = 0, close = 0, slow = 0;
  for (int i = 0; i < 4000; ++i) {
    CAPTURE(i);
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    RandomMachine(&rng, &machine);
    machine.Finish();
    LoopNest nest;
    RandomNest(&rng, problem, machine.hardware, &nest);
    FitMachine(&rng, problem, nest, &machine);
    machine.Finish();
    LayerCost cost;
    Diagnostic diagnostic = {};
    CostOptions options;
    options.resident = rng.Below(8) == 0 ? rng.Below(8) : 0;
    if (EvaluateNest(problem, machine.hardware, nest, options, &cost, &diagnostic) !=
        Status::kOk) {
      continue;
    }
    MapConstraints constraints;
    constraints.bypass = Bypasses(problem, machine.hardware, nest);
    constraints.resident = options.resident;
    const NestLimits limits = Limits({problem, machine.hardware, constraints});
    CHECK(limits.energy_pj <= cost.energy_pj * (1 + 1e-9));
    CHECK(limits.cycles <= static_cast<double>(cost.cycles) * (1 + 1e-9));
    ++compared;
    close += limits.energy_pj > 0.7 * cost.energy_pj ? 1 : 0;
    slow += limits.cycles > 0.9 * static_cast<double>(cost.cycles) ? 1 : 0;
  }
  MESSAGE(compared << " nests, " << close << " close");
  CHECK(compared > 3000);
  CHECK(close > compared / 20);
  CHECK(slow > compared / 20);
}

// One memory and DRAM: what the limits say is exact but for the array's shape.
void MakeOneMemory(Rng* rng, Machine* m) {
  m->AddLevel(20 + rng->Below(200), 0.9, 0.9);
  m->AddLevel(0, 20, 20);
  m->levels.back().bandwidth = Rational{1, 1};
  m->AddFanout(0, 4, DimBit(kDimK));
  m->AddFanout(0, 2, DimBit(kDimC));
  m->hardware.macs_per_cycle = m->hardware.vector_ops_per_cycle = 8;
  m->Finish();
}

TEST_CASE("nest limits: the best nests are at them, or above") {
  Rng rng(77);
  int compared = 0, equal = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    MakeOneMemory(&rng, &machine);
    for (uint32_t& share : machine.levels[0].share_percent) share = i % 3 == 0 ? 33 : 0;
    Scratch scratch;
    Budget budget;
    BestNest best = {};
    MapConstraints constraints;
    constraints.bypass = i % 4 == 0;
    const NestRequest request = {problem, machine.hardware, constraints};
    if (MapBestNest(request, FactorObjective{}, &budget, &scratch.arena, &best,
                    &scratch.diagnostic) != Status::kOk) {
      continue;
    }
    constraints.bypass |= Bypasses(problem, machine.hardware, best.nest);
    const NestLimits limits = Limits({problem, machine.hardware, constraints});
    CHECK(limits.energy_pj <= best.cost.energy_pj * (1 + 1e-9));
    CHECK(limits.cycles <= static_cast<double>(best.cost.cycles) * (1 + 1e-9));
    ++compared;
    equal += limits.energy_pj >= best.cost.energy_pj * (1 - 1e-9) ? 1 : 0;
  }
  MESSAGE(compared << " problems, " << equal << " at the limit");
  CHECK(compared > 40);
  CHECK(equal > compared / 3);
}

}  // namespace
}  // namespace sluice
