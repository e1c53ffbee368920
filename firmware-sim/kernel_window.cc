// SPDX-License-Identifier: Apache-2.0
// MAX_POOL and its gradient, AVERAGE_POOL, PAD, TRANSPOSE, RESIZE, and the geometry of
// sliding windows.
#include <algorithm>

#include "kernels.h"

namespace sluice_sim {
namespace {

// Writes f(n, h, w, c) to each element of the output.
template <typename F>
void Fill(const Tile& t, F&& f) {
  const Box& out = t.output;
  ForEachElement(out.extent, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
    Write(out.dtype, out.at(n, h, w, c), f(n, h, w, c));
  });
}

int32_t OneIfZero(int32_t value) { return value == 0 ? 1 : value; }

// Input row that RESIZE_NEAREST reads for a position.
int64_t NearestRow(const Tile& t, int64_t position, int64_t rows) {
  const bool round = t.A(SLUICE_RESIZE_ALIGN_CORNERS) != 0 ||
                     t.A(SLUICE_RESIZE_HALF_PIXEL_CENTERS) != 0;
  return Clamp((position + (round ? 512 : 0)) >> 10, 0, rows - 1);
}

int64_t LowerRow(int64_t position) { return std::max<int64_t>(0, position >> 10); }
int64_t UpperRow(int64_t position, int64_t rows) {
  return std::min(std::max<int64_t>(0, (position + 1023) >> 10), rows - 1);
}

}  // namespace

Window WindowOf(const Tile& t) {
  Window g = {{1, 1}, {1, 1}, {1, 1}, {0, 0}};
  const Slide slide = OpOf(t.op).slide;
  for (int i = 0; i < 2; ++i) {
    switch (slide) {
      case Slide::kNone:
      case Slide::kInterpolation:
        break;
      case Slide::kPool:
      case Slide::kPoolScatter:
        g.stride[i] = OneIfZero(t.A(SLUICE_POOL_STRIDE_H + i));
        g.size[i] = t.A(SLUICE_POOL_WINDOW_H + i);
        g.pad_before[i] = t.A(SLUICE_POOL_PAD_TOP + i);
        break;
      case Slide::kPads:
        g.pad_before[i] = t.A(SLUICE_PAD_BEFORE_H + i);
        break;
      case Slide::kFilter:
      case Slide::kScatter:
      case Slide::kTaps:
        g.stride[i] = OneIfZero(t.A(SLUICE_CONV_STRIDE_H + i));
        g.dilation[i] = OneIfZero(t.A(SLUICE_CONV_DILATION_H + i));
        g.size[i] =
            slide == Slide::kTaps ? t.layer.output[1 + i] : t.weight.extent[1 + i];
        g.pad_before[i] = t.A(SLUICE_CONV_PAD_TOP + i);
        break;
    }
  }
  return g;
}

Rows TransposedRows(int64_t begin, int64_t count, int64_t stride, int64_t pad,
                    int64_t filter, int64_t rows) {
  // Input row i contributes to output row o if 0 <= o + pad - i * stride < filter. Which
  // row a negative quotient is rounded to does not matter: there is none below 0.
  const int64_t first = (begin + pad - filter + stride) / stride;
  const int64_t last = (begin + count - 1 + pad) / stride;
  const int64_t end = std::min(last, rows - 1);
  return {std::min(std::max<int64_t>(0, first), end), end};
}

Rows PoolGradientRows(const Tile& t, int axis) {
  const Window g = WindowOf(t);
  const int i = axis - 1;
  const Rows errors = TransposedRows(t.origin[axis], t.output.extent[axis], g.stride[i],
                                     g.pad_before[i], g.size[i], t.layer.input[axis]);
  const int64_t last = errors.last * g.stride[i] - g.pad_before[i] + g.size[i] - 1;
  return {std::max<int64_t>(0, errors.first * g.stride[i] - g.pad_before[i]),
          std::min(last, t.layer.output[axis] - 1)};
}

Rows PaddedRows(const Tile& t, int axis) {
  const int64_t begin =
      t.origin[axis] - t.A(static_cast<size_t>(SLUICE_PAD_BEFORE_N + axis));
  const int64_t end = begin + t.output.extent[axis];
  return {std::max<int64_t>(0, begin), std::min(end, t.layer.input[axis]) - 1};
}

