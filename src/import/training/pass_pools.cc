// SPDX-License-Identifier: Apache-2.0
// Pools. The largest element of a window gets the whole error of a max pool; each
// element of a window gets an equal part of the error of an average pool.
#include <cmath>

#include "import/training/training_step.h"

namespace sluice::import {

void PassMaxPool(TrainingStep* step, const LayerRow& l) {
  const uint32_t x = l.inputs[0], e = ErrorOf(step, l);
  if (e == kNoTensor || !IsTrained(*step, x)) return;
  std::vector<int32_t> a(SLUICE_MAX_POOL_GRADIENT_ATTRIBUTES);
  for (size_t i = 0; i <= SLUICE_POOL_PAD_RIGHT; ++i) a[i] = AttributeOf(l, i);
  a[SLUICE_POOL_ACT_MIN] = kErrorRange.min;
  a[SLUICE_POOL_ACT_MAX] = kErrorRange.max;
  const Extents in = ShapeIn(*step, x), out = ShapeIn(*step, e);
  const uint32_t back = AddLayer(
      step,
      {step->graph.name(l.name) + ".back", SLUICE_OP_MAX_POOL_GRADIENT, {e, x}, a, in});
  step->spread[back] =
      SpreadOf(*step, e) * std::sqrt(1.0 * ElementsIn(out) / ElementsIn(in));
  PassError(step, x, back);
}

// The error is copied to every element of its window without division: errors have no
// fixed scale.
void PassAveragePool(TrainingStep* step, const LayerRow& l) {
  const uint32_t x = l.inputs[0], e = ErrorOf(step, l);
  if (e == kNoTensor || !IsTrained(*step, x)) return;
  const Extents in = ShapeIn(*step, x), out = ShapeIn(*step, e);
  const std::string name = step->graph.name(l.name) + ".back";
  if (out[1] == 1 && out[2] == 1) {
    const uint32_t everywhere =
        AddLayer(step, {name, SLUICE_OP_RESIZE_NEAREST, {e}, {0, 0}, in});
    return PassError(step, x, everywhere);
  }
  const int32_t h = AttributeOf(l, SLUICE_POOL_WINDOW_H);
  const int32_t w = AttributeOf(l, SLUICE_POOL_WINDOW_W);
  const uint64_t count = static_cast<uint64_t>(h) * static_cast<uint64_t>(w) *
                         static_cast<uint64_t>(in[3]);
  step->graph.NeedRoom(count);
  const std::vector<int8_t> ones(static_cast<size_t>(count), 1);
  const uint32_t weight = step->graph.AddConstant(
      name + ".ones", SLUICE_DTYPE_INT8, {1, h, w, in[3]}, ones.data(), ones.size());
  std::vector<int32_t> a(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = AttributeOf(l, SLUICE_POOL_STRIDE_H);
  a[SLUICE_CONV_STRIDE_W] = AttributeOf(l, SLUICE_POOL_STRIDE_W);
  for (size_t i = 0; i < 4; ++i) {
    a[SLUICE_CONV_PAD_TOP + i] = AttributeOf(l, SLUICE_POOL_PAD_TOP + i);
  }
  a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
  a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
  a[SLUICE_CONV_WEIGHT_LAYOUT] = SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
  const uint32_t parameters = AddErrorParameters(step, {in[3], double(h) * w, 1}, e);
  PassError(
      step, x,
      AddLayer(step,
               {name, SLUICE_OP_TRANSPOSED_CONV, {e, weight, parameters}, a, in}));
}

}  // namespace sluice::import
