// SPDX-License-Identifier: Apache-2.0
// What the layers of a plan take adds up to what the plan's report says.
#include <doctest/doctest.h>
#include <string.h>

#include <vector>

#include "sluice/experimental.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

struct Layers {
  std::vector<sluice_layer_cost_t> rows;
  sluice_status_t status;
};

Layers LayersOf(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
                const PlanPtr& plan) {
  sluice_layer_list_t list = {};
  list.struct_size = sizeof list;
  const auto ask = [&] {
    return sluice_plan_layers(library->context.get(), graph.get(), hardware.get(),
                              plan.get(), &list, &library->diagnostic);
  };
  Layers layers;
  CHECK(ask() == SLUICE_BUFFER_TOO_SMALL);
  layers.rows.resize(list.count);
  list.costs = layers.rows.data();
  list.capacity = list.count;
  layers.status = ask();
  return layers;
}

void CheckSums(const Layers& layers, const sluice_report_t& report) {
  sluice_layer_cost_t sum = {};
  uint64_t tiles = 0;
  for (size_t l = 0; l < layers.rows.size(); ++l) {
    const sluice_layer_cost_t& row = layers.rows[l];
    CHECK(row.struct_size == sizeof row);
    CHECK(row.layer == l);
    CHECK(row.bound_cycles <= row.cycles);
    CHECK((row.limit == SLUICE_LIMIT_NOTHING) ==
          (row.cycles + row.port_cycles + row.host_cycles == 0));
    CHECK((row.extent[0] != 0) == (row.tiles != 0));
    sum.dram_read_bytes += row.dram_read_bytes;
    sum.dram_write_bytes += row.dram_write_bytes;
    sum.spill_bytes += row.spill_bytes;
    sum.macs += row.macs;
    sum.vector_ops += row.vector_ops;
    sum.energy_pj += row.energy_pj;
    sum.bound_energy_pj += row.bound_energy_pj;
    tiles += row.tiles;
  }
  CHECK(sum.dram_read_bytes == report.dram_read_bytes);
  CHECK(sum.dram_write_bytes == report.dram_write_bytes);
  CHECK(sum.spill_bytes == report.spill_bytes);
  CHECK(sum.macs == report.macs);
  CHECK(sum.vector_ops == report.vector_ops);
  CHECK(tiles == report.tiles);
  CHECK(sum.energy_pj ==
        doctest::Approx(report.energy_pj - report.energy_leakage_pj).epsilon(1e-9));
  CHECK(sum.bound_energy_pj <= report.energy_pj);
}

TEST_CASE("layers: they add up to the plan") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(MakeRandomGraph(seed)));
    const HardwarePtr hardware =
        library.Hardware(MachineBytes(MakeRandomMachine(seed)));
    const PlanPtr plan = library.Schedule(graph, hardware);
    if (plan == nullptr) continue;
    const Layers layers = LayersOf(&library, graph, hardware, plan);
    REQUIRE(layers.status == SLUICE_OK);
    CheckSums(layers, ReportOf(plan));
    // A plan of other origin is judged first; what is counted is the same.
    const PlanPtr copy = library.Plan(BytesOf(plan));
    REQUIRE(copy != nullptr);
    const Layers again = LayersOf(&library, graph, hardware, copy);
    REQUIRE(again.status == SLUICE_OK);
    CHECK(memcmp(again.rows.data(), layers.rows.data(),
                 layers.rows.size() * sizeof(sluice_layer_cost_t)) == 0);
  }
}

TEST_CASE("layers: what is missing is named") {
  Library library;
  sluice_layer_list_t list = {};
  list.struct_size = sizeof list;
  CHECK(sluice_plan_layers(library.context.get(), nullptr, nullptr, nullptr, &list,
                           &library.diagnostic) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice_test
