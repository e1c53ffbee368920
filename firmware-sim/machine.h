// SPDX-License-Identifier: Apache-2.0
// Executes one instruction: its accesses, its cycles, its effect.
//
// Input    a checked stream, the graph's extents, the memory
// Output   Flight: inputs are read at the start, results written on completion
// Errors   Trap
// Cost     the instruction's bytes and operations
#ifndef SLUICE_FIRMWARE_SIM_MACHINE_H_
#define SLUICE_FIRMWARE_SIM_MACHINE_H_

#include <map>
#include <set>
#include <vector>

#include "ability.h"
#include "kernels.h"
#include "links.h"
#include "memory.h"
#include "wire.h"

namespace sluice_sim {

// An instruction between its start and its completion.
struct Flight {
  uint32_t engine = 0;
  sluice_walk_visit_t visit{};
  uint32_t instruction = 0;  // index in the body
  uint32_t opcode = 0, op = 0, layer = kAbsent;
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;                 // moved; of a LOAD, those that leave memory
  uint64_t macs = 0, vector_ops = 0;  // of a tile
  // A LOAD, a STORE or a HOST call that uses the DRAM port requests it at `arrival` and
  // ends after occupying it for `hold` cycles. `end` is unknown until the port is
  // granted.
  bool at_port = false;
  uint64_t arrival = 0, hold = 0;
  sluice_transfer_t transfer{};
  std::vector<Access> accesses;
  std::vector<uint8_t> result;  // dense; copied to every written access on completion
  std::vector<std::vector<uint8_t>> results;  // of a HOST call: one per written access
};

struct Machine {
  Machine(const sluice_walker_t& walker, const Graph& graph, const Hardware& hardware,
          Memory* memory, bool functional);

  const sluice_walker_t& walker;
  const Graph& graph;
  const Hardware& hardware;
  Memory& memory;
  bool functional;
  // With links, transfers are delayed by busy ones.
  Links* links = nullptr;
  std::set<uint32_t> patched;  // bindings
  std::vector<bool> padded;    // by tensor: 1 for a PAD's output
  // Once places are known, the source of each LOAD tells whether it is encoded; else the
  // stream is believed.
  bool placed = false;
  std::map<uint64_t, uint32_t> encoded;  // tensors by where they begin in CONST
};

// Tells the machine the place of each tensor, by the plan.
void SetPlaces(Machine* m, const std::vector<Place>& places);
// Fills accesses, bytes, op, layer, result and end (start + the instruction's cycles).
// The caller has set engine, visit, instruction and start.
Trap StartInstruction(const Machine& m, const sluice_instruction_t& instruction,
                      Flight* flight);
void CompleteFlight(const Machine& m, const Flight& flight);
// Grants the DRAM port to the transfer from cycle `at` on.
void Serve(const Machine& m, uint64_t at, Flight* flight);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_MACHINE_H_
