// SPDX-License-Identifier: Apache-2.0
// What the host does in front of and behind products of which a unit computes 32-bit sums.
#include <algorithm>
#include <cmath>

#include "cancel.h"
#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

using Shape = std::vector<int64_t>;

// For each element of a tensor whose axis i is axis order[i] of `shape`, its index there.
std::vector<int64_t> Moved(const Shape& shape, const Shape& order) {
  std::vector<int64_t> places = {0};
  for (const int64_t axis : order) {
    int64_t stride = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i)
      stride *= shape[i];
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < shape[static_cast<size_t>(axis)]; ++i)
        next.push_back(place + i * stride);
    }
    places = std::move(next);
  }
  return places;
}

bool IsOrder(Shape order, size_t rank) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return order.size() == rank;
}

bool IsByte(const HostOperand& operand, int64_t count) {
  return (operand.dtype == SLUICE_DTYPE_INT8 || operand.dtype == SLUICE_DTYPE_UINT8) &&
         CountOf(operand) == count;
}

std::string SplitSteps(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const float scale = options.Float();
  const int64_t zero = options.Int(-32768, 65535), has_sign = options.Int(0, 1);
  const Shape shape = options.Shape();
  Shape order;
  for (size_t i = 0; i < shape.size(); ++i) order.push_back(options.Int(0, 7));
  if (!options.Ended() || in.size() != 2 || out.size() != 2 || !(scale > 0) ||
      !IsOrder(order, shape.size()) || !IsFloats(in, 0, Elements(shape)) ||
      !IsByte(out[0], Elements(shape)) || !IsByte(out[1], Elements(shape))) {
    return kOnnxOperands;
  }
  const float least = has_sign != 0 ? -32768.0f : 0.0f;
  const std::vector<int64_t> from = Moved(shape, order);
  for (size_t i = 0; i < from.size(); ++i) {
    const float steps = std::nearbyint(ElementsOf<float>(in[0])[from[i]] / scale) +
                        static_cast<float>(zero);
    const float bounded =
        std::isnan(steps) ? least : std::clamp(steps, least, least + 65535);
    const int32_t stored = static_cast<int32_t>(bounded);
    ResultOf<uint8_t>(out[0])[i] = static_cast<uint8_t>(stored >> 8);
    ResultOf<uint8_t>(out[1])[i] = static_cast<uint8_t>(stored);
  }
  return "";
}

std::string ScaleSums(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t outer = options.Int(1), channels = options.Int(1),
                inner = options.Int(1);
  const double factor = static_cast<double>(options.Float());
  const size_t parts = in.size() < 4 ? 0 : in.size() - 3;
  std::vector<double> weights;
  for (size_t i = 0; i < parts; ++i)
    weights.push_back(static_cast<double>(options.Float()));
  const int64_t all = Elements({outer, channels, inner});
  bool fits = options.Ended() && parts != 0 && out.size() == 1 && IsFloats(out, 0, all);
  for (size_t i = 0; fits && i < parts; ++i) fits = IsFloats(in, i, all);
  int64_t each[2] = {0, 0};  // 0: one for all channels
  for (size_t i = 0; fits && i < 2; ++i) {
    const HostOperand& numbers = in[parts + i];
    each[i] = CountOf(numbers) == 1 ? 0 : 1;
    fits = IsFloats(in, parts + i, each[i] == 0 ? 1 : channels);
  }
  if (!fits) return kOnnxOperands;
  const float *scales = ElementsOf<float>(in[parts]),
              *biases = ElementsOf<float>(in[parts + 1]);
  for (int64_t i = 0; i < all; ++i) {
    const int64_t n = i / (channels * inner), k = i / inner % channels, p = i % inner;
    const int64_t at = (n * inner + p) * channels + k;
    double sum = 0;
    for (size_t part = 0; part < parts; ++part)
      sum += weights[part] * ElementsOf<int32_t>(in[part])[at];
    const double real = sum * factor * static_cast<double>(scales[k * each[0]]) +
                        static_cast<double>(biases[k * each[1]]);
    ResultOf<float>(out[0])[i] = static_cast<float>(real);
  }
  return "";
}

