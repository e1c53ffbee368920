// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of int16 activations with int8 weights.
#include <algorithm>
#include <cmath>

#include "box.h"
#include "fixed_point.h"
#include "host_functions.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

constexpr int kByte = SLUICE_DTYPE_INT8, kShort = SLUICE_DTYPE_INT16,
              kInt = SLUICE_DTYPE_INT32, kLong = SLUICE_DTYPE_INT64;

struct Sum {
  int64_t products, bias;
  int32_t multiplier, shift;
};

int64_t ScaleSum(const Sum& s, int32_t bias_bits, bool once) {
  const int64_t biased = static_cast<int64_t>(static_cast<uint64_t>(s.products) +
                                              static_cast<uint64_t>(s.bias));
  if (once) {
    return std::llround(
        std::clamp(std::ldexp(static_cast<double>(biased) * s.multiplier, s.shift - 31),
                   -1e9, 1e9));
  }
  if (bias_bits == 32) return Scale(Wrap32(biased), s.multiplier, s.shift);
  const int64_t narrow =
      s.multiplier < 0x7fff0000 ? (s.multiplier + (1 << 15)) >> 16 : 0x7fff;
  const int right = 15 - s.shift;
  // 64-bit arithmetic wraps for biases beyond 2^47.
  const uint64_t product =
      static_cast<uint64_t>(biased) * static_cast<uint64_t>(narrow);
  const uint64_t rounded = product + (uint64_t{1} << (right - 1));
  return static_cast<int32_t>(static_cast<int64_t>(rounded) >> right);
}

struct Product {
  const int16_t* ifmap;
  const int8_t* weight;
  const int64_t* bias;
  const int32_t* scales;
  const int32_t* options;
  int16_t* ofmap;
  std::array<int64_t, 4> in, filter, out;
  const uint32_t* cancel;

  int64_t At(int64_t n, int64_t h, int64_t w, int64_t c) const {
    return ifmap[((n * in[1] + h) * in[2] + w) * in[3] + c];
  }
  int64_t Tap(int64_t k, int64_t r, int64_t s, int64_t c) const {
    return weight[((k * filter[1] + r) * filter[2] + s) * filter[3] + c] -
           options[kWeightZero];
  }
  bool rounds_once = false;

  void Store(int64_t n, int64_t p, int64_t q, int64_t k, int64_t sum) const {
    const int64_t scaled = ScaleSum({sum, bias[k], scales[2 * k], scales[2 * k + 1]},
                                    options[kBiasBits], rounds_once);
    const int64_t low = options[kActMin], high = options[kActMax];
    ofmap[((n * out[1] + p) * out[2] + q) * out[3] + k] =
        static_cast<int16_t>(std::clamp(scaled, low, high));
  }
};

// Checks the operands and sets `product`; `k_axis`: the weight's axis of output
// channels.
std::string Open(const HostOperands& in, const HostOperands& out, int k_axis,
                 Product* product) {
  if (!HasTypes(in, {kShort, kByte, kLong, kInt, kInt}) || !HasTypes(out, {kShort}) ||
      !HasOptions(in, kConvOptions)) {
    return "operands of a 16-bit product";
  }
  product->ifmap = ElementsOf<int16_t>(in[0]);
  product->weight = ElementsOf<int8_t>(in[1]);
  product->bias = ElementsOf<int64_t>(in[2]);
  product->scales = ElementsOf<int32_t>(in[3]);
  product->options = ElementsOf<int32_t>(in[4]);
  product->ofmap = ResultOf<int16_t>(out[0]);
  product->in = in[0].extent;
  product->filter = in[1].extent;
  product->out = out[0].extent;
  product->cancel = in[0].cancel;
  const int64_t channels = product->out[3];
  if (product->filter[static_cast<size_t>(k_axis)] != channels ||
      CountOf(in[2]) != channels || CountOf(in[3]) != 2 * channels) {
    return "channels of a 16-bit product";
  }
  for (int64_t k = 0; k < channels; ++k) {
    const int32_t shift = product->scales[2 * k + 1];
    if (shift < -31 || shift > 7) return "a shift outside of -31 to 7";
  }
  return "";
}

// Calls `each` for the input elements under the window of output (p, q), channel by
// channel.
template <typename Each>
void Slide(const Product& x, int64_t p, int64_t q, Each each) {
  const int32_t* o = x.options;
  for (int64_t r = 0; r < x.filter[1]; ++r) {
    const int64_t h = p * o[kStrideH] + r * o[kDilationH] - o[kPadTop];
    if (h < 0 || h >= x.in[1]) continue;
    for (int64_t s = 0; s < x.filter[2]; ++s) {
      const int64_t w = q * o[kStrideW] + s * o[kDilationW] - o[kPadLeft];
      if (w >= 0 && w < x.in[2]) each(h, w, r, s);
    }
  }
}

template <typename Sum>
void ForEachOutput(const Product& x, Sum sum) {
  ForEachElement(x.out, x.cancel, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    Poll(x.cancel);
    x.Store(n, p, q, k, sum(n, p, q, k));
  });
}

}  // namespace

std::string ConvInt16(const HostOperands& in, const HostOperands& out) {
  Product x;
  const std::string wrong = Open(in, out, 0, &x);
  if (!wrong.empty()) return wrong;
  const int64_t groups = std::max(x.options[kGroups], 1), part = x.filter[3];
  if (x.in[0] != x.out[0] || x.in[3] != part * groups || x.out[3] % groups != 0) {
    return "groups of a convolution";
  }
  ForEachOutput(x, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    int64_t sum = 0;
    const int64_t first = k / (x.out[3] / groups) * part;
    Slide(x, p, q, [&](int64_t h, int64_t w, int64_t r, int64_t s) {
      for (int64_t c = 0; c < part; ++c) {
        sum += x.At(n, h, w, first + c) * x.Tap(k, r, s, c);
      }
    });
    return sum;
  });
  return "";
}

