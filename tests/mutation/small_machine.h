// SPDX-License-Identifier: Apache-2.0
// Machines on which small random graphs have short plans of many kinds.
#ifndef SLUICE_TESTS_MUTATION_SMALL_MACHINE_H_
#define SLUICE_TESTS_MUTATION_SMALL_MACHINE_H_

#include "base/rng.h"
#include "support/library.h"
#include "support/random_machine.h"

namespace sluice_test {

// Random; where `limited`, units that lack operators, and a host that has them.
inline MachineSpec SmallMachine(uint64_t seed, bool limited) {
  MachineSpec machine = MakeRandomMachine(seed);
  if (limited) {
    const MachineSpec other = LimitedMachine(seed);
    machine.base.ops = other.base.ops;
    machine.base.host = other.base.host;
  }
  return machine;
}

// Gives the machine the least scratchpad in which the graph has a plan, or somewhat more:
// tiles of some channels, single and double buffers, whole layers. False if there is none.
inline bool FitScratchpad(const GraphPtr& graph, uint64_t seed, Library* library,
                          MachineSpec* machine) {
  machine->base.scratchpad_bytes = 1;
  const HardwarePtr none = library->Hardware(MachineBytes(*machine));
  const PlanPtr never = library->Schedule(graph, none);
  const uint64_t least = library->diagnostic.smallest_scratchpad_bytes;
  if (library->status != SLUICE_INFEASIBLE) return false;
  machine->base.scratchpad_bytes = least + least * (seed % 4) * (seed % 4) / 3;
  return true;
}

// Two to six nodes, with one of `sizes` sizes of scratchpads from 512 bytes.
inline HardwareSpec SmallMesh(sluice::Rng* rng, uint32_t sizes) {
  HardwareSpec machine;
  machine.node_cols = 2 + rng->Below(2);
  machine.node_rows = 1 + rng->Below(2);
  machine.scratchpad_bytes = 512u << rng->Below(sizes);
  return machine;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_SMALL_MACHINE_H_
