// SPDX-License-Identifier: Apache-2.0
#include "cli/gemmini_scaling.h"

#include "bindings/targets/gemmini/sluice_gemmini_scale.h"
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

GemminiScaling::GemminiScaling(const LoweredPlan& plan)
    : walker_(plan.walker), run_(OptionsOf(plan)) {
  if (!run_.error().empty()) throw Failure(kBadInput, run_.error());
}

bool GemminiScaling::Ask(const sluice_gemmini_step& step, float* scale, int* relu) {
  sluice_tile_t tile;
  sluice_walk_tile(&walker_, step.visit, step.instruction.descriptor, &tile);
  sluice_sim::ScaledBox box;
  box.layer = step.layer;
  box.biases.resize(step.channels);
  if (sluice_gemmini_scaling(&walker_, &step,
                             run_.Parameters(step.layer, tile.origin[3] + step.k),
                             scale, relu, box.biases.data()) == 0) {
    return false;
  }
  box.begin = {tile.origin[0] + step.n, tile.origin[1] + step.h,
               tile.origin[2] + step.w, tile.origin[3] + step.k};
  box.extent = {step.images, step.rows, step.columns, step.channels};
  box.scale = *scale;
  box.relu = *relu != 0;
  run_.Add(box);
  return true;
}

Json GemminiScaling::Difference() {
  const sluice_sim::ScaledDifference d = run_.Compare();
  if (!run_.error().empty()) throw Failure(kBadInput, run_.error());
  return {{"compared_bytes", d.compared_bytes},
          {"differing_bytes", d.mismatches},
          {"differing_by_at_most", d.most}};
}

}  // namespace sluice::cli
