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

#include "support/random_elements.h"

namespace sluice_test {

class RandomMoves : protected RandomElements {
 protected:
  using RandomElements::RandomElements;

  void AddConcat(uint32_t in) {
    const uint32_t axis = rng_.Below(4);
    std::vector<uint32_t> inputs = {in};
    Shape out = shapes_[in];
    const uint32_t count = 2 + rng_.Below(3);
    for (uint32_t tries = 0; tries < 8 && inputs.size() < count; ++tries) {
      const uint32_t t = Pick();
      bool agrees = Dtype(t) == Dtype(in);
      for (size_t a = 0; a < 4; ++a) {
        agrees = agrees && (a == axis || shapes_[t][a] == out[a]);
      }
      if (!agrees) continue;
      inputs.push_back(t);
      out[axis] += shapes_[t][axis];
    }
    if (inputs.size() == 1 && IsEightBit(in)) {
      Shape extra = shapes_[in];
      extra[axis] = Range(1, 6);
      if (!Fits(extra)) return;
      const uint32_t t = AddInput(extra, Dtype(in));
      out[axis] += extra[axis];
      inputs.insert(inputs.begin() + Range(0, 1), t);
    }
    if (!Fits(out)) return;
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_CONCAT, inputs, result, {static_cast<int32_t>(axis)});
  }

  void AddSlice(uint32_t in) {
    const Shape s = shapes_[in];
    Shape out = s;
    std::vector<int32_t> begin(4);
    for (size_t a = 0; a < 4; ++a) {
      if (!Chance(50)) continue;
      out[a] = Range(1, s[a]);
      begin[a] = Range(0, s[a] - out[a]);
    }
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_SLICE, {in}, result, begin);
  }

  void AddPad(uint32_t in) {
    Shape out = shapes_[in];
    std::vector<int32_t> a(SLUICE_PAD_ATTRIBUTES);
    for (size_t axis = 1; axis <= 2; ++axis) {
      a[axis] = Range(0, 2);
      out[axis] += a[axis] + Range(0, 2);
    }
    if (!IsEightBit(in) || !Fits(out)) return;
    a[SLUICE_PAD_VALUE] = ZeroOf(Dtype(in));
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_PAD, {in}, result, a);
    // Half of the PADs get a convolution that can fold them: its zero point is the
    // PAD's.
    if (!Chance(50)) return;
    AddConv(result, Chance(30));
    LayerSpec& last = spec_.layers.back();
    if (last.op == SLUICE_OP_CONV || last.op == SLUICE_OP_DEPTHWISE_CONV) {
      last.attributes[SLUICE_CONV_INPUT_ZERO] = a[SLUICE_PAD_VALUE];
    }
  }

  void AddReshape(uint32_t in) {
    Shape out = {1, 1, 1, 1};
    int64_t left = Elements(shapes_[in]);
    for (int32_t p = 2; left > 1;) {
      if (left % p == 0) {
        out[Chance(40) ? 3 : rng_.Below(4)] *= p;
        left /= p;
      } else {
        ++p;
      }
    }
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_RESHAPE, {in}, result, {});
  }

  // A reshape as a part of a larger tensor: the layer that makes its elements may write
  // them there.
  void AddReshapedConcat(uint32_t in) {
    AddReshape(in);
    AddConcat(static_cast<uint32_t>(shapes_.size() - 1));
  }

  void AddTranspose(uint32_t in) {
    std::vector<int32_t> perm = {0, 1, 2, 3};
    for (uint32_t i = 3; i > 0; --i) std::swap(perm[i], perm[rng_.Below(i + 1)]);
    Shape out;
    for (size_t a = 0; a < 4; ++a) out[a] = shapes_[in][static_cast<size_t>(perm[a])];
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_TRANSPOSE, {in}, result, perm);
  }

  void AddGather() {
    const int32_t rows = Range(2, 30), width = Range(1, 20);
    const Shape out = {1, Chance(30) ? Range(2, 3) : 1, Range(1, 12), width};
    const uint32_t table = AddSeeded({rows, width}, SLUICE_DTYPE_INT8);
    uint32_t indices;
    if (Chance(50)) {
      std::vector<int32_t> values;
      for (int32_t i = 0; i < out[1] * out[2]; ++i)
        values.push_back(Range(0, rows - 1));
      indices = Add(spec_.Inline({out[1] * out[2]}, SLUICE_DTYPE_INT32, values),
                    {1, 1, 1, out[1] * out[2]});
    } else {
      indices =
          Add({{out[1], out[2]}, SLUICE_DTYPE_INT32, 1, 0, 0}, {1, 1, out[1], out[2]});
    }
    const uint32_t result = AddActivation(out, SLUICE_DTYPE_INT8);
    AddLayer(SLUICE_OP_GATHER, {table, indices}, result, {});
  }

  void AddResize(uint32_t in) {
    if (!IsEightBit(in)) return;
    const Shape s = shapes_[in];
    const Shape out = {s[0], Range(1, 14), Range(1, 14), s[3]};
    if (!Fits(out)) return;
    const int32_t mode = Range(0, 2);
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(Chance(60) ? SLUICE_OP_RESIZE_BILINEAR : SLUICE_OP_RESIZE_NEAREST, {in},
             result, {mode == 1 ? 1 : 0, mode == 2 ? 1 : 0});
  }

  // Pads any axis, at times all of them.
  void AddWidePad(uint32_t in) {
    Shape out = shapes_[in];
    std::vector<int32_t> a(SLUICE_PAD_ATTRIBUTES);
    for (size_t axis = 0; axis < 4; ++axis) {
      if (Chance(50)) continue;
      a[axis] = Range(0, 2);
      out[axis] += a[axis] + Range(0, 2);
    }
    if (!Fits(out)) return;
    a[SLUICE_PAD_VALUE] = ZeroOf(Dtype(in));
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(SLUICE_OP_PAD, {in}, result, a);
  }

  // Appends `in` to a new state, of which a layer may have read the old contents.
  void AddAppend(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t axis = rng_.Below(4);
    Shape s = shapes_[in];
    const int32_t room = Range(0, 5);
    s[axis] += room;
    if (!Fits(s)) return;
    const uint32_t state =
        Add({std::vector<int32_t>(s.begin(), s.end()), Dtype(in), 4, 0, 0}, Shape(s));
    if (Chance(50)) AddRequantize(state);
    if (spec_.parameters.empty() || spec_.parameters[0].max > room || Chance(30)) {
      const int32_t low = Range(0, room);
      spec_.parameters.push_back({low, Range(low, room)});
    }
    // The first parameter is used again if its range fits.
    int32_t parameter = static_cast<int32_t>(spec_.parameters.size()) - 1;
    if (spec_.parameters[0].max <= room) parameter = 0;
    AddLayer(SLUICE_OP_STATE_APPEND, {state, in}, state,
             {static_cast<int32_t>(axis), parameter});
    activations_.push_back(state);
  }

  void AddOpaque(uint32_t in) {
    std::vector<uint32_t> inputs = {in};
    if (Chance(40)) inputs.push_back(Pick());
    std::vector<uint32_t> outputs;
    for (int32_t i = Range(1, 2); i > 0; --i) {
      const uint8_t dtype = EightBit();
      outputs.push_back(AddActivation(SmallShape(), dtype));
    }
    AddLayer(SLUICE_OP_OPAQUE, inputs, outputs[0], {Range(1, 5000), 0, -1});
    spec_.layers.back().outputs = outputs;
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_MOVES_H_
