// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_scaling.h"

#include "firmware-sim/sim.h"

namespace sluice::cli {
namespace {

sluice_sim::SimulateOptions OptionsOf(const LoweredPlan& plan) {
  sluice_sim::SimulateOptions options;
  options.graph = plan.graph_bytes.data();
  options.graph_size = plan.graph_bytes.size();
  options.data_dir = plan.data_dir;
  options.seed = plan.seed;
  return options;
}

}  // namespace

MachineScaling::MachineScaling(const LoweredPlan& plan) : run_(OptionsOf(plan)) {
  if (!run_.error().empty()) throw Failure(kBadInput, run_.error());
}

Json MachineScaling::Difference() {
  const sluice_sim::ScaledDifference d = run_.Compare();
  if (!run_.error().empty()) throw Failure(kBadInput, run_.error());
  return {{"compared_bytes", d.compared_bytes},
          {"differing_bytes", d.mismatches},
          {"differing_by_at_most", d.most}};
}

}  // namespace sluice::cli
