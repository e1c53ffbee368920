// SPDX-License-Identifier: Apache-2.0
// A descriptor's memories and array as the three memories of a GEMM.
//
// All data bypass the levels between the three memories and those below the inner one.
// Fanouts may therefore stand one behind the other: each lies below the middle memory
// and above the inner one.
//
// Input    hardware; which levels are the outer, the middle and the inner memory
// Output   energies per 8-bit word, words, PEs; the levels that may be middle or inner
// Errors   kUnsupported naming what does not fit: levels for some operands only, or
//          that must hold some, shares, fanouts without multicast or reduction
// Cost     linear in levels and fanouts
// Source   GOMA section III: its templates have just three memories
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_MACHINE_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_MACHINE_H_

#include "base/status.h"
#include "model/gemm_cost.h"
#include "model/hardware.h"

namespace sluice {

struct GemmLevels {
  uint32_t outer, middle, inner;  // SLUICE_NO_INDEX when absent
};

// Levels that may be the middle memory, [middle_begin, outer), and the inner one,
// [0, inner_end).
struct GemmChoices {
  uint32_t outer, middle_begin, inner_end;
};
Status GemmChoicesOf(const Hardware& hardware, uint32_t outer, GemmChoices* choices,
                     Diagnostic* diagnostic);

// exact: all PEs are used, so that fanouts of powers of two may share an axis.
Status GemmMachineOf(const Hardware& hardware, const GemmLevels& levels, bool exact,
                     GemmMachine* machine, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_MACHINE_H_
