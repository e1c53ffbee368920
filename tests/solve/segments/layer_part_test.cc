// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/layer_part.h"

#include <doctest/doctest.h>

#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

TEST_CASE(
    "layer part: crossings are words to DRAM and their way to the nearest corner") {
  SmallCase small(4, 1, 256);
  const MappingProblem problem = Dense(2, 4, 6);
  LayerRole role = {};
  role.query.region = WholeMesh(small.machine.hardware);
  role.fetched = 3;
  role.stores = true;
  MeshCost cost = {};
  AddCrossings(small.machine.hardware, problem, role, &cost);
  // Words travel half a link on average; DRAM takes 25 pJ per bit, a link 0.6 pJ per bit.
  CHECK(cost.dram_pj == doctest::Approx(3 * 16 * 25));
  CHECK(cost.noc_pj == doctest::Approx(3 * 16 * 0.6 * 0.5));
  CHECK(cost.dram_read_bytes == 6);
  CHECK(cost.dram_write_bytes == 0);  // the layer's price has the write
  role.fetched = 0;
  role.query.terms.ofmap.kind = EndKind::kHere;
  cost = {};
  AddCrossings(small.machine.hardware, problem, role, &cost);
  CHECK(cost.dram_pj == doctest::Approx(8 * 16 * 25));
  CHECK(cost.dram_write_bytes == 16);
  CHECK(DynamicPj(cost) == doctest::Approx(8 * 16 * (25 + 0.3)));
}

TEST_CASE("layer part: an estimate follows the least price seen, a bound does not") {
  SmallCase small(2, 1, 256);
  small.network.Add("a", Dense(4, 8, 6), {-1});
  small.network.Add("b", Dense(4, 8, 6), {-1});
  Space space = small.MakeEmpty();
  PriceTable table(&small.scratch.arena);
  REQUIRE(InitPriceTable(space.layers, &table) == Status::kOk);
  PricesSeen seen{space, table, {}, {}};
  REQUIRE(InitPricesSeen(&seen, &small.scratch.arena) == Status::kOk);
  LayerRole role = {};
  role.query.region = WholeMesh(small.machine.hardware);
  role.query.terms.top_batch = 1;
  const LayerPart bound = BoundPart(space, role);
  // A layer that has no price by itself is estimated by its bound.
  CHECK(EstimatePart(seen, role, Ranking::kEstimate).pj == bound.pj);
  LayerPrice single = {};
  single.cost.scratchpad_pj = 1000;
  seen.single[0] = seen.single[1] = &single;
  const double before = EstimatePart(seen, role, Ranking::kEstimate).pj;
  MeshCost cost = {};
  cost.scratchpad_pj = before;  // the ratio that is guessed at first is 0.98
  LearnRatio(role, cost, &seen);
  const double after = EstimatePart(seen, role, Ranking::kEstimate).pj;
  CHECK(after == doctest::Approx(0.99 * before));
  role.query.position = 1;  // an equal layer learns from the first one
  CHECK(EstimatePart(seen, role, Ranking::kEstimate).pj == after);
  cost.scratchpad_pj = 2 * before;  // only lower prices count
  LearnRatio(role, cost, &seen);
  CHECK(EstimatePart(seen, role, Ranking::kEstimate).pj == after);
  CHECK(BoundPart(space, role).pj == bound.pj);
}

}  // namespace
}  // namespace sluice
