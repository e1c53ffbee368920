// SPDX-License-Identifier: Apache-2.0
// What the host does in front of and behind products of which a unit computes 32-bit sums.
#include <algorithm>
#include <cmath>
#include <limits>

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
  const auto is_signed = [&](size_t i) { return out[i].dtype == SLUICE_DTYPE_INT8; };
  const int32_t less[] = {has_sign == 0 && is_signed(0) ? 128 : 0,
                          is_signed(1) ? 128 : 0};
  for (size_t i = 0; i < from.size(); ++i) {
    const float steps = std::nearbyint(ElementsOf<float>(in[0])[from[i]] / scale) +
                        static_cast<float>(zero);
    const float bounded =
        std::isnan(steps) ? least : std::clamp(steps, least, least + 65535);
    const int32_t stored = static_cast<int32_t>(bounded);
    ResultOf<uint8_t>(out[0])[i] = static_cast<uint8_t>((stored >> 8) - less[0]);
    ResultOf<uint8_t>(out[1])[i] = static_cast<uint8_t>(stored - less[1]);
  }
  return "";
}

// ---- floats as sums of bytes

constexpr int kFloatParts = 3;

// In units of the 65536th part of the slice's scale: at most 2^22, so that the first of three
// signed bytes is at most 65.
struct Steps {
  double per_unit;
  float scale;
};

Steps StepsOf(const std::vector<float>& slice) {
  float most = 0;
  for (const float x : slice) {
    if (!std::isfinite(x)) return {0, std::numeric_limits<float>::quiet_NaN()};
    most = std::max(most, std::abs(x));
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  if (most == 0) return {0, 0};
  return {std::ldexp(1.0, 22 - exponent), std::ldexp(1.0f, exponent - 6)};
}

// Part 0, 1 or 2 of a number of steps.
int8_t DigitOf(int64_t steps, int part) {
  int64_t digit = 0;
  for (int i = kFloatParts; i-- > part;) {
    digit = ((steps + 128) & 255) - 128;
    steps = (steps - digit) / 256;
  }
  return static_cast<int8_t>(digit);
}

struct Stack {
  int first, parts;
};

// Outputs but the last: parts one behind the other, [batch, parts, rows, inner].
bool StacksOf(OnnxOptions* options, const HostOperands& out, int64_t batch, int64_t all,
              std::vector<Stack>* stacks) {
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    const int64_t first = options->Int(0, kFloatParts - 1),
                  parts = CountOf(out[i]) / all;
    if (!IsByte(out[i], parts * all) || parts < 1 || first + parts > kFloatParts ||
        out[i].dtype != SLUICE_DTYPE_INT8) {
      return false;
    }
    stacks->push_back({static_cast<int>(first), static_cast<int>(parts)});
  }
  return batch >= 1 && !stacks->empty();
}

std::string SplitFloats(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t batch = options.Int(1), rows = options.Int(1), inner = options.Int(1);
  const int64_t all = Elements({batch, rows, inner});
  std::vector<Stack> stacks;
  if (options.bad() || all > INT32_MAX || !StacksOf(&options, out, batch, all, &stacks))
    return kOnnxOperands;
  const Shape shape = options.Shape();
  Shape order;
  for (size_t i = 0; i < shape.size(); ++i) order.push_back(options.Int(0, 7));
  if (!options.Ended() || in.size() != 2 || !IsOrder(order, shape.size()) ||
      Elements(shape) != all || !IsFloats(in, 0, all) ||
      !IsFloats(out, out.size() - 1, batch * rows)) {
    return kOnnxOperands;
  }
  const std::vector<int64_t> from = Moved(shape, order);
  std::vector<float> slice(static_cast<size_t>(inner));
  for (int64_t i = 0; i < batch * rows; ++i) {
    Poll(in[0].cancel);
    for (int64_t k = 0; k < inner; ++k) {
      slice[static_cast<size_t>(k)] =
          ElementsOf<float>(in[0])[from[static_cast<size_t>(i * inner + k)]];
    }
    const Steps steps = StepsOf(slice);
    ResultOf<float>(out.back())[i] = steps.scale;
    for (int64_t k = 0; k < inner; ++k) {
      const double real = static_cast<double>(slice[static_cast<size_t>(k)]);
      const int64_t whole =
          steps.per_unit > 0
              ? static_cast<int64_t>(std::nearbyint(real * steps.per_unit))
              : 0;
      for (size_t o = 0; o < stacks.size(); ++o) {
        for (int p = 0; p < stacks[o].parts; ++p) {
          const int64_t row = (i / rows * stacks[o].parts + p) * rows + i % rows;
          ResultOf<int8_t>(out[o])[row * inner + k] =
              DigitOf(whole, stacks[o].first + p);
        }
      }
    }
  }
  return "";
}

// ---- sums become floats

