// SPDX-License-Identifier: Apache-2.0
// Small random graphs, by seed: same seed, same bytes, everywhere.
//
// Input    a seed; limits of size
// Output   GraphSpec and its flatbuffer; valid by construction
// Cost     microseconds; tensors stay below RandomGraphLimits::elements
// Every op occurs, as do several consumers, concats of concats, slices of slices,
// reshapes of slices, outputs that are read, states read in front of and behind their
// append, and inputs that are outputs but for their shape.
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "support/random_gradients.h"
#include "support/random_machine.h"
#include "support/stream_builder.h"

namespace sluice_test {

class RandomGraph : private RandomGradients {
 public:
  explicit RandomGraph(uint64_t seed, RandomGraphLimits limits = {})
      : RandomGradients(seed, limits) {}

  GraphSpec Make() {
    const uint32_t inputs = 1 + rng_.Below(3);
    for (uint32_t i = 0; i < inputs; ++i) {
      const uint8_t dtype = EightBit();
      AddInput(SmallShape(), dtype);
    }
    const uint32_t layers = 1 + rng_.Below(limits_.layers);
    for (int tries = 0; tries < 200 && spec_.layers.size() < layers; ++tries) {
      AddSomeLayer();
    }
    // A reshape always works.
    if (spec_.layers.empty()) AddReshape(0);
    MarkOutputs();
    return spec_;
  }

 private:
  void AddConv(uint32_t in, bool depthwise) {
    const Shape s = shapes_[in];
    WindowAxis h, w;
    if (!IsEightBit(in) || !RandomWindow(s[1], true, &h) ||
        !RandomWindow(s[2], true, &w)) {
      return;
    }
    int32_t groups = 1, channels = Range(1, 20);
    if (depthwise) {
      channels = s[3] * (Chance(70) ? 1 : Range(2, 3));
      groups = 0;
    } else if (Chance(25)) {
      for (int32_t g = Range(2, 4); g > 1; --g) {
        if (s[3] % g == 0) {
          groups = g;
          channels = g * Range(1, 5);
          break;
        }
      }
    }
    const Shape out = {s[0], h.out, w.out, channels};
    if (!Fits(out)) return;
    const int32_t c = depthwise ? 1 : s[3] / groups;
    const uint8_t weight_dtype = EightBit(), out_dtype = EightBit();
    const uint32_t weight =
        AddSeeded(depthwise ? std::vector<int32_t>{1, h.filter, w.filter, channels}
                            : std::vector<int32_t>{channels, h.filter, w.filter, c},
                  weight_dtype);
    const uint32_t parameters =
        AddParameters(channels, int64_t{c} * h.filter * w.filter);
    const int32_t zero = ZeroOf(Dtype(in));
    const int32_t weight_zero =
        weight_dtype == SLUICE_DTYPE_UINT8 ? ZeroOf(weight_dtype) : 0;
    const std::vector<int32_t> attributes =
        ConvAttributes(h, w, groups, zero, weight_zero, out_dtype);
    const uint32_t result = AddActivation(out, out_dtype);
    AddLayer(depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
             {in, weight, parameters}, result, attributes);
  }

  void AddFullyConnected(uint32_t in) {
    const Shape s = shapes_[in];
    if (!IsEightBit(in)) return;
    const int32_t channels = Range(1, 40);
    const Shape out = {s[0], s[1], s[2], channels};
    if (!Fits(out)) return;
    const uint32_t weight = AddSeeded({channels, s[3]}, SLUICE_DTYPE_INT8);
    const uint32_t parameters = AddParameters(channels, s[3]);
    const uint8_t dtype = EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
    a[SLUICE_CONV_INPUT_ZERO] = ZeroOf(Dtype(in));
    a[SLUICE_CONV_OUTPUT_ZERO] = ZeroOf(dtype);
    a[SLUICE_CONV_ACT_MIN] = low;
    a[SLUICE_CONV_ACT_MAX] = high;
    a[SLUICE_CONV_ROUNDING] = Chance(50) ? 1 : 0;
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_FULLY_CONNECTED, {in, weight, parameters}, result, a);
  }

