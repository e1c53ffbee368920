// SPDX-License-Identifier: Apache-2.0
// The descriptor of a machine as a whole: facts, where the cycles of its tiles come
// from, and doubts, numbers that are legal one by one but do not fit together.
//
// Input    hardware that io has accepted
// Output   facts; SLUICE_COSTS_FROM_; sentences
// Errors   none
// Cost     O(levels * fanouts)
#ifndef SLUICE_PLAN_MACHINE_DOUBTS_H_
#define SLUICE_PLAN_MACHINE_DOUBTS_H_

#include "base/status.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

// SLUICE_COSTS_FROM_: what declares the cycles of tiles that the caller has no cost
// for.
uint32_t TileCostsFrom(const Hardware& hardware);

// What follows from the descriptor's numbers, of all nodes together.
sluice_machine_facts_t FactsOf(const Hardware& hardware);

// Doubt number `index` as a sentence; false: there are no more.
bool MachineDoubt(const Hardware& hardware, uint32_t index, Diagnostic* doubt);

}  // namespace sluice

#endif  // SLUICE_PLAN_MACHINE_DOUBTS_H_
