// SPDX-License-Identifier: Apache-2.0
// Costs of the layers of a small plain plan, compared with numbers computed by hand.
#include "plan/layer_costs.h"

#include <doctest/doctest.h>

#include <vector>

#include "plan/best_plan.h"
#include "tests/plan/called.h"

namespace sluice {
namespace {

struct Costed {
  explicit Costed(const sluice_schedule_options_t& options = {},
                  const sluice_test::GraphSpec& graph = sluice_test::PairOfLayers())
      : called(options, nullptr, nullptr, graph), rows(graph.layers.size()) {
    called.MakePlain();
    REQUIRE(TakePlain(&called.call) == Status::kOk);
    plan = called.Read();
    Arena scratch(&called.n.memory);
    REQUIRE(CostLayers({called.n.graph, called.n.hardware, plan}, &scratch,
                       Span<sluice_layer_cost_t>(rows.data(), rows.size()),
                       &called.n.diagnostic) == Status::kOk);
  }
  sluice_test::Called called;
  Plan plan = {};
  std::vector<sluice_layer_cost_t> rows;
};

TEST_CASE("layer costs: 128 bytes in, 128 out, at 4 a cycle, 128 operations at 16") {
  const Costed c;
  for (uint32_t l = 0; l < 2; ++l) {
    CAPTURE(l);
    const sluice_layer_cost_t& row = c.rows[l];
    CHECK(row.layer == l);
    CHECK(row.tiles >= 1);
    CHECK(row.extent[2] == 4);
    CHECK(row.extent[3] == 8);
    CHECK(row.vector_ops == 128);
    CHECK(row.macs == 0);
    CHECK(row.cycles == 8);
    CHECK(row.port_cycles == 64);
    CHECK(row.host_cycles == 0);
    CHECK(row.limit == SLUICE_LIMIT_DRAM);
    CHECK(row.dram_read_bytes == 128);
    CHECK(row.dram_write_bytes == 128);
    CHECK(row.bound_cycles == 8);
    // The tensor between the two need not leave the scratchpad.
    CHECK(row.bound_dram_bytes == 128);
    CHECK(row.bound_energy_pj <= row.energy_pj);
  }
  CHECK(c.rows[0].spill_bytes == 128);
  CHECK(c.rows[1].spill_bytes == 0);
  CHECK(c.rows[0].block < c.rows[1].block);
}

TEST_CASE(
    "layer costs: energies of tiles that the caller priced are shares by bounds") {
  sluice_schedule_options_t options = {};
  options.tile_cost = [](void*, uint32_t, const int32_t*, int32_t,
                         sluice_tile_cost_t* out) {
    *out = {100, 1000000.0, 0};
    return 1;
  };
  const Costed plain, c(options);
  double sum = 0, least = 0;
  for (const sluice_layer_cost_t& row : c.rows) {
    CHECK(row.cycles == 100 * row.tiles);
    CHECK(row.energy_pj > 1000000);
    sum += row.energy_pj;
    least += row.bound_energy_pj;
  }
  // Both layers have the same work and move the same bytes.
  CHECK(c.rows[0].energy_pj == doctest::Approx(c.rows[1].energy_pj));
  CHECK(sum ==
        doctest::Approx(c.plan.report.energy_pj - c.plan.report.energy_leakage_pj));
  CHECK(least <= sum);
  CHECK(plain.rows[0].energy_pj < c.rows[0].energy_pj);
}

TEST_CASE("layer costs: bytes behind views belong to the layers that move them") {
  // The input is seen as four rows of 4 x 8, the second layer's output as 16 rows of 8.
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  sluice_test::GraphSpec graph = sluice_test::PairOfLayers();
  graph.tensors[0].kind = graph.tensors[2].kind = 0;
  graph.tensors.push_back({{1, 1, 16, 8}, i8, 1});
  graph.tensors.push_back({{1, 1, 16, 8}, i8, 2});
  graph.layers.insert(graph.layers.begin(), {SLUICE_OP_RESHAPE, {3}, {0}, {}});
  graph.layers.push_back({SLUICE_OP_RESHAPE, {2}, {4}, {}});
  const Costed c({}, graph);
  for (const size_t view : {0, 3}) {
    CHECK(c.rows[view].limit == SLUICE_LIMIT_NOTHING);
    CHECK(c.rows[view].bound_dram_bytes == 0);
  }
  CHECK(c.rows[1].bound_dram_bytes == 128);
  CHECK(c.rows[1].dram_read_bytes == 128);
  CHECK(c.rows[2].bound_dram_bytes == 128);
  CHECK(c.rows[2].dram_write_bytes == 128);
}

TEST_CASE("layer costs: a plan that the judge refuses has none") {
  Costed c;
  c.plan.report.latency_cycles += 1;
  Arena scratch(&c.called.n.memory);
  Span<sluice_layer_cost_t> rows(c.rows.data(), c.rows.size());
  CHECK(CostLayers({c.called.n.graph, c.called.n.hardware, c.plan}, &scratch, rows,
                   &c.called.n.diagnostic) == Status::kRejected);
}

}  // namespace
}  // namespace sluice
