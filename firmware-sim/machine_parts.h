// SPDX-License-Identifier: Apache-2.0
// What starting an instruction consists of, one source per kind.
//
// Input    the machine; an instruction of that kind; a flight with engine, visit and start
// Output   the flight, as machine.h says
// Errors   Trap
// Cost     the instruction's bytes and operations
#ifndef SLUICE_FIRMWARE_SIM_MACHINE_PARTS_H_
#define SLUICE_FIRMWARE_SIM_MACHINE_PARTS_H_

#include "machine.h"

namespace sluice_sim {

Trap StartTransfer(const Machine& m, const sluice_instruction_t& instruction,
                   Flight* flight);  // machine_transfers.cc
Trap StartTile(const Machine& m, const sluice_instruction_t& instruction,
               Flight* flight);  // machine_tiles.cc
Trap StartHost(const Machine& m, const sluice_instruction_t& instruction,
               Flight* flight);  // machine_host.cc

// An operand of the flight's instruction: its box in the memory of a node.
Access Reach(const Machine& m, const Flight& flight, uint32_t operand, uint32_t node,
             bool write, const char* role);
// Checks that all accesses of a flight may be made.
Trap CheckAccesses(const Machine& m, const Flight& flight);

inline const Engine& EngineOf(const Machine& m, const Flight& flight) {
  return m.hardware.engines[flight.engine];
}

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_MACHINE_PARTS_H_
