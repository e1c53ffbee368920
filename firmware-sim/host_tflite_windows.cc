// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of floats, products of quantised operands that are both
// computed, pools and resizing of floats and 16 bits. Floats are added in the order of
// the reference kernels.
#include <algorithm>
#include <limits>

#include "fixed_point.h"
#include "host_tflite.h"

namespace sluice_sim {
namespace {

// Numbers of windows: padding (0: SAME), stride of rows and columns, window, dilation,
// activation.
struct Axis {
  int64_t in, out, window, stride, dilation, pad;

  int64_t At(int64_t o, int64_t w) const { return o * stride - pad + w * dilation; }
  bool Has(int64_t at) const { return at >= 0 && at < in; }
};

Axis AxisOf(const LiteCall& call, size_t a, int64_t in, int64_t out, int64_t window) {
  Axis axis = {in,
               out,
               window,
               std::max<int64_t>(call.Number(1 + a), 1),
               std::max<int64_t>(call.Number(5 + a), 1),
               0};
  const int64_t reach = (window - 1) * axis.dilation + 1;
  if (call.Number(0) == 0) {
    axis.pad = std::max<int64_t>((out - 1) * axis.stride + reach - in, 0) / 2;
  }
  return axis;
}

constexpr size_t kActivation = 7;

int64_t At4(const LiteShape& s, int64_t n, int64_t h, int64_t w, int64_t c) {
  return ((n * s[1] + h) * s[2] + w) * s[3] + c;
}

bool FloatsOf4(const LiteCall& call, size_t inputs) {
  if (call.in.size() < inputs || !call.out[0].IsFloat() || call.out[0].rank() != 4) {
    return false;
  }
  for (size_t i = 0; i < inputs; ++i) {
    if (!call.in[i].IsFloat() || call.in[i].rank() != 4) return false;
  }
  return true;
}

float BiasAt(const LiteCall& call, size_t input, int64_t k) {
  const bool there =
      input < call.in.size() && call.in[input].IsFloat() && k < call.in[input].count;
  return there ? call.in[input].Float(k) : 0.0f;
}

// A sum over a window; `term` gives the operands' indices for a channel.
template <typename F>
float OverWindow(const Axis& h, const Axis& w, int64_t p, int64_t q, F add) {
  float sum = 0;
  for (int64_t r = 0; r < h.window; ++r) {
    for (int64_t s = 0; s < w.window; ++s) {
      const int64_t row = h.At(p, r), column = w.At(q, s);
      if (h.Has(row) && w.Has(column)) add(&sum, row, column, r, s);
    }
  }
  return sum;
}

std::string Conv(const LiteCall& call) {
  if (!FloatsOf4(call, 2)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &f = call.in[1], &y = call.out[0];
  const Axis h = AxisOf(call, 0, x.shape[1], y.shape[1], f.shape[1]),
             w = AxisOf(call, 1, x.shape[2], y.shape[2], f.shape[2]);
  const int64_t depth = f.shape[3], groups = x.shape[3] / depth;
  if (depth * groups != x.shape[3] || groups == 0 || y.shape[3] % groups != 0 ||
      f.shape[0] != y.shape[3] || x.shape[0] != y.shape[0]) {
    return kLiteOperands;
  }
  const int64_t each = y.shape[3] / groups;
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % y.shape[3], q = i / y.shape[3] % y.shape[2],
                  p = i / y.shape[3] / y.shape[2] % y.shape[1],
                  n = i / y.shape[3] / y.shape[2] / y.shape[1];
    const float sum = OverWindow(
        h, w, p, q,
        [&](float* total, int64_t row, int64_t column, int64_t r, int64_t s) {
          const int64_t from = At4(x.shape, n, row, column, k / each * depth);
          const int64_t weight = At4(f.shape, k, r, s, 0);
          for (int64_t c = 0; c < depth; ++c) {
            *total += x.Float(from + c) * f.Float(weight + c);
          }
        });
    y.SetFloat(i, LiteActivate(sum + BiasAt(call, 2, k), call.Number(kActivation)));
  }
  return "";
}

std::string Depthwise(const LiteCall& call) {
  if (!FloatsOf4(call, 2)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &f = call.in[1], &y = call.out[0];
  const Axis h = AxisOf(call, 0, x.shape[1], y.shape[1], f.shape[1]),
             w = AxisOf(call, 1, x.shape[2], y.shape[2], f.shape[2]);
  const int64_t times = y.shape[3] / x.shape[3];
  if (times * x.shape[3] != y.shape[3] || f.shape[3] != y.shape[3] || times == 0 ||
      x.shape[0] != y.shape[0]) {
    return kLiteOperands;
  }
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % y.shape[3], q = i / y.shape[3] % y.shape[2],
                  p = i / y.shape[3] / y.shape[2] % y.shape[1],
                  n = i / y.shape[3] / y.shape[2] / y.shape[1];
    const float sum = OverWindow(
        h, w, p, q,
        [&](float* total, int64_t row, int64_t column, int64_t r, int64_t s) {
          *total += x.Float(At4(x.shape, n, row, column, k / times)) *
                    f.Float(At4(f.shape, 0, r, s, k));
        });
    y.SetFloat(i, LiteActivate(sum + BiasAt(call, 2, k), call.Number(kActivation)));
  }
  return "";
}

// Inputs: the result's shape, weight, operand, bias.
std::string TransposedConv(const LiteCall& call) {
  if (call.in.size() < 3 || !call.in[1].IsFloat() || !call.in[2].IsFloat() ||
      !call.out[0].IsFloat() || call.in[1].rank() != 4 || call.in[2].rank() != 4 ||
      call.out[0].rank() != 4) {
    return kLiteOperands;
  }
  const LiteTensor &f = call.in[1], &x = call.in[2], &y = call.out[0];
  if (f.shape[0] != y.shape[3] || f.shape[3] != x.shape[3] ||
      x.shape[0] != y.shape[0]) {
    return kLiteOperands;
  }
  const Axis h = AxisOf(call, 0, y.shape[1], x.shape[1], f.shape[1]),
             w = AxisOf(call, 1, y.shape[2], x.shape[2], f.shape[2]);
  std::vector<float> sums(static_cast<size_t>(y.count));
  for (int64_t i = 0; i < x.count; ++i) {
    const int64_t c = i % x.shape[3], q = i / x.shape[3] % x.shape[2],
                  p = i / x.shape[3] / x.shape[2] % x.shape[1],
                  n = i / x.shape[3] / x.shape[2] / x.shape[1];
    for (int64_t r = 0; r < f.shape[1]; ++r) {
      for (int64_t s = 0; s < f.shape[2]; ++s) {
        const int64_t row = h.At(p, r), column = w.At(q, s);
        if (!h.Has(row) || !w.Has(column)) continue;
        for (int64_t k = 0; k < y.shape[3]; ++k) {
          sums[static_cast<size_t>(At4(y.shape, n, row, column, k))] +=
              x.Float(i) * f.Float(At4(f.shape, k, r, s, c));
        }
      }
    }
  }
  for (int64_t i = 0; i < y.count; ++i) {
    const float value = sums[static_cast<size_t>(i)] + BiasAt(call, 3, i % y.shape[3]);
    y.SetFloat(i, LiteActivate(value, call.Number(kActivation)));
  }
  return "";
}

// ---- products of rows

// The stored bounds of a fused activation.
void Bounds(const LiteTensor& y, int64_t activation, int64_t* least, int64_t* most) {
  *least = LiteLeast(y.type);
  *most = LiteMost(y.type);
  const auto step = [&](float real) {
    return y.zero + LiteWhole(std::round(real / y.scale));
  };
  if (activation == 1 || activation == 3) *least = std::max(*least, step(0));
  if (activation == 2) *least = std::max(*least, step(-1));
  if (activation == 2) *most = std::min(*most, step(1));
  if (activation == 3) *most = std::min(*most, step(6));
}

struct Product {
  const LiteTensor &a, &b, &y;
  int64_t depth, stride_a, stride_b;  // of one step along the sum
  LiteFactor factor;
  int64_t least, most;
  double once = 0;  // not 0: sums are scaled by it and rounded once
};

struct Bias {
  float real = 0;
  int64_t whole = 0;
};

void Multiply(const Product& p, int64_t a, int64_t b, const Bias& bias,
              int64_t activation, int64_t to) {
  if (p.y.IsFloat()) {
    float sum = 0;
    for (int64_t d = 0; d < p.depth; ++d) {
      sum += p.a.Float(a + d * p.stride_a) * p.b.Float(b + d * p.stride_b);
    }
    return p.y.SetFloat(to, LiteActivate(sum + bias.real, activation));
  }
  int64_t sum = 0;
  for (int64_t d = 0; d < p.depth; ++d) {
    sum += (p.a.Int(a + d * p.stride_a) - p.a.zero) *
           (p.b.Int(b + d * p.stride_b) - p.b.zero);
  }
  sum += bias.whole;
  int64_t scaled = p.a.Is(kLiteInt16) ? LiteScaleWide(sum, p.factor)
                                      : LiteScale(Wrap32(sum), p.factor);
  if (p.once != 0) {
    scaled = LiteWhole(std::round(static_cast<double>(sum) * p.once));
  }
  p.y.SetInt(to, std::clamp(scaled + p.y.zero, p.least, p.most));
}

LiteFactor ProductFactor(const LiteTensor& a, const LiteTensor& b,
                         const LiteTensor& y) {
  return LiteFactorOf(static_cast<double>(a.scale * b.scale) /
                      static_cast<double>(y.scale));
}

// Number kActivation as in windows.
std::string FullyConnected(const LiteCall& call) {
  if (call.in.size() < 2 || call.in[1].rank() != 2 || !call.in[0].there()) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &f = call.in[1], &y = call.out[0];
  const int64_t depth = f.shape[1], units = f.shape[0], rows = x.count / depth;
  const bool floats = y.IsFloat();
  if (rows * depth != x.count || y.count != rows * units || x.IsFloat() != floats ||
      f.IsFloat() != floats) {
    return kLiteOperands;
  }
  const bool has_bias = call.in.size() > 2 && call.in[2].there();
  if (has_bias && call.in[2].count != units) return kLiteOperands;
  Product p = {x, f, y, depth, 1, 1, {}, 0, 0};
  if (!floats) {
    p.factor = ProductFactor(x, f, y);
    if (!x.Is(kLiteInt16)) {
      p.once = static_cast<double>(x.scale * f.scale) / static_cast<double>(y.scale);
    }
    Bounds(y, call.Number(kActivation), &p.least, &p.most);
  }
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % units;
    Bias bias;
    if (floats) bias.real = BiasAt(call, 2, k);
    if (!floats && has_bias) bias.whole = call.in[2].Int(k);
    Multiply(p, i / units * depth, k * depth, bias, call.Number(kActivation), i);
  }
  return "";
}

// Numbers: whether the first and the second operand are transposed.
std::string BatchMatmul(const LiteCall& call) {
  if (call.in.size() != 2 || call.in[0].rank() < 2 || call.in[1].rank() < 2) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &z = call.in[1], &y = call.out[0];
  const bool narrow = y.Is(kLiteInt16) && z.Is(kLiteInt8);
  if (x.type != y.type || (z.type != y.type && !narrow) || y.rank() < 2) {
    return kLiteOperands;
  }
  const bool adj_x = call.Number(0) != 0, adj_z = call.Number(1) != 0;
  const int64_t rows = y.shape[y.rank() - 2], columns = y.shape.back();
  const int64_t depth = x.shape[x.rank() - (adj_x ? 2 : 1)];
  if (x.shape[x.rank() - (adj_x ? 1 : 2)] != rows ||
      z.shape[z.rank() - (adj_z ? 1 : 2)] != depth ||
      z.shape[z.rank() - (adj_z ? 2 : 1)] != columns) {
    return kLiteOperands;
  }
  const auto batch = [](const LiteTensor& t) {
    return LiteShape(t.shape.begin(), t.shape.end() - 2);
  };
  const auto of_x = LiteBroadcast(batch(x), batch(y)),
             of_z = LiteBroadcast(batch(z), batch(y));
  if (of_x.empty() || of_z.empty()) return kLiteOperands;
  Product p = {x,
               z,
               y,
               depth,
               adj_x ? rows : 1,
               adj_z ? 1 : columns,
               {},
               LiteLeast(y.type),
               LiteMost(y.type)};
  if (!y.IsFloat()) p.factor = ProductFactor(x, z, y);
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t row = i / columns % rows, column = i % columns;
    const size_t b = static_cast<size_t>(i / (rows * columns));
    Multiply(p, of_x[b] * rows * depth + row * (adj_x ? 1 : depth),
             of_z[b] * depth * columns + column * (adj_z ? depth : 1), {}, 0, i);
  }
  return "";
}

