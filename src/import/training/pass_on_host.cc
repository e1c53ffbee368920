// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/training/training_step.h"

namespace sluice::import {

void PassOnHost(TrainingStep* step, const LayerRow& l) {
  PassErrorOnHost(step, l, ErrorOf(step, l));
}

// Adds one OPAQUE layer. It reads the error, the layer's output and its inputs, and
// writes the error of every trained input.
void PassErrorOnHost(TrainingStep* step, const LayerRow& l, uint32_t error) {
  if (error == kNoTensor) return;
  const std::string name = step->graph.name(l.name) + ".back";
  std::vector<uint32_t> inputs = {error, l.outputs[0]}, outputs;
  int64_t cycles = 0;
  for (const uint32_t t : l.inputs) {
    if (t == kNoTensor) continue;
    const bool seen = std::count(inputs.begin(), inputs.end(), t) != 0;
    if (!seen) inputs.push_back(t);
    if (!IsTrained(*step, t) || seen) continue;
    const Extents shape = ShapeIn(*step, t);
    outputs.push_back(step->graph.AddTensor(name, SLUICE_DTYPE_INT8,
                                            Kind::kIntermediate, DimsFrom(shape)));
    cycles += ElementsIn(shape);
  }
  if (outputs.empty()) return;
  const uint32_t what = step->graph.AddName("gradient");
  step->graph.AddLayer(
      name, SLUICE_OP_OPAQUE, inputs, outputs,
      {static_cast<int32_t>(cycles & 0xffffffff), static_cast<int32_t>(cycles >> 32),
       static_cast<int32_t>(what)});
  size_t next = 0;
  std::vector<uint32_t> passed;
  for (const uint32_t t : l.inputs) {
    if (!IsTrained(*step, t) || std::count(passed.begin(), passed.end(), t) != 0) {
      continue;
    }
    passed.push_back(t);
    if (next < outputs.size()) PassError(step, t, outputs[next++]);
  }
}

}  // namespace sluice::import
