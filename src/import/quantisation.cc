// SPDX-License-Identifier: Apache-2.0
#include "import/quantisation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sluice/ops.h"

namespace sluice::import {

namespace {

// An invalid shift: the graph's reader refuses a layer that has it.
constexpr int kNoShift = 1025;

// std::round for 0 <= x <= 2^31 without a library call for each channel. x has at least
// 22 bits behind the point, so x + 0.5 is exact.
int64_t Rounded(double x) { return static_cast<int64_t>(x + 0.5); }
int64_t RoundedUp(double x) {
  const int64_t below = static_cast<int64_t>(x);
  return below + (static_cast<double>(below) < x ? 1 : 0);
}

// std::frexp(x) * 2^31 for x > 0, without a library call for each channel.
double FractionOf(double x, int* exponent) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const int biased = static_cast<int>(bits >> 52);
  if (biased <= 0 || biased >= 2047) return std::frexp(x, exponent) * 2147483648.0;
  *exponent = biased - 1022;
  bits = (bits & 0xfffffffffffffu) | uint64_t{1022 + 31} << 52;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <int64_t (*kRounded)(double), double (*kRoundedBelowZero)(double)>
Factor Split(double factor) {
  if (factor == 0) return {0, 0};
  if (!std::isfinite(factor)) return {INT32_MAX, kNoShift};
  int shift = 0;
  const double fraction = FractionOf(factor, &shift);
  int64_t multiplier = fraction < 0 ? static_cast<int64_t>(kRoundedBelowZero(fraction))
                                    : kRounded(fraction);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {0, 0};
  return {static_cast<int32_t>(multiplier), shift};
}

}  // namespace

Factor QuantiseFactor(double factor) { return Split<Rounded, std::round>(factor); }

Factor QuantiseFactorUp(double factor) { return Split<RoundedUp, std::ceil>(factor); }

void QuantiseFactors(const std::vector<double>& factors, bool up, int32_t* first,
                     size_t stride) {
  for (const double real : factors) {
    const Factor factor =
        up ? Split<RoundedUp, std::ceil>(real) : Split<Rounded, std::round>(real);
    first[0] = factor.multiplier;
    first[1] = factor.shift;
    first += stride;
  }
}

Range DtypeRange(uint8_t dtype) {
  switch (dtype) {
    case SLUICE_DTYPE_INT8:
      return {-128, 127};
    case SLUICE_DTYPE_UINT8:
      return {0, 255};
    case SLUICE_DTYPE_INT16:
      return {-32768, 32767};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

Range ClampRange(uint8_t dtype, const Affine& affine, float low, float high) {
  Range range = DtypeRange(dtype);
  // In double and bounded before the cast: a tiny scale must not overflow.
  const auto stored = [&](float real) {
    const double steps = real == 0 ? 0 : std::round(real / affine.scale);
    return static_cast<int32_t>(std::clamp(steps, -1073741824.0, 1073741823.0) +
                                affine.zero);
  };
  if (std::isfinite(low)) range.min = std::max(range.min, stored(low));
  if (std::isfinite(high)) range.max = std::min(range.max, stored(high));
  return range;
}

std::vector<uint8_t> LookupTable(uint8_t in_dtype, const Affine& in, uint8_t out_dtype,
                                 const Affine& out,
                                 const std::function<float(float)>& f) {
  const Range range = DtypeRange(out_dtype);
  const float inverse = 1.0f / out.scale;
  std::vector<uint8_t> table(256);
  for (int bits = 0; bits < 256; ++bits) {
    const int value = in_dtype == SLUICE_DTYPE_INT8 && bits > 127 ? bits - 256 : bits;
    const float real = f(in.scale * static_cast<float>(value - in.zero));
    const float steps = std::round(real * inverse);
    const float zero = static_cast<float>(out.zero);
    const float stored =
        std::clamp(std::isnan(steps) ? zero : steps + zero,
                   static_cast<float>(range.min), static_cast<float>(range.max));
    table[static_cast<size_t>(bits)] =
        static_cast<uint8_t>(static_cast<int32_t>(stored));
  }
  return table;
}

std::vector<int32_t> RequantiseAttributes(const Affine& in, const Affine& out,
                                          const Range& range) {
  const Factor factor =
      QuantiseFactor(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  std::vector<int32_t> a(SLUICE_REQUANTIZE_ATTRIBUTES);
  a[SLUICE_REQUANTIZE_INPUT_ZERO] = in.zero;
  a[SLUICE_REQUANTIZE_MULTIPLIER] = factor.multiplier;
  a[SLUICE_REQUANTIZE_SHIFT] = factor.shift;
  a[SLUICE_REQUANTIZE_OUTPUT_ZERO] = out.zero;
  a[SLUICE_REQUANTIZE_ACT_MIN] = range.min;
  a[SLUICE_REQUANTIZE_ACT_MAX] = range.max;
  return a;
}

namespace {

// Both operands are shifted left by `left_shift` first; the result must fit 32 bits.
std::vector<int32_t> SumOf(const Affine& x0, const Affine& x1, const Affine& out,
                           const Range& range, int left_shift) {
  const double twice = static_cast<double>(2 * std::max(x0.scale, x1.scale));
  const Factor f0 = QuantiseFactor(static_cast<double>(x0.scale) / twice);
  const Factor f1 = QuantiseFactor(static_cast<double>(x1.scale) / twice);
  const Factor f =
      QuantiseFactor(twice / ((1 << left_shift) * static_cast<double>(out.scale)));
  return {left_shift, x0.zero,  f0.multiplier, f0.shift, x1.zero,   f1.multiplier,
          f1.shift,   out.zero, f.multiplier,  f.shift,  range.min, range.max};
}

}  // namespace

std::vector<int32_t> SumAttributes(const Affine& x0, const Affine& x1,
                                   const Affine& out, const Range& range) {
  return SumOf(x0, x1, out, range, 20);
}

std::vector<int32_t> WideSumAttributes(const Affine& x0, const Affine& x1,
                                       const Affine& out, const Range& range) {
  return SumOf(x0, x1, out, range, 15);
}

std::vector<int32_t> ProductAttributes(const Affine& x0, const Affine& x1,
                                       const Affine& out, const Range& range) {
  const Factor f = QuantiseFactor(static_cast<double>(x0.scale * x1.scale / out.scale));
  std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
  a[SLUICE_BINARY_ZERO0] = x0.zero;
  a[SLUICE_BINARY_ZERO1] = x1.zero;
  a[SLUICE_BINARY_OUTPUT_ZERO] = out.zero;
  a[SLUICE_BINARY_OUT_MULTIPLIER] = f.multiplier;
  a[SLUICE_BINARY_OUT_SHIFT] = f.shift;
  a[SLUICE_BINARY_ACT_MIN] = range.min;
  a[SLUICE_BINARY_ACT_MAX] = range.max;
  return a;
}

std::vector<int32_t> HardSwishAttributes(const Affine& in, const Affine& out) {
  // Inputs have 7 more fraction bits; the gate is in units of 3/32768.
  const float fine = (1.0f / 128.0f) * in.scale;
  const Factor f = QuantiseFactor(static_cast<double>(fine / out.scale));
  const Factor gate = QuantiseFactor(static_cast<double>(fine / (3.0f / 32768.0f)));
  const auto half = [](int32_t multiplier) {
    constexpr int32_t kHalf = 1 << 15;
    return multiplier >= INT32_MAX - kHalf ? int32_t{INT16_MAX}
                                           : (multiplier + kHalf) >> 16;
  };
  if (f.shift > 0 || f.shift < -15 || gate.shift < -15 || gate.shift > 15) return {};
  return {in.zero,   out.zero, half(f.multiplier), f.shift, half(gate.multiplier),
          gate.shift};
}

std::vector<int32_t> PreluAttributes(const Affine& in, const Affine& slope,
                                     const Affine& out, const Range& range) {
  const Factor plain = QuantiseFactor(static_cast<double>(in.scale / out.scale));
  const Factor leak =
      QuantiseFactor(static_cast<double>(in.scale * slope.scale / out.scale));
  std::vector<int32_t> a(SLUICE_PRELU_ATTRIBUTES);
  a[SLUICE_PRELU_INPUT_ZERO] = in.zero;
  a[SLUICE_PRELU_SLOPE_ZERO] = slope.zero;
  a[SLUICE_PRELU_OUTPUT_ZERO] = out.zero;
  a[SLUICE_PRELU_MULTIPLIER] = plain.multiplier;
  a[SLUICE_PRELU_SHIFT] = plain.shift;
  a[SLUICE_PRELU_SLOPE_MULTIPLIER] = leak.multiplier;
  a[SLUICE_PRELU_SLOPE_SHIFT] = leak.shift;
  a[SLUICE_PRELU_ACT_MIN] = range.min;
  a[SLUICE_PRELU_ACT_MAX] = range.max;
  return a;
}

}  // namespace sluice::import
