// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_spreads.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

using namespace nest_exact;

TEST_CASE("nest spreads: every split of the units once, no more than there are") {
  Machine machine;
  machine.AddLevel(64, 1, 1);
  machine.AddLevel(0, 10, 10);
  machine.AddFanout(0, 4, DimBit(kDimK) | DimBit(kDimC));
  machine.AddFanout(0, 3, DimBit(kDimP));
  machine.Finish();
  const MappingProblem problem = GemmProblem(1, 6, 4, 8, 1);
  Scratch scratch;
  Vector<Spread> spreads(&scratch.arena);
  REQUIRE(ListSpreads(problem, machine.hardware, 0, false, &spreads) == Status::kOk);
  // K and C: 1x1 1x2 1x4 2x1 2x2 4x1; P: 1 2 3.
  CHECK(spreads.size() == 18);
  std::set<std::vector<int32_t>> seen;
  for (const Spread& spread : spreads) {
    CHECK(spread.units[kDimK] * spread.units[kDimC] <= 4);
    CHECK(problem.extent[kDimP] % spread.units[kDimP] == 0);
    seen.insert(std::vector<int32_t>(spread.units, spread.units + kDims));
  }
  CHECK(seen.size() == spreads.size());
  // Ragged: K x C up to 4 units, 3 + 1 of K and C included; P: 1 2 3.
  Vector<Spread> ragged(&scratch.arena);
  REQUIRE(ListSpreads(problem, machine.hardware, 0, true, &ragged) == Status::kOk);
  CHECK(ragged.size() == 24);
}

TEST_CASE("nest spreads: too many ways are refused") {
  Machine machine;
  machine.AddLevel(64, 1, 1);
  machine.AddLevel(0, 10, 10);
  for (int axis = 0; axis < 3; ++axis) machine.AddFanout(0, 4096, 127);
  machine.Finish();
  const MappingProblem problem = ConvProblem({64, 256, 256, 64, 64, 1, 1, 1, 1});
  Scratch scratch;
  Vector<Spread> spreads(&scratch.arena);
  CHECK(ListSpreads(problem, machine.hardware, 0, false, &spreads) ==
        Status::kUnsupported);
}

TEST_CASE("nest spreads: tiles that divide and fit, each once") {
  Machine machine;
  machine.AddLevel(20, 1, 1);
  machine.AddLevel(0, 10, 10);
  machine.Finish();
  const MappingProblem problem = GemmProblem(1, 6, 4, 8, 1);
  const MapConstraints constraints;
  uint32_t hold[kMaxLevels] = {7, 7};
  const Model model = MakeModel({problem, machine.hardware, constraints}, hold);
  const int64_t one[] = {1}, six[] = {1, 2, 3, 6}, four[] = {1, 2, 4},
                eight[] = {1, 2, 4, 8};
  Span<const int64_t> divisors[kDims];
  for (auto& list : divisors) list = Span<const int64_t>(one, 1);
  divisors[kDimP] = Span<const int64_t>(six, 4);
  divisors[kDimK] = Span<const int64_t>(four, 3);
  divisors[kDimC] = Span<const int64_t>(eight, 4);
  int64_t tile[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  int fitting = 0, expected = 0;
  ForEachTile(
      {model, divisors, 0, problem.extent, false}, tile, 0, [&](const int64_t* t) {
        CHECK(t[kDimP] * t[kDimC] + t[kDimK] * t[kDimC] + t[kDimP] * t[kDimK] <= 20);
        ++fitting;
        return true;
      });
  for (const int64_t p : six) {
    for (const int64_t k : four) {
      for (const int64_t c : eight) expected += p * c + k * c + p * k <= 20 ? 1 : 0;
    }
  }
  CHECK(fitting == expected);
  CHECK(fitting > 10);
}

}  // namespace
}  // namespace sluice
