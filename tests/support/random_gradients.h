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

class RandomGradients : protected RandomTensors {
 protected:
  using RandomTensors::RandomTensors;

  // An activation with this shape and dtype as an error, or a new input.
  uint32_t Error(const Shape& shape, uint8_t dtype) {
    for (uint32_t t : activations_) {
      if (shapes_[t] == shape && Dtype(t) == dtype && Chance(60)) return t;
    }
    return AddInput(shape, dtype);
  }

  void AddWeightGradient(uint32_t in) {
    const Shape s = shapes_[in];
    WindowAxis h, w;
    if (!IsEightBit(in) || !RandomWindow(s[1], true, &h) ||
        !RandomWindow(s[2], true, &w)) {
      return;
    }
    int32_t groups = 1, channels = Range(1, 12);
    if (Chance(40)) {
      for (int32_t g = Chance(50) ? s[3] : Range(2, 4); g > 1; --g) {
        if (s[3] % g != 0) continue;
        groups = g;
        channels = g * Range(1, 2);
        break;
      }
    }
    const Shape error = {s[0], h.out, w.out, channels};
    const Shape out = {channels, h.filter, w.filter, s[3] / groups};
    if (!Fits(out) || !Fits(error)) return;
    const uint32_t e = Error(error, EightBit());
    const uint8_t dtype = EightBit();
    // Drawn one after the other: arguments of a call have no order.
    const int32_t zero = ZeroOf(Dtype(in)), error_zero = ZeroOf(Dtype(e));
    std::vector<int32_t> a = ConvAttributes(h, w, groups, zero, error_zero, dtype);
    int32_t shift = -6;
    for (int64_t n = 1; n < int64_t{s[0]} * h.out * w.out; n *= 4) --shift;
    a.push_back(Multiplier());
    a.push_back(shift);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_WEIGHT_GRADIENT, {in, e}, result, a);
  }

  void AddReluGradient(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t e = Error(shapes_[in], EightBit());
    const uint8_t dtype = EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    const uint32_t result = AddActivation(shapes_[in], dtype);
    AddLayer(SLUICE_OP_RELU_GRADIENT, {e, in}, result,
             {0, ZeroOf(Dtype(e)), 0, 0, ZeroOf(Dtype(in)), 0, 0, ZeroOf(dtype),
              Multiplier(), 1, low, high});
  }

  void AddMaxPoolGradient(uint32_t in) {
    const Shape s = shapes_[in];
    WindowAxis h, w;
    if (!IsEightBit(in) || !RandomWindow(s[1], false, &h) ||
        !RandomWindow(s[2], false, &w)) {
      return;
    }
    const Shape error = {s[0], h.out, w.out, s[3]};
    if (!Fits(error)) return;
    const uint32_t e = Error(error, EightBit());
    int32_t low, high;
    Limits(Dtype(e), &low, &high);
    const uint32_t result = AddActivation(s, Dtype(e));
    AddLayer(SLUICE_OP_MAX_POOL_GRADIENT, {e, in}, result,
             {h.filter, w.filter, h.stride, w.stride, h.before, w.before, h.after,
              w.after, low, high, ZeroOf(Dtype(e))});
  }

  void AddTransposedConv(uint32_t in) {
    const Shape s = shapes_[in];
    if (!IsEightBit(in)) return;
    const int32_t layout = Chance(50) ? 0 : Range(1, 2);
    const bool depthwise = layout == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
    const int32_t channels = depthwise ? s[3] : Range(1, 12);
    Shape out = {s[0], 0, 0, channels};
    WindowAxis window[2];
    for (size_t i = 0; i < 2; ++i) {
      WindowAxis& w = window[i];
      w.filter = Range(1, 4);
      w.stride = Range(1, 3);
      w.dilation = 1;
      w.before = Chance(50) ? Range(0, w.filter - 1) : 0;
      w.after = Chance(50) ? Range(0, w.filter - 1) : 0;
      out[1 + i] = (s[1 + i] - 1) * w.stride + w.filter - w.before - w.after +
                   (Chance(40) ? Range(0, w.stride - 1) : 0);
    }
    if (!Fits(out)) return;
    const uint8_t dtype = EightBit();
    const int32_t r = window[0].filter, t = window[1].filter;
    std::vector<int32_t> dims = {channels, r, t, s[3]};
    if (layout == SLUICE_WEIGHT_LAYOUT_CONV) dims = {s[3], r, t, channels};
    if (depthwise) dims = {1, r, t, channels};
    const uint32_t weight = AddSeeded(dims, SLUICE_DTYPE_INT8);
    const uint32_t parameters =
        AddParameters(channels, int64_t{depthwise ? 1 : s[3]} * r * t);
    std::vector<int32_t> attributes =
        ConvAttributes(window[0], window[1], 0, ZeroOf(Dtype(in)), 0, dtype);
    attributes.resize(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
    attributes[SLUICE_CONV_WEIGHT_LAYOUT] = layout;
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_TRANSPOSED_CONV, {in, weight, parameters}, result, attributes);
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRADIENTS_H_
