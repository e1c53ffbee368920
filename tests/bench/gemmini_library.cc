// SPDX-License-Identifier: Apache-2.0
#include "bench/gemmini_library.h"

#include <algorithm>
#include <array>

namespace gemmini_library {
namespace {

constexpr int64_t kDim = 16;
constexpr int64_t kRows = 16384 / 2, kSums = 1024 / 2;  // halves: the next tile loads

int64_t Blocks(int64_t n) { return (n + kDim - 1) / kDim; }
int64_t Parts(int64_t n, int64_t part) { return (n + part - 1) / part; }

// A tile of a convolution: what it makes, and of which filter positions and channels.
enum { kOutRows, kOutColumns, kOutChannels, kFilterRows, kFilterColumns, kInChannels };
using Tile = std::array<int64_t, 6>;

bool Fits(const Tile& t, const Convolution& c, bool downsample) {
  const int64_t rows = t[kOutRows] * c.stride + t[kFilterRows] - 1;
  const int64_t columns = t[kOutColumns] * c.stride + t[kFilterColumns] - 1;
  const int64_t input = Blocks(t[kInChannels]) * (downsample ? rows / 2 : rows) *
                        (downsample ? columns / 2 : columns);
  const int64_t weights =
      Blocks(t[kOutChannels]) * t[kFilterRows] * t[kFilterColumns] * t[kInChannels];
  return input + weights <= kRows &&
         Blocks(t[kOutChannels]) * t[kOutRows] * t[kOutColumns] <= kSums;
}

// The largest extent is made smaller until the tile fits (columns not below an array's
// rows while there are several rows); then columns grow, then any extent.
Tile ChooseTile(const Convolution& c, const Tile& all, bool downsample) {
  Tile t = all;
  while (!Fits(t, c, downsample)) {
    size_t largest = t.size();
    for (size_t i = 0; i < t.size(); ++i) {
      if (i == kOutColumns && t[i] <= kDim && t[kOutRows] > 1) continue;
      if (largest == t.size() || t[i] > t[largest]) largest = i;
    }
    const bool channels = largest == kOutChannels || largest == kInChannels;
    if (channels) {
      t[largest] = std::max<int64_t>(1, (t[largest] - 1) / kDim * kDim);
    } else {
      --t[largest];
    }
  }
  const auto grow = [&](size_t i) {
    Tile more = t;
    ++more[i];
    if (more[i] > all[i] || !Fits(more, c, downsample)) return false;
    t = more;
    return true;
  };
  while (grow(kOutColumns)) {
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < t.size(); ++i) grown |= grow(i);
  }
  return t;
}

// Rows (columns) of the input that a tile reads and that are no padding.
int64_t Inside(int64_t out, int64_t outs, int64_t taps, int64_t tap,
               const Convolution& c, int64_t extent) {
  const int64_t begin = out * c.stride + tap - c.padding;
  const int64_t end = begin + outs * c.stride + taps - 1;
  return std::max<int64_t>(0, std::min(end, extent) - std::max<int64_t>(0, begin));
}

}  // namespace

Cost MatmulCost(int64_t i, int64_t j, int64_t k) {
  int64_t ti = std::min<int64_t>(Blocks(i), 5), tj = std::min<int64_t>(Blocks(j), 5);
  int64_t tk = std::min<int64_t>(Blocks(k), kRows / 2 / kDim / 5);
  const auto fits = [](int64_t a, int64_t b, int64_t c) {
    return (a * c + c * b) * kDim <= kRows && a * b * kDim <= kSums;
  };
  for (bool grown = true; grown;) {
    grown = false;
    const std::array<int64_t*, 3> order = {&tj, &ti, &tk};
    const std::array<int64_t, 3> most = {Blocks(j), Blocks(i), Blocks(k)};
    for (size_t n = 0; n < 3; ++n) {
      if (*order[n] >= most[n]) continue;
      ++*order[n];
      if (fits(ti, tj, tk)) {
        grown = true;
      } else {
        --*order[n];
      }
    }
  }
  const int64_t is = Parts(Blocks(i), ti), js = Parts(Blocks(j), tj);
  const int64_t ks = Parts(Blocks(k), tk);
  Cost cost;
  cost.passes = Blocks(i) * Blocks(j) * Blocks(k);
  cost.biases = Blocks(i) * j * 4;  // for each 16 rows that are written
  // Both operands again for each tile, but for one whose two halves stay.
  cost.bytes =
      i * k * (is * ks <= 2 ? 1 : js) + k * j * (js * ks <= 2 ? 1 : is) + i * j;
  return cost;
}