// ---- pools

enum class Pool { kAverage, kMax, kL2 };

struct Window {
  float real = 0;
  int64_t whole = 0, count = 0;
};

void Take(const LiteTensor& x, int64_t at, Pool kind, Window* w) {
  const bool first = w->count++ == 0;
  if (x.IsFloat()) {
    const float value = x.Float(at);
    if (kind == Pool::kMax) {
      w->real = first ? value : std::max(w->real, value);
    } else {
      w->real += kind == Pool::kL2 ? value * value : value;
    }
    return;
  }
  const int64_t value = x.Int(at);
  if (kind == Pool::kMax) {
    w->whole = first ? value : std::max(w->whole, value);
  } else {
    w->whole += value;
  }
}

void Give(const LiteTensor& y, int64_t i, Pool kind, int64_t activation,
          const Window& w) {
  if (y.IsFloat()) {
    float value = w.real;
    if (kind != Pool::kMax) value /= static_cast<float>(w.count);
    if (kind == Pool::kL2) value = std::sqrt(value);
    return y.SetFloat(i, LiteActivate(value, activation));
  }
  int64_t least, most, value = w.whole;
  Bounds(y, activation, &least, &most);
  if (kind == Pool::kAverage) {
    value = (value > 0 ? value + w.count / 2 : value - w.count / 2) / w.count;
  }
  y.SetInt(i, std::clamp(value, least, most));
}

