// SPDX-License-Identifier: Apache-2.0
// A descriptor's memories and array as the three memories of a GEMM.
//
// Input    hardware: DRAM, the scratchpad, at most one level below it with one instance
//          per PE; one fanout for all axes, or one fanout for each of some axes
// Output   energies per 8-bit word, words, PEs, and which levels they are
// Errors   kUnsupported naming what does not fit: levels for some operands only,
// shares,
//          several scratchpads, fanouts without multicast or reduction
// Cost     constant
// Source   GOMA section III: its templates have just these three memories
#ifndef SLUICE_API_MAP_H_
#define SLUICE_API_MAP_H_

#include "base/status.h"
#include "model/gemm_cost.h"
#include "model/hardware.h"

namespace sluice {

struct GemmLevels {
  uint32_t outer, middle, inner;  // SLUICE_NO_INDEX when absent
};

Status GemmMachineOf(const Hardware& hardware, GemmMachine* machine, GemmLevels* levels,
                     Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_API_MAP_H_
