// SPDX-License-Identifier: Apache-2.0
// Every planner gives layers that the machine lacks to the host, and no others.
#include <doctest/doctest.h>

#include <cstring>

#include "firmware-sim/sim.h"
#include "plan/mesh/mesh_run.h"
#include "support/library.h"
#include "support/simulation.h"

namespace sluice_test {
namespace {

// Convolutions with pools between them. The host computes the pools only: all other operators
// have rows in the machine's descriptor.
GraphSpec Network() {
  Chain chain(2, 16, 16, 8);
  return chain.Conv(16, 3).Pool(2).Conv(16, 3).Conv(16, 3).Pool(2).Dense(8).Done();
}

HardwareSpec Machine(uint32_t cols, uint32_t rows) {
  HardwareSpec h;
  h.node_cols = cols;
  h.node_rows = rows;
  h.scratchpad_bytes = 8192;
  h.dram_numerator = 16;
  h.ops = {{SLUICE_OP_CONV}, {SLUICE_OP_FULLY_CONNECTED}};
  h.host = HostSpec{100, 2, 1, 1, 1, 3};
  return h;
}

struct Run {
  sluice_report_t report = {};
  sluice_sim::SimulateResult sim;
};

Run Planned(const Bytes& graph, const Bytes& hardware,
            const sluice_schedule_options_t& options, const char* why_not = nullptr) {
  Run run;
  Library library;
  const GraphPtr g = library.Graph(graph);
  const HardwarePtr h = library.Hardware(hardware);
  REQUIRE(h != nullptr);
  sluice_plan_t* p = nullptr;
  library.status = sluice_schedule(library.context.get(), g.get(), h.get(), &options,
                                   &p, &library.diagnostic);
  const PlanPtr plan(p);
  INFO(library.diagnostic.message);
  if (why_not != nullptr) {
    CHECK(library.status == SLUICE_UNSUPPORTED);
    CHECK(std::string(library.diagnostic.message) == why_not);
    return run;
  }
  REQUIRE(library.status == SLUICE_OK);
  CHECK(library.Verify(g, h, plan) == SLUICE_OK);
  run.report = ReportOf(plan);
  const Bytes bytes = BytesOf(plan);
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, bytes);
  o.functional = true;
  run.sim = sluice_sim::Simulate(o);
  INFO(run.sim.error);
  CHECK(run.sim.ok);
  CHECK(run.sim.compared_bytes > 0);
  CHECK(run.sim.mismatches == 0);
  CHECK(run.sim.cycles == run.report.latency_cycles);
  CHECK(run.report.latency_cycles >= run.report.bound_latency_cycles);
  CHECK(run.report.energy_pj >= run.report.bound_energy_pj);
  return run;
}

sluice_schedule_options_t Options(uint32_t solver, uint32_t granularity) {
  sluice_schedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.solver = solver;
  options.granularity = granularity;
  return options;
}

TEST_CASE("host plans: every solver, on one node and on a mesh") {
  const Bytes graph = GraphBytes(Network());
  for (const auto& [cols, rows] : {std::pair<uint32_t, uint32_t>{1, 1}, {2, 2}}) {
    const Bytes hardware = HardwareBytes(Machine(cols, rows));
    for (const uint32_t solver : {SLUICE_SOLVER_DEFAULT, SLUICE_SOLVER_BASELINE,
                                  SLUICE_SOLVER_SOMA, SLUICE_SOLVER_COCCO}) {
      CAPTURE(cols);
      CAPTURE(solver);
      const Run run = Planned(graph, hardware, Options(solver, 0));
      const sluice_report_t& r = run.report;
      CHECK(r.layers == 6);
      CHECK(r.host_layers == 2);
      CHECK(r.host_macs == 0);
      // 2 x 16 x 16 x 16 to 2 x 8 x 8 x 16, and that to 2 x 4 x 4 x 16.
      CHECK(r.host_bytes == 8192 + 2048 + 2048 + 512);
      // Windows of 4 elements at one per cycle, two bytes per cycle, 100 per call.
      const double cycles = 200 + (8192 + 2048 + 2048 + 512) / 2 + 4 * (2048 + 512);
      CHECK(r.energy_host_pj == 3 * cycles);
      CHECK(r.latency_cycles > cycles);
      CHECK(r.energy_pj == r.energy_dram_pj + r.energy_scratchpad_pj +
                               r.energy_compute_pj + r.energy_leakage_pj +
                               r.energy_noc_pj + r.energy_host_pj);
    }
  }
}

TEST_CASE("host plans: a host that uses DRAM's port holds it for its bytes") {
  const Bytes graph = GraphBytes(Network());
  for (const uint32_t solver : {SLUICE_SOLVER_DEFAULT, SLUICE_SOLVER_BASELINE}) {
    HardwareSpec h = Machine(1, 1);
    const Run alone = Planned(graph, HardwareBytes(h), Options(solver, 0));
    h.host->uses_port = true;
    const Run shared = Planned(graph, HardwareBytes(h), Options(solver, 0));
    CHECK(shared.report.host_bytes == alone.report.host_bytes);
    // The port moves 16 bytes per cycle. Other solvers may find another plan.
    if (solver != SLUICE_SOLVER_BASELINE) continue;
    CHECK(shared.report.latency_cycles >=
          alone.report.latency_cycles + shared.report.host_bytes / 16);
  }
}

TEST_CASE("host plans: operators whole") {
  HardwareSpec h = Machine(1, 1);
  h.scratchpad_bytes = 65536;
  const Run run = Planned(GraphBytes(Network()), HardwareBytes(h),
                          Options(0, SLUICE_GRANULARITY_OPERATOR));
  CHECK(run.report.host_layers == 2);
}

TEST_CASE("host plans: MACs on the host are counted apart") {
  HardwareSpec h = Machine(1, 1);
  h.ops = {{SLUICE_OP_MAX_POOL}, {SLUICE_OP_FULLY_CONNECTED}};
  const Run run = Planned(GraphBytes(Network()), HardwareBytes(h), Options(0, 0));
  CHECK(run.report.host_layers == 3);
  CHECK(run.report.host_macs == 2 * 256 * 16 * 9 * 8 + 2 * (2 * 64 * 16 * 9 * 16));
  CHECK(run.report.macs == 2 * 16 * 16 * 8);
}

TEST_CASE("host plans: MACs of types that the array lacks are the host's") {
  HardwareSpec h = Machine(1, 1);
  h.ops.push_back({SLUICE_OP_MAX_POOL});
  h.ops[0].dtypes = 1u << SLUICE_DTYPE_UINT8;
  h.ops[1].zero_points = 0;
  const Bytes graph = GraphBytes(Network());
  const Run run = Planned(graph, HardwareBytes(h), Options(0, 0));
  CHECK(run.report.host_layers == 3);
  CHECK(run.report.host_macs == 2 * 256 * 16 * 9 * 8 + 2 * (2 * 64 * 16 * 9 * 16));
  h.host.reset();
  Planned(graph, HardwareBytes(h), Options(0, 0),
          "conv: the machine's ops lack its types, and it has no host");
}

TEST_CASE("host plans: without a host the layer is named") {
  HardwareSpec h = Machine(1, 1);
  h.host.reset();
  for (const uint32_t granularity : {0u, 1u}) {
    Planned(GraphBytes(Network()), HardwareBytes(h), Options(0, granularity),
            "max_pool: the machine's ops lack its operator, and it has no host");
  }
}

TEST_CASE("host plans: a plan is changed to a machine that does less, and back") {
  Library library;
  const GraphPtr g = library.Graph(GraphBytes(Network()));
  HardwareSpec all = Machine(1, 1);
  all.ops.clear();
  const HardwarePtr more = library.Hardware(HardwareBytes(all));
  const HardwarePtr less = library.Hardware(HardwareBytes(Machine(1, 1)));
  PlanPtr plan = library.Schedule(g, more);
  REQUIRE(plan != nullptr);
  for (const HardwarePtr* next : {&less, &more}) {
    sluice_reschedule_options_t options;
    std::memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.previous = plan.get();
    sluice_plan_t* p = nullptr;
    library.status = sluice_reschedule(library.context.get(), g.get(), next->get(),
                                       &options, &p, &library.diagnostic);
    INFO(library.diagnostic.message);
    REQUIRE(library.status == SLUICE_OK);
    plan.reset(p);
    CHECK(library.Verify(g, *next, plan) == SLUICE_OK);
    CHECK(ReportOf(plan).host_layers == (next == &less ? 2 : 0));
  }
}

}  // namespace
}  // namespace sluice_test