std::string Pooled(const LiteCall& call, Pool kind) {
  if (call.in.size() != 1 || call.in[0].rank() != 4 || call.out[0].rank() != 4 ||
      call.in[0].type != call.out[0].type ||
      call.in[0].shape[3] != call.out[0].shape[3] ||
      call.in[0].shape[0] != call.out[0].shape[0]) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const Axis h = AxisOf(call, 0, x.shape[1], y.shape[1], call.Number(3)),
             w = AxisOf(call, 1, x.shape[2], y.shape[2], call.Number(4));
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % y.shape[3], q = i / y.shape[3] % y.shape[2],
                  p = i / y.shape[3] / y.shape[2] % y.shape[1],
                  n = i / y.shape[3] / y.shape[2] / y.shape[1];
    Window window;
    for (int64_t r = 0; r < h.window; ++r) {
      for (int64_t s = 0; s < w.window; ++s) {
        const int64_t row = h.At(p, r), column = w.At(q, s);
        if (!h.Has(row) || !w.Has(column)) continue;
        Take(x, At4(x.shape, n, row, column, k), kind, &window);
      }
    }
    if (window.count == 0) return kLiteOperands;
    Give(y, i, kind, call.Number(kActivation), window);
  }
  return "";
}
std::string AveragePool(const LiteCall& call) { return Pooled(call, Pool::kAverage); }
std::string MaxPool(const LiteCall& call) { return Pooled(call, Pool::kMax); }
std::string L2Pool(const LiteCall& call) { return Pooled(call, Pool::kL2); }

