// SPDX-License-Identifier: Apache-2.0
// Softmax to 16 bits, and what units leave of SVDF.
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

std::string SvdfState(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kInt, kShort, kInt}) ||
      !HasTypes(out, {kShort, kByte, SLUICE_DTYPE_UINT8}) ||
      !HasOptions(in, kSvdfStateOptions)) {
    return "operands of an SVDF";
  }
  const int32_t* o = ElementsOf<int32_t>(in[2]);
  const int64_t filters = o[kSvdfFilters], memory = o[kSvdfMemory];
  const int64_t batches = filters < 1 ? 0 : CountOf(in[0]) / filters;
  if (filters < 1 || memory < 1 || batches * filters != CountOf(in[0]) ||
      batches * filters * memory != CountOf(in[1]) ||
      CountOf(out[0]) != CountOf(in[1]) || CountOf(out[1]) != CountOf(in[1]) ||
      CountOf(out[2]) != CountOf(in[1])) {
    return "extents of an SVDF";
  }
  int16_t* state = ResultOf<int16_t>(out[0]);
  for (int64_t b = 0; b < batches; ++b) {
    // The oldest row leaves, a new one enters.
    int16_t* rows = state + b * memory * filters;
    std::copy_n(ElementsOf<int16_t>(in[1]) + b * memory * filters + filters,
                (memory - 1) * filters, rows);
    for (int64_t f = 0; f < filters; ++f) {
      rows[(memory - 1) * filters + f] =
          Saturate16(ElementsOf<int32_t>(in[0])[b * filters + f]);
    }
  }
  for (int64_t i = 0; i < CountOf(in[1]); ++i) {
    ResultOf<int8_t>(out[1])[i] = static_cast<int8_t>(state[i] >> 8);
    ResultOf<uint8_t>(out[2])[i] = static_cast<uint8_t>(state[i] & 255);
  }
  return "";
}

std::string SvdfOutput(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kInt, kInt, kInt, kInt, kInt, kInt}) || !HasTypes(out, {kByte}) ||
      !HasOptions(in, kSvdfOutputOptions)) {
    return "operands of an SVDF";
  }
  const int32_t* o = ElementsOf<int32_t>(in[5]);
  const int64_t rank = o[kSvdfRank], units = CountOf(in[4]), made = CountOf(out[0]);
  bool fits = rank >= 1 && made % units == 0;
  for (size_t i = 0; i < 4; ++i) fits = fits && CountOf(in[i]) == made * rank;
  if (!fits) return "extents of an SVDF";
  constexpr int64_t kWeights[] = {65536, 256, 256, 1};  // of high and low bytes
  for (int64_t u = 0; u < made; ++u) {
    int64_t sum = ElementsOf<int32_t>(in[4])[u % units];
    for (int64_t r = 0; r < rank; ++r) {
      for (size_t i = 0; i < 4; ++i)
        sum += ElementsOf<int32_t>(in[i])[u * rank + r] * kWeights[i];
    }
    const int64_t value =
        int64_t{Scale(Wrap32(sum), o[kSvdfTimeMultiplier], o[kSvdfTimeShift])} +
        o[kSvdfOutputZero];
    ResultOf<int8_t>(out[0])[u] =
        static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
  }
  return "";
}

}  // namespace sluice_sim
