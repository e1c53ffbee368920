// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, states and opaque layers of random graphs: each Add...
// appends a layer to the spec if the given tensor suits it.
//
// Input    a tensor of the spec
// Output   a GraphSpec that grows
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_MOVES_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_MOVES_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/random_products.h"

namespace sluice_test {
namespace random_parts {

inline void AddConcat(RandomTensors* graph, uint32_t in) {
  const uint32_t axis = graph->rng.Below(4);
  std::vector<uint32_t> inputs = {in};
  Shape out = graph->shapes[in];
  const uint32_t count = 2 + graph->rng.Below(3);
  for (uint32_t tries = 0; tries < 8 && inputs.size() < count; ++tries) {
    const uint32_t t = graph->Pick();
    bool agrees = graph->Dtype(t) == graph->Dtype(in);
    for (size_t a = 0; a < 4; ++a) {
      agrees = agrees && (a == axis || graph->shapes[t][a] == out[a]);
    }
    if (!agrees) continue;
    inputs.push_back(t);
    out[axis] += graph->shapes[t][axis];
  }
  if (inputs.size() == 1 && graph->IsEightBit(in)) {
    Shape extra = graph->shapes[in];
    extra[axis] = graph->Range(1, 6);
    if (!graph->Fits(extra)) return;
    const uint32_t t = graph->AddInput(extra, graph->Dtype(in));
    out[axis] += extra[axis];
    inputs.insert(inputs.begin() + graph->Range(0, 1), t);
  }
  if (!graph->Fits(out)) return;
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_CONCAT, inputs, result, {static_cast<int32_t>(axis)});
}

inline void AddSlice(RandomTensors* graph, uint32_t in) {
  const Shape s = graph->shapes[in];
  Shape out = s;
  std::vector<int32_t> begin(4);
  for (size_t a = 0; a < 4; ++a) {
    if (!graph->Chance(50)) continue;
    out[a] = graph->Range(1, s[a]);
    begin[a] = graph->Range(0, s[a] - out[a]);
  }
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_SLICE, {in}, result, begin);
}

inline void AddPad(RandomTensors* graph, uint32_t in) {
  Shape out = graph->shapes[in];
  std::vector<int32_t> a(SLUICE_PAD_ATTRIBUTES);
  for (size_t axis = 1; axis <= 2; ++axis) {
    a[axis] = graph->Range(0, 2);
    out[axis] += a[axis] + graph->Range(0, 2);
  }
  if (!graph->IsEightBit(in) || !graph->Fits(out)) return;
  a[SLUICE_PAD_VALUE] = graph->ZeroOf(graph->Dtype(in));
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_PAD, {in}, result, a);
  // Half of the PADs get a convolution that can fold them: its zero point is the
  // PAD's.
  if (!graph->Chance(50)) return;
  AddConv(graph, result, graph->Chance(30));
  LayerSpec& last = graph->spec.layers.back();
  if (last.op == SLUICE_OP_CONV || last.op == SLUICE_OP_DEPTHWISE_CONV) {
    last.attributes[SLUICE_CONV_INPUT_ZERO] = a[SLUICE_PAD_VALUE];
  }
}

inline void AddReshape(RandomTensors* graph, uint32_t in) {
  Shape out = {1, 1, 1, 1};
  int64_t left = graph->Elements(graph->shapes[in]);
  for (int32_t p = 2; left > 1;) {
    if (left % p == 0) {
      out[graph->Chance(40) ? 3 : graph->rng.Below(4)] *= p;
      left /= p;
    } else {
      ++p;
    }
  }
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_RESHAPE, {in}, result, {});
}

// A reshape as a part of a larger tensor: the layer that makes its elements may write
// them there.
inline void AddReshapedConcat(RandomTensors* graph, uint32_t in) {
  AddReshape(graph, in);
  AddConcat(graph, static_cast<uint32_t>(graph->shapes.size() - 1));
}

inline void AddTranspose(RandomTensors* graph, uint32_t in) {
  std::vector<int32_t> perm = {0, 1, 2, 3};
  for (uint32_t i = 3; i > 0; --i) std::swap(perm[i], perm[graph->rng.Below(i + 1)]);
  Shape out;
  for (size_t a = 0; a < 4; ++a)
    out[a] = graph->shapes[in][static_cast<size_t>(perm[a])];
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_TRANSPOSE, {in}, result, perm);
}

