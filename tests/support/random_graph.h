// SPDX-License-Identifier: Apache-2.0
// Small random graphs and machines, by seed: same seed, same bytes, everywhere.
//
// Input    a seed; limits of size
// Output   GraphSpec / MachineSpec and their flatbuffers; valid by construction
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
#include "support/stream_builder.h"

namespace sluice_test {

struct RandomGraphLimits {
  uint32_t layers = 9;
  int64_t elements = 3000;  // of one tensor
  bool every_op = true;     // also the RareLayer ones
  bool opaque = false;      // also OPAQUE, which simulators cannot compute
};

class RandomGraph {
 public:
  using Shape = std::array<int32_t, 4>;

  explicit RandomGraph(uint64_t seed, RandomGraphLimits limits = {})
      : rng_(seed), limits_(limits) {}

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
  int32_t Range(int32_t low, int32_t high) {  // both included
    return low +
           static_cast<int32_t>(rng_.Below(static_cast<uint32_t>(high - low + 1)));
  }
  bool Chance(uint32_t percent) { return rng_.Below(100) < percent; }
  uint8_t EightBit() { return Chance(75) ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8; }

  Shape SmallShape() {
    for (;;) {
      Shape s = {Chance(25) ? Range(2, 3) : 1, Chance(15) ? 1 : Range(2, 12),
                 Chance(15) ? 1 : Range(2, 12), Chance(15) ? 1 : Range(2, 24)};
      if (Elements(s) <= limits_.elements) return s;
    }
  }
  static int64_t Elements(const Shape& s) { return int64_t{s[0]} * s[1] * s[2] * s[3]; }
  bool Fits(const Shape& s) const {
    for (int32_t e : s) {
      if (e < 1) return false;
    }
    return Elements(s) <= limits_.elements;
  }

  // Leading ones are left out sometimes: lower ranks are read alike.
  std::vector<int32_t> DimsOf(const Shape& s) {
    size_t first = 0;
    while (first < 3 && s[first] == 1 && Chance(30)) ++first;
    return std::vector<int32_t>(s.begin() + static_cast<long>(first), s.end());
  }
  uint32_t Add(TensorSpec tensor, const Shape& shape) {
    spec_.tensors.push_back(std::move(tensor));
    shapes_.push_back(shape);
    consumers_.push_back(0);
    return static_cast<uint32_t>(spec_.tensors.size() - 1);
  }
  uint32_t AddActivation(const Shape& shape, uint8_t dtype) {
    const uint32_t t = Add({DimsOf(shape), dtype, 0, 0, 0}, shape);
    activations_.push_back(t);
    return t;
  }
  uint32_t AddInput(const Shape& shape, uint8_t dtype) {
    const uint32_t t = Add({DimsOf(shape), dtype, 1, 0, 0}, shape);
    activations_.push_back(t);
    return t;
  }
  uint32_t AddSeeded(std::vector<int32_t> dims, uint8_t dtype) {
    return Add({std::move(dims), dtype, 3, 3, rng_.Next() >> 8}, Shape{1, 1, 1, 1});
  }
  void AddLayer(uint16_t op, std::vector<uint32_t> inputs, uint32_t output,
                std::vector<int32_t> attributes) {
    for (uint32_t t : inputs) {
      if (t != SLUICE_NONE) ++consumers_[t];
    }
    spec_.layers.push_back({op, std::move(inputs), {output}, std::move(attributes)});
  }

