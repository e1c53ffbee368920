// SPDX-License-Identifier: Apache-2.0
// Default plans of real models and whole networks, from generous to tiny scratchpads.
#include <doctest/doctest.h>

#include <string>

#include "support/network_plan.h"
#include "support/shared_data.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

constexpr uint64_t kSmallModel = 1 << 20;  // MACs; executed at every budget

// Checks a plan with both judges, its predictions and its bounds, and compares it with the
// plain plan.
void CheckPlan(NetworkPlan* n, uint64_t budget, bool execute) {
  const sluice_report_t fused = n->report;
  const double product = n->Product();
  CHECK(n->Verify() == SLUICE_OK);
  const auto run = n->Simulate(execute);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == fused.latency_cycles);
  CHECK(run.dram_read_bytes == fused.dram_read_bytes);
  CHECK(run.dram_write_bytes == fused.dram_write_bytes);
  if (execute) CHECK(run.compared_bytes > 0);
  CHECK(fused.latency_cycles >= fused.bound_latency_cycles);
  CHECK(fused.energy_pj >= fused.bound_energy_pj);
  if (budget != 0) CHECK(fused.peak_buffer_bytes <= budget);
  REQUIRE(n->Schedule(SLUICE_SOLVER_BASELINE, budget) == SLUICE_OK);
  CHECK(product <= n->Product());
}

// Divides the scratchpad by 2 (for larger models by 4) until no plan is feasible, then plans
// with the smallest feasible one.
void CheckHalving(const Bytes& graph, const char* preset, uint64_t budget, int most) {
  NetworkPlan n(graph, preset);
  REQUIRE(n.ok);
  int plans = 0;
  uint64_t step = 2;
  for (; plans < most; budget /= step) {
    CAPTURE(budget);
    const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, budget);
    if (status == SLUICE_INFEASIBLE) {
      budget = n.diagnostic.smallest_scratchpad_bytes;
      REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, budget) == SLUICE_OK);
      CheckPlan(&n, budget, n.report.macs < kSmallModel);
      CHECK(n.Schedule(SLUICE_SOLVER_DEFAULT, budget - 1) == SLUICE_INFEASIBLE);
      return;
    }
    INFO(n.diagnostic.message);
    REQUIRE(status == SLUICE_OK);
    CheckPlan(&n, budget, n.report.macs < kSmallModel || plans % 3 == 0);
    ++plans;
    // Larger steps avoid plans of hundreds of thousands of tiles; the bench has these.
    step = budget <= 16384 ? 8 : n.report.macs < kSmallModel ? 2 : 4;
  }
}

TEST_CASE("real models, halving scratchpads: both judges accept, never dearer") {
  const auto models = TfliteModels();
  if (models.empty()) {
    MESSAGE("skipped: the TFLite models are not there");
    return;
  }
  CHECK(models.size() == 11);
  for (const std::string& path : models) {
    CAPTURE(path);
    const Bytes graph = ImportedGraph(path);
    const bool large = graph.size() > 600000;
    CheckHalving(graph, "mcu-256k", 256 << 10, large ? 2 : 32);
    CheckHalving(graph, "soma-edge", 8 << 20, large ? 1 : 3);
  }
}

TEST_CASE("a plan made before a deadline is valid, and no worse than the plain one") {
  const sluice::zoo::ZooOptions all;
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", all), "mcu-256k");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const double plain = n.Product();
  for (const uint64_t ms : {40, 200}) {
    const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0, ms * 1000000);
    // A busy machine may not even get to the first plan.
    if (status == SLUICE_STOPPED) continue;
    REQUIRE(status == SLUICE_OK);
    CHECK(n.Product() <= plain);
    CHECK(n.Verify() == SLUICE_OK);
  }
}

TEST_CASE("time beyond the construction never makes a plan dearer") {
  constexpr uint64_t kHour = uint64_t{3600} * 1000000000;
  for (const std::string& path : TfliteModels()) {
    if (path.find("deeplab") == std::string::npos) continue;
    CAPTURE(path);
    NetworkPlan n(ImportedGraph(path), "mcu-256k");
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const double constructed = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0, kHour) == SLUICE_OK);
    CHECK(n.Product() <= constructed);
    CHECK(n.Verify() == SLUICE_OK);
  }
  for (const char* network : {"resnet50", "mobilenet_v1"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const double constructed = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0, kHour) == SLUICE_OK);
    CHECK(n.Product() <= constructed);
  }
}

TEST_CASE("GPT-2 XL: one plan with few different blocks, in 64 MiB") {
  const Bytes graph = sluice::zoo::MakeZooGraph("gpt2_xl_prefill", {});
  NetworkPlan n(graph, "soma-cloud");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  MESSAGE("scheduled and verified in " << n.plan_ms << " ms of CPU, " << n.report.groups
                                       << " groups, " << n.report.latency_cycles
                                       << " cycles");
  CHECK(n.report.layers > 900);
  CHECK(n.report.groups < n.report.layers);
  const double product = n.Product();
  const uint64_t cycles = n.report.latency_cycles;
  CHECK(n.Simulate(false).cycles == cycles);
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  CHECK(product < 0.2 * n.Product());
}

TEST_CASE("repeated blocks are priced like the block that they repeat") {
  // Eight layers of cells that are all alike; tiles cost what the array takes.
  NetworkPlan n(sluice::zoo::MakeZooGraph("lstm_gnmt", {}), "soma-edge");
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const double alone = n.report.energy_compute_pj;
  REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0) == SLUICE_OK);
  CHECK(n.report.energy_compute_pj >= 0.9 * alone);
}

}  // namespace
}  // namespace sluice_test
