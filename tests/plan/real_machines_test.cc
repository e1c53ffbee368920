// SPDX-License-Identifier: Apache-2.0
// Presets of accelerators by other makers. Real models are planned, judged and executed on
// each of them; whole networks are planned, judged and timed.
#include <doctest/doctest.h>

#include <string>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

const char* const kMachines[] = {"gemmini-16x16", "vta-1x16x16", "ethos-u55-like",
                                 "ethos-u65-like"};

void CheckOn(const Bytes& graph, const char* machine, bool execute) {
  CAPTURE(std::string(machine));
  NetworkPlan n(graph, machine);
  REQUIRE(n.ok);
  const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0);
  INFO(n.diagnostic.message);
  REQUIRE(status == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  const auto run = n.Simulate(execute);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == n.report.latency_cycles);
  if (execute) CHECK(run.compared_bytes > 0);
}

TEST_CASE("real machines: models compute their bytes in the cycles predicted") {
  for (const std::string& path : TfliteModels(SLUICE_SHARED_DEFAULT)) {
    CAPTURE(path);
    const Bytes graph = ImportedGraph(path);
    for (const char* machine : kMachines) CheckOn(graph, machine, true);
  }
}

TEST_CASE("real machines: whole networks run in the cycles predicted") {
  for (const char* network : {"mobilenet_v1", "resnet50", "googlenet"}) {
    CAPTURE(std::string(network));
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    for (const char* machine : kMachines) CheckOn(graph, machine, false);
  }
}

}  // namespace
}  // namespace sluice_test
