// SPDX-License-Identifier: Apache-2.0
// The parts of random graphs: random tensors, shapes, zero points and windows.
//
// Input    a seed; limits of size
// Output   a GraphSpec that grows
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_TENSORS_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_TENSORS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "support/stream_builder.h"

namespace sluice_test {

struct RandomGraphLimits {
  uint32_t layers = 9;
  int64_t elements = 3000;  // of one tensor
  bool every_op = true;     // also the RareLayer ones
  bool opaque = false;      // also OPAQUE, which simulators cannot compute
  bool curves = true;       // also HARD_SWISH and PRELU
};

namespace random_parts {

using Shape = std::array<int32_t, 4>;

// One axis of a window.
struct WindowAxis {
  int32_t filter, stride, dilation, before, after, out;
};

// The graph so far. What adds a layer is a free function of its group's header.
struct RandomTensors {
  RandomTensors(uint64_t seed, RandomGraphLimits most) : rng(seed), limits(most) {}

  int32_t Range(int32_t low, int32_t high) {  // both included
    return low + static_cast<int32_t>(rng.Below(static_cast<uint32_t>(high - low + 1)));
  }
  bool Chance(uint32_t percent) { return rng.Below(100) < percent; }
  uint8_t EightBit() { return Chance(75) ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8; }

  Shape SmallShape() {
    for (;;) {
      Shape s = {Chance(25) ? Range(2, 3) : 1, Chance(15) ? 1 : Range(2, 12),
                 Chance(15) ? 1 : Range(2, 12), Chance(15) ? 1 : Range(2, 24)};
      if (Elements(s) <= limits.elements) return s;
    }
  }
  static int64_t Elements(const Shape& s) { return int64_t{s[0]} * s[1] * s[2] * s[3]; }
  bool Fits(const Shape& s) const {
    for (int32_t e : s) {
      if (e < 1) return false;
    }
    return Elements(s) <= limits.elements;
  }

  // Sometimes omits leading extents of 1: lower ranks are read alike.
  std::vector<int32_t> DimsOf(const Shape& s) {
    size_t first = 0;
    while (first < 3 && s[first] == 1 && Chance(30)) ++first;
    return std::vector<int32_t>(s.begin() + static_cast<long>(first), s.end());
  }
  uint32_t Add(TensorSpec tensor, const Shape& shape) {
    spec.tensors.push_back(std::move(tensor));
    shapes.push_back(shape);
    consumers.push_back(0);
    return static_cast<uint32_t>(spec.tensors.size() - 1);
  }
  uint32_t AddActivation(const Shape& shape, uint8_t dtype) {
    const uint32_t t = Add({DimsOf(shape), dtype, 0, 0, 0}, shape);
    activations.push_back(t);
    return t;
  }
  uint32_t AddInput(const Shape& shape, uint8_t dtype) {
    const uint32_t t = Add({DimsOf(shape), dtype, 1, 0, 0}, shape);
    activations.push_back(t);
    return t;
  }
  uint32_t AddSeeded(std::vector<int32_t> dims, uint8_t dtype) {
    return Add({std::move(dims), dtype, 3, 3, rng.Next() >> 8}, Shape{1, 1, 1, 1});
  }
  void AddLayer(uint16_t op, std::vector<uint32_t> inputs, uint32_t output,
                std::vector<int32_t> attributes) {
    for (uint32_t t : inputs) {
      if (t != SLUICE_NONE) ++consumers[t];
    }
    spec.layers.push_back({op, std::move(inputs), {output}, std::move(attributes)});
  }

  // Prefers new tensors, so that graphs become deep as well as wide.
  uint32_t Pick() {
    const uint32_t n = static_cast<uint32_t>(activations.size());
    const uint32_t a = rng.Below(n), b = rng.Below(n);
    return activations[Chance(60) ? std::max(a, b) : a];
  }
  uint8_t Dtype(uint32_t t) const { return spec.tensors[t].dtype; }
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

  // (bias, multiplier, shift) of channels, which scale sums of `terms` products to 8
  // bits.
  uint32_t AddParameters(int32_t channels, int64_t terms) {
    int32_t shift = -6;
    for (int64_t n = 1; n < terms; n *= 4) --shift;
    std::vector<int32_t> values;
    for (int32_t k = 0; k < channels; ++k) {
      values.push_back(Range(-3000, 3000));
      values.push_back(Multiplier());
      values.push_back(shift + Range(-1, 1));
    }
    return Add(spec.Inline({channels, 3}, SLUICE_DTYPE_INT32, values), {1, 1, 1, 1});
  }

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

  std::vector<int32_t> ConvAttributes(const WindowAxis& h, const WindowAxis& w,
                                      int32_t groups, int32_t zero, int32_t weight_zero,
                                      uint8_t dtype) {
    int32_t low, high;
    Limits(dtype, &low, &high);
    return {h.stride,    w.stride,      h.dilation, w.dilation, h.before,
            w.before,    h.after,       w.after,    groups,     zero,
            weight_zero, ZeroOf(dtype), low,        high};
  }

  sluice::Rng rng;
  RandomGraphLimits limits;
  GraphSpec spec;
  std::vector<Shape> shapes;  // per tensor; constants have no meaning here
  std::vector<uint32_t> consumers;
  std::vector<uint32_t> activations;
};

}  // namespace random_parts
}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_TENSORS_H_