// The sum of the places of the weight that lie inside the input, for one result.
int64_t Inside(const OnnxWindow& w, const int32_t* sums, int64_t p, int64_t q) {
  int64_t inside = 0;
  for (int64_t r = 0; r < w.r; ++r) {
    const int64_t y = p * w.stride_h + r * w.dilation_h - w.pad_top;
    if (y < 0 || y >= w.h) continue;
    for (int64_t s = 0; s < w.s; ++s) {
      const int64_t x = q * w.stride_w + s * w.dilation_w - w.pad_left;
      if (x >= 0 && x < w.w) inside += sums[r * w.s + s];
    }
  }
  return inside;
}

std::string LessZeroPoint(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const OnnxWindow w = OnnxWindowOf(&options);
  const size_t parts = in.size() < 4 ? 0 : in.size() - 3;
  const int64_t all = Elements({w.n, w.k, w.p, w.q});
  bool fits = options.Ended() && parts != 0 && all <= INT32_MAX && out.size() == 1 &&
              IsFloats(out, 0, all) && CountOf(in[parts]) == 1 &&
              IsFloats(in, parts + 1, w.k * w.r * w.s);
  for (size_t i = 0; fits && i < parts; ++i) fits = IsFloats(in, i, all);
  if (!fits) return kOnnxOperands;
  const int64_t zero = Widened(in[parts])[0];
  for (int64_t k = 0; k < w.k; ++k) {
    const int32_t* sums = ElementsOf<int32_t>(in[parts + 1]) + k * w.r * w.s;
    for (int64_t p = 0; p < w.p; ++p) {
      for (int64_t q = 0; q < w.q; ++q) {
        Poll(in[0].cancel);
        const int64_t less = zero * Inside(w, sums, p, q);
        for (int64_t n = 0; n < w.n; ++n) {
          int64_t sum = -less;
          for (size_t i = 0; i < parts; ++i) {
            sum += ElementsOf<int32_t>(in[i])[((n * w.p + p) * w.q + q) * w.k + k];
          }
          ResultOf<int32_t>(out[0])[((n * w.k + k) * w.p + p) * w.q + q] =
              static_cast<int32_t>(sum);
        }
      }
    }
  }
  return "";
}

// Of [batch, m, k] and [batch, k, n]: sums of a * b -> sums of (a - zero) * (b - zero).
std::string LessZeroPoints(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t batch = options.Int(1), m = options.Int(1), k = options.Int(1),
                n = options.Int(1);
  const int64_t all = Elements({batch, m, n});
  if (!options.Ended() || in.size() != 6 || out.size() != 1 || all > INT32_MAX ||
      !IsFloats(in, 0, all) || !IsFloats(out, 0, all) ||
      !IsByte(in[1], batch * m * k) || !IsByte(in[2], batch * k * n) ||
      CountOf(in[3]) != 1 || CountOf(in[4]) != 1) {
    return kOnnxOperands;
  }
  const std::vector<int64_t> a = Widened(in[1]), b = Widened(in[2]);
  const int64_t za = Widened(in[3])[0], zb = Widened(in[4])[0];
  std::vector<int64_t> rows(static_cast<size_t>(batch * m)),
      columns(static_cast<size_t>(batch * n));
  for (size_t i = 0; i < a.size(); ++i) rows[i / static_cast<size_t>(k)] += a[i];
  for (size_t i = 0; i < b.size(); ++i) {
    const size_t each = static_cast<size_t>(n),
                 matrix = i / each / static_cast<size_t>(k);
    columns[matrix * each + i % each] += b[i];
  }
  for (int64_t i = 0; i < all; ++i) {
    const int64_t row = i / n, column = row / m * n + i % n;
    const int64_t sum = ElementsOf<int32_t>(in[0])[i] -
                        zb * rows[static_cast<size_t>(row)] -
                        za * columns[static_cast<size_t>(column)] + k * za * zb;
    ResultOf<int32_t>(out[0])[i] = static_cast<int32_t>(sum);
  }
  return "";
}

}  // namespace

void AddOnnxSums(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.SplitSteps"] = SplitSteps;
  r["onnx.ScaleSums"] = ScaleSums;
  r["onnx.LessZeroPoint"] = LessZeroPoint;
  r["onnx.LessZeroPoints"] = LessZeroPoints;
}

}  // namespace sluice_sim
