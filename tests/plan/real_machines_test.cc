// SPDX-License-Identifier: Apache-2.0
// Presets of accelerators by other makers. Real models are planned, judged and executed on
// each of them, in time and in other orders that their waits allow; whole networks are
// planned, judged and timed.
#include <doctest/doctest.h>

#include <string>

#include "support/network_plan.h"
#include "support/setting.h"
#include "support/shared_data.h"
#include "support/simulation.h"
#include "support/token_run.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

const char* const kMachines[] = {"gemmini-16x16", "vta-1x16x16", "ethos-u55-like",
                                 "ethos-u65-like"};

// The run that keeps time, and others beside it.
sluice_sim::SimulateResult CheckOrders(const Bytes& graph, const Bytes& hardware,
                                       const Bytes& plan, uint64_t orders) {
  const auto timed = Execute(graph, hardware, plan);
  CHECK_MESSAGE(timed.ok, timed.error);
  CHECK(timed.mismatches == 0);
  CHECK(timed.compared_bytes > 0);
  for (uint64_t order = 1; order <= orders; ++order) {
    const auto run = Execute(graph, hardware, plan, order);
    CHECK_MESSAGE(run.ok, run.error);
    CHECK(run.mismatches == 0);
    CHECK(run.output_fnv1a == timed.output_fnv1a);
  }
  return timed;
}

// Plans a network and judges the plan; calls run, which returns the cycles that the plan takes.
template <typename Run>
void CheckOn(const Bytes& graph, const char* machine, const Run& run) {
  CAPTURE(std::string(machine));
  NetworkPlan n(graph, machine);
  REQUIRE(n.ok);
  const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0);
  INFO(n.diagnostic.message);
  REQUIRE(status == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(run(&n) == n.report.latency_cycles);
}

TEST_CASE(
    "real machines: models compute their bytes in the cycles predicted, and in any "
    "order "
    "that waits allow") {
  const uint64_t orders = Setting("SLUICE_ORDERS", 1);
  for (const std::string& path : TfliteModels()) {
    CAPTURE(path);
    const Bytes graph = ImportedGraph(path);
    for (const char* machine : kMachines) {
      CheckOn(graph, machine, [&](NetworkPlan* n) {
        const Bytes hardware = sluice::presets::LoadPreset(machine);
        return CheckOrders(graph, hardware, n->PlanBytes(), orders).cycles;
      });
    }
  }
}

// Each list of VTA starts in order; nothing but waits, or tokens made of them, joins two.
TEST_CASE("real machines: a matrix product on VTA by waits alone and by tokens") {
  const Bytes graph = GraphBytes(FullyConnected256());
  const Bytes hardware = sluice::presets::LoadPreset("vta-1x16x16");
  for (const uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_DEFAULT}) {
    NetworkPlan n(graph, hardware);
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(solver, 0) == SLUICE_OK);
    CheckOrders(graph, hardware, n.PlanBytes(), 20);
    TokenRun run(graph, hardware, n.PlanBytes());
    Library library;
    // Queue 0 loads, 1 computes and loads parameters, 2 stores.
    for (const uint32_t depth : {8u, 255u}) {
      CAPTURE(depth);
      const std::vector<sluice_token_channel_t> vta = {
          {0, 1, depth, 0}, {1, 0, depth, 0}, {1, 2, depth, 0}, {2, 1, depth, 0}};
      TokensOfStream tokens;
      REQUIRE_MESSAGE(MakeTokens(&library, run.Image(), vta, &tokens),
                      library.diagnostic.message);
      for (uint64_t seed = 0; seed < 3; ++seed) CHECK(run.Run(tokens, depth, seed));
      for (auto& step : tokens.instruction) step = {0, 0};
      TokenMachine untold(run.Image(), tokens);
      CHECK_FALSE(untold.Run(Depths(tokens, 0), 1).waits_held);
    }
  }
}

TEST_CASE("real machines: whole networks run in the cycles predicted") {
  for (const char* network : {"mobilenet_v1", "resnet50", "googlenet"}) {
    CAPTURE(std::string(network));
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    for (const char* machine : kMachines) {
      CheckOn(graph, machine, [](NetworkPlan* n) {
        const auto run = n->Simulate(false);
        CHECK_MESSAGE(run.ok, run.error);
        CHECK(run.mismatches == 0);
        return run.cycles;
      });
    }
  }
}

}  // namespace
}  // namespace sluice_test
