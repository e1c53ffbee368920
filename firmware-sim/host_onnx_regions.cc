// SPDX-License-Identifier: Apache-2.0
// Where maxima lie, and back; averages or maxima over regions of pictures.
#include <algorithm>
#include <cmath>

#include "host_onnx.h"

namespace sluice_sim {
namespace {

// The same options as onnx.MaxPool, without the last.
std::string MaxPoolIndices(const HostOperands& in, const HostOperands& out) {
  OnnxOptions o(in);
  const int64_t planes = o.Int(1);
  int64_t axis[2][6] = {};  // in, out, window, stride, dilation, pad in front
  for (auto& a : axis) {
    for (int i = 0; i < 6; ++i) a[i] = o.Int(i < 5 ? 1 : 0, 1 << 20);
  }
  o.Int(0, 1);
  const auto &h = axis[0], &w = axis[1];
  if (!o.Ended() || in.size() != 2 || out.size() != 1 || planes > CountOf(in[0]) ||
      planes * h[0] > CountOf(in[0]) || !IsFloats(in, 0, planes * h[0] * w[0]) ||
      planes * h[1] > CountOf(out[0]) || !IsFloats(out, 0, planes * h[1] * w[1])) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    const int64_t first = i / (h[1] * w[1]) * h[0] * w[0];
    float largest = -INFINITY;
    int64_t place = -1;
    for (int64_t tap = 0; tap < h[2] * w[2]; ++tap) {
      const int64_t y = i / w[1] % h[1] * h[3] + tap / w[2] * h[4] - h[5],
                    x = i % w[1] * w[3] + tap % w[2] * w[4] - w[5];
      if (y < 0 || y >= h[0] || x < 0 || x >= w[0]) continue;
      const float value = ElementsOf<float>(in[0])[first + y * w[0] + x];
      if (!(value > largest)) continue;
      largest = value;
      place = first + y * w[0] + x;
    }
    ResultOf<int32_t>(out[0])[i] = static_cast<int32_t>(place);
  }
  return "";
}

std::string MaxUnpool(const HostOperands& in, const HostOperands& out) {
  if (in.size() != 3 || out.size() != 1 || !IsFloats(in, 0, CountOf(in[0])) ||
      !IsFloats(in, 1, CountOf(in[0])) || !IsFloats(out, 0, CountOf(out[0]))) {
    return kOnnxOperands;
  }
  std::fill_n(ResultOf<float>(out[0]), CountOf(out[0]), 0.0f);
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int32_t place = ElementsOf<int32_t>(in[1])[i];
    if (place < 0 || place >= CountOf(out[0])) return "an index outside the output";
    ResultOf<float>(out[0])[place] = ElementsOf<float>(in[0])[i];
  }
  return "";
}

struct Regions {
  int64_t n, c, h, w, count, rows, columns, ratio;
  float scale;
  bool half, largest;
};

// Between four pixels; 0 outside, of the border up to one pixel from it.
struct Sample {
  int64_t at[4];
  float weight[4];
};

bool SampleOf(const Regions& g, float y, float x, Sample* s) {
  if (!(y >= -1) || !(x >= -1) || y > static_cast<float>(g.h) ||
      x > static_cast<float>(g.w)) {
    return false;
  }
  y = std::max(y, 0.0f);
  x = std::max(x, 0.0f);
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  int64_t bottom = top + 1, right = left + 1;
  if (top >= g.h - 1) {
    top = bottom = g.h - 1;
    y = static_cast<float>(top);
  }
  if (left >= g.w - 1) {
    left = right = g.w - 1;
    x = static_cast<float>(left);
  }
  const float down = y - static_cast<float>(top), over = x - static_cast<float>(left);
  *s = {
      {top * g.w + left, top * g.w + right, bottom * g.w + left, bottom * g.w + right},
      {(1 - down) * (1 - over), (1 - down) * over, down * (1 - over), down * over}};
  return true;
}

struct Region {
  float top, left, cell_h, cell_w;
  int64_t samples_h, samples_w;
};

