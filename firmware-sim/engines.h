// SPDX-License-Identifier: Apache-2.0
// The engines that a descriptor defines, and the cost of a transfer on a queue.
//
// Input    hardware.fbs, untrusted
// Output   engines in the order of stream.h, with names for people
// Errors   a sentence; empty = good
// Cost     linear in the engines
// Source   "Engines" and "Timing" of stream.h, Queue of hardware.fbs
#ifndef SLUICE_FIRMWARE_SIM_ENGINES_H_
#define SLUICE_FIRMWARE_SIM_ENGINES_H_

#include <string>
#include <vector>

#include "sluice/hardware_generated.h"
#include "walker.h"

namespace sluice_sim {

struct Engine {
  sluice_engine_t record{};
  std::string name;  // "dma", "host", "compute 0", "send 0", or the queue's
  // Of a queue:
  uint64_t latency_cycles = 0, descriptor_cycles = 0;
  uint64_t burst_bytes = 1, max_row_bytes = 0, max_rows = 0;
  uint32_t max_axes = 0;

  bool does(uint32_t what) const { return (record.does & what) != 0; }
};

std::string ReadEngines(const sluice::wire::Hardware& hardware,
                        std::vector<Engine>* engines);

// The load of a LOAD or STORE on its queue; `indexed`: rows along axis 2 are gathered
// from arbitrary addresses; `encoded`: bytes of one row that leave memory in place of the
// box, or 0.
struct QueueLoad {
  uint64_t bytes = 0;  // of the bursts that it fills
  uint64_t descriptors = 0;
};
QueueLoad LoadOf(const Engine& engine, const sluice_walk_operand_t& src,
                 const sluice_walk_operand_t& dst, bool indexed, uint64_t encoded);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_ENGINES_H_