std::string DepthwiseConvInt16(const HostOperands& in, const HostOperands& out) {
  Product x;
  const std::string wrong = Open(in, out, 3, &x);
  if (!wrong.empty()) return wrong;
  if (x.in[0] != x.out[0] || x.filter[0] != 1 || x.out[3] % x.in[3] != 0) {
    return "channels of a depthwise convolution";
  }
  ForEachOutput(x, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    int64_t sum = 0;
    const int64_t c = k / (x.out[3] / x.in[3]);
    Slide(x, p, q, [&](int64_t h, int64_t w, int64_t r, int64_t s) {
      sum += x.At(n, h, w, c) * x.Tap(0, r, s, k);
    });
    return sum;
  });
  return "";
}

std::string TransposedConvInt16(const HostOperands& in, const HostOperands& out) {
  Product x;
  const std::string wrong = Open(in, out, 0, &x);
  if (!wrong.empty()) return wrong;
  if (x.in[0] != x.out[0] || x.in[3] != x.filter[3]) {
    return "channels of a transposed convolution";
  }
  const int32_t* o = x.options;
  if (o[kStrideH] < 1 || o[kStrideW] < 1) return "strides";
  ForEachOutput(x, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    int64_t sum = 0;
    for (int64_t r = 0; r < x.filter[1]; ++r) {
      const int64_t down = p + o[kPadTop] - r;
      const int64_t h = down / o[kStrideH];
      if (down < 0 || down % o[kStrideH] != 0 || h >= x.in[1]) continue;
      for (int64_t s = 0; s < x.filter[2]; ++s) {
        const int64_t right = q + o[kPadLeft] - s;
        const int64_t w = right / o[kStrideW];
        if (right < 0 || right % o[kStrideW] != 0 || w >= x.in[2]) continue;
        for (int64_t c = 0; c < x.in[3]; ++c) {
          sum += x.At(n, h, w, c) * x.Tap(k, r, s, c);
        }
      }
    }
    return sum;
  });
  return "";
}

std::string FullyConnectedInt16(const HostOperands& in, const HostOperands& out) {
  Product x;
  const std::string wrong = Open(in, out, 2, &x);
  if (!wrong.empty()) return wrong;
  const int64_t depth = x.filter[3];
  x.rounds_once = true;
  if (CountOf(in[0]) != CountOf(out[0]) / x.out[3] * depth) return "rows of a product";
  ForEachOutput(x, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    const int64_t row = (n * x.out[1] + p) * x.out[2] + q;
    int64_t sum = 0;
    for (int64_t c = 0; c < depth; ++c) {
      sum += int64_t{x.ifmap[row * depth + c]} *
             (x.weight[k * depth + c] - int64_t{x.options[kWeightZero]});
    }
    return sum;
  });
  return "";
}

std::string SplitInt16(const HostOperands& in, const HostOperands& out) {
  const bool is_signed = HasTypes(out, {kByte, kByte});
  if (!HasTypes(in, {kShort}) ||
      !(is_signed || HasTypes(out, {kByte, SLUICE_DTYPE_UINT8})) ||
      CountOf(out[0]) != CountOf(in[0]) || CountOf(out[1]) != CountOf(in[0])) {
    return "operands of 16-bit numbers as bytes";
  }
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int16_t number = ElementsOf<int16_t>(in[0])[i];
    ResultOf<int8_t>(out[0])[i] = static_cast<int8_t>(number >> 8);
    ResultOf<uint8_t>(out[1])[i] = static_cast<uint8_t>(number - (is_signed ? 128 : 0));
  }
  return "";
}

std::string ScaleSumsInt16(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kInt, kInt, kLong, kInt, kInt}) || !HasTypes(out, {kShort}) ||
      !HasOptions(in, kSumOptions)) {
    return "operands of 16-bit sums";
  }
  const int64_t all = CountOf(out[0]), channels = CountOf(in[2]);
  const int32_t *scales = ElementsOf<int32_t>(in[3]),
                *options = ElementsOf<int32_t>(in[4]);
  bool fits = CountOf(in[0]) == all && CountOf(in[1]) == all && channels > 0 &&
              all % channels == 0 && CountOf(in[3]) == 2 * channels &&
              options[kSumMin] <= options[kSumMax];
  for (int64_t k = 0; fits && k < channels; ++k)
    fits = scales[2 * k + 1] >= -31 && scales[2 * k + 1] <= 7;
  if (!fits) return "extents of 16-bit sums";
  for (int64_t i = 0; i < all; ++i) {
    const int64_t k = i % channels;
    const int64_t sum =
        int64_t{ElementsOf<int32_t>(in[0])[i]} * 256 + ElementsOf<int32_t>(in[1])[i];
    const int64_t scaled =
        ScaleSum({sum, ElementsOf<int64_t>(in[2])[k], scales[2 * k], scales[2 * k + 1]},
                 options[kSumBiasBits], options[kSumOnce] != 0);
    ResultOf<int16_t>(out[0])[i] = static_cast<int16_t>(
        std::clamp<int64_t>(scaled, options[kSumMin], options[kSumMax]));
  }
  return "";
}

}  // namespace sluice_sim
