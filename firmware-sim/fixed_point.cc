// SPDX-License-Identifier: Apache-2.0
#include "fixed_point.h"

namespace sluice_sim {
namespace {

int32_t SaturatingShiftLeft(int32_t x, int bits) {
  const int64_t v = static_cast<int64_t>(x) * (int64_t{1} << bits);
  return v > INT32_MAX   ? INT32_MAX
         : v < INT32_MIN ? INT32_MIN
                         : static_cast<int32_t>(v);
}

// exp(a) for a in [-1/4, 0), Q0.31: Taylor series around -1/8.
int32_t ExpOnLastQuarter(int32_t a) {
  const int32_t exp_of_minus_eighth = 1895147668;
  const int32_t one_third = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = HighMultiply(x, x);
  const int32_t x3 = HighMultiply(x2, x);
  const int32_t x4 = HighMultiply(x2, x2);
  const int32_t x4_over_4 = RoundingShiftRight(x4, 2);
  const int32_t tail =
      RoundingShiftRight(HighMultiply(x4_over_4 + x3, one_third) + x2, 1);
  return Wrap32(static_cast<int64_t>(exp_of_minus_eighth) +
                HighMultiply(exp_of_minus_eighth, x + tail));
}

}  // namespace

int32_t ExpOfNegative(int32_t a) {
  if (a == 0) return INT32_MAX;
  // exp(-2^i) for i = -2..4 in Q0.31.
  static const int32_t powers[7] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
  const int fraction_bits = 26;
  const int32_t quarter = 1 << (fraction_bits - 2);
  const int32_t a_mod = (a & (quarter - 1)) - quarter;
  int32_t result = ExpOnLastQuarter(SaturatingShiftLeft(a_mod, 5));
  const int32_t remainder = Wrap32(static_cast<int64_t>(a_mod) - a);
  for (int i = 0; i < 7; ++i) {
    if (remainder & (1 << (fraction_bits - 2 + i))) {
      result = HighMultiply(result, powers[i]);
    }
  }
  return result;
}

int32_t Reciprocal(int32_t x, int integer_bits, int* bits_over_unit) {
  const int zeros = x == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(x));
  *bits_over_unit = integer_bits - zeros;
  const uint32_t shifted = zeros > 31 ? 0 : static_cast<uint32_t>(x) << zeros;
  const int32_t a = static_cast<int32_t>(shifted - (uint32_t{1} << 31));
  // 1 / (1 + a), a in [0, 1): three Newton-Raphson steps in Q2.29.
  const int64_t sum = static_cast<int64_t>(a) + INT32_MAX;
  const int32_t half_denominator =
      static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  int32_t y = Wrap32(int64_t{1515870810} + HighMultiply(half_denominator, -1010580540));
  for (int i = 0; i < 3; ++i) {
    const int32_t product = HighMultiply(half_denominator, y);
    const int32_t rest = Wrap32((int64_t{1} << 29) - product);
    y = Wrap32(static_cast<int64_t>(y) + SaturatingShiftLeft(HighMultiply(y, rest), 2));
  }
  return SaturatingShiftLeft(y, 1);
}

}  // namespace sluice_sim
