// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/tile_mapper.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// Registers and a scratchpad below DRAM, 16 units.
struct Chip : Machine {
  Chip() {
    AddLevel(64, 0.1, 0.1);
    AddLevel(0, 1, 1);
    AddLevel(0, 20, 20);
    AddFanout(1, 4, DimBit(kDimK));
    AddFanout(1, 4, DimBit(kDimC));
    hardware.macs_per_cycle = 16;
    hardware.mac_pj = 0.5;
    hardware.leakage_pj_per_cycle = 2;
    Finish();
  }
};

TEST_CASE(
    "tile mapper: the cost of a tile is that of a nest near the best, remembered") {
  Chip chip;
  Scratch scratch;
  TileMapper mapper(chip.hardware, &scratch.arena);
  CHECK(NeedsMappers(chip.hardware));
  CHECK(mapper.searches());
  REQUIRE(mapper.below().levels.size() == 2);
  TileCost first[12];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 12; ++i) {
      const MappingProblem tile = ConvProblem({1, 4 + i, 8, 4, 4, 3, 3, 1, 1});
      TileCost cost;
      REQUIRE(mapper.Cost(tile, &cost));
      if (round == 0) first[i] = cost;
      CHECK(cost.cycles == first[i].cycles);
      CHECK(cost.energy_pj == first[i].energy_pj);
      if (round == 1) continue;
      Budget budget;
      MappedNest mapped, best;
      REQUIRE(mapper.Map(tile, &budget, &mapped, &scratch.diagnostic) == Status::kOk);
      LayerCost evaluated;
      REQUIRE(EvaluateNest(tile, mapper.below(), mapped.nest, CostOptions{}, &evaluated,
                           &scratch.diagnostic) == Status::kOk);
      CHECK(cost.cycles == evaluated.cycles);
      CHECK(cost.energy_pj ==
            doctest::Approx(evaluated.energy_pj - evaluated.leakage_pj));
      CHECK(cost.scratchpad_pj ==
            doctest::Approx(evaluated.level_pj[1] + evaluated.transfer_pj));
      // Energy x cycles is near the least.
      MapConstraints constraints;
      constraints.energy_exponent = constraints.delay_exponent = 1;
      constraints.bypass = true;
      REQUIRE(MapConvExact({tile, mapper.below(), constraints}, &budget, &scratch.arena,
                           &best, &scratch.diagnostic) == Status::kOk);
      CHECK(mapped.objective >= best.objective * (1 - 1e-9));
      CHECK(mapped.objective <= best.objective * 1.06);
    }
  }
  CHECK(mapper.status() == Status::kOk);
}

TEST_CASE("tile mapper: hundreds of tiles do not disturb each other") {
  Chip chip;
  Scratch scratch, other;
  TileMapper mapper(chip.hardware, &scratch.arena);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t k = 1; k <= 150; ++k) {
      TileCost cost, alone;
      const MappingProblem tile = GemmProblem(1, 2, k, 3, 1);
      REQUIRE(mapper.Cost(tile, &cost));
      if (k % 50 != 0) continue;
      TileMapper fresh(chip.hardware, &other.arena);
      REQUIRE(fresh.Cost(tile, &alone));
      CHECK(alone.cycles == cost.cycles);
      CHECK(alone.energy_pj == cost.energy_pj);
    }
  }
}

// Three levels below the scratchpad, 2 x 2 cores.
struct Cores : Machine {
  Cores() {
    for (const double pj : {0.1, 0.2, 0.3}) AddLevel(1 << 10, pj, pj);
    AddLevel(0, 1, 1);
    AddLevel(0, 20, 20);
    hardware.cores = CoreGrid{2, 2, 2, 2, 1, 2, 0, 1.625, 2.125};
    hardware.macs_per_cycle = 16;
    hardware.scratchpad_level = 3;
    Finish();
  }
};

TEST_CASE("tile mapper: what it has no memory to remember, it computes again") {
  Cores cores;
  Scratch scratch, other;
  TileMapper small(cores.hardware, &scratch.arena);
  TileMapper large(cores.hardware, &other.arena);
  scratch.memory.Limit(scratch.memory.live_bytes() + 4096);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t k = 1; k <= 300; ++k) {
      TileCost cost, all;
      const MappingProblem tile = GemmProblem(1, 2, k, 3, 1);
      REQUIRE(large.Cost(tile, &all));
      REQUIRE(small.Cost(tile, &cost));
      CHECK(cost.cycles == all.cycles);
      CHECK(cost.energy_pj == all.energy_pj);
    }
  }
  CHECK(small.status() == Status::kOk);
  CHECK(scratch.memory.live_bytes() < other.memory.live_bytes());
}

TEST_CASE("tile mapper: what it remembers takes a part of the memory that is free") {
  Cores cores;
  Scratch scratch;
  TileMapper mapper(cores.hardware, &scratch.arena);
  constexpr uint64_t kFree = 1 << 20;
  const uint64_t live = scratch.memory.live_bytes();
  TileCost cost;
  for (int64_t k = 1; k <= 5000; ++k) {
    // A call sets its limit when some tiles have been asked for already.
    if (k == 4) scratch.memory.Limit(live + kFree);
    REQUIRE(mapper.Cost(GemmProblem(1, 2, k, 3, 1), &cost));
  }
  CHECK(scratch.memory.live_bytes() - live < kFree / 4);
  CHECK(scratch.memory.refusals() == 0);
}

TEST_CASE(
    "tile mapper: without an array below the scratchpad there is nothing to map") {
  Machine plain;
  plain.AddLevel(0, 1, 1);
  plain.AddLevel(0, 20, 20);
  plain.Finish();
  Scratch scratch;
  TileMapper mapper(plain.hardware, &scratch.arena);
  CHECK(!NeedsMappers(plain.hardware));
  CHECK(!mapper.searches());
  TileCost cost;
  const MappingProblem tile = GemmProblem(1, 2, 3, 4, 1);
  CHECK(!mapper.Cost(tile, &cost));
  Budget budget;
  MappedNest mapped;
  CHECK(mapper.Map(tile, &budget, &mapped, &scratch.diagnostic) ==
        Status::kUnsupported);
  CHECK(std::string(scratch.diagnostic.message).find("no array below its scratchpad") !=
        std::string::npos);
}

}  // namespace
}  // namespace sluice
