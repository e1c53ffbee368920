// SPDX-License-Identifier: Apache-2.0
// The event loop: starts each instruction that may start, completes the one that ends
// first, until all engines' lists end.
//
// Input    a checked stream, the machine, the plan (layer names for the trace)
// Output   cycles, traffic and trace events in the result
// Errors   false; code, sentence and instruction in the result
// Cost     instructions * engines
// Source   timing of stream.h: completions at t before starts at t
#ifndef SLUICE_FIRMWARE_SIM_EXECUTION_H_
#define SLUICE_FIRMWARE_SIM_EXECUTION_H_

#include <vector>

#include "machine.h"
#include "order.h"
#include "sim.h"

namespace sluice_sim {

struct Execution {
  Execution(const SimulateOptions& the_options, const sluice_walker_t& the_walker,
            const Plan& the_plan, Machine* the_machine, SimulateResult* the_result);

  const SimulateOptions& options;
  const sluice_walker_t& walker;
  const Plan& plan;
  Machine& machine;
  SimulateResult& result;
  Order order;
  std::vector<uint32_t> first_debug;  // by instance: its first index in debug_layer
  std::vector<sluice_walk_cursor_t> cursors;
  std::vector<bool> busy;
  std::vector<Flight> flights;
  uint64_t now = 0;
  uint64_t port_free = 0;  // when the DRAM port is free
  uint32_t end = 0;        // engines stop before this visit
};

// Runs the whole stream from cycle 0.
bool Execute(Execution* e);
// Continues at cycle `now` until all engines have completed the visits before `end`.
// Sets result.cycles to the cycle in which they have.
bool ExecuteUntil(Execution* e, uint32_t end, uint64_t now);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_EXECUTION_H_
