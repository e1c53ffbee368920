// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sluice/ops.h"

namespace sluice::import {
namespace {

// scale() of ops.h, for shifts that cause no overflow.
int64_t Scaled(int64_t x, int32_t multiplier, int32_t shift) {
  const int64_t wide = (x * (int64_t{1} << std::max(shift, 0))) * multiplier;
  const int64_t y = (wide + (int64_t{1} << 30)) >> 31;
  const int right = std::max(-shift, 0);
  if (right == 0) return y;
  const int64_t half = int64_t{1} << (right - 1);
  return y < 0 ? -((-y + half) >> right) : (y + half) >> right;
}

float RealOf(int32_t stored, const Affine& affine) {
  return static_cast<float>(stored - affine.zero) * affine.scale;
}

int32_t ByteOf(int bits, uint8_t dtype) {
  return dtype == SLUICE_DTYPE_INT8 && bits > 127 ? bits - 256 : bits;
}

float RealAnswer(Arithmetic kind, float x, float y) {
  switch (kind) {
    case Arithmetic::kSum:
      return x + y;
    case Arithmetic::kDifference:
      return x - y;
    case Arithmetic::kNone:
    case Arithmetic::kProduct:
      break;
  }
  return x * y;
}

// The stored results for all pairs of bytes, first operand outermost.
using Answers = std::vector<int16_t>;

Answers RealAnswers(Arithmetic kind, const Stored8& a, const Stored8& b,
                    const Stored8& out) {
  const Range range = DtypeRange(out.dtype);
  std::array<float, 256> second = {};
  for (int j = 0; j < 256; ++j) {
    second[static_cast<size_t>(j)] = RealOf(ByteOf(j, b.dtype), b.affine);
  }
  Answers answers;
  answers.reserve(65536);
  for (int i = 0; i < 256; ++i) {
    const float x = RealOf(ByteOf(i, a.dtype), a.affine);
    for (const float y : second) {
      const float real = RealAnswer(kind, x, y);
      answers.push_back(static_cast<int16_t>(OnnxStored(real, out.affine, range)));
    }
  }
  return answers;
}

int32_t Answer(Arithmetic kind, const std::vector<int32_t>& at, int64_t in0,
               int64_t in1) {
  const int64_t x = in0 - at[SLUICE_BINARY_ZERO0], y = in1 - at[SLUICE_BINARY_ZERO1];
  const int64_t unit = int64_t{1} << at[SLUICE_BINARY_LEFT_SHIFT];
  int64_t sum = x * y;
  if (kind != Arithmetic::kProduct) {
    const int64_t first =
        Scaled(x * unit, at[SLUICE_BINARY_MULTIPLIER0], at[SLUICE_BINARY_SHIFT0]);
    const int64_t second =
        Scaled(y * unit, at[SLUICE_BINARY_MULTIPLIER1], at[SLUICE_BINARY_SHIFT1]);
    sum = kind == Arithmetic::kDifference ? first - second : first + second;
  }
  const int64_t value =
      Scaled(sum, at[SLUICE_BINARY_OUT_MULTIPLIER], at[SLUICE_BINARY_OUT_SHIFT]) +
      at[SLUICE_BINARY_OUTPUT_ZERO];
  return static_cast<int32_t>(
      std::clamp<int64_t>(value, at[SLUICE_BINARY_ACT_MIN], at[SLUICE_BINARY_ACT_MAX]));
}

int64_t UnlikePairs(Arithmetic kind, const std::vector<int32_t>& attributes,
                    const Stored8& a, const Stored8& b, const Answers& wanted) {
  int64_t unlike = 0;
  size_t next = 0;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const int32_t got =
          Answer(kind, attributes, ByteOf(i, a.dtype), ByteOf(j, b.dtype));
      unlike += got != wanted[next++];
    }
  }
  return unlike;
}

}  // namespace

