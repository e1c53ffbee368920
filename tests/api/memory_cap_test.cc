// SPDX-License-Identifier: Apache-2.0
// The cap of a context that a refusal names, on random graphs and machines. It is derived
// from the steps of the plain plan: what the judge takes of them is known when it runs.
#include <doctest/doctest.h>

#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

// What a schedule says in a context of so many bytes.
struct Capped {
  Capped(const Bytes& graph_bytes, const Bytes& machine_bytes, uint64_t cap) {
    sluice_context_options_t options = {};
    options.struct_size = sizeof options;
    options.max_bytes = cap;
    Library library(&options);
    const GraphPtr graph = library.Graph(graph_bytes);
    const HardwarePtr hardware = library.Hardware(machine_bytes);
    REQUIRE(hardware != nullptr);
    sluice_memory_stats_t memory = {};
    memory.struct_size = sizeof memory;
    REQUIRE(sluice_context_memory(library.context.get(), &memory) == SLUICE_OK);
    live = memory.live_bytes;
    plan = library.Schedule(graph, hardware) != nullptr;
    status = library.status;
    diagnostic = library.diagnostic;
  }

  uint64_t live = 0;
  bool plan = false;
  sluice_status_t status = SLUICE_OK;
  sluice_diagnostic_t diagnostic = {};
};

TEST_CASE("a context without room says what is enough, or another time says more") {
  int plans = 0, enough = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Bytes graph = GraphBytes(MakeRandomGraph(seed));
    const Bytes machine = MachineBytes(MakeRandomMachine(seed));
    const Capped unlimited(graph, machine, 0);
    if (!unlimited.plan) continue;
    uint64_t cap = unlimited.live + 1024;
    int refusals = 0;
    for (; refusals <= 5; ++refusals) {
      const Capped capped(graph, machine, cap);
      if (capped.plan) break;
      CHECK(capped.status == SLUICE_OUT_OF_MEMORY);
      CHECK(capped.diagnostic.available_bytes == cap);
      REQUIRE(capped.diagnostic.required_bytes > cap);
      cap = capped.diagnostic.required_bytes;
    }
    CHECK(refusals >= 1);
    CHECK(refusals <= 5);
    ++plans;
    enough += refusals == 1 ? 1 : 0;
  }
  CHECK(plans > 35);
  CHECK(enough * 5 > plans * 4);
}

}  // namespace
}  // namespace sluice_test
