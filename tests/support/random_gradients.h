// SPDX-License-Identifier: Apache-2.0
// Gradients, of existing layers or of ones that could exist: weights, ReLUs, pools,
// ifmaps.
//
// Input    what random_tensors.h holds
// Output   layers added to the graph, at times with new inputs as errors
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_GRADIENTS_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_GRADIENTS_H_

#include <vector>

#include "support/random_tensors.h"

namespace sluice_test {
namespace random_parts {

// An activation with this shape and dtype as an error, or a new input.
inline uint32_t Error(RandomTensors* graph, const Shape& shape, uint8_t dtype) {
  for (uint32_t t : graph->activations) {
    if (graph->shapes[t] == shape && graph->Dtype(t) == dtype && graph->Chance(60))
      return t;
  }
  return graph->AddInput(shape, dtype);
}

inline void AddWeightGradient(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  WindowAxis h, w;
  if (!graph->IsEightBit(in) || !graph->RandomWindow(s[1], true, &h) ||
      !graph->RandomWindow(s[2], true, &w)) {
    return;
  }
  int32_t groups = 1, channels = graph->Range(1, 12);
  if (graph->Chance(40)) {
    for (int32_t g = graph->Chance(50) ? s[3] : graph->Range(2, 4); g > 1; --g) {
      if (s[3] % g != 0) continue;
      groups = g;
      channels = g * graph->Range(1, 2);
      break;
    }
  }
  const Shape error = {s[0], h.out, w.out, channels};
  const Shape out = {channels, h.filter, w.filter, s[3] / groups};
  if (!graph->Fits(out) || !graph->Fits(error)) return;
  const uint32_t e = Error(graph, error, graph->EightBit());
  const uint8_t dtype = graph->EightBit();
  // Drawn one after the other: arguments of a call have no order.
  const int32_t zero = graph->ZeroOf(graph->Dtype(in)),
                error_zero = graph->ZeroOf(graph->Dtype(e));
  std::vector<int32_t> a = graph->ConvAttributes(h, w, groups, zero, error_zero, dtype);
  int32_t shift = -6;
  for (int64_t n = 1; n < int64_t{s[0]} * h.out * w.out; n *= 4) --shift;
  a.push_back(graph->Multiplier());
  a.push_back(shift);
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(SLUICE_OP_WEIGHT_GRADIENT, {in, e}, result, a);
}

inline void AddReluGradient(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const uint32_t e = Error(graph, graph->shapes[in], graph->EightBit());
  const uint8_t dtype = graph->EightBit();
  int32_t low, high;
  graph->Limits(dtype, &low, &high);
  const uint32_t result = graph->AddActivation(graph->shapes[in], dtype);
  graph->AddLayer(
      SLUICE_OP_RELU_GRADIENT, {e, in}, result,
      {0, graph->ZeroOf(graph->Dtype(e)), 0, 0, graph->ZeroOf(graph->Dtype(in)), 0, 0,
       graph->ZeroOf(dtype), graph->Multiplier(), 1, low, high});
}

inline void AddMaxPoolGradient(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  WindowAxis h, w;
  if (!graph->IsEightBit(in) || !graph->RandomWindow(s[1], false, &h) ||
      !graph->RandomWindow(s[2], false, &w)) {
    return;
  }
  const Shape error = {s[0], h.out, w.out, s[3]};
  if (!graph->Fits(error)) return;
  const uint32_t e = Error(graph, error, graph->EightBit());
  int32_t low, high;
  graph->Limits(graph->Dtype(e), &low, &high);
  const uint32_t result = graph->AddActivation(s, graph->Dtype(e));
  graph->AddLayer(SLUICE_OP_MAX_POOL_GRADIENT, {e, in}, result,
                  {h.filter, w.filter, h.stride, w.stride, h.before, w.before, h.after,
                   w.after, low, high, graph->ZeroOf(graph->Dtype(e))});
}

inline void AddTransposedConv(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  if (!graph->IsEightBit(in)) return;
  const int32_t layout = graph->Chance(50) ? 0 : graph->Range(1, 2);
  const bool depthwise = layout == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
  const int32_t channels = depthwise ? s[3] : graph->Range(1, 12);
  Shape out = {s[0], 0, 0, channels};
  WindowAxis window[2];
  for (size_t i = 0; i < 2; ++i) {
    WindowAxis& w = window[i];
    w.filter = graph->Range(1, 4);
    w.stride = graph->Range(1, 3);
    w.dilation = 1;
    w.before = graph->Chance(50) ? graph->Range(0, w.filter - 1) : 0;
    w.after = graph->Chance(50) ? graph->Range(0, w.filter - 1) : 0;
    out[1 + i] = (s[1 + i] - 1) * w.stride + w.filter - w.before - w.after +
                 (graph->Chance(40) ? graph->Range(0, w.stride - 1) : 0);
  }
  if (!graph->Fits(out)) return;
  const uint8_t dtype = graph->EightBit();
  const int32_t r = window[0].filter, t = window[1].filter;
  std::vector<int32_t> dims = {channels, r, t, s[3]};
  if (layout == SLUICE_WEIGHT_LAYOUT_CONV) dims = {s[3], r, t, channels};
  if (depthwise) dims = {1, r, t, channels};
  const uint32_t weight = graph->AddSeeded(dims, SLUICE_DTYPE_INT8);
  const uint32_t parameters =
      graph->AddParameters(channels, int64_t{depthwise ? 1 : s[3]} * r * t);
  std::vector<int32_t> attributes = graph->ConvAttributes(
      window[0], window[1], 0, graph->ZeroOf(graph->Dtype(in)), 0, dtype);
  attributes.resize(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
  attributes[SLUICE_CONV_WEIGHT_LAYOUT] = layout;
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(SLUICE_OP_TRANSPOSED_CONV, {in, weight, parameters}, result,
                  attributes);
}

}  // namespace random_parts
}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRADIENTS_H_