Region RegionOf(const Regions& g, const float* corners) {
  const float shift = g.half ? 0.5f : 0.0f;
  const float left = corners[0] * g.scale - shift, top = corners[1] * g.scale - shift;
  float width = corners[2] * g.scale - shift - left,
        height = corners[3] * g.scale - shift - top;
  if (!g.half) {
    width = std::max(width, 1.0f);
    height = std::max(height, 1.0f);
  }
  const float rows = static_cast<float>(g.rows),
              columns = static_cast<float>(g.columns);
  const auto samples = [&](float extent, float cells) {
    if (g.ratio > 0) return g.ratio;
    const float needed = std::ceil(extent / cells);
    return std::isfinite(needed)
               ? static_cast<int64_t>(std::clamp(needed, 0.0f, 4096.0f))
               : int64_t{0};
  };
  return {top,
          left,
          height / rows,
          width / columns,
          samples(height, rows),
          samples(width, columns)};
}

// The corners of each of its samples, weighted: their sum, or the largest.
float Cell(const Regions& g, const Region& region, const float* plane, int64_t row,
           int64_t column) {
  float sum = 0, largest = 0;
  bool any = false;
  for (int64_t i = 0; i < region.samples_h * region.samples_w; ++i) {
    const int64_t r = i / region.samples_w, c = i % region.samples_w;
    const float y = region.top + static_cast<float>(row) * region.cell_h +
                    (static_cast<float>(r) + 0.5f) * region.cell_h /
                        static_cast<float>(region.samples_h);
    const float x = region.left + static_cast<float>(column) * region.cell_w +
                    (static_cast<float>(c) + 0.5f) * region.cell_w /
                        static_cast<float>(region.samples_w);
    Sample s = {};
    SampleOf(g, y, x, &s);
    float most = s.weight[0] * plane[s.at[0]], all = most;
    for (int k = 1; k < 4; ++k) {
      const float corner = s.weight[k] * plane[s.at[k]];
      most = std::max(most, corner);
      all += corner;
    }
    sum += all;
    largest = any ? std::max(largest, most) : most;
    any = true;
  }
  if (g.largest) return largest;
  const int64_t count = std::max<int64_t>(region.samples_h * region.samples_w, 1);
  return sum / static_cast<float>(count);
}

std::string RoiAlign(const HostOperands& in, const HostOperands& out) {
  OnnxOptions o(in);
  Regions g = {};
  for (int64_t* extent : {&g.n, &g.c, &g.h, &g.w, &g.count, &g.rows, &g.columns})
    *extent = o.Int(1, 1 << 20);
  g.ratio = o.Int(0, 64);
  g.scale = o.Float();
  g.half = o.Int(0, 1) != 0;
  g.largest = o.Int(0, 1) != 0;
  if (!o.Ended() || in.size() != 4 || out.size() != 1 ||
      CountOf(in[0]) / g.n / g.c / g.h != g.w ||
      !IsFloats(in, 0, g.n * g.c * g.h * g.w) || !IsFloats(in, 1, 4 * g.count) ||
      !IsFloats(in, 2, g.count) ||
      CountOf(out[0]) / g.count / g.c / g.rows != g.columns ||
      !IsFloats(out, 0, g.count * g.c * g.rows * g.columns)) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    const int64_t which = i / (g.c * g.rows * g.columns);
    const int64_t image = ElementsOf<int32_t>(in[2])[which];
    if (image < 0 || image >= g.n) return "a region of a picture that is not there";
    const int64_t channel = i / (g.rows * g.columns) % g.c;
    const Region region = RegionOf(g, ElementsOf<float>(in[1]) + 4 * which);
    const float* plane = ElementsOf<float>(in[0]) + (image * g.c + channel) * g.h * g.w;
    ResultOf<float>(out[0])[i] =
        Cell(g, region, plane, i / g.columns % g.rows, i % g.columns);
  }
  return "";
}

}  // namespace

void AddOnnxRegions(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.MaxPoolIndices"] = MaxPoolIndices;
  r["onnx.MaxUnpool"] = MaxUnpool;
  r["onnx.RoiAlign"] = RoiAlign;
}

}  // namespace sluice_sim
