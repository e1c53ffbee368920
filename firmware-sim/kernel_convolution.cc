// SPDX-License-Identifier: Apache-2.0
// CONV, FULLY_CONNECTED, DEPTHWISE_CONV, TRANSPOSED_CONV, BATCH_MATMUL,
// WEIGHT_GRADIENT.
#include <algorithm>
#include <type_traits>

#include "kernels.h"

namespace sluice_sim {
namespace {

// Sum of products of 16-bit numbers, wrapping. 4096 products of numbers below 2^9 in
// magnitude fit 32 bits; callers with wider data use Dot64.
int32_t Dot16(const int16_t* a, const int16_t* b, int64_t n) {
  uint32_t total = 0;
  for (int64_t at = 0; at < n; at += 4096) {
    const int64_t end = std::min<int64_t>(n, at + 4096);
    int32_t sum = 0;
    for (int64_t i = at; i < end; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
    total += static_cast<uint32_t>(sum);
  }
  return static_cast<int32_t>(total);
}

int32_t Dot64(const int64_t* a, const int64_t* b, int64_t n) {
  uint64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    total += static_cast<uint64_t>(a[i]) * static_cast<uint64_t>(b[i]);
  }
  return Wrap32(static_cast<int64_t>(total));
}

int32_t Dot(const int16_t* a, const int16_t* b, int64_t n) { return Dot16(a, b, n); }
int32_t Dot(const int64_t* a, const int64_t* b, int64_t n) { return Dot64(a, b, n); }

// 8-bit data minus an 8-bit zero point fits 9 bits plus sign.
bool IsNarrow(const Box& box, int64_t zero) {
  return DtypeBytes(box.dtype) == 1 && zero >= -128 && zero <= 255;
}

template <typename T>
void ReadRow(const Box& box, const uint8_t* p, int64_t count, int64_t zero, T* out) {
  const int64_t step = box.stride[3];
  if (box.dtype == SLUICE_DTYPE_INT8 && step == 1) {
    const int8_t* q = reinterpret_cast<const int8_t*>(p);
    using Bits = std::make_unsigned_t<T>;  // a zero point may be any number of 32 bits
    const Bits z = static_cast<Bits>(zero);
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(static_cast<Bits>(q[i]) - z);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(Read(box.dtype, p + i * step) - zero);
  }
}

// Weights [K,R,S,C] minus the zero point, as dense rows of R * S * C numbers.
template <typename T>
std::vector<T> DenseWeights(const Tile& t) {
  const Box& w = t.weight;
  std::vector<T> out(static_cast<size_t>(w.elements()));
  T* p = out.data();
  for (int64_t k = 0; k < w.extent[0]; ++k) {
    for (int64_t r = 0; r < w.extent[1]; ++r) {
      for (int64_t s = 0; s < w.extent[2]; ++s, p += w.extent[3]) {
        Poll(t.cancel);
        ReadRow(w, w.at(k, r, s, 0), w.extent[3], t.A(SLUICE_CONV_WEIGHT_ZERO), p);
      }
    }
  }
  return out;
}

// The window of one output element: R * S rows of channels [channel, channel +
// channels), zero where padded.
template <typename T>
void GatherPatch(const Tile& t, const Window& g, const RowAt& at, int64_t channel,
                 int64_t channels, T* patch) {
  const Box& in = t.input0;
  for (int64_t r = 0; r < g.size[0]; ++r) {
    const int64_t h = at.h * g.stride[0] + r * g.dilation[0] - t.pad[0];
    for (int64_t s = 0; s < g.size[1]; ++s, patch += channels) {
      const int64_t w = at.w * g.stride[1] + s * g.dilation[1] - t.pad[1];
      if (h < 0 || h >= in.extent[1] || w < 0 || w >= in.extent[2]) {
        std::fill_n(patch, channels, T{0});
      } else {
        ReadRow(in, in.at(at.n, h, w, channel), channels, t.A(SLUICE_CONV_INPUT_ZERO),
                patch);
      }
    }
  }
}

template <typename T>
void Convolve(const Tile& t) {
  const Window g = WindowOf(t);
  const Box& out = t.target();
  const std::vector<T> weights = DenseWeights<T>(t);
  const int64_t channels = t.weight.extent[3];
  const int64_t patch_size = g.size[0] * g.size[1] * channels;
  const int64_t per_group = t.layer.output[3] / t.groups();
  const int64_t first_group = t.origin[3] / per_group;
  std::vector<T> patch(static_cast<size_t>(patch_size));
  std::vector<int32_t> sums(static_cast<size_t>(out.extent[3]));
  for (int64_t n = 0; n < out.extent[0]; ++n) {
    for (int64_t p = 0; p < out.extent[1]; ++p) {
      for (int64_t q = 0; q < out.extent[2]; ++q) {
        int64_t loaded = -1;
        for (int64_t k = 0; k < out.extent[3]; ++k) {
          Poll(t.cancel);
          const int64_t group = (t.origin[3] + k) / per_group - first_group;
          if (group != loaded) {
            GatherPatch(t, g, {n, p, q}, group * channels, channels, patch.data());
            loaded = group;
          }
          sums[k] = Dot(patch.data(), weights.data() + k * patch_size, patch_size);
        }
        FinishRow(t, sums.data(), {n, p, q}, out.extent[3]);
      }
    }
  }
}

}  // namespace

namespace {

// How sums become output elements. With Finish::kParameters, each channel has its own
// multiplier and shift.
struct Requantised {
  int64_t zero, low, high;
  int32_t multiplier, shift;
};

Requantised FinishOf(const Tile& t, Finish finish) {
  if (finish == Finish::kMatmul) {
    return {t.A(SLUICE_MATMUL_OUTPUT_ZERO), t.A(SLUICE_MATMUL_ACT_MIN),
            t.A(SLUICE_MATMUL_ACT_MAX), t.A(SLUICE_MATMUL_MULTIPLIER),
            t.A(SLUICE_MATMUL_SHIFT)};
  }
  const bool gradient = finish == Finish::kGradient;
  return {t.A(SLUICE_CONV_OUTPUT_ZERO), t.A(SLUICE_CONV_ACT_MIN),
          t.A(SLUICE_CONV_ACT_MAX),
          gradient ? t.A(SLUICE_WEIGHT_GRADIENT_MULTIPLIER) : 0,
          gradient ? t.A(SLUICE_WEIGHT_GRADIENT_SHIFT) : 0};
}

}  // namespace

void FinishRow(const Tile& t, const int32_t* sums, const RowAt& at, int64_t channels) {
  const Finish finish = OpOf(t.op).finish;
  Requantised r = FinishOf(t, finish);
  const bool parameters = finish == Finish::kParameters;
  const auto scale = parameters && t.A(SLUICE_CONV_ROUNDING) == 1 ? ScaleOnce : Scale;
  for (int64_t k = 0; k < channels; ++k) {
    int64_t sum = sums[k];
    if (!t.first) sum = Wrap32(sum + Read(t.accumulator, at.n, at.h, at.w, k));
    if (!t.last) {
      Write(SLUICE_DTYPE_INT32, t.accumulator.at(at.n, at.h, at.w, k), sum);
      continue;
    }
    if (parameters) {
      sum = Wrap32(sum + Read(t.parameters, 0, 0, k, 0));
      r.multiplier = static_cast<int32_t>(Read(t.parameters, 0, 0, k, 1));
      r.shift = static_cast<int32_t>(Read(t.parameters, 0, 0, k, 2));
    }
    const int64_t y = scale(static_cast<int32_t>(sum), r.multiplier, r.shift) + r.zero;
    Write(t.output.dtype, t.output.at(at.n, at.h, at.w, k), Clamp(y, r.low, r.high));
  }
}

void RunConvolution(const Tile& t) {
  if (IsNarrow(t.input0, t.A(SLUICE_CONV_INPUT_ZERO)) &&
      IsNarrow(t.weight, t.A(SLUICE_CONV_WEIGHT_ZERO))) {
    Convolve<int16_t>(t);
  } else {
    Convolve<int64_t>(t);
  }
}

void RunDepthwise(const Tile& t) {
  const Window g = WindowOf(t);
  const Box& out = t.target();
  const Box& in = t.input0;
  const int64_t multiple = t.layer.output[3] / t.layer.input[3];
  const int64_t first_channel = t.origin[3] / multiple;
  const int64_t channels = out.extent[3];
  std::vector<int32_t> row(static_cast<size_t>(in.extent[3]));
  std::vector<int64_t> source(static_cast<size_t>(channels));
  for (int64_t k = 0; k < channels; ++k) {
    source[k] = (t.origin[3] + k) / multiple - first_channel;
  }
  std::vector<int32_t> weights(static_cast<size_t>(t.weight.elements()));
  for (int64_t r = 0; r < g.size[0]; ++r) {
    for (int64_t s = 0; s < g.size[1]; ++s) {
      ReadRow(t.weight, t.weight.at(0, r, s, 0), channels, t.A(SLUICE_CONV_WEIGHT_ZERO),
              weights.data() + (r * g.size[1] + s) * channels);
    }
  }
  std::vector<int32_t> sums(static_cast<size_t>(channels));
  for (int64_t n = 0; n < out.extent[0]; ++n) {
    for (int64_t p = 0; p < out.extent[1]; ++p) {
      for (int64_t q = 0; q < out.extent[2]; ++q) {
        std::fill(sums.begin(), sums.end(), 0);
        Poll(t.cancel);
        for (int64_t r = 0; r < g.size[0]; ++r) {
          const int64_t h = p * g.stride[0] + r * g.dilation[0] - t.pad[0];
          if (h < 0 || h >= in.extent[1]) continue;
          for (int64_t s = 0; s < g.size[1]; ++s) {
            const int64_t w = q * g.stride[1] + s * g.dilation[1] - t.pad[1];
            if (w < 0 || w >= in.extent[2]) continue;
            ReadRow(in, in.at(n, h, w, 0), in.extent[3], t.A(SLUICE_CONV_INPUT_ZERO),
                    row.data());
            const int32_t* filter = weights.data() + (r * g.size[1] + s) * channels;
            for (int64_t k = 0; k < channels; ++k) {
              sums[k] = static_cast<int32_t>(static_cast<uint32_t>(sums[k]) +
                                             static_cast<uint32_t>(row[source[k]]) *
                                                 static_cast<uint32_t>(filter[k]));
            }
          }
        }
        FinishRow(t, sums.data(), {n, p, q}, channels);
      }
    }
  }
}

void RunTransposed(const Tile& tile) {
  Tile t = tile;
  const bool depthwise = t.is_depthwise();
  if (t.layout() != SLUICE_WEIGHT_LAYOUT_OWN) {  // seen as [K,R,S,C]
    std::swap(t.weight.extent[0], t.weight.extent[3]);
    std::swap(t.weight.stride[0], t.weight.stride[3]);
  }
  const Window g = WindowOf(t);
  const Box& out = t.target();
  const Box& in = t.input0;
  const int64_t channels = t.weight.extent[3];
  const std::vector<int64_t> weights = DenseWeights<int64_t>(t);
  int64_t start[2];
  for (int i = 0; i < 2; ++i) {
    start[i] = TransposedRows(t.origin[1 + i], out.extent[1 + i], g.stride[i],
                              g.pad_before[i], g.size[i], t.layer.input[1 + i])
                   .first;
  }
  std::vector<int64_t> row(static_cast<size_t>(in.extent[3]));
  std::vector<int32_t> sums(static_cast<size_t>(out.extent[3]));
  for (int64_t n = 0; n < out.extent[0]; ++n) {
    for (int64_t p = 0; p < out.extent[1]; ++p) {
      for (int64_t q = 0; q < out.extent[2]; ++q) {
        std::fill(sums.begin(), sums.end(), 0);
        for (int64_t r = 0; r < g.size[0]; ++r) {
          const int64_t up = t.origin[1] + p + g.pad_before[0] - r;
          const int64_t h = up / g.stride[0] - start[0];
          if (up < 0 || up % g.stride[0] != 0 || h < 0 || h >= in.extent[1]) continue;
          for (int64_t s = 0; s < g.size[1]; ++s) {
            const int64_t left = t.origin[2] + q + g.pad_before[1] - s;
            const int64_t w = left / g.stride[1] - start[1];
            if (left < 0 || left % g.stride[1] != 0 || w < 0 || w >= in.extent[2]) {
              continue;
            }
            ReadRow(in, in.at(n, h, w, 0), in.extent[3], t.A(SLUICE_CONV_INPUT_ZERO),
                    row.data());
            for (int64_t k = 0; k < out.extent[3]; ++k) {
              Poll(t.cancel);
              const int64_t* filter =
                  weights.data() + ((k * g.size[0] + r) * g.size[1] + s) * channels;
              const int64_t* from = row.data() + (depthwise ? k : 0);
              sums[k] = Wrap32(int64_t{sums[k]} + Dot(from, filter, channels));
            }
          }
        }
        FinishRow(t, sums.data(), {n, p, q}, out.extent[3]);
      }
    }
  }
}

// For each error element: its row of channels times the ifmap's rows under its window.
// Sums wrap, so their order does not matter.
void RunWeightGradient(const Tile& t) {
  const Window g = WindowOf(t);
  const Box& out = t.target();
  const Box& x = t.input0;
  const Box& e = t.input1;
  const int64_t channels = out.extent[3];
  const int64_t per_group = t.layer.output[0] / t.groups();
  const int64_t taps = g.size[0] * g.size[1];
  std::vector<uint32_t> sums(static_cast<size_t>(out.elements()));
  std::vector<int32_t> row(static_cast<size_t>(x.extent[3]));
  std::vector<int32_t> error(static_cast<size_t>(e.extent[3]));
  for (int64_t n = 0; n < e.extent[0]; ++n) {
    for (int64_t p = 0; p < e.extent[1]; ++p) {
      for (int64_t q = 0; q < e.extent[2]; ++q) {
        ReadRow(e, e.at(n, p, q, 0), e.extent[3],
                t.A(SLUICE_WEIGHT_GRADIENT_ERROR_ZERO), error.data());
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t r = tap / g.size[1], s = tap % g.size[1];
          const int64_t h = p * g.stride[0] + r * g.dilation[0] - t.pad[0];
          const int64_t w = q * g.stride[1] + s * g.dilation[1] - t.pad[1];
          if (h < 0 || h >= x.extent[1] || w < 0 || w >= x.extent[2]) continue;
          ReadRow(x, x.at(n, h, w, 0), x.extent[3], t.A(SLUICE_CONV_INPUT_ZERO),
                  row.data());
          for (int64_t k = 0; k < out.extent[0]; ++k) {
            Poll(t.cancel);
            const int64_t group =
                (t.origin[0] + k) / per_group - t.origin[0] / per_group;
            const int32_t* from = row.data() + group * channels;
            uint32_t* sum = sums.data() + (k * taps + tap) * channels;
            const uint32_t factor = static_cast<uint32_t>(error[k]);
            for (int64_t c = 0; c < channels; ++c) {
              sum[c] += factor * static_cast<uint32_t>(from[c]);
            }
          }
        }
      }
    }
  }
  std::vector<int32_t> finished(static_cast<size_t>(channels));
  for (int64_t k = 0; k < out.extent[0]; ++k) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const uint32_t* sum = sums.data() + (k * taps + tap) * channels;
      for (int64_t c = 0; c < channels; ++c) {
        finished[c] = static_cast<int32_t>(sum[c]);
      }
      FinishRow(t, finished.data(), {k, tap / g.size[1], tap % g.size[1]}, channels);
    }
  }
}

