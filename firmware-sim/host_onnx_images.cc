// SPDX-License-Identifier: Apache-2.0
// Pools, resizing and transposed convolutions of floats.
#include <algorithm>
#include <cmath>

#include "host_onnx.h"

namespace sluice_sim {
namespace {

struct Axis {
  int64_t in, out, window, stride, dilation, before;
};

// Planes (batch times channels) of two axes.
struct Planes {
  int64_t count;
  Axis h, w;
};

Axis AxisOf(OnnxOptions* o) {
  Axis a = {};
  for (int64_t* field : {&a.in, &a.out, &a.window, &a.stride, &a.dilation}) {
    *field = o->Int(1, 1 << 20);
  }
  a.before = o->Int(0, 1 << 20);
  return a;
}

bool Fit(const Planes& p, const HostOperands& in, const HostOperands& out) {
  const int64_t all = CountOf(in[0]);
  return out.size() == 1 && p.count <= all && p.count * p.h.in <= all &&
         p.count * p.h.in * p.w.in == all && IsFloats(in, 0, all) &&
         IsFloats(out, 0, p.count * p.h.out * p.w.out);
}

HostFunction Pool(bool average) {
  return [average](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    Planes p = {options.Int(1), {}, {}};
    p.h = AxisOf(&options);
    p.w = AxisOf(&options);
    const bool whole = options.Int(0, 1) != 0;
    if (!options.Ended() || in.size() != 2 || !Fit(p, in, out)) return kOnnxOperands;
    float* result = ResultOf<float>(out[0]);
    for (int64_t i = 0; i < p.count * p.h.out * p.w.out; ++i) {
      const float* plane =
          ElementsOf<float>(in[0]) + i / (p.h.out * p.w.out) * p.h.in * p.w.in;
      const int64_t row = i / p.w.out % p.h.out, column = i % p.w.out;
      float value = average ? 0 : -INFINITY;
      int64_t count = 0;
      for (int64_t r = 0; r < p.h.window; ++r) {
        const int64_t y = row * p.h.stride + r * p.h.dilation - p.h.before;
        for (int64_t s = 0; s < p.w.window; ++s) {
          const int64_t x = column * p.w.stride + s * p.w.dilation - p.w.before;
          if (y < 0 || y >= p.h.in || x < 0 || x >= p.w.in) continue;
          const float next = plane[y * p.w.in + x];
          value = average ? value + next : std::max(value, next);
          ++count;
        }
      }
      if (whole) count = p.h.window * p.w.window;
      result[i] =
          average ? value / static_cast<float>(std::max<int64_t>(count, 1)) : value;
    }
    return "";
  };
}

enum Positions {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kPositions
};
enum Nearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kNearest };

float PositionOf(int64_t i, const Axis& axis, float scale, int64_t positions) {
  const float at = static_cast<float>(i);
  switch (positions) {
    case kHalfPixel:
      return (at + 0.5f) / scale - 0.5f;
    case kPytorchHalfPixel:
      return axis.out > 1 ? (at + 0.5f) / scale - 0.5f : 0.0f;
    case kAlignCorners:
      return axis.out == 1 ? 0.0f
                           : at * static_cast<float>(axis.in - 1) /
                                 static_cast<float>(axis.out - 1);
    default:
      return at / scale;
  }
}

int64_t NearestOf(float position, int64_t mode, int64_t last) {
  float rounded = std::floor(position);
  if (mode == kRoundPreferFloor && position - rounded > 0.5f) rounded += 1;
  if (mode == kRoundPreferCeil && position - rounded >= 0.5f) rounded += 1;
  if (mode == kCeil) rounded = std::ceil(position);
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, last);
}

// The two elements between which an output is interpolated, and the weight of the
// second.
struct Between {
  int64_t low, high;
  float to_low, to_high;
};

Between BetweenOf(float position, int64_t last) {
  const float at = std::clamp(position, 0.0f, static_cast<float>(last));
  const int64_t low = std::min(static_cast<int64_t>(at), last),
                high = std::min(low + 1, last);
  Between b = {low, high, std::fabs(at - static_cast<float>(low)),
               std::fabs(at - static_cast<float>(high))};
  if (low == high) b.to_low = b.to_high = 0.5f;
  return b;
}

// The four elements around a position, and their weights.
struct Four {
  int64_t at[4];
  float weight[4];
};

struct Cubic {
  float coefficient = 0;
  bool inside = false;  // pixels outside are left out
};