  // New tensors are liked better, so that graphs become deep as well as wide.
  uint32_t Pick() {
    const uint32_t n = static_cast<uint32_t>(activations_.size());
    const uint32_t a = rng_.Below(n), b = rng_.Below(n);
    return activations_[Chance(60) ? std::max(a, b) : a];
  }
  uint8_t Dtype(uint32_t t) const { return spec_.tensors[t].dtype; }
  bool IsEightBit(uint32_t t) const {
    return Dtype(t) == SLUICE_DTYPE_INT8 || Dtype(t) == SLUICE_DTYPE_UINT8;
  }
  int32_t ZeroOf(uint8_t dtype) {
    if (dtype == SLUICE_DTYPE_INT8) return Range(-20, 20);
    return dtype == SLUICE_DTYPE_UINT8 ? Range(100, 150) : 0;
  }
  static void Limits(uint8_t dtype, int32_t* low, int32_t* high) {
    *low = dtype == SLUICE_DTYPE_UINT8   ? 0
           : dtype == SLUICE_DTYPE_INT8  ? -128
           : dtype == SLUICE_DTYPE_INT16 ? -32768
                                         : INT32_MIN;
    *high = dtype == SLUICE_DTYPE_UINT8   ? 255
            : dtype == SLUICE_DTYPE_INT8  ? 127
            : dtype == SLUICE_DTYPE_INT16 ? 32767
                                          : INT32_MAX;
  }
  int32_t Multiplier() { return Range(1 << 30, INT32_MAX); }

  // (bias, multiplier, shift) that bring sums of `terms` products into eight bits.
  uint32_t AddParameters(int32_t channels, int64_t terms) {
    int32_t shift = -6;
    for (int64_t n = 1; n < terms; n *= 4) --shift;
    std::vector<int32_t> values;
    for (int32_t k = 0; k < channels; ++k) {
      values.push_back(Range(-3000, 3000));
      values.push_back(Multiplier());
      values.push_back(shift + Range(-1, 1));
    }
    return Add(spec_.Inline({channels, 3}, SLUICE_DTYPE_INT32, values), {1, 1, 1, 1});
  }

  struct WindowAxis {
    int32_t filter, stride, dilation, before, after, out;
  };
  bool RandomWindow(int32_t in, bool dilate, WindowAxis* w) {
    w->filter = Range(1, 4);
    w->stride = Chance(60) ? 1 : Range(2, 4);
    w->dilation = dilate && Chance(20) ? 2 : 1;
    const int32_t window = (w->filter - 1) * w->dilation + 1;
    w->before = Chance(50) ? Range(0, window - 1) : 0;
    w->after = Chance(50) ? Range(0, window - 1) : 0;
    const int32_t room = in + w->before + w->after - window;
    if (room < 0) return false;
    w->out = room / w->stride + 1;
    return true;
  }

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
    int32_t low, high;
    Limits(out_dtype, &low, &high);
    const std::vector<int32_t> attributes = {
        h.stride,
        w.stride,
        h.dilation,
        w.dilation,
        h.before,
        w.before,
        h.after,
        w.after,
        groups,
        ZeroOf(Dtype(in)),
        weight_dtype == SLUICE_DTYPE_UINT8 ? ZeroOf(weight_dtype) : 0,
        ZeroOf(out_dtype),
        low,
        high};
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