// ---- resizing: numbers: align corners, half pixels

struct Positions {
  bool corners, half;
};

float ScaleOf(const Positions& p, int64_t in, int64_t out) {
  return p.corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
}

struct Between {
  int64_t low, high;
  float part;         // of `high`
  int64_t whole = 0;  // the same in 1024ths
};

Between FloatBetween(const Positions& p, int64_t in, int64_t out, int64_t i) {
  const float scale = ScaleOf(p, in, out), at = static_cast<float>(i);
  const float place = p.half ? (at + 0.5f) * scale - 0.5f : at * scale;
  const int64_t low = std::clamp<int64_t>(LiteWhole(std::floor(place)), 0, in - 1);
  const int64_t high = std::min<int64_t>(LiteWhole(std::ceil(place)), in - 1);
  return {low, high, place - static_cast<float>(low)};
}

Between WholeBetween(const Positions& p, int64_t in, int64_t out, int64_t i) {
  const bool corners = p.corners && out > 1;
  const int64_t parts = corners ? out - 1 : out, whole = corners ? in - 1 : in;
  const int64_t scale = (whole * 1024 + parts / 2) / parts;
  const int64_t place = p.half ? i * scale + scale / 2 - 512 : i * scale;
  const int64_t low = std::clamp<int64_t>(place / 1024, 0, in - 1);
  return {low, std::min<int64_t>((place + 1023) / 1024, in - 1), 0, place - low * 1024};
}

