// SPDX-License-Identifier: Apache-2.0
// Softmax to 16 bits, and SVDF.
#include <algorithm>

#include "cancel.h"
#include "fixed_point.h"
#include "host_functions.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

constexpr int kByte = SLUICE_DTYPE_INT8, kShort = SLUICE_DTYPE_INT16,
              kInt = SLUICE_DTYPE_INT32;

// One row of `n` elements.
void SoftmaxRow(const int8_t* in, int64_t n, const int32_t* options, int16_t* out) {
  const int32_t largest = *std::max_element(in, in + n);
  const auto power = [&](int64_t i) {
    return ExpOfNegative(Scale(in[i] - largest, options[kMultiplier], options[kShift]));
  };
  int32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (in[i] - largest >= options[kDiffMin]) sum += RoundingShiftRight(power(i), 12);
  }
  int bits = 0;
  const int32_t reciprocal = Reciprocal(sum, 12, &bits);
  for (int64_t i = 0; i < n; ++i) {
    int32_t value = INT16_MIN;
    if (in[i] - largest >= options[kDiffMin]) {
      const int32_t share = HighMultiply(reciprocal, power(i));
      value += RoundingShiftRight(share, bits + 31 - 16);
    }
    out[i] = Saturate16(value);
  }
}

}  // namespace

std::string SoftmaxInt16(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kByte, kInt}) || !HasTypes(out, {kShort}) ||
      !HasOptions(in, kSoftmaxOptions) || in[0].extent != out[0].extent) {
    return "operands of a softmax";
  }
  const int64_t n = in[0].extent[3];
  for (int64_t row = 0; row < CountOf(in[0]) / n; ++row) {
    Poll(in[0].cancel);
    SoftmaxRow(ElementsOf<int8_t>(in[0]) + row * n, n, ElementsOf<int32_t>(in[1]),
               ResultOf<int16_t>(out[0]) + row * n);
  }
  return "";
}

std::string Svdf(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kByte, kByte, kShort, kInt, kShort, kInt}) ||
      !HasTypes(out, {kByte, kShort}) || !HasOptions(in, kSvdfOptions)) {
    return "operands of an SVDF";
  }
  const int32_t* o = ElementsOf<int32_t>(in[5]);
  const int64_t filters = in[1].extent[2], features = in[1].extent[3],
                memory = in[2].extent[3], rank = o[kSvdfRank];
  const int64_t batches = CountOf(in[0]) / features;
  if (rank < 1 || filters % rank != 0 || in[2].extent[2] != filters ||
      CountOf(in[3]) != filters / rank || batches * features != CountOf(in[0]) ||
      CountOf(in[4]) != batches * filters * memory ||
      CountOf(out[1]) != CountOf(in[4]) ||
      CountOf(out[0]) != batches * (filters / rank)) {
    return "extents of an SVDF";
  }
  const int8_t* ifmap = ElementsOf<int8_t>(in[0]);
  const int8_t* feature = ElementsOf<int8_t>(in[1]);
  const int16_t* time = ElementsOf<int16_t>(in[2]);
  const int16_t* before = ElementsOf<int16_t>(in[4]);
  int16_t* state = ResultOf<int16_t>(out[1]);
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<int64_t> sums(static_cast<size_t>(filters / rank));
    for (int64_t f = 0; f < filters; ++f) {
      Poll(in[0].cancel);
      // Shifts each filter's memory: the oldest value leaves, a new one enters.
      int16_t* row = state + (b * filters + f) * memory;
      std::copy_n(before + (b * filters + f) * memory + 1, memory - 1, row);
      int64_t sum = 0;
      for (int64_t i = 0; i < features; ++i) {
        sum += (ifmap[b * features + i] - o[kSvdfInputZero]) *
               int64_t{feature[f * features + i]};
      }
      row[memory - 1] = Saturate16(
          Scale(Wrap32(sum), o[kSvdfFeatureMultiplier], o[kSvdfFeatureShift]));
      for (int64_t m = 0; m < memory; ++m) {
        sums[static_cast<size_t>(f / rank)] += int64_t{row[m]} * time[f * memory + m];
      }
    }
    for (int64_t u = 0; u < filters / rank; ++u) {
      const int64_t sum = sums[static_cast<size_t>(u)] + ElementsOf<int32_t>(in[3])[u];
      const int64_t value =
          int64_t{Scale(Wrap32(sum), o[kSvdfTimeMultiplier], o[kSvdfTimeShift])} +
          o[kSvdfOutputZero];
      ResultOf<int8_t>(out[0])[b * (filters / rank) + u] =
          static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
    }
  }
  return "";
}

}  // namespace sluice_sim