  void AddTransposedConv(uint32_t in) {
    const Shape s = shapes_[in];
    if (!IsEightBit(in)) return;
    const int32_t channels = Range(1, 12);
    Shape out = {s[0], 0, 0, channels};
    int32_t filter[2], stride[2], before[2], after[2];
    for (size_t i = 0; i < 2; ++i) {
      filter[i] = Range(1, 4);
      stride[i] = Range(1, 3);
      before[i] = Chance(50) ? Range(0, filter[i] - 1) : 0;
      after[i] = Chance(50) ? Range(0, filter[i] - 1) : 0;
      out[1 + i] = (s[1 + i] - 1) * stride[i] + filter[i] - before[i] - after[i] +
                   (Chance(40) ? Range(0, stride[i] - 1) : 0);
    }
    if (!Fits(out)) return;
    const uint8_t dtype = EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    const uint32_t weight =
        AddSeeded({channels, filter[0], filter[1], s[3]}, SLUICE_DTYPE_INT8);
    const uint32_t parameters =
        AddParameters(channels, int64_t{s[3]} * filter[0] * filter[1]);
    const std::vector<int32_t> attributes = {
        stride[0], stride[1],     1,        1,   before[0],
        before[1], after[0],      after[1], 0,   ZeroOf(Dtype(in)),
        0,         ZeroOf(dtype), low,      high};
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_TRANSPOSED_CONV, {in, weight, parameters}, result, attributes);
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
    switch (rng_.Below(limits_.opaque ? 6 : 5)) {
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

  sluice::Rng rng_;
  RandomGraphLimits limits_;
  GraphSpec spec_;
  std::vector<Shape> shapes_;  // per tensor; constants have no meaning here
  std::vector<uint32_t> consumers_;
  std::vector<uint32_t> activations_;
};

inline GraphSpec MakeRandomGraph(uint64_t seed, RandomGraphLimits limits = {}) {
  return RandomGraph(seed, limits).Make();
}

// HardwareSpec and what schedulers look at besides.
struct MachineSpec {
  HardwareSpec base;
  uint32_t array_k = 0, array_c = 0;
  uint32_t dram_granule_bytes = 1;
  uint64_t dram_bytes = 0;  // 0 = unbounded
  double mac_pj = 0.2, vector_op_pj = 0.1, leakage_pj = 0;
  double gbuf_pj = 0.1, dram_pj = 10;  // per bit
};

inline MachineSpec MakeRandomMachine(uint64_t seed) {
  sluice::Rng rng(seed ^ 0x6d61636821u);
  const auto one_of = [&](uint32_t logs) { return 1u << rng.Below(logs); };
  MachineSpec m;
  m.base.scratchpad_bytes = 8u << rng.Below(13);
  m.base.scratchpad_bytes += rng.Below(64);
  m.base.alignment_bytes = one_of(7);
  m.base.dram_numerator = 1 + rng.Below(64);
  m.base.dram_denominator = 1 + rng.Below(7);
  m.base.dma_latency_cycles = rng.Below(3) == 0 ? 0 : rng.Below(200);
  m.base.macs_per_cycle = 1 + rng.Below(512);
  m.base.vector_ops_per_cycle = 1 + rng.Below(64);
  if (rng.Below(2) == 0) {
    m.array_k = 1 + rng.Below(32);
    m.array_c = 1 + rng.Below(32);
  }
  m.dram_granule_bytes = rng.Below(2) == 0 ? 1 : one_of(7);
  m.leakage_pj = rng.Below(3);
  m.mac_pj = 0.1 * rng.Below(10);
  m.gbuf_pj = 0.01 * rng.Below(30);
  m.dram_pj = 0.5 * rng.Below(30);
  return m;
}

inline Bytes MachineBytes(const MachineSpec& m) {
  ::flatbuffers::FlatBufferBuilder b;
  sluice::wire::LevelBuilder gbuf(b);
  gbuf.add_capacity_bytes(m.base.scratchpad_bytes);
  gbuf.add_alignment_bytes(m.base.alignment_bytes);
  gbuf.add_read_pj_per_bit(m.gbuf_pj);
  gbuf.add_write_pj_per_bit(m.gbuf_pj);
  const auto level0 = gbuf.Finish();
  sluice::wire::LevelBuilder dram(b);
  dram.add_capacity_bytes(m.dram_bytes);
  dram.add_read_pj_per_bit(m.dram_pj);
  dram.add_write_pj_per_bit(m.dram_pj);
  dram.add_bytes_per_cycle_numerator(m.base.dram_numerator);
  dram.add_bytes_per_cycle_denominator(m.base.dram_denominator);
  const auto level1 = dram.Finish();
  const auto levels = b.CreateVector(
      std::vector<::flatbuffers::Offset<sluice::wire::Level>>{level0, level1});
  sluice::wire::HardwareBuilder h(b);
  h.add_levels(levels);
  h.add_macs_per_cycle(m.base.macs_per_cycle);
  h.add_mac_pj(m.mac_pj);
  h.add_vector_ops_per_cycle(m.base.vector_ops_per_cycle);
  h.add_vector_op_pj(m.vector_op_pj);
  h.add_leakage_pj_per_cycle(m.leakage_pj);
  h.add_array_k(m.array_k);
  h.add_array_c(m.array_c);
  h.add_dma_latency_cycles(m.base.dma_latency_cycles);
  h.add_dram_granule_bytes(m.dram_granule_bytes);
  b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
  return Finished(b);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