struct Sums {
  int64_t batch, rows, columns;
  bool channels_first, added;
  int64_t row_kind, column_kind;
  double factor;
  std::vector<double> weights;
  std::vector<int64_t> parts;  // of each operand

  int64_t All() const { return Elements({batch, rows, columns}); }
};

// Sums of all operands at a place of the result, times what belongs to their parts.
double SumAt(const Sums& s, const HostOperands& in, int64_t b, int64_t r, int64_t c) {
  double sum = 0;
  for (size_t i = 0; i < s.parts.size(); ++i) {
    double weight = s.weights[i];
    for (int64_t p = 0; p < s.parts[i]; ++p, weight /= 256) {
      const int64_t at = ((b * s.parts[i] + p) * s.rows + r) * s.columns + c;
      sum += weight * static_cast<double>(ElementsOf<int32_t>(in[i])[at]);
    }
  }
  return sum;
}

// Numbers that differ from batch to batch, from row to row (or column to column), both, or
// not at all.
struct Scales {
  const float* numbers;
  int64_t per_batch, per_each;  // strides

  double At(int64_t b, int64_t i) const {
    return static_cast<double>(numbers[b * per_batch + i * per_each]);
  }
};

enum ScaleKind { kByBatch = 1, kByEach = 2 };

// False: operand i has another extent.
bool ReadScales(const HostOperands& in, size_t i, int64_t kind, int64_t batch,
                int64_t each, Scales* scales) {
  const int64_t in_batch = (kind & kByEach) != 0 ? each : 1;
  *scales = {ElementsOf<float>(in[i]), (kind & kByBatch) != 0 ? in_batch : 0,
             (kind & kByEach) != 0 ? 1 : 0};
  return IsFloats(in, i, ((kind & kByBatch) != 0 ? batch : 1) * in_batch);
}

std::string ReadSums(const HostOperands& in, Sums* s) {
  OnnxOptions options(in);
  s->batch = options.Int(1);
  s->rows = options.Int(1);
  s->columns = options.Int(1);
  s->channels_first = options.Int(0, 1) != 0;
  s->added = options.Int(0, 1) != 0;
  s->row_kind = options.Int(0, 3);
  s->column_kind = options.Int(0, 3);
  s->factor = static_cast<double>(options.Float());
  const size_t operands = in.size() < 5 ? 0 : in.size() - 4;
  for (size_t i = 0; i < operands; ++i)
    s->weights.push_back(static_cast<double>(options.Float()));
  bool fits = options.Ended() && operands != 0 && s->All() <= INT32_MAX;
  for (size_t i = 0; fits && i < operands; ++i) {
    s->parts.push_back(CountOf(in[i]) / s->All());
    fits = s->parts[i] >= 1 && s->parts[i] <= kFloatParts &&
           IsFloats(in, i, s->parts[i] * s->All());
  }
  return fits ? "" : kOnnxOperands;
}

std::string ScaleSums(const HostOperands& in, const HostOperands& out) {
  Sums s = {};
  const std::string wrong = ReadSums(in, &s);
  if (!wrong.empty()) return wrong;
  const size_t n = s.parts.size();
  Scales rows, columns, biases;
  const int64_t results = s.added ? 1 : s.batch, terms = s.added ? s.batch : 1;
  const int64_t bias_kind = CountOf(in[n + 2]) == 1 ? 0 : kByEach;
  if (!ReadScales(in, n, s.row_kind, s.batch, s.rows, &rows) ||
      !ReadScales(in, n + 1, s.column_kind, s.batch, s.columns, &columns) ||
      !ReadScales(in, n + 2, bias_kind, 1, s.columns, &biases) || out.size() != 1 ||
      !IsFloats(out, 0, results * s.rows * s.columns)) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < results * s.rows * s.columns; ++i) {
    const int64_t b = i / (s.rows * s.columns), in_batch = i % (s.rows * s.columns);
    const int64_t r = s.channels_first ? in_batch % s.rows : in_batch / s.columns,
                  c = s.channels_first ? in_batch / s.rows : in_batch % s.columns;
    double real = 0;
    for (int64_t t = b * terms; t < (b + 1) * terms; ++t)
      real += SumAt(s, in, t, r, c) * rows.At(t, r) * columns.At(t, c);
    ResultOf<float>(out[0])[i] = static_cast<float>(real * s.factor + biases.At(0, c));
  }
  return "";
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
        const int64_t less = zero * OnnxInside(w, sums, p, q);
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

int64_t OnnxInside(const OnnxWindow& w, const int32_t* sums, int64_t p, int64_t q) {
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

void AddOnnxSums(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.SplitSteps"] = SplitSteps;
  r["onnx.SplitFloats"] = SplitFloats;
  r["onnx.ScaleSums"] = ScaleSums;
  r["onnx.LessZeroPoint"] = LessZeroPoint;
  r["onnx.LessZeroPoints"] = LessZeroPoints;
}

}  // namespace sluice_sim