void RunMatmul(const Tile& t) {
  const Box& out = t.target();
  const Box& b = t.input1;
  const bool transposed = t.A(SLUICE_MATMUL_TRANSPOSE_B) != 0;
  const int64_t channels = t.input0.extent[3], columns = out.extent[3];
  std::vector<int64_t> row(static_cast<size_t>(channels));
  std::vector<int64_t> filters(static_cast<size_t>(channels * columns));
  std::vector<int32_t> sums(static_cast<size_t>(columns));
  for (int64_t n = 0; n < out.extent[0]; ++n) {
    for (int64_t g = 0; g < out.extent[1]; ++g) {
      for (int64_t k = 0; k < columns; ++k) {
        Poll(t.cancel);
        for (int64_t c = 0; c < channels; ++c) {
          filters[k * channels + c] =
              (transposed ? Read(b, n, g, k, c) : Read(b, n, g, c, k)) -
              t.A(SLUICE_MATMUL_B_ZERO);
        }
      }
      for (int64_t m = 0; m < out.extent[2]; ++m) {
        ReadRow(t.input0, t.input0.at(n, g, m, 0), channels, t.A(SLUICE_MATMUL_A_ZERO),
                row.data());
        for (int64_t k = 0; k < columns; ++k) {
          Poll(t.cancel);
          sums[k] = Dot(row.data(), filters.data() + k * channels, channels);
        }
        FinishRow(t, sums.data(), {n, g, m}, columns);
      }
    }
  }
}

}  // namespace sluice_sim
