// SPDX-License-Identifier: Apache-2.0
// Layers that move elements: RESHAPE, CONCAT, SLICE, PAD and TRANSPOSE. The error of an
// element moves back to where the element came from.
#include <algorithm>

#include "import/training/training_step.h"

namespace sluice::import {

void PassReshape(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorOf(step, l);
  if (e != kNoTensor && IsTrained(*step, l.inputs[0])) PassError(step, l.inputs[0], e);
}

void PassConcat(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorOf(step, l);
  if (e == kNoTensor) return;
  const size_t axis = static_cast<size_t>(AttributeOf(l, SLUICE_CONCAT_AXIS));
  std::vector<int32_t> begin(SLUICE_SLICE_ATTRIBUTES);
  for (size_t i = 0; i < l.inputs.size(); ++i) {
    const Extents part = ShapeIn(*step, l.inputs[i]);
    if (IsTrained(*step, l.inputs[i])) {
      PassError(step, l.inputs[i],
                AddLayer(step, {step->graph.name(l.name) + ".back" + std::to_string(i),
                                SLUICE_OP_SLICE,
                                {e},
                                begin,
                                part}));
    }
    begin[axis] += part[axis];
  }
}

// The error of a slice is padded, that of a PAD is sliced.
void PassSliceOrPad(TrainingStep* step, const LayerRow& l) {
  const uint32_t x = l.inputs[0], e = ErrorOf(step, l);
  if (e == kNoTensor || !IsTrained(*step, x)) return;
  const bool slice = l.op == SLUICE_OP_SLICE;
  std::vector<int32_t> a(
      l.attributes.begin(),
      l.attributes.begin() + std::min<long>(4, static_cast<long>(l.attributes.size())));
  a.resize(slice ? size_t{SLUICE_PAD_ATTRIBUTES} : size_t{SLUICE_SLICE_ATTRIBUTES});
  const uint16_t op = slice ? SLUICE_OP_PAD : SLUICE_OP_SLICE;
  PassError(
      step, x,
      AddLayer(step,
               {step->graph.name(l.name) + ".back", op, {e}, a, ShapeIn(*step, x)}));
}

void PassTranspose(TrainingStep* step, const LayerRow& l) {
  const uint32_t x = l.inputs[0], e = ErrorOf(step, l);
  if (e == kNoTensor || !IsTrained(*step, x)) return;
  std::vector<int32_t> inverse(4);
  for (int32_t i = 0; i < 4; ++i) {
    inverse[static_cast<size_t>(AttributeOf(l, static_cast<size_t>(i)))] = i;
  }
  PassError(step, x,
            AddLayer(step, {step->graph.name(l.name) + ".back",
                            SLUICE_OP_TRANSPOSE,
                            {e},
                            inverse,
                            ShapeIn(*step, x)}));
}

}  // namespace sluice::import
