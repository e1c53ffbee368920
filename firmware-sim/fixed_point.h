// SPDX-License-Identifier: Apache-2.0
// Integer scaling as ops.h defines it, and the fixed-point (Q-format) functions of
// softmax.
//
// Input    integers; Qm.n: a 32-bit number with m integer and n fraction bits
// Output   integers
// Errors   none: every input gives a value; overflow wraps, as on the target
// Cost     a few operations each
// Source   the arithmetic of TFLite's reference kernels (doubling high multiplication
//          rounds ties upward, division by a power of two away from zero)
#ifndef SLUICE_FIRMWARE_SIM_FIXED_POINT_H_
#define SLUICE_FIRMWARE_SIM_FIXED_POINT_H_

#include <cstdint>

namespace sluice_sim {

inline int32_t Wrap32(int64_t v) {
  return static_cast<int32_t>(static_cast<uint32_t>(v));
}

inline int32_t HighMultiply(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t product = static_cast<int64_t>(a) * b;
  const int64_t nudge = product >= 0 ? (int64_t{1} << 30) : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

// x / 2^exponent, to nearest, ties away from zero; exponent 0..31.
inline int32_t RoundingShiftRight(int32_t x, int exponent) {
  if (exponent <= 0) return x;
  if (exponent > 31) return 0;
  const int64_t half = int64_t{1} << (exponent - 1);
  const int64_t magnitude = x < 0 ? -static_cast<int64_t>(x) : x;
  const int64_t rounded = (magnitude + half) >> exponent;
  return static_cast<int32_t>(x < 0 ? -rounded : rounded);
}

inline int64_t RoundingShiftRight64(int64_t x, int exponent) {
  const int64_t half = int64_t{1} << (exponent - 1);
  return x < 0 ? -((half - x) >> exponent) : (x + half) >> exponent;
}

inline int16_t Saturate16(int64_t v) {
  return static_cast<int16_t>(v > INT16_MAX   ? INT16_MAX
                              : v < INT16_MIN ? INT16_MIN
                                              : v);
}

// high(a, b) of ops.h's HARD_SWISH.
inline int16_t HighMultiply16(int16_t a, int16_t b) {
  const int32_t product = int32_t{a} * b;
  return Saturate16((product + (1 << 14)) >> 15);
}

// Largest r with r * r <= x.
inline uint64_t FloorSqrt(uint64_t x) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1) {
    const uint64_t next = root | bit;
    if (next * next <= x) root = next;
  }
  return root;
}

inline int32_t ShiftLeftWrap(int32_t x, int bits) {
  if (bits <= 0) return x;
  return bits > 31 ? 0 : static_cast<int32_t>(static_cast<uint32_t>(x) << bits);
}

// scale(x, m, s) of ops.h.
inline int32_t Scale(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? (shift > 32 ? 32 : shift) : 0;
  const int right = shift < 0 ? (shift < -32 ? 32 : -shift) : 0;
  return RoundingShiftRight(HighMultiply(ShiftLeftWrap(x, left), multiplier), right);
}

// scale_once(x, m, s) of ops.h.
inline int32_t ScaleOnce(int32_t x, int32_t multiplier, int32_t shift) {
  const int right = shift > 30 ? 1 : shift < -31 ? 62 : 31 - shift;
  const int64_t product = static_cast<int64_t>(x) * multiplier;
  const int64_t magnitude = product < 0 ? -product : product;
  const int64_t rounded = (magnitude + (int64_t{1} << (right - 1))) >> right;
  return Wrap32(product < 0 ? -rounded : rounded);
}

// exp(a) for a <= 0 in Q5.26, result in Q0.31.
int32_t ExpOfNegative(int32_t a);

// 1 / x for x > 0 with `integer_bits` integer bits: the result in Q0.31 must still be
// divided by 2^*bits_over_unit.
int32_t Reciprocal(int32_t x, int integer_bits, int* bits_over_unit);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_FIXED_POINT_H_