Cost ConvolutionCost(const Convolution& c) {
  const bool downsample = c.stride == 2 && c.kernel == 1 && c.padding == 0 &&
                          c.in_rows % 2 == 0 && c.in_columns % 2 == 0;
  const Tile all = {c.out_rows, c.out_columns, c.out_channels,
                    c.kernel,   c.kernel,      c.in_channels};
  const Tile t = ChooseTile(c, all, downsample);
  const int64_t sums = Parts(c.kernel, t[kFilterRows]) *
                       Parts(c.kernel, t[kFilterColumns]) *
                       Parts(c.in_channels, t[kInChannels]);
  const bool weights_stay = sums * Parts(c.out_channels, t[kOutChannels]) <= 2;
  const bool input_stays =
      sums * Parts(c.out_rows, t[kOutRows]) * Parts(c.out_columns, t[kOutColumns]) <= 2;
  Cost cost;
  cost.bytes = c.out_rows * c.out_columns * c.out_channels;
  const int64_t all_weights = c.kernel * c.kernel * c.in_channels * c.out_channels;
  for (int64_t row = 0; row < c.out_rows; row += t[kOutRows]) {
    for (int64_t column = 0; column < c.out_columns; column += t[kOutColumns]) {
      const int64_t rows = std::min(t[kOutRows], c.out_rows - row);
      const int64_t columns = std::min(t[kOutColumns], c.out_columns - column);
      if (!weights_stay || row + column == 0) cost.bytes += all_weights;
      cost.biases += rows * Blocks(columns) * c.out_channels * 4;
      for (int64_t r = 0; r < c.kernel; r += t[kFilterRows]) {
        for (int64_t s = 0; s < c.kernel; s += t[kFilterColumns]) {
          const int64_t wide = std::min(t[kFilterColumns], c.kernel - s);
          const int64_t high = std::min(t[kFilterRows], c.kernel - r);
          const int64_t area = Inside(row, rows, high, r, c, c.in_rows) *
                               Inside(column, columns, wide, s, c, c.in_columns);
          const int64_t again =
              input_stays ? 1 : Parts(c.out_channels, t[kOutChannels]);
          cost.bytes += area / (downsample ? 4 : 1) * c.in_channels * again;
          // With few channels, a row of the array takes several columns of the filter.
          const int64_t at_once =
              downsample || t[kInChannels] > kDim
                  ? 1
                  : std::min(kDim / t[kInChannels], std::max<int64_t>(1, wide));
          int64_t blocks = 0;
          for (int64_t ch = 0; ch < c.in_channels; ch += t[kInChannels]) {
            blocks += Blocks(std::min(t[kInChannels], c.in_channels - ch));
          }
          cost.passes += Blocks(c.out_channels) * high * Parts(wide, at_once) * blocks *
                         rows * Blocks(columns);
        }
      }
    }
  }
  return cost;
}

Cost DepthwiseCost(const Convolution& layer) {
  Convolution one = layer;
  one.in_channels = one.out_channels = 1;
  Cost cost = ConvolutionCost(one);
  cost.bytes *= layer.out_channels;
  cost.biases *= layer.out_channels;
  cost.passes *= layer.out_channels;
  return cost;
}

}  // namespace gemmini_library