inline void AddGather(RandomTensors* graph) {
  const int32_t rows = graph->Range(2, 30), width = graph->Range(1, 20);
  const Shape out = {1, graph->Chance(30) ? graph->Range(2, 3) : 1, graph->Range(1, 12),
                     width};
  const uint32_t table = graph->AddSeeded({rows, width}, SLUICE_DTYPE_INT8);
  uint32_t indices;
  if (graph->Chance(50)) {
    std::vector<int32_t> values;
    for (int32_t i = 0; i < out[1] * out[2]; ++i)
      values.push_back(graph->Range(0, rows - 1));
    indices =
        graph->Add(graph->spec.Inline({out[1] * out[2]}, SLUICE_DTYPE_INT32, values),
                   {1, 1, 1, out[1] * out[2]});
  } else {
    indices = graph->Add({{out[1], out[2]}, SLUICE_DTYPE_INT32, 1, 0, 0},
                         {1, 1, out[1], out[2]});
  }
  const uint32_t result = graph->AddActivation(out, SLUICE_DTYPE_INT8);
  graph->AddLayer(SLUICE_OP_GATHER, {table, indices}, result, {});
}

inline void AddResize(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const Shape s = graph->shapes[in];
  const Shape out = {s[0], graph->Range(1, 14), graph->Range(1, 14), s[3]};
  if (!graph->Fits(out)) return;
  const int32_t mode = graph->Range(0, 2);
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(
      graph->Chance(60) ? SLUICE_OP_RESIZE_BILINEAR : SLUICE_OP_RESIZE_NEAREST, {in},
      result, {mode == 1 ? 1 : 0, mode == 2 ? 1 : 0});
}

// Pads any axis, at times all of them.
inline void AddWidePad(RandomTensors* graph, uint32_t in) {
  Shape out = graph->shapes[in];
  std::vector<int32_t> a(SLUICE_PAD_ATTRIBUTES);
  for (size_t axis = 0; axis < 4; ++axis) {
    if (graph->Chance(50)) continue;
    a[axis] = graph->Range(0, 2);
    out[axis] += a[axis] + graph->Range(0, 2);
  }
  if (!graph->Fits(out)) return;
  a[SLUICE_PAD_VALUE] = graph->ZeroOf(graph->Dtype(in));
  const uint32_t result = graph->AddActivation(out, graph->Dtype(in));
  graph->AddLayer(SLUICE_OP_PAD, {in}, result, a);
}

// Appends `in` to a new state, of which a layer may have read the old contents.
inline void AddAppend(RandomTensors* graph, uint32_t in) {
  if (!graph->IsEightBit(in)) return;
  const uint32_t axis = graph->rng.Below(4);
  Shape s = graph->shapes[in];
  const int32_t room = graph->Range(0, 5);
  s[axis] += room;
  if (!graph->Fits(s)) return;
  const uint32_t state = graph->Add(
      {std::vector<int32_t>(s.begin(), s.end()), graph->Dtype(in), 4, 0, 0}, Shape(s));
  if (graph->Chance(50)) AddRequantize(graph, state);
  if (graph->spec.parameters.empty() || graph->spec.parameters[0].max > room ||
      graph->Chance(30)) {
    const int32_t low = graph->Range(0, room);
    graph->spec.parameters.push_back({low, graph->Range(low, room)});
  }
  // The first parameter is used again if its range fits.
  int32_t parameter = static_cast<int32_t>(graph->spec.parameters.size()) - 1;
  if (graph->spec.parameters[0].max <= room) parameter = 0;
  graph->AddLayer(SLUICE_OP_STATE_APPEND, {state, in}, state,
                  {static_cast<int32_t>(axis), parameter});
  graph->activations.push_back(state);
}

inline void AddOpaque(RandomTensors* graph, uint32_t in) {
  std::vector<uint32_t> inputs = {in};
  if (graph->Chance(40)) inputs.push_back(graph->Pick());
  std::vector<uint32_t> outputs;
  for (int32_t i = graph->Range(1, 2); i > 0; --i) {
    const uint8_t dtype = graph->EightBit();
    outputs.push_back(graph->AddActivation(graph->SmallShape(), dtype));
  }
  graph->AddLayer(SLUICE_OP_OPAQUE, inputs, outputs[0], {graph->Range(1, 5000), 0, -1});
  graph->spec.layers.back().outputs = outputs;
}

}  // namespace random_parts
}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_MOVES_H_