  void AddMatmul(uint32_t a) {
    const Shape s = shapes_[a];
    if (!IsEightBit(a)) return;
    const bool transposed = Chance(50);
    uint32_t b = a;  // a times its own transpose
    if (!transposed || Chance(50)) {
      const int32_t k = Range(1, 12);
      const Shape want =
          transposed ? Shape{s[0], s[1], k, s[3]} : Shape{s[0], s[1], s[3], k};
      if (!Fits(want)) return;
      b = SLUICE_NONE;
      for (uint32_t t : activations_) {
        const Shape& o = shapes_[t];
        if (IsEightBit(t) && o[0] == s[0] && o[1] == s[1] &&
            o[transposed ? 3 : 2] == s[3]) {
          b = t;
        }
      }
      if (b == SLUICE_NONE) b = AddInput(want, EightBit());
    }
    const Shape out = {s[0], s[1], s[2], shapes_[b][transposed ? 2 : 3]};
    if (!Fits(out)) return;
    const uint8_t dtype = EightBit();
    int32_t low, high, shift = -6;
    for (int64_t n = 1; n < s[3]; n *= 4) --shift;
    Limits(dtype, &low, &high);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_BATCH_MATMUL, {a, b}, result,
             {transposed ? 1 : 0, ZeroOf(Dtype(a)), ZeroOf(Dtype(b)), ZeroOf(dtype),
              Multiplier(), shift, low, high});
  }

  void AddPool(uint32_t in) {
    const Shape s = shapes_[in];
    WindowAxis h, w;
    if (!IsEightBit(in) || !RandomWindow(s[1], false, &h) ||
        !RandomWindow(s[2], false, &w)) {
      return;
    }
    const Shape out = {s[0], h.out, w.out, s[3]};
    if (!Fits(out)) return;
    int32_t low, high;
    Limits(Dtype(in), &low, &high);
    const uint32_t result = AddActivation(out, Dtype(in));
    AddLayer(Chance(50) ? SLUICE_OP_MAX_POOL : SLUICE_OP_AVERAGE_POOL, {in}, result,
             {h.filter, w.filter, h.stride, w.stride, h.before, w.before, h.after,
              w.after, low, high});
  }

  void AddBinary(uint32_t in) {
    const Shape s = shapes_[in];
    if (!IsEightBit(in)) return;
    // A tensor that broadcasts with it, or a new one.
    uint32_t other = SLUICE_NONE;
    if (Chance(60)) {
      for (uint32_t t : activations_) {
        bool agrees = Dtype(t) == Dtype(in);
        for (size_t a = 0; a < 4; ++a) {
          agrees = agrees && (shapes_[t][a] == s[a] || shapes_[t][a] == 1 || s[a] == 1);
        }
        if (agrees && (other == SLUICE_NONE || Chance(40))) other = t;
      }
    }
    if (other == SLUICE_NONE) {
      Shape o = s;
      for (int32_t& e : o) {
        if (Chance(25)) e = 1;
      }
      other = Chance(50)
                  ? AddInput(o, Dtype(in))
                  : AddSeeded(std::vector<int32_t>(o.begin(), o.end()), Dtype(in));
      shapes_[other] = o;
    }
    Shape out;
    for (size_t a = 0; a < 4; ++a) out[a] = std::max(s[a], shapes_[other][a]);
    if (!Fits(out)) return;
    static const uint16_t kOps[] = {SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL,
                                    SLUICE_OP_MINIMUM, SLUICE_OP_MAXIMUM};
    const uint16_t op = kOps[rng_.Below(5)];
    const bool plain = op == SLUICE_OP_MINIMUM || op == SLUICE_OP_MAXIMUM;
    const uint8_t dtype = plain ? Dtype(in) : EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    std::vector<int32_t> attributes;
    if (!plain) {
      attributes = {20,
                    ZeroOf(Dtype(in)),
                    Multiplier(),
                    -1,
                    ZeroOf(Dtype(other)),
                    Multiplier(),
                    -1,
                    ZeroOf(dtype),
                    Multiplier(),
                    op == SLUICE_OP_MUL ? -6 : -18,
                    low,
                    high};
    }
    std::vector<uint32_t> inputs = {in, other};
    if (Chance(50)) std::swap(inputs[0], inputs[1]);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(op, inputs, result, attributes);
  }

  void AddRequantize(uint32_t in) {
    if (Dtype(in) == SLUICE_DTYPE_INT64 || Dtype(in) == SLUICE_DTYPE_INT32) return;
    static const uint8_t kTypes[] = {SLUICE_DTYPE_INT8, SLUICE_DTYPE_UINT8,
                                     SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT16};
    const uint8_t dtype = kTypes[rng_.Below(4)];
    int32_t low, high;
    Limits(dtype, &low, &high);
    const int32_t shift = (dtype == SLUICE_DTYPE_INT16 ? 7 : 0) -
                          (Dtype(in) == SLUICE_DTYPE_INT16 ? 7 : 0);
    const uint32_t result = AddActivation(shapes_[in], dtype);
    AddLayer(SLUICE_OP_REQUANTIZE, {in}, result,
             {ZeroOf(Dtype(in)), Multiplier(), shift + Range(0, 1), ZeroOf(dtype), low,
              high});
  }

  void AddLookup(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t table = AddSeeded({256}, SLUICE_DTYPE_INT8);
    const uint32_t result = AddActivation(shapes_[in], SLUICE_DTYPE_INT8);
    AddLayer(SLUICE_OP_LOOKUP, {in, table}, result, {});
  }

  void AddHardSwish(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t result = AddActivation(shapes_[in], Dtype(in));
    AddLayer(SLUICE_OP_HARD_SWISH, {in}, result,
             {ZeroOf(Dtype(in)), ZeroOf(Dtype(in)), Range(1 << 14, INT16_MAX),
              Range(-8, -4), Range(1 << 14, INT16_MAX), Range(-3, 5)});
  }

  // Slopes of elements, channels, columns, or what else broadcasts; constant or not.
  void AddPrelu(uint32_t in) {
    if (!IsEightBit(in)) return;
    Shape slopes = shapes_[in];
    for (int32_t& extent : slopes) {
      if (Chance(50)) extent = 1;
    }
    const uint8_t dtype = EightBit(), out = EightBit();
    const uint32_t by =
        Chance(70)
            ? AddSeeded(std::vector<int32_t>(slopes.begin(), slopes.end()), dtype)
            : AddInput(slopes, dtype);
    int32_t low, high;
    Limits(out, &low, &high);
    const uint32_t result = AddActivation(shapes_[in], out);
    AddLayer(SLUICE_OP_PRELU, {in, by}, result,
             {ZeroOf(Dtype(in)), ZeroOf(dtype), ZeroOf(out), Multiplier(), Range(-1, 1),
              Multiplier(), Range(-8, -5), low, high});
  }

  void AddSoftmax(uint32_t in) {
    if (!IsEightBit(in)) return;
    std::vector<uint32_t> inputs = {in};
    if (Chance(50)) {
      Shape m = shapes_[in];
      for (size_t a = 0; a < 3; ++a) {
        if (Chance(40)) m[a] = 1;
      }
      const std::vector<int32_t> dims(m.begin(), m.end());
      if (Chance(70)) {
        std::vector<uint8_t> bits(static_cast<size_t>(Elements(m)));
        for (uint8_t& b : bits) b = Chance(70) ? 1 : 0;
        inputs.push_back(Add(spec_.Inline(dims, SLUICE_DTYPE_UINT8, bits), m));
      } else {
        inputs.push_back(AddInput(m, SLUICE_DTYPE_UINT8));
      }
    }
    const int32_t shift = Range(21, 24);
    const uint32_t result = AddActivation(shapes_[in], Dtype(in));
    AddLayer(SLUICE_OP_SOFTMAX, inputs, result,
             {Multiplier(), shift, -(31 << (26 - shift))});
  }

  void AddReduce(uint32_t in) {
    if (!IsEightBit(in)) return;
    const int32_t axes = Range(1, 15);
    Shape out = shapes_[in];
    int64_t n = 1;
    for (size_t a = 0; a < 4; ++a) {
      if ((axes >> a & 1) != 0) {
        n *= out[a];
        out[a] = 1;
      }
    }
    const bool max = Chance(40);
    const uint8_t dtype = max ? Dtype(in) : EightBit();
    int32_t low, high, shift = 1;
    for (int64_t i = 1; i < n; i *= 4) --shift;
    Limits(dtype, &low, &high);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_REDUCE, {in}, result,
             {axes, max ? SLUICE_REDUCE_KIND_MAX : SLUICE_REDUCE_KIND_SUM,
              ZeroOf(Dtype(in)), ZeroOf(dtype), Multiplier(), shift, low, high});
  }

  void AddArgmax(uint32_t in) {
    if (!IsEightBit(in)) return;
    Shape out = shapes_[in];
    out[3] = 1;
    const uint32_t result =
        AddActivation(out, Chance(50) ? SLUICE_DTYPE_INT32 : SLUICE_DTYPE_INT64);
    AddLayer(SLUICE_OP_ARGMAX, {in}, result, {});
  }

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
    // A convolution with the same zero point takes the pads over.
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

  // Any axis, all of them at times.
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

  void AddNorm(uint32_t in) {
    if (!IsEightBit(in)) return;
    const int32_t channels = shapes_[in][3];
    std::vector<int32_t> values;
    for (int32_t c = 0; c < channels; ++c) {
      values.push_back(Range(-2000, 2000));
      values.push_back(Multiplier());
      values.push_back(Range(-8, -6));
    }
    const uint32_t parameters =
        Add(spec_.Inline({channels, 3}, SLUICE_DTYPE_INT32, values), {1, 1, 1, 1});
    const uint8_t dtype = EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    const std::vector<int32_t> attributes = {ZeroOf(Dtype(in)), Range(0, 1000),
                                             ZeroOf(dtype), low, high};
    const uint32_t result = AddActivation(shapes_[in], dtype);
    AddLayer(Chance(50) ? SLUICE_OP_LAYER_NORM : SLUICE_OP_RMS_NORM, {in, parameters},
             result, attributes);
  }

  // A state that takes `in` as its new rows, with a reader of what it held before.
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
    // The first parameter is shared where it fits.
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

  void AddRareLayer(uint32_t in) {
    switch (rng_.Below(limits_.opaque ? 13 : 9)) {
      case 5:
      case 6:
        return AddWeightGradient(in);
      case 7:
        return AddReluGradient(in);
      case 8:
        return AddMaxPoolGradient(in);
      case 0:
        return AddTransposedConv(in);
      case 1:
        return AddWidePad(in);
      case 2:
        return AddNorm(in);
      case 3:
      case 4:
        return AddAppend(in);
      default:
        return AddOpaque(in);
    }
  }

  void AddSomeLayer() {
    const uint32_t in = Pick();
    if (limits_.curves && Chance(8))
      return Chance(50) ? AddHardSwish(in) : AddPrelu(in);
    if (limits_.every_op && Chance(25)) return AddRareLayer(in);
    switch (rng_.Below(21)) {
      case 0:
      case 1:
      case 2:
        return AddConv(in, false);
      case 3:
        return AddConv(in, true);
      case 4:
        return AddFullyConnected(in);
      case 5:
        return AddMatmul(in);
      case 6:
        return AddPool(in);
      case 7:
      case 8:
        return AddBinary(in);
      case 9:
        return AddRequantize(in);
      case 10:
        return AddLookup(in);
      case 11:
        return AddSoftmax(in);
      case 12:
        return AddReduce(in);
      case 13:
        return AddArgmax(in);
      case 14:
      case 15:
        return AddConcat(in);
      case 16:
        return AddSlice(in);
      case 17:
        return AddPad(in);
      case 18:
        return Chance(70) ? AddReshape(in) : AddGather();
      case 19:
        return AddTranspose(in);
      default:
        return AddResize(in);
    }
  }

  // What nobody reads is an output; so are some tensors that are read.
  void MarkOutputs() {
    for (const LayerSpec& layer : spec_.layers) {
      for (uint32_t t : layer.outputs) {
        if (spec_.tensors[t].kind != 0) continue;
        if (consumers_[t] == 0 || Chance(15)) spec_.tensors[t].kind = 2;
      }
    }
    // A graph of states alone gets an output.
    for (const TensorSpec& t : spec_.tensors) {
      if (t.kind == 2) return;
    }
    AddReshape(activations_[0]);
    spec_.tensors.back().kind = 2;
  }
};

inline GraphSpec MakeRandomGraph(uint64_t seed, RandomGraphLimits limits = {}) {
  return RandomGraph(seed, limits).Make();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