Four FourOf(float position, int64_t last, const Cubic& cubic) {
  const float low = std::floor(position), a = cubic.coefficient, s = position - low;
  Four four = {{},
               {((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
                ((a + 2) * s - (a + 3)) * s * s + 1,
                ((a + 2) * (1 - s) - (a + 3)) * (1 - s) * (1 - s) + 1,
                ((a * (2 - s) - 5 * a) * (2 - s) + 8 * a) * (2 - s) - 4 * a}};
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int64_t at = static_cast<int64_t>(low) - 1 + i;
    if (cubic.inside && (at < 0 || at > last)) four.weight[i] = 0;
    sum += four.weight[i];
    four.at[i] = std::clamp<int64_t>(at, 0, last);
  }
  for (float& weight : four.weight) {
    if (cubic.inside) weight /= sum;
  }
  return four;
}

float CubicAt(const float* plane, int64_t width, const Four& rows,
              const Four& columns) {
  float sum = 0;
  for (int r = 0; r < 4; ++r) {
    float row = 0;
    for (int c = 0; c < 4; ++c) {
      row += columns.weight[c] * plane[rows.at[r] * width + columns.at[c]];
    }
    sum += rows.weight[r] * row;
  }
  return sum;
}

// {planes, rows in and out, columns in and out, sort, positions, nearest, both scales}
std::string Resize(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  Planes p = {options.Int(1), {}, {}};
  for (Axis* axis : {&p.h, &p.w}) {
    axis->in = options.Int(1, 1 << 20);
    axis->out = options.Int(1, 1 << 20);
  }
  const int64_t sort = options.Int(0, 2);
  const bool linear = sort == 1;
  const int64_t positions = options.Int(0, kPositions - 1),
                nearest = options.Int(0, kNearest - 1);
  const float scale_h = options.Float(), scale_w = options.Float();
  Cubic cubic;
  if (sort == 2) {
    cubic.coefficient = options.Float();
    cubic.inside = options.Int(0, 1) != 0;
  }
  if (!options.Ended() || in.size() != 2 || !Fit(p, in, out) || !(scale_h > 0) ||
      !(scale_w > 0)) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < p.count * p.h.out * p.w.out; ++i) {
    const float* plane =
        ElementsOf<float>(in[0]) + i / (p.h.out * p.w.out) * p.h.in * p.w.in;
    const float y = PositionOf(i / p.w.out % p.h.out, p.h, scale_h, positions),
                x = PositionOf(i % p.w.out, p.w, scale_w, positions);
    float& result = ResultOf<float>(out[0])[i];
    if (sort == 2) {
      result = CubicAt(plane, p.w.in, FourOf(y, p.h.in - 1, cubic),
                       FourOf(x, p.w.in - 1, cubic));
      continue;
    }
    if (!linear) {
      result = plane[NearestOf(y, nearest, p.h.in - 1) * p.w.in +
                     NearestOf(x, nearest, p.w.in - 1)];
      continue;
    }
    const Between r = BetweenOf(y, p.h.in - 1), c = BetweenOf(x, p.w.in - 1);
    const float* top = plane + r.low * p.w.in;
    const float* bottom = plane + r.high * p.w.in;
    result = c.to_high * r.to_high * top[c.low] + c.to_low * r.to_high * top[c.high] +
             c.to_high * r.to_low * bottom[c.low] +
             c.to_low * r.to_low * bottom[c.high];
  }
  return "";
}

struct Grid {
  int64_t n, c, h, w, p, q;
  bool linear, border, align;
};

float PixelAt(const Grid& g, const float* plane, int64_t y, int64_t x) {
  if (g.border) {
    y = std::clamp<int64_t>(y, 0, g.h - 1);
    x = std::clamp<int64_t>(x, 0, g.w - 1);
  }
  return y < 0 || y >= g.h || x < 0 || x >= g.w ? 0 : plane[y * g.w + x];
}

// From -1 to 1 to pixels.
float Unnormalised(const Grid& g, float place, int64_t extent) {
  const float size = static_cast<float>(extent);
  float at = g.align ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
  if (g.border) at = std::clamp(at, 0.0f, size - 1);
  return std::isfinite(at) ? std::clamp(at, -2.0f, size + 1) : -2;
}