bool Resizes(const LiteCall& call) {
  return !call.in.empty() && call.in[0].rank() == 4 && call.out[0].rank() == 4 &&
         call.in[0].type == call.out[0].type &&
         call.in[0].shape[0] == call.out[0].shape[0] &&
         call.in[0].shape[3] == call.out[0].shape[3];
}

std::string ResizeBilinear(const LiteCall& call) {
  if (!Resizes(call)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const Positions p = {call.Number(0) != 0, call.Number(1) != 0};
  const bool whole = x.Is(kLiteInt8) || x.Is(kLiteInt16);
  const auto of = whole ? WholeBetween : FloatBetween;
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % y.shape[3], q = i / y.shape[3] % y.shape[2],
                  r = i / y.shape[3] / y.shape[2] % y.shape[1],
                  n = i / y.shape[3] / y.shape[2] / y.shape[1];
    const Between h = of(p, x.shape[1], y.shape[1], r),
                  w = of(p, x.shape[2], y.shape[2], q);
    const int64_t at[] = {
        At4(x.shape, n, h.low, w.low, k), At4(x.shape, n, h.high, w.low, k),
        At4(x.shape, n, h.low, w.high, k), At4(x.shape, n, h.high, w.high, k)};
    if (whole) {
      const int64_t a = h.whole, b = w.whole;
      const int64_t sum = x.Int(at[0]) * (1024 - a) * (1024 - b) +
                          x.Int(at[1]) * a * (1024 - b) +
                          x.Int(at[2]) * (1024 - a) * b + x.Int(at[3]) * a * b;
      y.SetInt(i, (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
      continue;
    }
    const auto value = [&](size_t j) {
      return x.IsFloat() ? x.Float(at[j]) : static_cast<float>(x.Int(at[j]));
    };
    const float a = h.part, b = w.part;
    const float sum = value(0) * (1 - a) * (1 - b) + value(1) * a * (1 - b) +
                      value(2) * (1 - a) * b + value(3) * a * b;
    if (y.IsFloat()) y.SetFloat(i, sum);
    if (!y.IsFloat()) y.SetInt(i, LiteWhole(sum + 0.5f));
  }
  return "";
}

int64_t NearestOf(const Positions& p, int64_t in, int64_t out, int64_t i) {
  const float at =
      (static_cast<float>(i) + (p.half ? 0.5f : 0.0f)) * ScaleOf(p, in, out);
  const float whole = p.corners ? std::round(at) : std::floor(at);
  return std::clamp<int64_t>(LiteWhole(whole), 0, in - 1);
}

std::string ResizeNearest(const LiteCall& call) {
  if (!Resizes(call)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const Positions p = {call.Number(0) != 0, call.Number(1) != 0};
  const size_t size = static_cast<size_t>(LiteTypeBytes(y.type) * y.shape[3]);
  const int64_t pixels = y.count / y.shape[3];
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t q = i % y.shape[2], r = i / y.shape[2] % y.shape[1],
                  n = i / y.shape[2] / y.shape[1];
    const int64_t from =
        (n * x.shape[1] + NearestOf(p, x.shape[1], y.shape[1], r)) * x.shape[2] +
        NearestOf(p, x.shape[2], y.shape[2], q);
    std::memcpy(y.bytes + static_cast<size_t>(i) * size,
                x.bytes + static_cast<size_t>(from) * size, size);
  }
  return "";
}

}  // namespace

void AddLiteWindows(LiteRows* rows) {
  const LiteRows here = {{"CONV_2D", Conv},
                         {"DEPTHWISE_CONV_2D", Depthwise},
                         {"TRANSPOSE_CONV", TransposedConv},
                         {"FULLY_CONNECTED", FullyConnected},
                         {"BATCH_MATMUL", BatchMatmul},
                         {"AVERAGE_POOL_2D", AveragePool},
                         {"MAX_POOL_2D", MaxPool},
                         {"L2_POOL_2D", L2Pool},
                         {"RESIZE_BILINEAR", ResizeBilinear},
                         {"RESIZE_NEAREST_NEIGHBOR", ResizeNearest}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
