// SPDX-License-Identifier: Apache-2.0
// SOFTMAX, LAYER_NORM, RMS_NORM, REDUCE, ARGMAX: operators that read whole axes.
#include <algorithm>
#include <vector>

#include "kernels.h"

namespace sluice_sim {
namespace {

constexpr int kSumIntegerBits = 12;

// One row of softmax; value(c): raw input; used(c): false where masked.
template <typename Value, typename Used>
void SoftmaxRow(const Tile& t, int64_t channels, Value value, Used used, uint8_t* out) {
  const int64_t smallest = t.output.dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  const int64_t step = t.output.stride[3];
  const int64_t diff_min = t.A(SLUICE_SOFTMAX_DIFF_MIN);
  bool any = false;
  int64_t largest = 0;
  for (int64_t c = 0; c < channels; ++c) {
    if (!used(c)) continue;
    largest = any ? std::max(largest, value(c)) : value(c);
    any = true;
  }
  auto exponential = [&](int64_t d) {
    return ExpOfNegative(Scale(static_cast<int32_t>(d), t.A(SLUICE_SOFTMAX_MULTIPLIER),
                               t.A(SLUICE_SOFTMAX_SHIFT)));
  };
  int32_t sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t d = value(c) - largest;
    if (!used(c) || d < diff_min) continue;
    sum = Wrap32(int64_t{sum} + RoundingShiftRight(exponential(d), kSumIntegerBits));
  }
  int bits_over_unit = 0;
  const int32_t scale =
      sum == 0 ? 0 : Reciprocal(sum, kSumIntegerBits, &bits_over_unit);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t d = value(c) - largest;
    int64_t y = smallest;
    if (used(c) && d >= diff_min) {
      y += RoundingShiftRight(HighMultiply(scale, exponential(d)),
                              bits_over_unit + 31 - 8);
    }
    Write(t.output.dtype, out + c * step, Clamp(y, smallest, smallest + 255));
  }
}

}  // namespace

void RunSoftmax(const Tile& t) {
  Box mask = t.input1;
  for (int a = 0; a < 4; ++a) {
    if (mask.extent[a] == 1) mask.stride[a] = 0;
  }
  const Extent rows = {t.output.extent[0], t.output.extent[1], t.output.extent[2], 1};
  ForEachElement(rows, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t) {
    SoftmaxRow(
        t, t.output.extent[3], [&](int64_t c) { return Read(t.input0, n, h, w, c); },
        [&](int64_t c) { return !mask.present() || Read(mask, n, h, w, c) != 0; },
        t.output.at(n, h, w, 0));
  });
}

namespace {

// Normalises one row. `sum`: subtracted from channels * value: the row's sum for
// LAYER_NORM, channels * zero point for RMS_NORM.
void NormRow(const Tile& t, int64_t n, int64_t h, int64_t w, int64_t sum,
             std::vector<int64_t>* deviations) {
  std::vector<int64_t>& d = *deviations;
  const int64_t channels = t.output.extent[3];
  int64_t squares = 0;
  for (int64_t c = 0; c < channels; ++c) {
    d[c] = channels * Read(t.input0, n, h, w, c) - sum;
    squares += d[c] * d[c];
  }
  const int64_t variance = squares / channels + t.A(SLUICE_NORM_EPSILON);
  const int64_t root =
      static_cast<int64_t>(FloorSqrt(static_cast<uint64_t>(variance) << 16));
  const int64_t reciprocal = (int64_t{1} << 47) / std::max<int64_t>(1, root);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t z = RoundingShiftRight64(d[c] * reciprocal, 19);
    const int64_t y =
        int64_t{Scale(Wrap32(z), static_cast<int32_t>(Read(t.parameters, 0, 0, c, 1)),
                      static_cast<int32_t>(Read(t.parameters, 0, 0, c, 2)))} +
        Read(t.parameters, 0, 0, c, 0);
    const int64_t steps =
        RoundingShiftRight(Wrap32(y), 8) + t.A(SLUICE_NORM_OUTPUT_ZERO);
    Write(t.output.dtype, t.output.at(n, h, w, c),
          Clamp(steps, t.A(SLUICE_NORM_ACT_MIN), t.A(SLUICE_NORM_ACT_MAX)));
  }
}

}  // namespace

void RunLayerNorm(const Tile& t) {
  const Extent rows = {t.output.extent[0], t.output.extent[1], t.output.extent[2], 1};
  std::vector<int64_t> d(static_cast<size_t>(t.output.extent[3]));
  ForEachElement(rows, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t) {
    int64_t sum = 0;
    for (int64_t c = 0; c < t.output.extent[3]; ++c) sum += Read(t.input0, n, h, w, c);
    NormRow(t, n, h, w, sum, &d);
  });
}

void RunRmsNorm(const Tile& t) {
  const Extent rows = {t.output.extent[0], t.output.extent[1], t.output.extent[2], 1};
  std::vector<int64_t> d(static_cast<size_t>(t.output.extent[3]));
  const int64_t zero = t.output.extent[3] * t.A(SLUICE_NORM_INPUT_ZERO);
  ForEachElement(rows, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t) {
    NormRow(t, n, h, w, zero, &d);
  });
}

void RunReduce(const Tile& t) {
  const int32_t axes = t.A(SLUICE_REDUCE_AXES);
  Extent inner = {1, 1, 1, 1};
  for (int a = 0; a < 4; ++a) {
    if (axes >> a & 1) inner[a] = t.input0.extent[a];
  }
  const bool maximum = t.A(SLUICE_REDUCE_KIND) == SLUICE_REDUCE_KIND_MAX;
  const int64_t zero = t.A(SLUICE_REDUCE_INPUT_ZERO);
  ForEachElement(
      t.output.extent, t.cancel, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
        // The box has extent 1 on reduced axes, so indices of both loops add up.
        int64_t sum = 0, largest = INT64_MIN;
        ForEachElement(inner, t.cancel,
                       [&](int64_t i, int64_t j, int64_t k, int64_t l) {
                         const int64_t v = Read(t.input0, n + i, h + j, w + k, c + l);
                         sum += v - zero;
                         largest = std::max(largest, v);
                       });
        const int64_t scaled =
            Scale(Wrap32(sum), t.A(SLUICE_REDUCE_MULTIPLIER), t.A(SLUICE_REDUCE_SHIFT));
        const int64_t mean =
            Clamp(scaled + t.A(SLUICE_REDUCE_OUTPUT_ZERO), t.A(SLUICE_REDUCE_ACT_MIN),
                  t.A(SLUICE_REDUCE_ACT_MAX));
        Write(t.output.dtype, t.output.at(n, h, w, c), maximum ? largest : mean);
      });
}

void RunArgmax(const Tile& t) {
  ForEachElement(t.output.extent, t.cancel,
                 [&](int64_t n, int64_t h, int64_t w, int64_t) {
                   int64_t best = 0;
                   for (int64_t c = 1; c < t.input0.extent[3]; ++c) {
                     if (Read(t.input0, n, h, w, c) > Read(t.input0, n, h, w, best))
                       best = c;
                   }
                   Write(t.output.dtype, t.output.at(n, h, w, 0), best);
                 });
}

}  // namespace sluice_sim
