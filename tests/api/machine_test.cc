// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sluice/experimental.h"
#include "support/library.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

TEST_CASE("machine: facts are of all nodes, engines those of streams") {
  HardwareSpec spec;
  spec.node_cols = 3;
  spec.queues = LoadAndStore();
  Library library;
  const HardwarePtr hardware = library.Hardware(HardwareBytes(spec));
  sluice_machine_facts_t facts = {};
  CHECK(sluice_hardware_machine(hardware.get(), &facts) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_hardware_machine(nullptr, &facts) == SLUICE_BAD_ARGUMENT);
  facts.struct_size = sizeof facts;
  REQUIRE(sluice_hardware_machine(hardware.get(), &facts) == SLUICE_OK);
  CHECK(facts.nodes == 3);
  CHECK(facts.macs_per_cycle == 3 * 64);
  CHECK(facts.vector_ops_per_cycle == 3 * 16);
  CHECK(facts.fanout_units == 0);
  CHECK(facts.array_places == 0);
  CHECK(facts.costs_from == SLUICE_COSTS_FROM_PEAK);
  CHECK(facts.doubts == 0);
  CHECK(facts.dram_bytes_per_cycle == 4);
  CHECK(facts.scratchpad_fill_cycles == 3 * 4096 / 4);
  CHECK(facts.macs_per_dram_byte == 3 * 64 / 4);
  CHECK(facts.engines == 2 + 1 + 3 * 2);  // queues, host, compute and forward per node
  sluice_engine_t engine;
  CHECK(sluice_hardware_engine(hardware.get(), 1, &engine) == SLUICE_OK);
  CHECK(engine.does == SLUICE_DOES_STORE);
  CHECK(engine.queue == 1);
  CHECK(sluice_hardware_engine(hardware.get(), facts.engines, &engine) ==
        SLUICE_BAD_ARGUMENT);
  sluice_diagnostic_t doubt = EmptyDiagnostic();
  CHECK(sluice_hardware_doubt(hardware.get(), 0, &doubt) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice_test
