// SPDX-License-Identifier: Apache-2.0
// `sluice lower --scale` on Gemmini: which boxes the machine scales, and what that changes.
//
// Input    the plan that is lowered; steps BIAS of the lowering
// Output   the port's answers; how outputs differ from the untiled run
// Errors   Failure(kBadInput): constants that are not there
// Cost     two untiled runs
#ifndef SLUICE_CLI_GEMMINI_SCALING_H_
#define SLUICE_CLI_GEMMINI_SCALING_H_

#include "bindings/targets/gemmini/sluice_gemmini.h"
#include "cli/targets.h"
#include "firmware-sim/scaled.h"

namespace sluice::cli {

class GemminiScaling {
 public:
  explicit GemminiScaling(const LoweredPlan& plan);
  // The answer of the port's `scale`.
  bool Ask(const sluice_gemmini_step& step, float* scale, int* relu);
  // Bytes of the graph's outputs that differ, by how much at most.
  Json Difference();

 private:
  const sluice_walker_t& walker_;
  sluice_sim::ScaledRun run_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_GEMMINI_SCALING_H_
