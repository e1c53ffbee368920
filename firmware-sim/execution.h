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

class Execution {
 public:
  Execution(const SimulateOptions& options, const sluice_walker_t& walker,
            const Plan& plan, Machine* machine, SimulateResult* result);
  // Runs the whole stream from cycle 0.
  bool Run() {
    return options_.interleaving != 0 ? RunInAnyOrder(options_.interleaving)
                                      : RunUntil(walker_.visits, 0);
  }
  // Continues at cycle `now` until all engines have completed the visits before `end`.
  // Sets result.cycles to the cycle in which they have.
  bool RunUntil(uint32_t end, uint64_t now);

 private:
  // Runs in one of the orders that the waits allow, drawn by `seed`: instructions that are
  // ready start, and those that run complete, at random. Cycles count these events.
  bool RunInAnyOrder(uint64_t seed);
  bool FailAt(const Trap& trap, const Flight& flight);
  bool StartReady(bool* any_left);
  bool StartOne(uint32_t engine, const sluice_instruction_t& instruction);
  void ServePort();
  void CompleteEarliest();
  void Complete(size_t flight);
  void Count(const Flight& flight);
  bool Deadlock();

  const SimulateOptions& options_;
  const sluice_walker_t& walker_;
  const Plan& plan_;
  Machine& machine_;
  SimulateResult& result_;
  Order order_;
  std::vector<uint32_t> first_debug_;  // by instance: its first index in debug_layer
  std::vector<sluice_walk_cursor_t> cursors_;
  std::vector<bool> busy_;
  std::vector<Flight> flights_;
  uint64_t now_ = 0;
  uint64_t port_free_ = 0;  // when the DRAM port is free
  uint32_t end_ = 0;        // engines stop before this visit
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_EXECUTION_H_
