// SPDX-License-Identifier: Apache-2.0
// SLUICE_MAP_BEST: never worse than any single mapper, for every objective and constraint.
#include "solve/mapping/nest/nest_best.h"

#include <doctest/doctest.h>

#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/nest_search.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// Inner memories hold one operand each, as in the preset simba; all but the outermost are
// small enough to limit tiles.
void MakeSplitMachine(Machine* m) {
  const uint32_t holds[] = {2, 4, 1, 5, 7};
  const int64_t bytes[] = {1, 8, 16, 48, 0};
  for (uint32_t l = 0; l < 5; ++l) {
    m->AddLevel(bytes[l], 0.1 + l, 0.15 + l);
    m->levels.back().may_hold = holds[l];
  }
  m->levels[3].share_percent[0] = m->levels[3].share_percent[2] = 50;
  m->levels[4].bandwidth = Rational{3, 2};
  m->AddFanout(3, 4, 127);
  m->AddFanout(1, 2, 127);
  m->hardware.macs_per_cycle = m->hardware.vector_ops_per_cycle = 8;
  m->hardware.mac_pj = m->hardware.vector_op_pj = 0.3;
  m->hardware.leakage_pj_per_cycle = 0.7;
  m->Finish();
}

void MakeTwoLevels(Machine* m) {
  m->AddLevel(64, 0.5, 0.6);
  m->levels.back().bandwidth = Rational{4, 1};
  m->AddLevel(0, 8, 9);
  m->levels.back().bandwidth = Rational{1, 1};
  m->AddFanout(0, 4, DimBit(kDimK));
  m->AddFanout(0, 2, DimBit(kDimC));
  m->hardware.macs_per_cycle = m->hardware.vector_ops_per_cycle = 8;
  m->Finish();
}

struct Asked {
  const MappingProblem& problem;
  const Hardware& hardware;
  MapConstraints constraints;
};

MappedNest Best(const Asked& asked) {
  Scratch scratch;
  Budget budget;
  BestNest mapped = {};
  REQUIRE(MapBestNest({asked.problem, asked.hardware, asked.constraints},
                      FactorObjective{}, &budget, &scratch.arena, &mapped,
                      &scratch.diagnostic) == Status::kOk);
  return mapped;
}

// The least objective of the mappers that a caller can select by name.
double LeastNamed(const Asked& asked) {
  double least = 1e300;
  for (int mapper = 0; mapper < 7; ++mapper) {
    Scratch scratch;
    Budget budget;
    MappedNest mapped = {};
    KaplaOptions kapla;
    kapla.constraints = asked.constraints;
    kapla.constraints.wide = mapper == 1;
    kapla.dataflow = mapper == 3 ? Dataflow::kRowStationary : Dataflow::kSystolic;
    kapla.greedy = mapper == 2 || mapper == 3;
    const NestRequest request = {asked.problem, asked.hardware, kapla.constraints};
    Status status;
    if (mapper < 2) {
      status =
          MapConvExact(request, &budget, &scratch.arena, &mapped, &scratch.diagnostic);
    } else if (mapper < 5) {
      status = MapKapla({asked.problem, asked.hardware, kapla}, &budget, &scratch.arena,
                        &mapped, &scratch.diagnostic);
    } else if (mapper == 5) {
      status = SearchNest(asked.problem, asked.hardware, asked.constraints, &budget,
                          &mapped, &scratch.diagnostic);
    } else {
      status = MapFactorNest(request, FactorObjective{}, &budget, &scratch.arena,
                             &mapped, &scratch.diagnostic);
    }
    if (status != Status::kOk) continue;
    least = std::min(least, MapObjective(asked.constraints, mapped.cost.energy_pj,
                                         static_cast<double>(mapped.cost.cycles)));
  }
  return least;
}

TEST_CASE("best nest: never worse than a named mapper, more freedom, another goal") {
  Machine split, two, edge, node;
  MakeSplitMachine(&split);
  MakeTwoLevels(&two);
  MakeKaplaEdge(&edge);
  MakeKaplaNode(&node);
  const Hardware* const machines[] = {&split.hardware, &two.hardware, &edge.hardware,
                                      &node.hardware};
  constexpr uint32_t kGoals[][2] = {{1, 0}, {1, 1}, {0, 1}};
  Rng rng(24);
  for (int i = 0; i < 24; ++i) {
    CAPTURE(i);
    const MappingProblem problem = RandomProblem(&rng);
    Asked asked = {problem, *machines[i % 4], MapConstraints{}};
    MappedNest best[3];
    for (int goal = 0; goal < 3; ++goal) {
      asked.constraints.energy_exponent = kGoals[goal][0];
      asked.constraints.delay_exponent = kGoals[goal][1];
      asked.constraints.bypass = false;
      best[goal] = Best(asked);
      CHECK(best[goal].objective <= LeastNamed(asked));
      CHECK(best[goal].bound <= best[goal].objective);
      LayerCost cost;
      Diagnostic diagnostic = {};
      REQUIRE(EvaluateNest(problem, asked.hardware, best[goal].nest, CostOptions{},
                           &cost, &diagnostic) == Status::kOk);
      CHECK(cost.energy_pj == best[goal].cost.energy_pj);
      asked.constraints.bypass = true;
      const MappedNest freer = Best(asked);
      CHECK(freer.objective <= best[goal].objective);
      CHECK(freer.objective <= LeastNamed(asked));
    }
    CHECK(best[0].cost.energy_pj <= best[1].cost.energy_pj);
    CHECK(best[2].cost.cycles <= best[1].cost.cycles);
  }
}

TEST_CASE("best nest: memories too small for a word of each operand are bypassed") {
  Machine m;
  m.AddLevel(1, 0.01, 0.01);
  m.AddLevel(4096, 0.5, 0.5);
  m.AddLevel(0, 8, 8);
  m.AddFanout(1, 16, 127);
  m.hardware.mac_pj = 0.1;
  m.Finish();
  const MappingProblem problem = GemmProblem(1, 32, 48, 64, 1);
  Asked asked = {problem, m.hardware, MapConstraints{}};
  const MappedNest unasked = Best(asked);
  asked.constraints.bypass = true;
  const MappedNest allowed = Best(asked);
  CHECK(unasked.objective == allowed.objective);
  CHECK(unasked.bound == allowed.bound);
  CHECK(__builtin_popcount(unasked.nest.hold[0]) <= 1);
  CHECK(unasked.nest.hold[1] != 0);  // and no more than they must be
}

// What the local search alone misses: the weights move once if the inputs stay whole,
// under an eighth of the output channels.
TEST_CASE("best nest: the tile that moves least over the outer boundary is a start") {
  Machine m;
  m.AddLevel(262144, 0.884, 0.884);
  m.AddLevel(0, 20.3, 20.3);
  m.AddFanout(0, 8, DimBit(kDimK));
  m.AddFanout(0, 16, DimBit(kDimC));
  m.hardware.macs_per_cycle = 128;
  m.Finish();
  MappingProblem problem = ConvProblem({1, 1024, 256, 14, 14, 1, 1, 1, 1});
  problem.partial_bytes = 4;
  const MappedNest best = Best({problem, m.hardware, MapConstraints{}});
  CHECK(best.proved);
  CHECK(best.objective == doctest::Approx(best.bound).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
