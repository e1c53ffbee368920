// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: ADD, SUB, MUL, MINIMUM, MAXIMUM, RELU_GRADIENT, REQUANTIZE,
// HARD_SWISH, PRELU, LOOKUP.
#include <algorithm>

#include "kernels.h"

namespace sluice_sim {
namespace {

// Calls f(output pointer, n, h, w, c) for every element of the output.
template <typename F>
void ForEach(const Tile& t, F&& f) {
  const Box& out = t.output;
  ForEachElement(out.extent, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
    f(out.at(n, h, w, c), n, h, w, c);
  });
}

// The box with stride 0 along the axes that are broadcast.
Box Broadcast(Box box) {
  for (int a = 0; a < 4; ++a) {
    if (box.extent[a] == 1) box.stride[a] = 0;
  }
  return box;
}

// Sets each output element to f(element of input 0, element of input 1).
template <typename F>
void Combine(const Tile& t, F&& f) {
  const Box a = Broadcast(t.input0), b = Broadcast(t.input1);
  ForEach(t, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    Write(t.output.dtype, p, f(Read(a, n, h, w, c), Read(b, n, h, w, c)));
  });
}

// The last step of ADD, SUB, MUL and RELU_GRADIENT: requantises and clamps.
int64_t Finished(const Tile& t, int32_t raw) {
  const int64_t scaled =
      Scale(raw, t.A(SLUICE_BINARY_OUT_MULTIPLIER), t.A(SLUICE_BINARY_OUT_SHIFT));
  return Clamp(scaled + t.A(SLUICE_BINARY_OUTPUT_ZERO), t.A(SLUICE_BINARY_ACT_MIN),
               t.A(SLUICE_BINARY_ACT_MAX));
}

// The sum if `sign` is 1, the difference if it is -1.
void RunSum(const Tile& t, int64_t sign) {
  const int left = t.A(SLUICE_BINARY_LEFT_SHIFT);
  Combine(t, [&](int64_t a, int64_t b) {
    const int32_t x = Wrap32(a - t.A(SLUICE_BINARY_ZERO0));
    const int32_t y = Wrap32(b - t.A(SLUICE_BINARY_ZERO1));
    const int64_t u = Scale(ShiftLeftWrap(x, left), t.A(SLUICE_BINARY_MULTIPLIER0),
                            t.A(SLUICE_BINARY_SHIFT0));
    const int64_t v = Scale(ShiftLeftWrap(y, left), t.A(SLUICE_BINARY_MULTIPLIER1),
                            t.A(SLUICE_BINARY_SHIFT1));
    return Finished(t, Wrap32(u + sign * v));
  });
}

}  // namespace

void RunAdd(const Tile& t) { RunSum(t, 1); }
void RunSub(const Tile& t) { RunSum(t, -1); }

void RunMul(const Tile& t) {
  Combine(t, [&](int64_t a, int64_t b) {
    const int32_t x = Wrap32(a - t.A(SLUICE_BINARY_ZERO0));
    const int32_t y = Wrap32(b - t.A(SLUICE_BINARY_ZERO1));
    return Finished(t, Wrap32(int64_t{x} * y));
  });
}

void RunMinimum(const Tile& t) {
  Combine(t, [](int64_t a, int64_t b) { return std::min(a, b); });
}

void RunMaximum(const Tile& t) {
  Combine(t, [](int64_t a, int64_t b) { return std::max(a, b); });
}

void RunReluGradient(const Tile& t) {
  Combine(t, [&](int64_t error, int64_t output) {
    return output > t.A(SLUICE_BINARY_ZERO1)
               ? Finished(t, Wrap32(error - t.A(SLUICE_BINARY_ZERO0)))
               : int64_t{t.A(SLUICE_BINARY_OUTPUT_ZERO)};
  });
}

void RunRequantize(const Tile& t) {
  ForEach(t, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    const int32_t x =
        Wrap32(Read(t.input0, n, h, w, c) - t.A(SLUICE_REQUANTIZE_INPUT_ZERO));
    const int64_t y =
        Scale(x, t.A(SLUICE_REQUANTIZE_MULTIPLIER), t.A(SLUICE_REQUANTIZE_SHIFT));
    Write(t.output.dtype, p,
          Clamp(y + t.A(SLUICE_REQUANTIZE_OUTPUT_ZERO), t.A(SLUICE_REQUANTIZE_ACT_MIN),
                t.A(SLUICE_REQUANTIZE_ACT_MAX)));
  });
}

namespace {

// HARD_SWISH's gate in units of 2^-15, for an input in units of 2^-7.
int32_t GateOf(const Tile& t, int16_t input) {
  const int16_t multiplier =
      static_cast<int16_t>(t.A(SLUICE_HARD_SWISH_GATE_MULTIPLIER));
  const int shift = t.A(SLUICE_HARD_SWISH_GATE_SHIFT);
  int16_t r = input;
  if (shift > 0) r = Saturate16(r * (int64_t{1} << (shift - 1)));
  r = HighMultiply16(r, multiplier);
  if (shift > 0) r = Saturate16(int64_t{r} * 2);
  if (shift < 0) r = static_cast<int16_t>(RoundingShiftRight(r, -shift));
  return (r + (1 << 15)) >> 1;
}

}  // namespace

void RunHardSwish(const Tile& t) {
  const int16_t multiplier = static_cast<int16_t>(t.A(SLUICE_HARD_SWISH_MULTIPLIER));
  const int64_t low = t.output.dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  ForEach(t, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    const int64_t x = Read(t.input0, n, h, w, c) - t.A(SLUICE_HARD_SWISH_INPUT_ZERO);
    const int16_t fine = static_cast<int16_t>(x * (1 << 7));
    const int32_t product = GateOf(t, fine) * HighMultiply16(fine, multiplier);
    const int32_t y =
        RoundingShiftRight(product / (1 << 15), -t.A(SLUICE_HARD_SWISH_SHIFT));
    const int16_t out = static_cast<int16_t>(y + t.A(SLUICE_HARD_SWISH_OUTPUT_ZERO));
    Write(t.output.dtype, p, Clamp(out, low, low + 255));
  });
}

void RunPrelu(const Tile& t) {
  Combine(t, [&](int64_t a, int64_t b) {
    const int32_t x = Wrap32(a - t.A(SLUICE_PRELU_INPUT_ZERO));
    const int32_t slope = Wrap32(b - t.A(SLUICE_PRELU_SLOPE_ZERO));
    const int64_t y =
        x >= 0 ? Scale(x, t.A(SLUICE_PRELU_MULTIPLIER), t.A(SLUICE_PRELU_SHIFT))
               : Scale(Wrap32(int64_t{x} * slope), t.A(SLUICE_PRELU_SLOPE_MULTIPLIER),
                       t.A(SLUICE_PRELU_SLOPE_SHIFT));
    return Clamp(y + t.A(SLUICE_PRELU_OUTPUT_ZERO), t.A(SLUICE_PRELU_ACT_MIN),
                 t.A(SLUICE_PRELU_ACT_MAX));
  });
}

void RunLookup(const Tile& t) {
  ForEach(t, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    *p = *t.weight.at(0, 0, 0, *t.input0.at(n, h, w, c));
  });
}

}  // namespace sluice_sim
