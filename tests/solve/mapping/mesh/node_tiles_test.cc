// SPDX-License-Identifier: Apache-2.0
// Parts of a layer on one node: MapPart and EstimatePart of node_array.h.
#include <doctest/doctest.h>

#include <algorithm>

#include "solve/mapping/mesh/node_array.h"
#include "tests/solve/mapping/mesh/small_node.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

TEST_CASE(
    "node tiles: mostly near the exact search, which shares DRAM's price, and never "
    "below") {
  Rng rng(91);
  int mapped = 0, near = 0;
  for (int round = 0; round < 120; ++round) {
    Machine m;
    MakeSmallMesh(&m, 1, 1, round % 2 == 0 ? 12 : 40, 60 + 4 * rng.Below(60));
    const MappingProblem part = SmallLayer(&rng);
    OuterPrice price = {};
    for (uint32_t v = 0; v < kOperands; ++v) {
      price.read_pj[v] = 100 + rng.Below(400);
      price.byte_share[v] = 1;
    }
    price.write_partial_pj = price.write_final_pj = 300;
    MapConstraints constraints;
    constraints.outer = &price;
    if (!IsPlainNode(part, m.hardware, constraints)) continue;
    Scratch scratch, exact;
    ArrayTable table(&scratch.arena, m.hardware.leakage_pj_per_cycle);
    const Sharing sharing;
    const PartRequest request = {part, m.hardware, constraints, sharing};
    double dram_pj = 0, cycles = 0;
    CAPTURE(round);
    REQUIRE(EstimatePart(request, 0, &table, &dram_pj, &cycles, &scratch.diagnostic) ==
            Status::kOk);
    Budget budget;
    MappedNest best;
    const Status found = MapConvExact({part, m.hardware, constraints}, &budget,
                                      &exact.arena, &best, &exact.diagnostic);
    PartNest nest;
    LoopNest loops;
    const Status status = MapPart(request, std::max(0.0, dram_pj), &table, &nest,
                                  &loops, &scratch.diagnostic);
    if (found != Status::kOk || best.nest.temporal[2][kDimR] > 1) continue;
    REQUIRE(dram_pj >= 0);
    REQUIRE(status == Status::kOk);
    ++mapped;
    CHECK(nest.objective >= best.objective * (1 - 1e-9));
    near += nest.objective <= best.objective * 1.02;
    CHECK(CheckNest(part, m.hardware, loops, 0, &scratch.diagnostic) == Status::kOk);
    // The estimate of the DRAM energy is a lower bound for every nest.
    conv_exact::ConvSpace space;
    REQUIRE(MakeConvSpace({part, m.hardware, constraints}, 7, &space,
                          &scratch.diagnostic) == Status::kOk);
    int64_t passes[kDims], tile[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      passes[d] = nest.point.t0[d] * nest.point.t1[d];
      tile[d] = passes[d] * nest.choice.spread[d];
    }
    conv_exact::PointCost cost = {};
    AddDramCost(space, StepsAbove(space, nest.choice, passes, tile), nest.point.inner2,
                &cost);
    CHECK(dram_pj <= cost.energy_pj * (1 + 1e-9));
    // With a limit just below the best nest there is none.
    constraints.upper = nest.objective * (1 - 1e-9);
    CHECK(MapPart(request, dram_pj, &table, &nest, &loops, &scratch.diagnostic) ==
          Status::kInfeasible);
  }
  CHECK(mapped > 60);
  CHECK(near * 10 > mapped * 8);  // few ways to run the array are kept: some are missed
}

TEST_CASE("node tiles: nodes that are not plain, parts that do not fit") {
  Machine m;
  MakeSmallMesh(&m, 1, 1, 12, 100);
  const MappingProblem part = GemmProblem(1, 4, 4, 4, 2);
  MapConstraints constraints;
  CHECK(IsPlainNode(part, m.hardware, constraints));
  constraints.bypass = true;
  CHECK(!IsPlainNode(part, m.hardware, constraints));
  constraints.bypass = false;
  constraints.top_tile[kDimK] = 2;
  CHECK(!IsPlainNode(part, m.hardware, constraints));
  constraints.top_tile[kDimK] = 0;
  m.levels[0].may_hold = 3;
  CHECK(!IsPlainNode(part, m.hardware, constraints));
  m.levels[0].may_hold = 7;
  m.levels[0].capacity_bytes = 60;  // 4 units x 60 > 2 x 100 of the scratchpad
  CHECK(!IsPlainNode(part, m.hardware, constraints));
  m.levels[0].capacity_bytes = 2;
  m.levels[1].capacity_bytes = 4;
  Scratch scratch;
  ArrayTable table(&scratch.arena, 0);
  const Sharing sharing;
  double dram_pj = 0, cycles = 0;
  REQUIRE(EstimatePart({part, m.hardware, constraints, sharing}, 0, &table, &dram_pj,
                       &cycles, &scratch.diagnostic) == Status::kOk);
  CHECK(dram_pj < 0);
}

}  // namespace
}  // namespace sluice
