// SPDX-License-Identifier: Apache-2.0
// Plans in which a layer runs again, through the C interface: both judges, and the bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "support/library.h"
#include "support/simulation.h"
#include "tests/plan/operators/small_run.h"

using namespace sluice_test;

namespace {

struct Outcome {
  sluice_status_t status;
  sluice_report_t report;
};

// Both judges accept the plan, if there is one, and it computes the right bytes.
Outcome Checked(const Bytes& graph, const Bytes& hardware, uint32_t granularity,
                uint64_t scratchpad) {
  Library library;
  const GraphPtr g = library.Graph(graph);
  const HardwarePtr h = library.Hardware(hardware);
  sluice_schedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.granularity = granularity;
  options.scratchpad_bytes = scratchpad;
  sluice_plan_t* p = nullptr;
  const sluice_status_t status = sluice_schedule(
      library.context.get(), g.get(), h.get(), &options, &p, &library.diagnostic);
  const PlanPtr plan(p);
  INFO(library.diagnostic.message);
  if (status != SLUICE_OK) return {status, {}};
  CHECK(library.Verify(g, h, plan) == SLUICE_OK);
  const Bytes bytes = BytesOf(plan);
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, bytes);
  o.functional = true;
  const sluice_sim::SimulateResult run = sluice_sim::Simulate(o);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == ReportOf(plan).latency_cycles);
  return {status, ReportOf(plan)};
}

// Twelve layers on tensors of 256 bytes, each of one or two of the last six tensors.
GraphSpec SumsOf(uint64_t seed) {
  sluice::Rng rng(seed);
  const std::vector<int32_t> whole = {1, 8, 4, 8};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  const std::vector<int32_t> sum = {0, 0, 1 << 30, 1, 0,    1 << 30,
                                    1, 0, 1 << 30, 1, -128, 127};
  GraphSpec spec;
  spec.tensors = {{whole, SLUICE_DTYPE_INT8, 1}, {whole, SLUICE_DTYPE_INT8, 1}};
  std::vector<bool> read(2, true);
  for (uint32_t l = 0; l < 12; ++l) {
    const uint32_t out = static_cast<uint32_t>(spec.tensors.size());
    const auto any = [&] { return out - 1 - rng.Below(std::min(out, 6u)); };
    const uint32_t a = any(), b = any();
    if (a == b) {
      spec.layers.push_back({SLUICE_OP_REQUANTIZE, {a}, {out}, same});
    } else {
      spec.layers.push_back({SLUICE_OP_ADD, {a, b}, {out}, sum});
    }
    read[a] = read[b] = true;
    spec.tensors.push_back({whole, SLUICE_DTYPE_INT8, 0});
    read.push_back(false);
  }
  for (uint32_t t = 2; t < read.size(); ++t) {
    if (!read[t]) spec.tensors[t].kind = 2;
  }
  return spec;
}

}  // namespace

TEST_CASE(
    "recompute: fewer bytes move, less energy, no more cycles, the same results") {
  const Bytes graph = GraphBytes(Residual()), hardware = HardwareBytes(HardwareSpec());
  const sluice_report_t once =
      Checked(graph, hardware, SLUICE_GRANULARITY_OPERATOR, 768).report;
  const sluice_report_t again =
      Checked(graph, hardware, SLUICE_GRANULARITY_RECOMPUTE, 768).report;
  CHECK(again.vector_ops == once.vector_ops + 32);
  CHECK(again.dram_write_bytes == once.dram_write_bytes - 32);
  CHECK(again.dram_read_bytes == once.dram_read_bytes);
  CHECK(again.energy_pj < once.energy_pj);
  CHECK(again.latency_cycles <= once.latency_cycles);
}

TEST_CASE("recompute: random sums and requantisations in the least scratchpad") {
  HardwareSpec slow;
  slow.dram_numerator = 1;
  const Bytes hardware = HardwareBytes(slow);
  int plans = 0, again = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Bytes graph = GraphBytes(SumsOf(seed));
    const Outcome once = Checked(graph, hardware, SLUICE_GRANULARITY_OPERATOR, 768);
    const Outcome more = Checked(graph, hardware, SLUICE_GRANULARITY_RECOMPUTE, 768);
    REQUIRE(once.status == SLUICE_OK);
    REQUIRE(more.status == SLUICE_OK);
    CHECK(more.report.energy_pj <= once.report.energy_pj);
    ++plans;
    again += more.report.tiles > once.report.tiles;
  }
  MESSAGE("of ", plans, " plans ", again, " run a layer again");
  CHECK(again > 20);
}
