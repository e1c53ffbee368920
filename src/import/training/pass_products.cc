// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products, and the gradients of their weights.
#include <algorithm>
#include <cmath>

#include "import/training/training_step.h"

namespace sluice::import {
namespace {

std::vector<int32_t> GradientAttributes(const TrainingStep& step, const LayerRow& l,
                                        double terms, uint32_t error) {
  const Factor f = QuantiseFactor(1 / (std::sqrt(terms) * SpreadOf(step, error)));
  std::vector<int32_t> a(SLUICE_WEIGHT_GRADIENT_ATTRIBUTES);
  a[SLUICE_CONV_INPUT_ZERO] = AttributeOf(l, SLUICE_CONV_INPUT_ZERO);
  a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
  a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
  a[SLUICE_WEIGHT_GRADIENT_MULTIPLIER] = f.multiplier;
  a[SLUICE_WEIGHT_GRADIENT_SHIFT] = f.shift;
  return a;
}

// A weight gets a gradient if the model stores it, not if a layer computes it.
bool HasGradient(const TrainingStep& step, const LayerRow& l) {
  return step.graph.tensors()[l.inputs[1]].kind == Kind::kConstant;
}

struct Gradient {
  uint32_t input, error;
  std::vector<int32_t> attributes;
  Extents shape;
};
void AddGradient(TrainingStep* step, const LayerRow& l, const Gradient& gradient) {
  const uint32_t weight = step->graph.tensors()[l.inputs[1]].name;
  const uint32_t t = AddLayer(step, {step->graph.name(weight) + ".gradient",
                                     SLUICE_OP_WEIGHT_GRADIENT,
                                     {gradient.input, gradient.error},
                                     gradient.attributes,
                                     gradient.shape});
  step->graph.SetKind(t, Kind::kOutput);
}

uint32_t ErrorOfSums(TrainingStep* step, const LayerRow& l) {
  return ErrorBeforeRelu(step, l, AttributeOf(l, SLUICE_CONV_OUTPUT_ZERO),
                         AttributeOf(l, SLUICE_CONV_ACT_MIN));
}

// Copies strides, dilations and pads.
void CopyWindow(const LayerRow& l, std::vector<int32_t>* attributes) {
  for (size_t i = 0; i <= SLUICE_CONV_PAD_RIGHT; ++i) {
    (*attributes)[i] = AttributeOf(l, i);
  }
}

void PassToInput(TrainingStep* step, const LayerRow& l, uint32_t e) {
  const uint32_t x = l.inputs[0], weight = l.inputs[1];
  const Extents in = ShapeIn(*step, x), filter = ShapeIn(*step, weight);
  const bool depthwise = l.op == SLUICE_OP_DEPTHWISE_CONV;
  std::vector<int32_t> a(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
  CopyWindow(l, &a);
  a[SLUICE_CONV_WEIGHT_ZERO] = AttributeOf(l, SLUICE_CONV_WEIGHT_ZERO);
  a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
  a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
  a[SLUICE_CONV_WEIGHT_LAYOUT] =
      depthwise ? SLUICE_WEIGHT_LAYOUT_DEPTHWISE : SLUICE_WEIGHT_LAYOUT_CONV;
  const double strides = std::max(1, AttributeOf(l, SLUICE_CONV_STRIDE_H)) *
                         std::max(1, AttributeOf(l, SLUICE_CONV_STRIDE_W));
  const double taps = std::max(1.0, filter[1] * filter[2] / strides);
  const double terms = depthwise ? taps : taps * ShapeIn(*step, e)[3];
  const uint32_t parameters =
      AddErrorParameters(step, {in[3], terms, kWeightSpread}, e);
  PassError(step, x,
            AddLayer(step, {step->graph.name(l.name) + ".back",
                            SLUICE_OP_TRANSPOSED_CONV,
                            {e, weight, parameters},
                            a,
                            in}));
}

}  // namespace

void PassConvolution(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorOfSums(step, l);
  if (e == kNoTensor) return;
  const uint32_t x = l.inputs[0];
  const Extents in = ShapeIn(*step, x), filter = ShapeIn(*step, l.inputs[1]);
  const Extents out = ShapeIn(*step, e);
  const bool depthwise = l.op == SLUICE_OP_DEPTHWISE_CONV;
  const int32_t groups =
      depthwise ? in[3] : std::max(1, AttributeOf(l, SLUICE_CONV_GROUPS));
  if (HasGradient(*step, l)) {
    std::vector<int32_t> a =
        GradientAttributes(*step, l, double(out[0]) * out[1] * out[2], e);
    CopyWindow(l, &a);
    a[SLUICE_CONV_GROUPS] = groups == 1 ? 0 : groups;
    AddGradient(step, l, {x, e, a, {out[3], filter[1], filter[2], in[3] / groups}});
  }
  if (!IsTrained(*step, x)) return;
  const bool dilated = AttributeOf(l, SLUICE_CONV_DILATION_H) > 1 ||
                       AttributeOf(l, SLUICE_CONV_DILATION_W) > 1;
  if (dilated || (depthwise ? in[3] != out[3] : groups > 1)) {
    return PassErrorOnHost(step, l, e);
  }
  PassToInput(step, l, e);
}

namespace {

struct Factors {
  uint32_t a, b;
  int32_t a_zero, b_zero;
  bool transpose_b;
};
uint32_t AddProduct(TrainingStep* step, const std::string& name, const Factors& of,
                    double factor, const Extents& shape) {
  const Factor f = QuantiseFactor(factor);
  return AddLayer(step, {name,
                         SLUICE_OP_BATCH_MATMUL,
                         {of.a, of.b},
                         {of.transpose_b ? 1 : 0, of.a_zero, of.b_zero, 0, f.multiplier,
                          f.shift, kErrorRange.min, kErrorRange.max},
                         shape});
}

// Transposes the matrices.
uint32_t Turned(TrainingStep* step, uint32_t t) {
  const Extents s = ShapeIn(*step, t);
  const TensorRow row = step->graph.tensors()[t];
  const std::string name = step->graph.name(row.name) + ".turned";
  const uint32_t out = step->graph.AddTensor(name, row.dtype, Kind::kIntermediate,
                                             {s[0], s[1], s[3], s[2]});
  step->graph.AddLayer(name, SLUICE_OP_TRANSPOSE, {t}, {out}, {0, 1, 3, 2});
  return out;
}

}  // namespace

void PassFullyConnected(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorOfSums(step, l);
  if (e == kNoTensor) return;
  const uint32_t x = l.inputs[0], weight = l.inputs[1];
  const Extents in = ShapeIn(*step, x), filter = ShapeIn(*step, weight);
  const int32_t k = filter[2], c = filter[3];
  const int32_t rows = in[0] * in[1] * in[2];
  if (HasGradient(*step, l)) {
    const std::vector<int32_t> a = GradientAttributes(*step, l, rows, e);
    const uint32_t error_rows = ReshapedTo(step, e, {rows, 1, 1, k});
    const uint32_t input_rows = ReshapedTo(step, x, {rows, 1, 1, c});
    AddGradient(step, l, {input_rows, error_rows, a, {k, 1, 1, c}});
  }
  if (!IsTrained(*step, x)) return;
  const double spread = SpreadOf(*step, e);
  const uint32_t matrix = ReshapedTo(step, e, {1, 1, rows, k});
  const int32_t weight_zero = AttributeOf(l, SLUICE_CONV_WEIGHT_ZERO);
  PassError(step, x,
            AddProduct(step, step->graph.name(l.name) + ".back",
                       {matrix, weight, 0, weight_zero, false},
                       kErrorSpread / (std::sqrt(1.0 * k) * kWeightSpread * spread),
                       {1, 1, rows, c}));
}

void PassMatmul(TrainingStep* step, const LayerRow& l) {
  const uint32_t e = ErrorBeforeRelu(step, l, AttributeOf(l, SLUICE_MATMUL_OUTPUT_ZERO),
                                     AttributeOf(l, SLUICE_MATMUL_ACT_MIN));
  if (e == kNoTensor) return;
  const uint32_t a = l.inputs[0], b = l.inputs[1];
  const bool transposed = AttributeOf(l, SLUICE_MATMUL_TRANSPOSE_B) != 0;
  const int32_t a_zero = AttributeOf(l, SLUICE_MATMUL_A_ZERO);
  const int32_t b_zero = AttributeOf(l, SLUICE_MATMUL_B_ZERO);
  const std::string name = step->graph.name(l.name);
  const Extents out = ShapeIn(*step, e);
  if (IsTrained(*step, a)) {
    const double factor = 1 / (std::sqrt(1.0 * out[3]) * kErrorSpread);
    PassError(step, a,
              AddProduct(step, name + ".back_a", {e, b, 0, b_zero, !transposed}, factor,
                         ShapeIn(*step, a)));
  }
  if (!IsTrained(*step, b)) return;
  const double factor = 1 / (std::sqrt(1.0 * out[2]) * kErrorSpread);
  const Factors factors = transposed ? Factors{Turned(step, e), a, 0, a_zero, false}
                                     : Factors{Turned(step, a), e, a_zero, 0, false};
  PassError(step, b,
            AddProduct(step, name + ".back_b", factors, factor, ShapeIn(*step, b)));
}

}  // namespace sluice::import
