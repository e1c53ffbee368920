// SPDX-License-Identifier: Apache-2.0
// Plans in which a layer runs again, through the C interface: both judges, and the bytes.
#include <doctest/doctest.h>

#include <cstring>

#include "support/library.h"
#include "support/simulation.h"
#include "tests/plan/operators/small_run.h"

using namespace sluice_test;

namespace {

// The report of a plan that both judges accept and that computes the right bytes.
sluice_report_t Checked(uint32_t granularity) {
  const Bytes graph = GraphBytes(Residual()), hardware = HardwareBytes(HardwareSpec());
  Library library;
  const GraphPtr g = library.Graph(graph);
  const HardwarePtr h = library.Hardware(hardware);
  sluice_schedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.granularity = granularity;
  options.scratchpad_bytes = 768;
  sluice_plan_t* p = nullptr;
  library.status = sluice_schedule(library.context.get(), g.get(), h.get(), &options,
                                   &p, &library.diagnostic);
  const PlanPtr plan(p);
  INFO(library.diagnostic.message);
  REQUIRE(library.status == SLUICE_OK);
  CHECK(library.Verify(g, h, plan) == SLUICE_OK);
  const Bytes bytes = BytesOf(plan);
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, bytes);
  o.functional = true;
  const sluice_sim::SimulateResult run = sluice_sim::Simulate(o);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.compared_bytes > 0);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == ReportOf(plan).latency_cycles);
  return ReportOf(plan);
}

}  // namespace

TEST_CASE(
    "recompute: fewer bytes move, less energy, no more cycles, the same results") {
  const sluice_report_t once = Checked(SLUICE_GRANULARITY_OPERATOR);
  const sluice_report_t again = Checked(SLUICE_GRANULARITY_RECOMPUTE);
  CHECK(again.vector_ops == once.vector_ops + 32);
  CHECK(again.dram_write_bytes == once.dram_write_bytes - 32);
  CHECK(again.dram_read_bytes == once.dram_read_bytes);
  CHECK(again.energy_pj < once.energy_pj);
  CHECK(again.latency_cycles <= once.latency_cycles);
}