int64_t ResizePosition(const Tile& t, int axis, int64_t index) {
  const int64_t in = t.layer.input[axis], out = t.layer.output[axis];
  int64_t step = ((in << 10) + out / 2) / out;
  if (t.A(SLUICE_RESIZE_ALIGN_CORNERS) != 0 && out > 1) {
    step = (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
  }
  const int64_t position = step * index;
  return t.A(SLUICE_RESIZE_HALF_PIXEL_CENTERS) != 0 ? position + step / 2 - 512
                                                    : position;
}

Rows ResizeRows(const Tile& t, int axis, int64_t begin, int64_t count) {
  const int64_t rows = t.layer.input[axis];
  const int64_t first = ResizePosition(t, axis, begin);
  const int64_t last = ResizePosition(t, axis, begin + count - 1);
  const int64_t upper = LowerRow(last) + 1;
  return {std::min(LowerRow(first), rows - 1), std::min(upper, rows - 1)};
}

namespace {

// Calls f(value) for each element of input 0 under the window of output (p, q); returns
// their number.
template <typename F>
int64_t ForEachUnder(const Tile& t, const Window& g, const Extent& at, F&& f) {
  const Box& in = t.input0;
  const int64_t top = at[1] * g.stride[0] - t.pad[0];
  const int64_t left = at[2] * g.stride[1] - t.pad[1];
  int64_t count = 0;
  for (int64_t h = std::max<int64_t>(0, top);
       h < std::min(top + g.size[0], in.extent[1]); ++h) {
    for (int64_t w = std::max<int64_t>(0, left);
         w < std::min(left + g.size[1], in.extent[2]); ++w, ++count) {
      f(Read(in, at[0], h, w, at[3]));
    }
  }
  return count;
}

int64_t ClampPooled(const Tile& t, int64_t v) {
  return Clamp(v, t.A(SLUICE_POOL_ACT_MIN), t.A(SLUICE_POOL_ACT_MAX));
}

}  // namespace

void RunMaxPool(const Tile& t) {
  const Window g = WindowOf(t);
  Fill(t, [&](int64_t n, int64_t p, int64_t q, int64_t c) {
    int64_t largest = INT64_MIN;
    ForEachUnder(t, g, {n, p, q, c},
                 [&](int64_t v) { largest = std::max(largest, v); });
    return ClampPooled(t, largest);
  });
}

void RunAveragePool(const Tile& t) {
  const Window g = WindowOf(t);
  Fill(t, [&](int64_t n, int64_t p, int64_t q, int64_t c) {
    int64_t sum = 0;
    const int64_t count =
        ForEachUnder(t, g, {n, p, q, c}, [&](int64_t v) { sum += v; });
    const int64_t half = count / 2;
    return ClampPooled(t, count == 0 ? 0 : (sum > 0 ? sum + half : sum - half) / count);
  });
}

// Finds the element (h, w) of the ifmap's box that is the window's first largest one.
static void Winner(const Box& x, int64_t n, int64_t c, const int64_t from[2],
                   const int64_t size[2], int64_t at[2]) {
  int64_t largest = INT64_MIN;
  for (int64_t h = std::max<int64_t>(0, from[0]);
       h < std::min(from[0] + size[0], x.extent[1]); ++h) {
    for (int64_t w = std::max<int64_t>(0, from[1]);
         w < std::min(from[1] + size[1], x.extent[2]); ++w) {
      const int64_t v = Read(x, n, h, w, c);
      if (v <= largest) continue;
      largest = v;
      at[0] = h;
      at[1] = w;
    }
  }
}

void RunMaxPoolGradient(const Tile& t) {
  const Window g = WindowOf(t);
  const Box& e = t.input0;
  const Box& out = t.output;
  int64_t first[2], base[2];  // first error row; first row of the ifmap's box
  for (int i = 0; i < 2; ++i) {
    first[i] = TransposedRows(t.origin[1 + i], out.extent[1 + i], g.stride[i],
                              g.pad_before[i], g.size[i], t.layer.input[1 + i])
                   .first;
    base[i] = PoolGradientRows(t, 1 + i).first;
  }
  const int64_t zero = t.A(SLUICE_POOL_ERROR_ZERO);
  std::vector<int64_t> sums(static_cast<size_t>(out.elements()));
  const auto sum = [&](int64_t n, int64_t h, int64_t w, int64_t c) -> int64_t& {
    return sums[static_cast<size_t>(
        ((n * out.extent[1] + h) * out.extent[2] + w) * out.extent[3] + c)];
  };
  for (int64_t n = 0; n < e.extent[0]; ++n) {
    for (int64_t p = 0; p < e.extent[1]; ++p) {
      for (int64_t q = 0; q < e.extent[2]; ++q) {
        Poll(t.cancel);
        const int64_t from[2] = {
            (first[0] + p) * g.stride[0] - g.pad_before[0] - base[0],
            (first[1] + q) * g.stride[1] - g.pad_before[1] - base[1]};
        for (int64_t c = 0; c < e.extent[3]; ++c) {
          int64_t at[2] = {0, 0};
          Winner(t.input1, n, c, from, g.size, at);
          const int64_t h = at[0] + base[0] - t.origin[1];
          const int64_t w = at[1] + base[1] - t.origin[2];
          if (h < 0 || h >= out.extent[1] || w < 0 || w >= out.extent[2]) continue;
          sum(n, h, w, c) += Read(e, n, p, q, c) - zero;
        }
      }
    }
  }
  Fill(t, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
    return Clamp(sum(n, h, w, c) + zero, t.A(SLUICE_POOL_ACT_MIN),
                 t.A(SLUICE_POOL_ACT_MAX));
  });
}

