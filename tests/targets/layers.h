// SPDX-License-Identifier: Apache-2.0
// Graphs of one layer, for the tests of the lowerings.
#ifndef SLUICE_TESTS_TARGETS_LAYERS_H_
#define SLUICE_TESTS_TARGETS_LAYERS_H_

#include <utility>
#include <vector>

#include "sluice/ops.h"
#include "support/network_plan.h"
#include "support/stream_builder.h"

namespace target_test {

struct Conv {
  uint16_t op;
  std::vector<int32_t> input, weight, output;
  int32_t stride, dilation, pad, groups, input_zero;
  uint8_t dtype = SLUICE_DTYPE_INT8;
  int32_t weight_zero = 0;
  bool one_scale = false;  // of all channels
  int32_t shift = -9;
  std::vector<std::pair<int, int32_t>> set = {};  // attributes that are otherwise
  int32_t multiplier = 1 << 30;                   // about 2^-10
};

// Layers one behind the other.
inline sluice_test::Bytes Chain(const std::vector<Conv>& layers) {
  sluice_test::GraphSpec spec;
  spec.tensors.push_back({layers[0].input, layers[0].dtype, 1});
  uint32_t input = 0;
  for (const Conv& c : layers) {
    const uint32_t at = static_cast<uint32_t>(spec.tensors.size());
    const int32_t channels = c.output.back();
    spec.tensors.push_back({c.weight, c.dtype, 3, 3, 5});
    std::vector<int32_t> rows;
    for (int32_t k = 0; k < channels; ++k) {
      // A bias, and a multiplier of about 2^-10 (or otherwise) that differs by channel.
      rows.insert(rows.end(), {k * 777 - 4000,
                               c.multiplier + (c.one_scale ? 0 : k * 12345), c.shift});
    }
    spec.tensors.push_back(spec.Inline({channels, 3}, SLUICE_DTYPE_INT32, rows));
    const uint8_t kind = &c == &layers.back() ? 2 : 0;
    spec.tensors.push_back({c.output, c.dtype, kind});
    std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
    if (c.op != SLUICE_OP_FULLY_CONNECTED) {
      a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = c.stride;
      a[SLUICE_CONV_DILATION_H] = a[SLUICE_CONV_DILATION_W] = c.dilation;
      a[SLUICE_CONV_PAD_TOP] = a[SLUICE_CONV_PAD_LEFT] = c.pad;
      a[SLUICE_CONV_PAD_BOTTOM] = a[SLUICE_CONV_PAD_RIGHT] = c.pad;
      a[SLUICE_CONV_GROUPS] = c.groups;
    }
    const bool is_signed = c.dtype == SLUICE_DTYPE_INT8;
    a[SLUICE_CONV_INPUT_ZERO] = c.input_zero;
    a[SLUICE_CONV_WEIGHT_ZERO] = c.weight_zero;
    a[SLUICE_CONV_OUTPUT_ZERO] = is_signed ? -3 : 121;
    a[SLUICE_CONV_ACT_MIN] = is_signed ? -128 : 0;
    a[SLUICE_CONV_ACT_MAX] = is_signed ? 127 : 255;
    for (const auto& [attribute, value] : c.set)
      a[static_cast<size_t>(attribute)] = value;
    spec.layers.push_back({c.op, {input, at, at + 1}, {at + 2}, a});
    input = at + 2;
  }
  return sluice_test::GraphBytes(spec);
}

inline sluice_test::Bytes Graph(const Conv& c) { return Chain({c}); }

// Matrices of activations: [b, g, m, c] by [b, g, c, k] or, transposed, [b, g, k, c].
struct Matmul {
  int32_t b, g, m, c, k;
  bool transposed;
  int32_t a_zero, b_zero;
  uint8_t dtype = SLUICE_DTYPE_INT8;
};

inline sluice_test::Bytes Graph(const Matmul& m) {
  sluice_test::GraphSpec spec;
  std::vector<int32_t> second = {m.b, m.g, m.c, m.k};
  if (m.transposed) std::swap(second[2], second[3]);
  spec.tensors.push_back({{m.b, m.g, m.m, m.c}, m.dtype, 1});
  spec.tensors.push_back({second, m.dtype, 1});
  spec.tensors.push_back({{m.b, m.g, m.m, m.k}, m.dtype, 2});
  const bool is_signed = m.dtype == SLUICE_DTYPE_INT8;
  std::vector<int32_t> a(SLUICE_MATMUL_ATTRIBUTES);
  a[SLUICE_MATMUL_TRANSPOSE_B] = m.transposed;
  a[SLUICE_MATMUL_A_ZERO] = m.a_zero;
  a[SLUICE_MATMUL_B_ZERO] = m.b_zero;
  a[SLUICE_MATMUL_OUTPUT_ZERO] = is_signed ? -3 : 121;
  a[SLUICE_MATMUL_MULTIPLIER] = (1 << 30) + 54321;
  a[SLUICE_MATMUL_SHIFT] = -9;
  a[SLUICE_MATMUL_ACT_MIN] = is_signed ? -128 : 0;
  a[SLUICE_MATMUL_ACT_MAX] = is_signed ? 127 : 255;
  spec.layers.push_back({SLUICE_OP_BATCH_MATMUL, {0, 1}, {2}, a});
  return sluice_test::GraphBytes(spec);
}

}  // namespace target_test

#endif  // SLUICE_TESTS_TARGETS_LAYERS_H_
