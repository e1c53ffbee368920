// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_scatter.h"

#include <doctest/doctest.h>

#include "solve/mapping/nest_search.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// Two axes that may unroll anything, below a memory whose reads cost most: which dims
// share them decides, and no move of one factor leads from one choice to another.
void MakeFreeMachine(Machine* m) {
  m->AddLevel(1, 0.09, 0.09);
  m->levels.back().may_hold = OperandBit(kWeight);
  m->AddLevel(256, 0.5, 0.5);
  m->levels.back().may_hold = OperandBit(kOutput);
  m->AddLevel(4096, 3.8, 3.8);
  m->levels.back().may_hold = OperandBit(kInput);
  m->AddLevel(0, 8, 8);
  m->AddFanout(3, 16, 127);
  m->AddFanout(1, 8, 127);
  m->hardware.macs_per_cycle = m->hardware.vector_ops_per_cycle = 128;
  m->Finish();
}

TEST_CASE("nest scatter: legal, with its own cost, the same each time") {
  Rng rng(3);
  int found = 0;
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    RandomMachine(&rng, &machine);
    machine.Finish();
    const MapConstraints constraints;
    Budget budget;
    MappedNest first = {}, second = {};
    ScatterNests({problem, machine.hardware, constraints}, &budget, &first);
    ScatterNests({problem, machine.hardware, constraints}, &budget, &second);
    CHECK(first.objective == second.objective);
    if (first.nest.levels == 0) continue;
    ++found;
    LayerCost cost;
    Diagnostic diagnostic = {};
    REQUIRE(EvaluateNest(problem, machine.hardware, first.nest, CostOptions{}, &cost,
                         &diagnostic) == Status::kOk);
    CHECK(cost.energy_pj == first.objective);
    CHECK(cost.cycles == first.cost.cycles);
  }
  CHECK(found > 8);
}

TEST_CASE("nest scatter: better than moves from few starts on a machine of free axes") {
  Machine machine;
  MakeFreeMachine(&machine);
  MappingProblem problem = ConvProblem({1, 4, 4, 56, 56, 3, 3, 1, 1});
  problem.extent[kDimG] = 32;
  const MapConstraints constraints;
  Scratch scratch;
  Budget budget;
  MappedNest moved = {}, scattered = {};
  REQUIRE(SearchNest(problem, machine.hardware, constraints, &budget, &moved,
                     &scratch.diagnostic) == Status::kOk);
  ScatterNests({problem, machine.hardware, constraints}, &budget, &scattered);
  REQUIRE(scattered.nest.levels != 0);
  CHECK(scattered.objective < 0.95 * moved.objective);
}

}  // namespace
}  // namespace sluice
