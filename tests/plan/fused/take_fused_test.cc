// SPDX-License-Identifier: Apache-2.0
// Fused plans of random graphs on random machines, compared with the plain plans.
#include <doctest/doctest.h>

#include "firmware-sim/sim.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/simulation.h"

namespace sluice_test {
namespace {

constexpr uint64_t kFirstSeed = 5001;
constexpr uint64_t kSeeds = 120;

struct Case {
  Library library;
  Bytes graph_bytes, hardware_bytes;
  GraphPtr graph;
  HardwarePtr hardware;
  uint64_t seed;

  explicit Case(uint64_t s)
      : graph_bytes(GraphBytes(MakeRandomGraph(s))),
        hardware_bytes(MachineBytes(MakeRandomMachine(s))),
        graph(library.Graph(graph_bytes)),
        hardware(library.Hardware(hardware_bytes)),
        seed(s) {}

  PlanPtr Schedule(uint32_t solver, uint32_t energy = 0, uint32_t delay = 0) {
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = solver;
    options.energy_exponent = energy;
    options.delay_exponent = delay;
    sluice_plan_t* plan = nullptr;
    library.status = sluice_schedule(library.context.get(), graph.get(), hardware.get(),
                                     &options, &plan, &library.diagnostic);
    return PlanPtr(plan);
  }
  sluice_sim::SimulateResult Run(const Bytes& plan) const {
    sluice_sim::SimulateOptions o = SimulationOf(graph_bytes, hardware_bytes, plan);
    o.functional = true;
    o.seed = seed;
    return sluice_sim::Simulate(o);
  }
};

double Product(const sluice_report_t& r) {
  return r.energy_pj * static_cast<double>(r.latency_cycles);
}

TEST_CASE("fused wherever possible: both judges accept, cycles as predicted") {
  int fused = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    CAPTURE(seed);
    Case c(seed);
    const PlanPtr plan = c.Schedule(SLUICE_SOLVER_FUSION);
    if (c.library.status == SLUICE_INFEASIBLE) continue;
    INFO(c.library.diagnostic.message);
    REQUIRE(plan != nullptr);
    const sluice_report_t report = ReportOf(plan);
    fused += report.groups < report.layers ? 1 : 0;
    CHECK(c.library.Verify(c.graph, c.hardware, plan) == SLUICE_OK);
    const auto run = c.Run(BytesOf(plan));
    INFO(run.error);
    CHECK(run.ok);
    CHECK(run.mismatches == 0);
    CHECK(run.compared_bytes > 0);
    CHECK(run.cycles == report.latency_cycles);
    CHECK(run.dram_read_bytes == report.dram_read_bytes);
    CHECK(run.dram_write_bytes == report.dram_write_bytes);
    CHECK(report.latency_cycles >= report.bound_latency_cycles);
    CHECK(report.energy_pj >= report.bound_energy_pj);
  }
  MESSAGE(fused << " of " << kSeeds << " plans have fewer groups than layers");
  CHECK(fused > 20);
}

TEST_CASE("a fused plan is never dearer than the plain one, and often cheaper") {
  int cheaper = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    CAPTURE(seed);
    Case c(seed);
    const PlanPtr plain = c.Schedule(SLUICE_SOLVER_BASELINE);
    if (plain == nullptr) continue;
    const sluice_report_t p = ReportOf(plain);
    const PlanPtr both = c.Schedule(SLUICE_SOLVER_FUSION);
    const PlanPtr energy = c.Schedule(SLUICE_SOLVER_FUSION, 1, 0);
    const PlanPtr delay = c.Schedule(SLUICE_SOLVER_FUSION, 0, 1);
    REQUIRE(both != nullptr);
    REQUIRE(energy != nullptr);
    REQUIRE(delay != nullptr);
    CHECK(Product(ReportOf(both)) <= Product(p));
    CHECK(ReportOf(energy).energy_pj <= p.energy_pj);
    CHECK(ReportOf(delay).latency_cycles <= p.latency_cycles);
    cheaper += Product(ReportOf(both)) < Product(p) ? 1 : 0;
  }
  CHECK(cheaper > 20);
}

TEST_CASE("the same call gives the same bytes") {
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + 20; ++seed) {
    CAPTURE(seed);
    Case c(seed);
    const PlanPtr one = c.Schedule(SLUICE_SOLVER_FUSION);
    if (one == nullptr) continue;
    const PlanPtr two = c.Schedule(SLUICE_SOLVER_FUSION);
    REQUIRE(two != nullptr);
    CHECK(BytesOf(one) == BytesOf(two));
  }
}

}  // namespace
}  // namespace sluice_test
