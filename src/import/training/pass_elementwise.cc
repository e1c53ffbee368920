// SPDX-License-Identifier: Apache-2.0
// ADD, MUL, REQUANTIZE and LOOKUP.
#include <algorithm>
#include <cmath>

#include "import/training/training_step.h"

namespace sluice::import {
namespace {

// Passes an error to an operand that may have been broadcast: the error is summed over
// the axes in which the operand is 1 wide.
void PassNarrowed(TrainingStep* step, const std::string& name, uint32_t t,
                  uint32_t error) {
  const Extents want = ShapeIn(*step, t), have = ShapeIn(*step, error);
  int32_t axes = 0;
  for (size_t i = 0; i < 4; ++i) axes |= want[i] != have[i] ? 1 << i : 0;
  if (axes != 0) {
    const Factor f =
        QuantiseFactor(1 / std::sqrt(1.0 * ElementsIn(have) / ElementsIn(want)));
    error = AddLayer(step, {name + ".sum",
                            SLUICE_OP_REDUCE,
                            {error},
                            {axes, SLUICE_REDUCE_KIND_SUM, 0, 0, f.multiplier, f.shift,
                             kErrorRange.min, kErrorRange.max},
                            want});
  }
  PassError(step, t, error);
}

// Returns the slope of a table at each entry, half the difference of its neighbours, in
// units of 1 / kUnit.
constexpr int kUnit = 32;
std::vector<uint8_t> SlopesOf(const uint8_t* table, bool in_signed, bool out_signed) {
  const auto at = [&](int value) {
    const int first = in_signed ? -128 : 0;
    value = std::clamp(value, first, first + 255);
    const uint8_t bits = table[static_cast<uint8_t>(value)];
    return out_signed ? static_cast<int>(static_cast<int8_t>(bits)) : int{bits};
  };
  std::vector<uint8_t> slopes(256);
  for (int i = 0; i < 256; ++i) {
    const int value = in_signed && i > 127 ? i - 256 : i;
    const int slope = (at(value + 1) - at(value - 1)) * kUnit / 2;
    slopes[static_cast<size_t>(i)] = static_cast<uint8_t>(std::clamp(slope, -128, 127));
  }
  return slopes;
}

}  // namespace

void PassBinary(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorBeforeRelu(step, l, AttributeOf(l, SLUICE_BINARY_OUTPUT_ZERO),
                                     AttributeOf(l, SLUICE_BINARY_ACT_MIN));
  if (e == kNoTensor) return;
  for (size_t i = 0; i < 2; ++i) {
    const uint32_t t = l.inputs[i], other = l.inputs[1 - i];
    if (!IsTrained(*step, t)) continue;
    const std::string name =
        step->graph.name(l.name) + (i == 0 ? ".back_a" : ".back_b");
    uint32_t share = e;
    if (l.op == SLUICE_OP_MUL) {
      const int32_t zero =
          AttributeOf(l, i == 0 ? SLUICE_BINARY_ZERO1 : SLUICE_BINARY_ZERO0);
      const Affine out = {static_cast<float>(kErrorSpread), 0};
      share = AddLayer(step, {name,
                              SLUICE_OP_MUL,
                              {e, other},
                              ProductAttributes({1, 0}, {1, zero}, out, kErrorRange),
                              ShapeIn(*step, e)});
    }
    PassNarrowed(step, name, t, share);
  }
}

void PassRequantise(TrainingStep* step, const LayerRow& l) {
  const uint32_t e =
      ErrorBeforeRelu(step, l, AttributeOf(l, SLUICE_REQUANTIZE_OUTPUT_ZERO),
                      AttributeOf(l, SLUICE_REQUANTIZE_ACT_MIN));
  if (e != kNoTensor && IsTrained(*step, l.inputs[0])) PassError(step, l.inputs[0], e);
}

void PassLookup(TrainingStep* step, const LayerRow& l) {
  const uint32_t x = l.inputs[0], e = ErrorOf(step, l);
  if (e == kNoTensor || !IsTrained(*step, x)) return;
  const std::vector<TensorRow>& tensors = step->graph.tensors();
  const TensorRow& table = tensors[l.inputs[1]];
  if (table.source != 1) return PassErrorOnHost(step, l, e);
  const std::vector<uint8_t> slopes =
      SlopesOf(step->graph.constants().At(table.source_offset),
               tensors[x].dtype == SLUICE_DTYPE_INT8,
               tensors[l.outputs[0]].dtype == SLUICE_DTYPE_INT8);
  const std::string name = step->graph.name(l.name);
  const uint32_t constant = step->graph.AddConstant(
      name + ".slopes", SLUICE_DTYPE_INT8, {256}, slopes.data(), slopes.size());
  const Extents shape = ShapeIn(*step, x);
  const uint32_t slope =
      AddLayer(step, {name + ".slope", SLUICE_OP_LOOKUP, {x, constant}, {}, shape});
  PassError(step, x,
            AddLayer(step, {name + ".back",
                            SLUICE_OP_MUL,
                            {e, slope},
                            ProductAttributes({1, 0}, {1, 0}, {kUnit, 0}, kErrorRange),
                            shape}));
}

}  // namespace sluice::import
