// SPDX-License-Identifier: Apache-2.0
// Elementwise and row operators of random graphs: each Add... appends a layer to the
// spec if the given tensor suits it.
//
// Input    a tensor of the spec
// Output   a GraphSpec that grows
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/random_tensors.h"

namespace sluice_test {
namespace random_parts {

inline void AddBinary(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  if (!graph->IsEightBit(in)) return;
  // A tensor that broadcasts with `in`, or a new one.
  uint32_t other = SLUICE_NONE;
  if (graph->Chance(60)) {
    for (uint32_t t : graph->activations) {
      bool agrees = graph->Dtype(t) == graph->Dtype(in);
      for (size_t a = 0; a < 4; ++a) {
        agrees = agrees &&
                 (graph->shapes[t][a] == s[a] || graph->shapes[t][a] == 1 || s[a] == 1);
      }
      if (agrees && (other == SLUICE_NONE || graph->Chance(40))) other = t;
    }
  }
  if (other == SLUICE_NONE) {
    Shape o = s;
    for (int32_t& e : o) {
      if (graph->Chance(25)) e = 1;
    }
    other = graph->Chance(50)
                ? graph->AddInput(o, graph->Dtype(in))
                : graph->AddSeeded(std::vector<int32_t>(o.begin(), o.end()),
                                   graph->Dtype(in));
    graph->shapes[other] = o;
  }
  Shape out;
  for (size_t a = 0; a < 4; ++a) out[a] = std::max(s[a], graph->shapes[other][a]);
  if (!graph->Fits(out)) return;
  static const uint16_t kOps[] = {SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL,
                                  SLUICE_OP_MINIMUM, SLUICE_OP_MAXIMUM};
  const uint16_t op = kOps[graph->rng.Below(5)];
  const bool plain = op == SLUICE_OP_MINIMUM || op == SLUICE_OP_MAXIMUM;
  const uint8_t dtype = plain ? graph->Dtype(in) : graph->EightBit();
  int32_t low, high;
  graph->Limits(dtype, &low, &high);
  std::vector<int32_t> attributes;
  if (!plain) {
    attributes = {20,
                  graph->ZeroOf(graph->Dtype(in)),
                  graph->Multiplier(),
                  -1,
                  graph->ZeroOf(graph->Dtype(other)),
                  graph->Multiplier(),
                  -1,
                  graph->ZeroOf(dtype),
                  graph->Multiplier(),
                  op == SLUICE_OP_MUL ? -6 : -18,
                  low,
                  high};
  }
  std::vector<uint32_t> inputs = {in, other};
  if (graph->Chance(50)) std::swap(inputs[0], inputs[1]);
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(op, inputs, result, attributes);
}

inline void AddRequantize(RandomTensors* graph, uint32_t in) {
  if (graph->Dtype(in) == SLUICE_DTYPE_INT64 || graph->Dtype(in) == SLUICE_DTYPE_INT32)
    return;
  static const uint8_t kTypes[] = {SLUICE_DTYPE_INT8, SLUICE_DTYPE_UINT8,
                                   SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT16};
  const uint8_t dtype = kTypes[graph->rng.Below(4)];
  int32_t low, high;
  graph->Limits(dtype, &low, &high);
  const int32_t shift = (dtype == SLUICE_DTYPE_INT16 ? 7 : 0) -
                        (graph->Dtype(in) == SLUICE_DTYPE_INT16 ? 7 : 0);
  const uint32_t result = graph->AddActivation(graph->shapes[in], dtype);
  graph->AddLayer(SLUICE_OP_REQUANTIZE, {in}, result,
                  {graph->ZeroOf(graph->Dtype(in)), graph->Multiplier(),
                   shift + graph->Range(0, 1), graph->ZeroOf(dtype), low, high});
}

inline void AddLookup(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const uint32_t table = graph->AddSeeded({256}, SLUICE_DTYPE_INT8);
  const uint32_t result = graph->AddActivation(graph->shapes[in], SLUICE_DTYPE_INT8);
  graph->AddLayer(SLUICE_OP_LOOKUP, {in, table}, result, {});
}

inline void AddHardSwish(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const uint32_t result = graph->AddActivation(graph->shapes[in], graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_HARD_SWISH, {in}, result,
                  {graph->ZeroOf(graph->Dtype(in)), graph->ZeroOf(graph->Dtype(in)),
                   graph->Range(1 << 14, INT16_MAX), graph->Range(-8, -4),
                   graph->Range(1 << 14, INT16_MAX), graph->Range(-3, 5)});
}

// One slope for each element, channel or column, or another broadcast; constant or
// not.
inline void AddPrelu(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  Shape slopes = graph->shapes[in];
  for (int32_t& extent : slopes) {
    if (graph->Chance(50)) extent = 1;
  }
  const uint8_t dtype = graph->EightBit(), out = graph->EightBit();
  const uint32_t by =
      graph->Chance(70)
          ? graph->AddSeeded(std::vector<int32_t>(slopes.begin(), slopes.end()), dtype)
          : graph->AddInput(slopes, dtype);
  int32_t low, high;
  graph->Limits(out, &low, &high);
  const uint32_t result = graph->AddActivation(graph->shapes[in], out);
  graph->AddLayer(SLUICE_OP_PRELU, {in, by}, result,
                  {graph->ZeroOf(graph->Dtype(in)), graph->ZeroOf(dtype),
                   graph->ZeroOf(out), graph->Multiplier(), graph->Range(-1, 1),
                   graph->Multiplier(), graph->Range(-8, -5), low, high});
}

inline void AddSoftmax(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  std::vector<uint32_t> inputs = {in};
  if (graph->Chance(50)) {
    Shape m = graph->shapes[in];
    for (size_t a = 0; a < 3; ++a) {
      if (graph->Chance(40)) m[a] = 1;
    }
    const std::vector<int32_t> dims(m.begin(), m.end());
    if (graph->Chance(70)) {
      std::vector<uint8_t> bits(static_cast<size_t>(graph->Elements(m)));
      for (uint8_t& b : bits) b = graph->Chance(70) ? 1 : 0;
      inputs.push_back(
          graph->Add(graph->spec.Inline(dims, SLUICE_DTYPE_UINT8, bits), m));
    } else {
      inputs.push_back(graph->AddInput(m, SLUICE_DTYPE_UINT8));
    }
  }
  const int32_t shift = graph->Range(21, 24);
  const uint32_t result = graph->AddActivation(graph->shapes[in], graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_SOFTMAX, inputs, result,
                  {graph->Multiplier(), shift, -(31 << (26 - shift))});
}

inline void AddReduce(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const int32_t axes = graph->Range(1, 15);
  Shape out = graph->shapes[in];
  int64_t n = 1;
  for (size_t a = 0; a < 4; ++a) {
    if ((axes >> a & 1) != 0) {
      n *= out[a];
      out[a] = 1;
    }
  }
  const bool max = graph->Chance(40);
  const uint8_t dtype = max ? graph->Dtype(in) : graph->EightBit();
  int32_t low, high, shift = 1;
  for (int64_t i = 1; i < n; i *= 4) --shift;
  graph->Limits(dtype, &low, &high);
  const uint32_t result = graph->AddActivation(out, dtype);
  graph->AddLayer(SLUICE_OP_REDUCE, {in}, result,
                  {axes, max ? SLUICE_REDUCE_KIND_MAX : SLUICE_REDUCE_KIND_SUM,
                   graph->ZeroOf(graph->Dtype(in)), graph->ZeroOf(dtype),
                   graph->Multiplier(), shift, low, high});
}

inline void AddArgmax(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  Shape out = graph->shapes[in];
  out[3] = 1;
  const uint32_t result = graph->AddActivation(
      out, graph->Chance(50) ? SLUICE_DTYPE_INT32 : SLUICE_DTYPE_INT64);
  graph->AddLayer(SLUICE_OP_ARGMAX, {in}, result, {});
}

inline void AddNorm(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const int32_t channels = graph->shapes[in][3];
  std::vector<int32_t> values;
  for (int32_t c = 0; c < channels; ++c) {
    values.push_back(graph->Range(-2000, 2000));
    values.push_back(graph->Multiplier());
    values.push_back(graph->Range(-8, -6));
  }
  const uint32_t parameters = graph->Add(
      graph->spec.Inline({channels, 3}, SLUICE_DTYPE_INT32, values), {1, 1, 1, 1});
  const uint8_t dtype = graph->EightBit();
  int32_t low, high;
  graph->Limits(dtype, &low, &high);
  const std::vector<int32_t> attributes = {graph->ZeroOf(graph->Dtype(in)),
                                           graph->Range(0, 1000), graph->ZeroOf(dtype),
                                           low, high};
  const uint32_t result = graph->AddActivation(graph->shapes[in], dtype);
  graph->AddLayer(graph->Chance(50) ? SLUICE_OP_LAYER_NORM : SLUICE_OP_RMS_NORM,
                  {in, parameters}, result, attributes);
}

}  // namespace random_parts
}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_
