// SPDX-License-Identifier: Apache-2.0
#include "import/training/training_step.h"

#include <cmath>

namespace sluice::import {

int64_t ElementsIn(const Extents& e) { return int64_t{e[0]} * e[1] * e[2] * e[3]; }
Dims DimsFrom(const Extents& e) { return Dims(e.begin(), e.end()); }

Extents ShapeIn(const TrainingStep& step, uint32_t tensor) {
  return Normalised(step.graph.tensors()[tensor].dims);
}

int32_t AttributeOf(const LayerRow& layer, size_t i) {
  return i < layer.attributes.size() ? layer.attributes[i] : 0;
}

bool IsTrained(const TrainingStep& step, uint32_t tensor) {
  return tensor != kNoTensor && tensor < step.trained.size() && step.trained[tensor];
}

uint32_t AddLayer(TrainingStep* step, const StepLayer& layer) {
  const uint32_t out = step->graph.AddTensor(
      layer.name, SLUICE_DTYPE_INT8, Kind::kIntermediate, DimsFrom(layer.shape));
  step->graph.AddLayer(layer.name, layer.op, layer.inputs, {out}, layer.attributes);
  return out;
}

uint32_t ReshapedTo(TrainingStep* step, uint32_t tensor, const Extents& shape) {
  if (ShapeIn(*step, tensor) == shape) return tensor;
  const std::string name = step->graph.name(step->graph.tensors()[tensor].name);
  return AddLayer(step, {name + ".shaped", SLUICE_OP_RESHAPE, {tensor}, {}, shape});
}

uint32_t AddErrorParameters(TrainingStep* step, const ErrorSums& sums, uint32_t error) {
  const double spread =
      std::sqrt(sums.terms) * sums.weight_spread * SpreadOf(*step, error);
  const Factor f = QuantiseFactor(kErrorSpread / spread);
  const auto key = std::make_pair(sums.channels, std::make_pair(f.multiplier, f.shift));
  const auto known = step->parameters.find(key);
  if (known != step->parameters.end()) return known->second;
  step->graph.NeedRows(static_cast<uint64_t>(sums.channels));
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < sums.channels; ++k) {
    rows.insert(rows.end(), {0, f.multiplier, f.shift});
  }
  const uint32_t t = step->graph.AddConstant(
      "error parameters." + std::to_string(step->parameters.size()), SLUICE_DTYPE_INT32,
      {sums.channels, 3}, rows.data(), rows.size() * sizeof(int32_t));
  step->parameters.emplace(key, t);
  return t;
}

double SpreadOf(const TrainingStep& step, uint32_t error) {
  const auto known = step.spread.find(error);
  return known == step.spread.end() ? kErrorSpread : known->second;
}

void PassError(TrainingStep* step, uint32_t tensor, uint32_t error) {
  const double spread = SpreadOf(*step, error);
  const uint32_t shaped = ReshapedTo(step, error, ShapeIn(*step, tensor));
  step->spread[shaped] = spread;
  step->errors[tensor].push_back(shaped);
}

uint32_t ErrorBeforeRelu(TrainingStep* step, const LayerRow& l, int32_t zero,
                         int32_t least) {
  const uint32_t t = l.outputs[0];
  const std::string name = step->graph.name(l.name) + ".error";
  const std::vector<uint32_t>& shares = step->errors[t];
  if (shares.empty()) return kNoTensor;
  const Extents shape = ShapeIn(*step, t);
  uint32_t error = shares[0];
  for (size_t i = 1; i < shares.size(); ++i) {
    const double a = SpreadOf(*step, error), b = SpreadOf(*step, shares[i]);
    error = AddLayer(step, {name + std::to_string(i),
                            SLUICE_OP_ADD,
                            {error, shares[i]},
                            SumAttributes({1, 0}, {1, 0}, {1.4142135f, 0}, kErrorRange),
                            shape});
    step->spread[error] = std::sqrt((a * a + b * b) / 2);
  }
  if (zero != least) return error;
  std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
  const Factor same = QuantiseFactor(1);
  a[SLUICE_BINARY_ZERO1] = zero;
  a[SLUICE_BINARY_OUT_MULTIPLIER] = same.multiplier;
  a[SLUICE_BINARY_OUT_SHIFT] = same.shift;
  a[SLUICE_BINARY_ACT_MIN] = kErrorRange.min;
  a[SLUICE_BINARY_ACT_MAX] = kErrorRange.max;
  const uint32_t passed =
      AddLayer(step, {name, SLUICE_OP_RELU_GRADIENT, {error, t}, a, shape});
  step->spread[passed] = SpreadOf(*step, error) / std::sqrt(2.0);  // half of them
  return passed;
}

uint32_t ErrorOf(TrainingStep* step, const LayerRow& l) {
  return ErrorBeforeRelu(step, l, 0, 1);
}

}  // namespace sluice::import
