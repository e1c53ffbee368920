// SPDX-License-Identifier: Apache-2.0
// `sluice lower --scale`: what it changes that a target's machine makes bytes of some boxes.
//
// Input    the plan that is lowered; the boxes
// Output   parameters of layers; how outputs differ from the untiled run
// Errors   Failure(kBadInput): constants that are not there
// Cost     two untiled runs
#ifndef SLUICE_CLI_MACHINE_SCALING_H_
#define SLUICE_CLI_MACHINE_SCALING_H_

#include "cli/targets.h"
#include "firmware-sim/scaled.h"

namespace sluice::cli {

class MachineScaling {
 public:
  explicit MachineScaling(const LoweredPlan& plan);
  sluice_sim::ScaledRun& run() { return run_; }
  // Bytes of the graph's outputs that differ, by how much at most.
  Json Difference();

 private:
  sluice_sim::ScaledRun run_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MACHINE_SCALING_H_
