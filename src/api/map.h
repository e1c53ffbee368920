// SPDX-License-Identifier: Apache-2.0
// A descriptor's memories and array as the three memories of a GEMM.
//
// Input    hardware; which levels are the outer, middle and inner memory. Levels
// between
//          them, and below the inner one, are bypassed by all data, so fanouts may
//          follow one another: all of them lie above the inner and not above the middle
//          memory
// Output   energies per 8-bit word, words, PEs; the candidates for middle and inner
// Errors   kUnsupported naming what does not fit: levels for some operands only, or
// that
//          must hold some, shares, fanouts without multicast or reduction
// Cost     constant
// Source   GOMA section III: its templates have just three memories
#ifndef SLUICE_API_MAP_H_
#define SLUICE_API_MAP_H_

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

#endif  // SLUICE_API_MAP_H_