void RunPad(const Tile& t) {
  const Box& in = t.input0;
  int64_t before[2];  // padding in front of the box along N and C
  for (int i = 0; i < 2; ++i) {
    const int a = 3 * i;
    before[i] = PaddedRows(t, a).first - t.origin[a] +
                t.A(static_cast<size_t>(SLUICE_PAD_BEFORE_N + a));
  }
  Fill(t, [&](int64_t n, int64_t p, int64_t q, int64_t c) {
    const int64_t at[4] = {n - before[0], p - t.pad[0], q - t.pad[1], c - before[1]};
    bool inside = true;
    for (int a = 0; a < 4; ++a) inside = inside && at[a] >= 0 && at[a] < in.extent[a];
    return inside ? Read(in, at[0], at[1], at[2], at[3])
                  : int64_t{t.A(SLUICE_PAD_VALUE)};
  });
}

void RunTranspose(const Tile& t) {
  Fill(t, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
    const int64_t to[4] = {n, h, w, c};
    Extent from{};
    for (int a = 0; a < 4; ++a) from[t.A(SLUICE_TRANSPOSE_PERM0 + a)] = to[a];
    return Read(t.input0, from[0], from[1], from[2], from[3]);
  });
}

void RunResizeNearest(const Tile& t) {
  const int64_t top = ResizeRows(t, 1, t.origin[1], t.output.extent[1]).first;
  const int64_t left = ResizeRows(t, 2, t.origin[2], t.output.extent[2]).first;
  Fill(t, [&](int64_t n, int64_t p, int64_t q, int64_t c) {
    const int64_t y = ResizePosition(t, 1, t.origin[1] + p);
    const int64_t x = ResizePosition(t, 2, t.origin[2] + q);
    return Read(t.input0, n, NearestRow(t, y, t.layer.input[1]) - top,
                NearestRow(t, x, t.layer.input[2]) - left, c);
  });
}

void RunResizeBilinear(const Tile& t) {
  const Box& in = t.input0;
  const int64_t rows = t.layer.input[1], columns = t.layer.input[2];
  const int64_t top = ResizeRows(t, 1, t.origin[1], t.output.extent[1]).first;
  const int64_t left = ResizeRows(t, 2, t.origin[2], t.output.extent[2]).first;
  Fill(t, [&](int64_t n, int64_t p, int64_t q, int64_t c) {
    const int64_t y = ResizePosition(t, 1, t.origin[1] + p);
    const int64_t x = ResizePosition(t, 2, t.origin[2] + q);
    const int64_t y0 = std::min(LowerRow(y), rows - 1), y1 = UpperRow(y, rows);
    const int64_t x0 = std::min(LowerRow(x), columns - 1), x1 = UpperRow(x, columns);
    const int64_t fy = y - (y0 << 10), fx = x - (x0 << 10);
    const int64_t sum =
        Read(in, n, y0 - top, x0 - left, c) * (1024 - fy) * (1024 - fx) +
        Read(in, n, y1 - top, x0 - left, c) * fy * (1024 - fx) +
        Read(in, n, y0 - top, x1 - left, c) * (1024 - fy) * fx +
        Read(in, n, y1 - top, x1 - left, c) * fy * fx;
    return (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20);
  });
}

}  // namespace sluice_sim
