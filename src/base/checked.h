// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that cannot overflow unnoticed; division and rounding of integers.
//
// Input    integers
// Output   integers
// Errors   false on overflow; functions documented to saturate do so instead
// Cost     a few instructions
#ifndef SLUICE_BASE_CHECKED_H_
#define SLUICE_BASE_CHECKED_H_

#include <stdint.h>

namespace sluice {

// False on overflow; *out is then unspecified.
[[nodiscard]] inline bool CheckedAdd(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_add_overflow(a, b, out);
}
[[nodiscard]] inline bool CheckedMultiply(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// a >= 0, b > 0.
constexpr int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0); }
// multiple > 0.
constexpr int64_t RoundUpTo(int64_t value, int64_t multiple) {
  return CeilDivide(value, multiple) * multiple;
}
constexpr bool IsPowerOfTwo(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

template <typename T>
constexpr T Min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T Max(T a, T b) {
  return a < b ? b : a;
}

// The least whole number that is not below x; x >= 0. ceil() would make programs that
// link this library link the mathematical library too.
inline double RoundUpToWhole(double x) {
  if (x >= 4503599627370496.0) return x;  // 2^52: these are whole
  const double whole = static_cast<double>(static_cast<int64_t>(x));
  return whole < x ? whole + 1 : whole;
}

// ceil(bytes * denominator / numerator) without overflow of the product; numerator > 0.
// Saturates at INT64_MAX.
int64_t TransferCycles(int64_t bytes, int64_t numerator, int64_t denominator);

}  // namespace sluice

#endif  // SLUICE_BASE_CHECKED_H_
