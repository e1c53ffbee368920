// SPDX-License-Identifier: Apache-2.0
// Convolutions, matrix products and pools of random graphs: each Add... appends a layer
// to the spec if the given tensor suits it.
//
// Input    a tensor of the spec
// Output   a GraphSpec that grows
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_PRODUCTS_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_PRODUCTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/random_tensors.h"

namespace sluice_test {
namespace random_parts {

inline void AddConv(RandomTensors* graph, uint32_t in, bool depthwise) {
  const Shape s = graph->shapes[in];
  WindowAxis h, w;
  if (!graph->IsEightBit(in) || !graph->RandomWindow(s[1], true, &h) ||
      !graph->RandomWindow(s[2], true, &w)) {
    return;
  }
  int32_t groups = 1, channels = graph->Range(1, 20);
  if (depthwise) {
    channels = s[3] * (graph->Chance(70) ? 1 : graph->Range(2, 3));
    groups = 0;
  } else if (graph->Chance(25)) {
    for (int32_t g = graph->Range(2, 4); g > 1; --g) {
      if (s[3] % g == 0) {
        groups = g;
        channels = g * graph->Range(1, 5);
        break;
      }
    }
  }
  const Shape out = {s[0], h.out, w.out, channels};
  if (!graph->Fits(out)) return;
  const int32_t c = depthwise ? 1 : s[3] / groups;
  const uint8_t weight_dtype = graph->EightBit(), out_dtype = graph->EightBit();
  const uint32_t weight = graph->AddSeeded(
      depthwise ? std::vector<int32_t>{1, h.filter, w.filter, channels}
                : std::vector<int32_t>{channels, h.filter, w.filter, c},
      weight_dtype);
  const uint32_t parameters =
      graph->AddParameters(channels, int64_t{c} * h.filter * w.filter);
  const int32_t zero = graph->ZeroOf(graph->Dtype(in));
  const int32_t weight_zero =
      weight_dtype == SLUICE_DTYPE_UINT8 ? graph->ZeroOf(weight_dtype) : 0;
  const std::vector<int32_t> attributes =
      graph->ConvAttributes(h, w, groups, zero, weight_zero, out_dtype);
  const uint32_t result = graph->AddActivation(out, out_dtype);
  graph->AddLayer(depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
                  {in, weight, parameters}, result, attributes);
}

inline void AddFullyConnected(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  if (!graph->IsEightBit(in)) return;
  const int32_t channels = graph->Range(1, 40);
  const Shape out = {s[0], s[1], s[2], channels};
  if (!graph->Fits(out)) return;
  const uint32_t weight = graph->AddSeeded({channels, s[3]}, SLUICE_DTYPE_INT8);
  const uint32_t parameters = graph->AddParameters(channels, s[3]);
  const uint8_t dtype = graph->EightBit();
  int32_t low, high;
  graph->Limits(dtype, &low, &high);
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_INPUT_ZERO] = graph->ZeroOf(graph->Dtype(in));
  a[SLUICE_CONV_OUTPUT_ZERO] = graph->ZeroOf(dtype);
  a[SLUICE_CONV_ACT_MIN] = low;
  a[SLUICE_CONV_ACT_MAX] = high;
  a[SLUICE_CONV_ROUNDING] = graph->Chance(50) ? 1 : 0;
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(SLUICE_OP_FULLY_CONNECTED, {in, weight, parameters}, result, a);
}

inline void AddMatmul(RandomTensors* graph, uint32_t a) {
  const Shape s = graph->shapes[a];
  if (!graph->IsEightBit(a)) return;
  const bool transposed = graph->Chance(50);
  uint32_t b = a;  // a times its transpose
  if (!transposed || graph->Chance(50)) {
    const int32_t k = graph->Range(1, 12);
    const Shape want =
        transposed ? Shape{s[0], s[1], k, s[3]} : Shape{s[0], s[1], s[3], k};
    if (!graph->Fits(want)) return;
    b = SLUICE_NONE;
    for (uint32_t t : graph->activations) {
      const Shape& o = graph->shapes[t];
      if (graph->IsEightBit(t) && o[0] == s[0] && o[1] == s[1] &&
          o[transposed ? 3 : 2] == s[3]) {
        b = t;
      }
    }
    if (b == SLUICE_NONE) b = graph->AddInput(want, graph->EightBit());
  }
  const Shape out = {s[0], s[1], s[2], graph->shapes[b][transposed ? 2 : 3]};
  if (!graph->Fits(out)) return;
  const uint8_t dtype = graph->EightBit();
  int32_t low, high, shift = -6;
  for (int64_t n = 1; n < s[3]; n *= 4) --shift;
  graph->Limits(dtype, &low, &high);
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(SLUICE_OP_BATCH_MATMUL, {a, b}, result,
                  {transposed ? 1 : 0, graph->ZeroOf(graph->Dtype(a)),
                   graph->ZeroOf(graph->Dtype(b)), graph->ZeroOf(dtype),
                   graph->Multiplier(), shift, low, high});
}

inline void AddPool(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  WindowAxis h, w;
  if (!graph->IsEightBit(in) || !graph->RandomWindow(s[1], false, &h) ||
      !graph->RandomWindow(s[2], false, &w)) {
    return;
  }
  const Shape out = {s[0], h.out, w.out, s[3]};
  if (!graph->Fits(out)) return;
  int32_t low, high;
  graph->Limits(graph->Dtype(in), &low, &high);
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(graph->Chance(50) ? SLUICE_OP_MAX_POOL : SLUICE_OP_AVERAGE_POOL, {in},
                  result,
                  {h.filter, w.filter, h.stride, w.stride, h.before, w.before, h.after,
                   w.after, low, high});
}

}  // namespace random_parts
}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_PRODUCTS_H_