int32_t OnnxStored(float real, const Affine& out, const Range& range) {
  const float steps = real / out.scale;
  if (std::isnan(steps)) return range.min;  // as the runtime does
  const float least = static_cast<float>(range.min - out.zero),
              most = static_cast<float>(range.max - out.zero);
  return static_cast<int32_t>(std::nearbyint(std::clamp(steps, least, most))) +
         out.zero;
}

std::vector<uint8_t> OnnxTable(const Stored8& in, const Stored8& out,
                               const std::function<float(float)>& f) {
  const Range range = DtypeRange(out.dtype);
  std::vector<uint8_t> table(256);
  for (int bits = 0; bits < 256; ++bits) {
    const float real = f(RealOf(ByteOf(bits, in.dtype), in.affine));
    table[static_cast<size_t>(bits)] =
        static_cast<uint8_t>(OnnxStored(real, out.affine, range));
  }
  return table;
}

Factor FactorRoundedOnce(double factor) {
  if (!(factor < 1)) return QuantiseFactor(factor);
  const double multiplier = std::round(factor * 2147483648.0);
  return {static_cast<int32_t>(std::min(multiplier, 2147483647.0)), 0};
}

Chosen ChooseRequantise(const Stored8& in, const Stored8& out) {
  const Range range = DtypeRange(out.dtype);
  Chosen chosen = {RequantiseAttributes(in.affine, out.affine, range), 0};
  const Factor f = FactorRoundedOnce(static_cast<double>(in.affine.scale) /
                                     static_cast<double>(out.affine.scale));
  chosen.attributes[SLUICE_REQUANTIZE_MULTIPLIER] = f.multiplier;
  chosen.attributes[SLUICE_REQUANTIZE_SHIFT] = f.shift;
  if (f.shift > 22) return {chosen.attributes, 256};  // would exceed 32 bits
  for (int bits = 0; bits < 256; ++bits) {
    const int32_t stored = ByteOf(bits, in.dtype);
    const int64_t value = Scaled(stored - in.affine.zero, f.multiplier, f.shift);
    const int64_t got =
        std::clamp<int64_t>(value + out.affine.zero, range.min, range.max);
    chosen.unlike += got != OnnxStored(RealOf(stored, in.affine), out.affine, range);
  }
  return chosen;
}

Chosen ChooseBinary(Arithmetic kind, const Stored8& a, const Stored8& b,
                    const Stored8& out) {
  const Range range = DtypeRange(out.dtype);
  const Answers wanted = RealAnswers(kind, a, b, out);
  if (kind != Arithmetic::kProduct) {
    std::vector<int32_t> at = SumAttributes(a.affine, b.affine, out.affine, range);
    // A larger shift would overflow, and the graph's reader refuses such a layer.
    if (at[SLUICE_BINARY_OUT_SHIFT] > 2) return {at, 65536};
    const int64_t unlike = UnlikePairs(kind, at, a, b, wanted);
    return {std::move(at), unlike};
  }
  const double factor = static_cast<double>(a.affine.scale) *
                        static_cast<double>(b.affine.scale) /
                        static_cast<double>(out.affine.scale);
  const Factor once = FactorRoundedOnce(factor);
  Chosen best = {ProductAttributes(a.affine, b.affine, out.affine, range), 65536};
  if (once.shift > 14) return best;
  // A multiplier one step off may round products better that are ties in floats.
  for (const int nudge : {0, 1, -1}) {
    std::vector<int32_t> at = best.attributes;
    at[SLUICE_BINARY_OUT_MULTIPLIER] = static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{once.multiplier} + nudge, 0, INT32_MAX));
    at[SLUICE_BINARY_OUT_SHIFT] = once.shift;
    const int64_t unlike = UnlikePairs(kind, at, a, b, wanted);
    if (unlike < best.unlike) best = {std::move(at), unlike};
    if (best.unlike == 0) break;
  }
  return best;
}

}  // namespace sluice::import
