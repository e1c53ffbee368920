// SPDX-License-Identifier: Apache-2.0
// Meshes through the C interface: plans, and precise errors where there is no plan.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "plan/mesh/mesh_run.h"
#include "support/library.h"
#include "support/network_plan.h"
#include "support/shared_data.h"

namespace sluice_test {
namespace {

HardwareSpec Mesh(uint32_t cols, uint32_t rows, uint64_t scratchpad) {
  HardwareSpec h;
  h.node_cols = cols;
  h.node_rows = rows;
  h.scratchpad_bytes = scratchpad;
  h.dram_numerator = 16;
  return h;
}

GraphSpec Network() {
  Chain chain(2, 11, 7, 5);
  return chain.Conv(13, 3).Conv(7, 3, 2, false).Pool(2).Dense(11).Done();
}

// Schedules, verifies and executes the graph; true if all three succeed.
bool RightPlan(const GraphSpec& g, const HardwareSpec& h, sluice_report_t* report) {
  NetworkPlan plan(GraphBytes(g), HardwareBytes(h));
  REQUIRE(plan.ok);
  const sluice_status_t status = plan.Schedule(SLUICE_SOLVER_DEFAULT, 0);
  INFO(plan.diagnostic.message);
  REQUIRE(status == SLUICE_OK);
  *report = plan.report;
  const auto sim = plan.Simulate(true);
  INFO(sim.error);
  CHECK(plan.Verify() == SLUICE_OK);
  CHECK(sim.ok);
  CHECK(sim.compared_bytes > 0);
  CHECK(sim.cycles == plan.report.latency_cycles);
  CHECK(plan.report.latency_cycles >= plan.report.bound_latency_cycles);
  CHECK(plan.report.energy_pj >= plan.report.bound_energy_pj);
  return sim.ok && sim.mismatches == 0 && sim.cycles == plan.report.latency_cycles;
}

TEST_CASE("mesh: rows, columns and counts that divide nothing give right plans") {
  const GraphSpec g = Network();
  sluice_report_t one = {}, report = {};
  REQUIRE(RightPlan(g, Mesh(1, 1, 4096), &one));
  for (const auto& [cols, rows] :
       {std::pair<uint32_t, uint32_t>{7, 1}, {1, 5}, {3, 3}, {1, 13}, {17, 1}}) {
    CAPTURE(cols);
    CAPTURE(rows);
    CHECK(RightPlan(g, Mesh(cols, rows, 4096), &report));
    CHECK(report.latency_cycles <= one.latency_cycles);
  }
}

TEST_CASE("mesh: 32 x 32 nodes") {
  sluice_report_t report = {};
  CHECK(RightPlan(Network(), Mesh(32, 32, 4096), &report));
}

TEST_CASE(
    "mesh: a plan of thousands of instructions uses all nodes, not the plain one") {
  const GraphSpec g = Chain(2, 40, 40, 16).Conv(48, 3).Conv(48, 3).Conv(32, 3).Done();
  HardwareSpec h = Mesh(4, 4, 4096);
  h.macs_per_cycle = 16;
  sluice_report_t report = {};
  REQUIRE(RightPlan(g, h, &report));
  CHECK(report.instructions > 4000);
  CHECK(4 * report.bound_latency_cycles > report.latency_cycles);
}

TEST_CASE("mesh: where DRAM limits, the plan is no worse than that of one node") {
  HardwareSpec one = Mesh(1, 1, 16384), mesh = Mesh(4, 4, 16384);
  one.dram_numerator = mesh.dram_numerator = 1;
  one.macs_per_cycle = mesh.macs_per_cycle = 4096;
  sluice_report_t alone = {}, report = {};
  REQUIRE(RightPlan(Network(), one, &alone));
  CHECK(RightPlan(Network(), mesh, &report));
  CHECK(report.energy_pj * static_cast<double>(report.latency_cycles) <=
        alone.energy_pj * static_cast<double>(alone.latency_cycles));
}

TEST_CASE("mesh: links of no bandwidth are refused by name") {
  Library library;
  HardwareSpec h = Mesh(2, 2, 4096);
  h.link_numerator = 0;
  CHECK(library.Hardware(HardwareBytes(h)) == nullptr);
  CHECK(library.status == SLUICE_BAD_INPUT);
  CHECK(std::string(library.diagnostic.message).find("link") != std::string::npos);
}

TEST_CASE("mesh: a scratchpad too small for any part says by how much") {
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(Network()));
  const HardwarePtr tiny = library.Hardware(HardwareBytes(Mesh(2, 2, 64)));
  CHECK(library.Schedule(graph, tiny) == nullptr);
  REQUIRE(library.status == SLUICE_INFEASIBLE);
  const sluice_diagnostic_t d = library.diagnostic;
  CHECK(d.available_bytes == 64);
  CHECK(d.required_bytes > 64);
  CHECK(d.layer != SLUICE_NO_INDEX);
  // The number is exact: this many bytes are enough, one byte less is not.
  const uint64_t least = d.smallest_scratchpad_bytes;
  REQUIRE(least >= d.required_bytes);
  const HardwarePtr enough = library.Hardware(HardwareBytes(Mesh(2, 2, least)));
  CHECK(library.Schedule(graph, enough) != nullptr);
  const HardwarePtr less = library.Hardware(HardwareBytes(Mesh(2, 2, least - 1)));
  CHECK(library.Schedule(graph, less) == nullptr);
  CHECK(library.status == SLUICE_INFEASIBLE);
}

TEST_CASE("mesh: energy of links is a part of the whole") {
  NetworkPlan plan(GraphBytes(Network()), std::string("kapla-4x4"));
  REQUIRE(plan.ok);
  REQUIRE(plan.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const sluice_report_t& r = plan.report;
  CHECK(r.energy_noc_pj > 0);
  CHECK(r.energy_pj == r.energy_dram_pj + r.energy_scratchpad_pj + r.energy_compute_pj +
                           r.energy_leakage_pj + r.energy_noc_pj);
}

TEST_CASE("mesh: real networks in segments are right, and better than layer by layer") {
  int tried = 0, forwarding = 0;
  for (const std::string& path : TfliteModels()) {
    bool wanted = false;
    for (const char* name : {"ad01", "kws_ref", "resnet8", "micro_speech", "str_ww"}) {
      wanted = wanted || path.find(name) != std::string::npos;
    }
    if (!wanted) continue;
    CAPTURE(path);
    ++tried;
    NetworkPlan plan(ImportedGraph(path), std::string("kapla-4x4"));
    REQUIRE(plan.ok);
    REQUIRE(plan.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    const double layers = plan.Product();
    REQUIRE(plan.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(plan.Product() <= layers);
    const auto sim = plan.Simulate(true);
    INFO(sim.error);
    CHECK(sim.ok);
    CHECK(sim.mismatches == 0);
    CHECK(sim.compared_bytes > 0);
    CHECK(sim.cycles == plan.report.latency_cycles);
    CHECK(sim.dram_read_bytes == plan.report.dram_read_bytes);
    forwarding += sim.forward_bytes > 0;
  }
  if (tried == 0) {
    MESSAGE("skipped: the TFLite models are not there");
    return;
  }
  CHECK(tried == 5);
  CHECK(forwarding >= 3);
}

}  // namespace
}  // namespace sluice_test
