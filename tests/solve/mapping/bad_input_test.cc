// SPDX-License-Identifier: Apache-2.0
// Sizes at the edges, memories too small, arrays of one unit: every mapper answers with
// a legal nest or with a status and its numbers.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "solve/mapping/factor/factor_nest.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/nest_search.h"
#include "solve/mapping/tile_mapper.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using Mapper = Status (*)(const MappingProblem&, const Hardware&, Budget*, Scratch*,
                          MappedNest*);

Status Exact(const MappingProblem& p, const Hardware& h, Budget* b, Scratch* s,
             MappedNest* m) {
  return MapConvExact({p, h, MapConstraints{}}, b, &s->arena, m, &s->diagnostic);
}
Status Kapla(const MappingProblem& p, const Hardware& h, Budget* b, Scratch* s,
             MappedNest* m) {
  return MapKapla({p, h, KaplaOptions{}}, b, &s->arena, m, &s->diagnostic);
}
Status Greedy(const MappingProblem& p, const Hardware& h, Budget* b, Scratch* s,
              MappedNest* m) {
  return MapKaplaGreedy({p, h, KaplaOptions{}}, b, m, &s->diagnostic);
}
Status Search(const MappingProblem& p, const Hardware& h, Budget* b, Scratch* s,
              MappedNest* m) {
  return SearchNest(p, h, MapConstraints{}, b, m, &s->diagnostic);
}
Status Factors(const MappingProblem& p, const Hardware& h, Budget* b, Scratch* s,
               MappedNest* m) {
  return MapFactorNest({p, h, MapConstraints{}}, FactorObjective{}, b, &s->arena, m,
                       &s->diagnostic);
}
const Mapper kMappers[] = {Exact, Kapla, Greedy, Search, Factors};

void CheckAnswer(const MappingProblem& problem, const Hardware& hardware,
                 Mapper mapper) {
  Scratch scratch;
  Budget budget;
  MappedNest mapped;
  const Status status = mapper(problem, hardware, &budget, &scratch, &mapped);
  INFO(std::string(scratch.diagnostic.message));
  REQUIRE(status == Status::kOk);
  LayerCost cost;
  REQUIRE(EvaluateNest(problem, hardware, mapped.nest, CostOptions{}, &cost,
                       &scratch.diagnostic) == Status::kOk);
  CHECK(cost.energy_pj == mapped.cost.energy_pj);
  CHECK(cost.cycles == mapped.cost.cycles);
}

TEST_CASE("bad input: extents of 0, below 0 and too much work are refused by all") {
  Machine edge;
  MakeKaplaEdge(&edge);
  for (size_t i = 0; i < 5; ++i) {
    for (const int64_t extent : {int64_t{0}, int64_t{-3}}) {
      Scratch scratch;
      Budget budget;
      MappedNest mapped;
      const MappingProblem problem = ConvProblem({1, 8, extent, 4, 4, 3, 3, 1, 2});
      CHECK(kMappers[i](problem, edge.hardware, &budget, &scratch, &mapped) ==
            Status::kBadInput);
      CHECK(std::string(scratch.diagnostic.message) ==
            "extent C is " + std::to_string(extent) + ", must be at least 1");
    }
    Scratch scratch;
    Budget budget;
    MappedNest mapped;
    const int64_t big = int64_t{1} << 31;
    CHECK(kMappers[i](GemmProblem(1, big, big, 2, 2), edge.hardware, &budget, &scratch,
                      &mapped) == Status::kBadInput);
    CHECK(std::string(scratch.diagnostic.message).find("9007199254740992 operations") !=
          std::string::npos);
  }
}

