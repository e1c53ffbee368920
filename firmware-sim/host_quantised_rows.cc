// SPDX-License-Identifier: Apache-2.0
// Floats that are quantised in each run, and the sums of their products.
#include <algorithm>
#include <cmath>

#include "cancel.h"
#include "host_functions.h"
#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

struct Quantisation {
  float scale = 1;
  int32_t zero = 0;
};

// The largest number is 127, or the smallest -127.
Quantisation QuantiseSymmetric(const float* row, int64_t count, int8_t* to) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(row[i]));
  if (most == 0) {
    std::fill_n(to, count, int8_t{0});
    return {};
  }
  const float per_step = 127 / most;
  for (int64_t i = 0; i < count; ++i) {
    const float steps = std::round(row[i] * per_step);
    to[i] = static_cast<int8_t>(std::clamp(steps, -127.0f, 127.0f));
  }
  return {most / 127, 0};
}

// The smallest number, or 0, is -128, and the largest, or 0, is 127: that of both which is nearer
// to 0 sets the zero point.
Quantisation QuantiseByRange(const float* row, int64_t count, int8_t* to) {
  double low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, static_cast<double>(row[i]));
    high = std::max(high, static_cast<double>(row[i]));
  }
  if (low == high) {
    std::fill_n(to, count, int8_t{0});
    return {};
  }
  const double step = (high - low) / 255;
  const double zero = 128 + std::abs(low / step) < 127 + std::abs(high / step)
                          ? -128 - low / step
                          : 127 - high / step;
  const double bounded = std::clamp(std::round(zero), -128.0, 127.0);
  const Quantisation made = {static_cast<float>(step), static_cast<int32_t>(bounded)};
  const float per_step = 1.0f / made.scale;
  for (int64_t i = 0; i < count; ++i) {
    const float steps = std::round(static_cast<float>(made.zero) + row[i] * per_step);
    to[i] = static_cast<int8_t>(std::clamp(steps, -128.0f, 127.0f));
  }
  return made;
}

// Of sums of a weight for each place of its window: those by which a pixel of the input adds to the
// result in row p and column q.
int64_t Added(const OnnxWindow& w, const int32_t* sums, int64_t p, int64_t q) {
  int64_t added = 0;
  for (int64_t r = 0; r < w.r; ++r) {
    const int64_t y = p + w.pad_top - r;
    if (y < 0 || y % w.stride_h != 0 || y / w.stride_h >= w.h) continue;
    for (int64_t s = 0; s < w.s; ++s) {
      const int64_t x = q + w.pad_left - s;
      if (x >= 0 && x % w.stride_w == 0 && x / w.stride_w < w.w)
        added += sums[r * w.s + s];
    }
  }
  return added;
}

}  // namespace

std::string QuantiseRows(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t rows = options.Int(1), inner = options.Int(1);
  const bool by_range = options.Int(0, 1) != 0;
  const int64_t all = Elements({rows, inner});
  if (!options.Ended() || all > INT32_MAX || in.size() != 2 || out.size() != 3 ||
      !IsFloats(in, 0, all) || out[0].dtype != SLUICE_DTYPE_INT8 ||
      CountOf(out[0]) != all || !IsFloats(out, 1, rows) || !IsFloats(out, 2, rows)) {
    return kOnnxOperands;
  }
  const float* floats = ElementsOf<float>(in[0]);
  for (int64_t i = 0; i < all; ++i) {
    if (!std::isfinite(floats[i])) return "a number that is not finite";
  }
  for (int64_t r = 0; r < rows; ++r) {
    Poll(in[0].cancel);
    const auto quantise = by_range ? QuantiseByRange : QuantiseSymmetric;
    const Quantisation made =
        quantise(floats + r * inner, inner, ResultOf<int8_t>(out[0]) + r * inner);
    ResultOf<float>(out[1])[r] = made.scale;
    ResultOf<int32_t>(out[2])[r] = made.zero;
  }
  return "";
}

std::string ScaleRows(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const OnnxWindow w = OnnxWindowOf(&options);
  const bool at_once = options.Int(0, 1) != 0, transposed = options.Int(0, 1) != 0;
  const float low = options.Float(), high = options.Float();
  // A product of rows has no pixels, and an image one scale.
  const int64_t all = Elements({w.n, w.p, w.q, w.k});
  if (!options.Ended() || all > INT32_MAX || in.size() != 7 || out.size() != 1 ||
      !IsFloats(in, 0, all) || !IsFloats(in, 1, w.n) || !IsFloats(in, 2, w.n) ||
      !IsFloats(in, 3, w.k * w.r * w.s) || !IsFloats(in, 5, w.k) ||
      !(IsFloats(in, 4, 1) || IsFloats(in, 4, w.k)) || !IsFloats(out, 0, all)) {
    return kOnnxOperands;
  }
  const int64_t factors = CountOf(in[4]);
  for (int64_t i = 0; i < all; ++i) {
    const int64_t k = i % w.k, pixel = i / w.k, n = pixel / (w.p * w.q);
    const int32_t* window = ElementsOf<int32_t>(in[3]) + k * w.r * w.s;
    const auto under = transposed ? Added : OnnxInside;
    const int64_t inside = under(w, window, pixel / w.q % w.p, pixel % w.q);
    const int64_t sum =
        ElementsOf<int32_t>(in[0])[i] - ElementsOf<int32_t>(in[2])[n] * inside;
    const float factor = ElementsOf<float>(in[4])[factors == 1 ? 0 : k],
                scale = ElementsOf<float>(in[1])[n], whole = static_cast<float>(sum);
    const float real = at_once ? whole * (scale * factor) : whole * factor * scale;
    const float biased = real + ElementsOf<float>(in[5])[k];
    ResultOf<float>(out[0])[i] = std::min(std::max(biased, low), high);
  }
  return "";
}

}  // namespace sluice_sim