std::string GridSample(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  Grid g = {};
  for (int64_t* extent : {&g.n, &g.c, &g.h, &g.w, &g.p, &g.q}) {
    *extent = options.Int(1, 1 << 20);
  }
  g.linear = options.Int(0, 1) != 0;
  g.border = options.Int(0, 1) != 0;
  g.align = options.Int(0, 1) != 0;
  const auto fits = [](const HostOperands& list, size_t i, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) {
      count *= extent;
      if (count > INT32_MAX) return false;
    }
    return IsFloats(list, i, count);
  };
  if (!options.Ended() || in.size() != 3 || out.size() != 1 ||
      !fits(in, 0, {g.n, g.c, g.h, g.w}) || !fits(in, 1, {g.n, g.p, g.q, 2}) ||
      !fits(out, 0, {g.n, g.c, g.p, g.q})) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    const int64_t place = i % (g.p * g.q), image = i / (g.p * g.q) / g.c;
    const float* at = ElementsOf<float>(in[1]) + (image * g.p * g.q + place) * 2;
    const float x = Unnormalised(g, at[0], g.w), y = Unnormalised(g, at[1], g.h);
    const float* plane = ElementsOf<float>(in[0]) + i / (g.p * g.q) * g.h * g.w;
    float& result = ResultOf<float>(out[0])[i];
    if (!g.linear) {
      result = PixelAt(g, plane, static_cast<int64_t>(std::nearbyint(y)),
                       static_cast<int64_t>(std::nearbyint(x)));
      continue;
    }
    const float top = std::floor(y), left = std::floor(x);
    const float down = y - top, right = x - left;
    const int64_t r = static_cast<int64_t>(top), c = static_cast<int64_t>(left);
    result = (1 - down) * ((1 - right) * PixelAt(g, plane, r, c) +
                           right * PixelAt(g, plane, r, c + 1)) +
             down * ((1 - right) * PixelAt(g, plane, r + 1, c) +
                     right * PixelAt(g, plane, r + 1, c + 1));
  }
  return "";
}

// The axes are those of the forward convolution, from the output to x.
std::string ConvTranspose(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t n = options.Int(1, 1 << 20), c = options.Int(1, 1 << 20),
                k = options.Int(1, 1 << 20), groups = options.Int(1, 1 << 20);
  const Axis h = AxisOf(&options), w = AxisOf(&options);
  if (!options.Ended() || in.size() != 4 || out.size() != 1 || c % groups != 0 ||
      k % groups != 0 || CountOf(in[0]) / n / c / h.in / w.in != 1 ||
      !IsFloats(in, 0, n * c * h.in * w.in) ||
      CountOf(in[1]) / c / h.window / w.window != k / groups ||
      !IsFloats(in, 1, c * (k / groups) * h.window * w.window) || !IsFloats(in, 2, k) ||
      CountOf(out[0]) / n / k / h.out / w.out != 1 ||
      !IsFloats(out, 0, n * k * h.out * w.out)) {
    return kOnnxOperands;
  }
  const int64_t plane = h.out * w.out, depth = k / groups;
  std::vector<double> sums(static_cast<size_t>(n * k * plane));
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const double x = static_cast<double>(ElementsOf<float>(in[0])[i]);
    const int64_t image = i / (c * h.in * w.in), channel = i / (h.in * w.in) % c;
    const int64_t first = channel / (c / groups) * depth;
    for (int64_t tap = 0; tap < depth * h.window * w.window; ++tap) {
      const int64_t r = tap / w.window % h.window, s = tap % w.window;
      const int64_t y = i / w.in % h.in * h.stride + r * h.dilation - h.before;
      const int64_t z = i % w.in * w.stride + s * w.dilation - w.before;
      if (y < 0 || y >= h.out || z < 0 || z >= w.out) continue;
      const int64_t to = first + tap / (h.window * w.window);
      sums[static_cast<size_t>((image * k + to) * plane + y * w.out + z)] +=
          x * static_cast<double>(ElementsOf<float>(
                  in[1])[channel * depth * h.window * w.window + tap]);
    }
  }
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    ResultOf<float>(out[0])[i] = static_cast<float>(
        sums[static_cast<size_t>(i)] +
        static_cast<double>(ElementsOf<float>(in[2])[i / plane % k]));
  }
  return "";
}

}  // namespace

void AddOnnxImages(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.AveragePool"] = Pool(true);
  r["onnx.MaxPool"] = Pool(false);
  r["onnx.Resize"] = Resize;
  r["onnx.GridSample"] = GridSample;
  r["onnx.ConvTranspose"] = ConvTranspose;
}

}  // namespace sluice_sim