TEST_CASE("bad input: extents of 1, primes and 2^31 are mapped") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const std::vector<MappingProblem> problems = {
      ConvProblem({1, 1, 1, 1, 1, 1, 1, 1, 2}),
      ConvProblem({1, 17, 13, 7, 11, 3, 5, 1, 2}),
      GemmProblem(1, 1009, 499, 251, 2),
      GemmProblem(7, 31, 1, 37, 2),
      GemmProblem(1, int64_t{1} << 31, 1, 1, 2),
      GemmProblem(1, 1, 2, int64_t{1} << 31, 2)};
  for (size_t p = 0; p < problems.size(); ++p) {
    for (size_t i = 0; i < 5; ++i) {
      CAPTURE(p);
      CAPTURE(i);
      CheckAnswer(problems[p], edge.hardware, kMappers[i]);
    }
  }
}

TEST_CASE("bad input: registers below one element are named with their bytes") {
  Machine tiny;
  tiny.AddLevel(1, 0.1, 0.1);
  tiny.AddLevel(4096, 1, 1);
  tiny.AddLevel(0, 10, 10);
  tiny.AddFanout(1, 4, 127);
  tiny.Finish();
  const MappingProblem problem = ConvProblem({1, 8, 8, 4, 4, 3, 3, 1, 2});
  for (const Mapper mapper : {Exact, Kapla, Greedy, Search}) {
    Scratch scratch;
    Budget budget;
    MappedNest mapped;
    CHECK(mapper(problem, tiny.hardware, &budget, &scratch, &mapped) ==
          Status::kInfeasible);
    CHECK(scratch.diagnostic.required_bytes >= 6);
    CHECK(scratch.diagnostic.available_bytes == 1);
  }
  // Where operands may bypass the registers, there is a nest.
  Scratch scratch;
  Budget budget;
  MappedNest mapped;
  MapConstraints constraints;
  constraints.bypass = true;
  REQUIRE(MapConvExact({problem, tiny.hardware, constraints}, &budget, &scratch.arena,
                       &mapped, &scratch.diagnostic) == Status::kOk);
  CHECK(mapped.nest.hold[0] == 0);
  CHECK(mapped.proved);
}

TEST_CASE("bad input: a scratchpad below one tile, fanouts of one unit") {
  Machine small;
  small.AddLevel(64, 0.1, 0.1);
  small.AddLevel(4, 1, 1);
  small.AddLevel(0, 10, 10);
  small.AddFanout(1, 1, 127);
  small.AddFanout(1, 1, 127);
  small.Finish();
  const MappingProblem problem = ConvProblem({1, 4, 4, 4, 4, 3, 3, 1, 2});
  for (const Mapper mapper : {Exact, Kapla, Greedy, Search}) {
    Scratch scratch;
    Budget budget;
    MappedNest mapped;
    CHECK(mapper(problem, small.hardware, &budget, &scratch, &mapped) ==
          Status::kInfeasible);
    CHECK(scratch.diagnostic.available_bytes == 4);
  }
  small.levels[1].capacity_bytes = 512;
  small.Finish();
  for (size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CheckAnswer(problem, small.hardware, kMappers[i]);
  }
}

TEST_CASE("bypass: never worse than holding everything, and never below the bound") {
  Machine edge;
  MakeKaplaEdge(&edge);
  for (const int64_t c : {3, 16, 64}) {
    const MappingProblem problem = ConvProblem({1, 32, c, 14, 14, 3, 3, 1, 2});
    Scratch scratch;
    Budget budget;
    MappedNest whole, chosen;
    MapConstraints constraints;
    REQUIRE(MapConvExact({problem, edge.hardware, constraints}, &budget, &scratch.arena,
                         &whole, &scratch.diagnostic) == Status::kOk);
    constraints.bypass = true;
    REQUIRE(MapConvExact({problem, edge.hardware, constraints}, &budget, &scratch.arena,
                         &chosen, &scratch.diagnostic) == Status::kOk);
    CHECK(chosen.objective <= whole.objective);
    CHECK(NestBound(problem, edge.hardware, constraints) <= chosen.bound);
  }
}

}  // namespace
}  // namespace sluice
