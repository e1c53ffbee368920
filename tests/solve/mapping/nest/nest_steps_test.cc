// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_steps.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using namespace nest_exact;

// A nest with the loops that keep an operand innermost; ragged: factors need not divide.
void AnyNest(Rng* rng, const MappingProblem& problem, const Hardware& hardware,
             bool ragged, LoopNest* nest) {
  *nest = EmptyNest(hardware, problem);
  for (uint32_t d = 0; d < kDims; ++d) {
    int64_t left = problem.extent[d];
    for (uint32_t l = 0; l < nest->levels; ++l) {
      for (uint32_t a = 0; a <= kMaxAxes; ++a) {
        const bool time = a == kMaxAxes;
        if (!time && FanoutAt(hardware, l, a) == nullptr) continue;
        int64_t factor = 1 + rng->Below(4);
        while (ragged ? factor > left : left % factor != 0) --factor;
        if (time && l + 1 == nest->levels) factor = left;
        (time ? nest->temporal[l][d] : nest->spatial[l][a][d]) = factor;
        left = (left + factor - 1) / factor;
      }
    }
  }
}

// The loops of one level as the nest orders them: a group innermost, then another loop
// that moves the input.
Loops OrderLevel(Rng* rng, uint32_t level, LoopNest* nest) {
  Loops loops = {};
  uint32_t looped = 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    loops.trips[d] = nest->temporal[level][d];
    looped |= loops.trips[d] > 1 ? 1u << d : 0;
  }
  loops.group = kGroups;
  loops.moving = kDims;
  const uint32_t first = rng->Below(kGroups);
  for (uint32_t i = 0; i < kGroups && loops.group == kGroups; ++i) {
    const uint8_t g = static_cast<uint8_t>((first + i) % kGroups);
    if ((looped & kGroupDims[g]) != 0) loops.group = g;
  }
  uint8_t* order = nest->order[level];
  const uint32_t group = loops.group < kGroups ? kGroupDims[loops.group] : 0;
  for (uint32_t i = kDims - 1; i > 0; --i) {
    std::swap(order[i], order[rng->Below(i + 1)]);
  }
  std::stable_partition(order, order + kDims,
                        [&](uint8_t d) { return (group >> d & 1) != 0; });
  for (int i = kDims - 1; i >= 0; --i) {
    const uint8_t d = order[i];
    if (loops.trips[d] > 1 && Moves(d, kInput)) loops.moving = d;
  }
  return loops;
}

Spread SpreadOf(const Hardware& hardware, const LoopNest& nest, uint32_t level) {
  Spread spread = {};
  spread.multicast = spread.reduction = spread.forwarding = true;
  for (int32_t& units : spread.units) units = 1;
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(hardware, level, a);
    bool used = false;
    for (uint32_t d = 0; d < kDims; ++d) {
      spread.factor[a][d] = static_cast<int32_t>(nest.spatial[level][a][d]);
      spread.units[d] *= spread.factor[a][d];
      used = used || spread.factor[a][d] > 1;
    }
    if (fanout == nullptr || !used) continue;
    spread.multicast = spread.multicast && fanout->multicast;
    spread.reduction = spread.reduction && fanout->reduction;
    spread.forwarding = spread.forwarding && fanout->forwarding;
  }
  return spread;
}

TEST_CASE("nest steps: levels add up to the model's energy, each at least its limit") {
  Rng rng(11);
  int close = 0;
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    MappingProblem problem = RandomProblem(&rng);
    problem.partial_bytes = 1 + rng.Below(3);
    Machine machine;
    RandomMachine(&rng, &machine);
    for (Fanout& fanout : machine.fanouts) {
      fanout.transfer_pj_per_bit = 0.3;
      fanout.forward_pj_per_bit = rng.Below(2) * 0.2;
    }
    machine.Finish();
    LoopNest nest;
    AnyNest(&rng, problem, machine.hardware, i % 2 != 0, &nest);
    const int last = static_cast<int>(nest.levels) - 1;
    uint32_t hold[kMaxLevels] = {};
    for (int l = 0; l <= last; ++l) {
      if (l < last && rng.Below(3) == 0) {
        nest.hold[l] = static_cast<uint8_t>(problem.operands & rng.Below(8));
      }
      hold[l] = nest.hold[l];
    }
    const MapConstraints constraints;
    const Model model = MakeModel({problem, machine.hardware, constraints}, hold);
    int64_t whole[kDims];
    TileExtents(nest, last, whole);
    Passed passed = Start(problem, whole);
    Sums sums = {};
    for (int l = last; l >= 0; --l) {
      const uint32_t level = static_cast<uint32_t>(l);
      const Spread spread = SpreadOf(machine.hardware, nest, level);
      int64_t tile[kDims];
      TileExtents(nest, l - 1, tile);
      Pass(problem, OrderLevel(&rng, level, &nest), spread, tile, &passed);
      const double before = sums.energy_pj;
      Enter(model, l - 1, tile, &passed, &sums);
      double least = 1e300;
      for (uint8_t g = 0; g < kGroups; ++g) {
        least = std::min(least, LeastEnter(model, l - 1, tile, spread, g));
      }
      const double added = sums.energy_pj - before;
      CHECK(least <= added + 1e-9 * sums.energy_pj);
      close += least > 0.5 * added ? 1 : 0;
    }
    LayerCost cost;
    Diagnostic diagnostic = {};
    REQUIRE(EvaluateNest(problem, machine.hardware, nest, CostOptions{}, &cost,
                         &diagnostic) == Status::kOk);
    CHECK(sums.energy_pj + cost.operations_pj + cost.leakage_pj ==
          doctest::Approx(cost.energy_pj).epsilon(1e-9));
  }
  CHECK(close > 1000);
}

}  // namespace
}  // namespace sluice
