// SPDX-License-Identifier: Apache-2.0
// The static judge: engines do only what the machine can do, and the host only what it
// cannot.
#include "verify/ability.h"

#include "judged_case.h"
#include "support/host_case.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

TEST_CASE("ability: a tile or a gather that the machine cannot do is refused") {
  Case c = ConvCase();
  c.hardware.ops = {{SLUICE_OP_CONV}};
  CheckAccepted(c);
  c.hardware.ops[0].arithmetic = 2;
  CheckRejected(c, "ability");
  c.hardware.ops = {{SLUICE_OP_DEPTHWISE_CONV}};
  CheckRejected(c, "ability");
  c.hardware.host = HostSpec{};
  CheckRejected(c, "ability");
}

TEST_CASE("ability: a host call that the machine needs is accepted") {
  CheckAccepted(HostAddCase());
}

TEST_CASE("ability: a host call of what the machine does is refused") {
  Case c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.ops.clear();
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.host.reset();
  CheckRejected(c, "ability");
}

TEST_CASE("ability: a host call says why, and takes what it takes") {
  Case c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  c.hardware.ops.back().dtypes = 4;
  CheckRejected(c, "ability");
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckAccepted(c);
  HostCall(&c).why = SLUICE_WHY_COUNT;
  CheckRejected(c, "structure");
  c = HostAddCase();
  HostCall(&c).reserved = 1;
  CheckRejected(c, "structure");
  c = HostAddCase();
  --HostCall(&c).cycles_lo;
  CheckRejected(c, "cycles");
  c = HostAddCase();
  ++HostCall(&c).cycles_lo;
  CheckAccepted(c);
  c = HostAddCase();
  --HostCall(&c).inputs;
  CheckRejected(c, "tile");
}

bool IsAble(const Case& c, size_t layer = 0) {
  const OwnJudge own(c);
  return sluice::judge::IsAble(own.judge, own.judged.graph.layers[layer]);
}

// ConvCase's layer with 3 rows and 1 column of taps, a stride of 2 and a dilation of 2.
Case TallConvCase() {
  Case c = ConvCase();
  c.graph.tensors[1].dims = {8, 3, 1, 8};
  std::vector<int32_t>& attributes = c.graph.layers[0].attributes;
  attributes[SLUICE_CONV_PAD_LEFT] = attributes[SLUICE_CONV_PAD_RIGHT] = 0;
  attributes[SLUICE_CONV_STRIDE_H] = 2;
  attributes[SLUICE_CONV_DILATION_H] = 2;
  c.graph.tensors[3].dims = {1, 3, 4, 8};
  c.hardware.ops = {{SLUICE_OP_CONV}};
  return c;
}

// A pool with a window of 3 rows and 1 column and a stride of 2 rows.
Case TallPoolCase() {
  Case c = ConvCase();
  std::vector<int32_t> attributes(SLUICE_POOL_ACT_MAX + 1, 0);
  attributes[SLUICE_POOL_WINDOW_H] = 3;
  attributes[SLUICE_POOL_WINDOW_W] = 1;
  attributes[SLUICE_POOL_STRIDE_H] = 2;
  attributes[SLUICE_POOL_STRIDE_W] = 1;
  attributes[SLUICE_POOL_ACT_MIN] = -128;
  attributes[SLUICE_POOL_ACT_MAX] = 127;
  c.graph.tensors = {c.graph.tensors[0], c.graph.tensors[3]};
  c.graph.tensors[1].dims = {1, 3, 4, 8};
  c.graph.layers = {{SLUICE_OP_MAX_POOL, {0}, {1}, attributes}};
  c.places = {c.places[0], c.places[3]};
  c.hardware.ops = {{SLUICE_OP_MAX_POOL}};
  return c;
}

TEST_CASE("ability: each limit of a row refuses what is above it, and nothing else") {
  struct Limit {
    uint32_t OpSpec::*field;
    uint32_t enough, little;
    bool of_pools;
  };
  const Limit limits[] = {
      {&OpSpec::max_kernel_h, 3, 2, true}, {&OpSpec::max_kernel_w, 1, 0, true},
      {&OpSpec::max_stride, 2, 1, true},   {&OpSpec::max_dilation, 2, 1, false},
      {&OpSpec::requantise, 4, 3, false},  {&OpSpec::zero_points, 5, 4, false},
      {&OpSpec::zero_points, 5, 1, false}};
  for (Case c : {TallConvCase(), TallPoolCase()}) {
    const bool pool = c.hardware.ops[0].op == SLUICE_OP_MAX_POOL;
    const OpSpec free = c.hardware.ops[0];
    CHECK(IsAble(c));
    for (const Limit& limit : limits) {
      CAPTURE(&limit - limits);
      c.hardware.ops[0] = free;
      c.hardware.ops[0].*limit.field = limit.enough;
      CHECK(IsAble(c));
      c.hardware.ops[0].*limit.field = limit.little;  // a most of 0 is none
      CHECK(IsAble(c) == (limit.little == 0 || (pool && !limit.of_pools)));
    }
  }
}

TEST_CASE("ability: of a window the columns have limits of their own") {
  for (Case c : {TallConvCase(), TallPoolCase()}) {
    std::vector<int32_t>& attributes = c.graph.layers[0].attributes;
    if (c.hardware.ops[0].op == SLUICE_OP_MAX_POOL) {
      std::swap(attributes[SLUICE_POOL_WINDOW_H], attributes[SLUICE_POOL_WINDOW_W]);
      std::swap(attributes[SLUICE_POOL_STRIDE_H], attributes[SLUICE_POOL_STRIDE_W]);
      c.graph.tensors[1].dims = {1, 8, 1, 8};
    } else {
      std::swap(attributes[SLUICE_CONV_PAD_TOP], attributes[SLUICE_CONV_PAD_LEFT]);
      std::swap(attributes[SLUICE_CONV_PAD_BOTTOM], attributes[SLUICE_CONV_PAD_RIGHT]);
      std::swap(attributes[SLUICE_CONV_STRIDE_H], attributes[SLUICE_CONV_STRIDE_W]);
      std::swap(attributes[SLUICE_CONV_DILATION_H], attributes[SLUICE_CONV_DILATION_W]);
      c.graph.tensors[1].dims = {8, 1, 3, 8};
      c.graph.tensors[3].dims = {1, 8, 1, 8};
    }
    CHECK(IsAble(c));
    for (const auto limit : {&OpSpec::max_kernel_w, &OpSpec::max_stride}) {
      const OpSpec free = c.hardware.ops[0];
      const uint32_t enough = limit == &OpSpec::max_stride ? 2 : 3;
      c.hardware.ops[0].*limit = enough;
      CHECK(IsAble(c));
      c.hardware.ops[0].*limit = enough - 1;
      CHECK_FALSE(IsAble(c));
      c.hardware.ops[0] = free;
    }
  }
}

TEST_CASE("ability: the parameters say how many scales a convolution has") {
  struct Row {
    int32_t multiplier, step;
    uint32_t bit;
  };
  for (const Row& row : {Row{1 << 30, 0, 1}, Row{1 << 29, 0, 2}, Row{1 << 29, 1, 4}}) {
    Case c = ConvCase();
    std::vector<int32_t> parameters;
    for (int32_t k = 0; k < 8; ++k) {
      parameters.insert(parameters.end(), {0, row.multiplier + k * row.step, 1});
    }
    c.graph.tensors[2] = c.graph.Inline({8, 3}, SLUICE_DTYPE_INT32, parameters);
    c.hardware.ops = {{SLUICE_OP_CONV}};
    for (const uint32_t bit : {1u, 2u, 4u}) {
      c.hardware.ops[0].requantise = bit;
      CHECK(IsAble(c) == (bit == row.bit));
    }
  }
}

TEST_CASE("ability: a call may declare up to 2^50 cycles") {
  Case c = HostAddCase();
  HostCall(&c).cycles_lo = 0;
  HostCall(&c).cycles_hi = 1 << 18;
  CheckAccepted(c);
  HostCall(&c).cycles_lo = 1;
  CheckRejected(c, "cycles");
}

TEST_CASE("ability: rows are asked for tiles and gathers, not for opaque layers") {
  Case c = GatherHostCase();
  c.hardware.ops = {{SLUICE_OP_MAXIMUM}};
  CHECK_FALSE(IsAble(c, 0));
  CHECK(IsAble(c, 1));
}

TEST_CASE("ability: multiplications are counted on the host, too") {
  const OwnJudge conv, add(HostAddCase()), opaque(GatherHostCase());
  using sluice::judge::MacsOnHost;
  CHECK(MacsOnHost(conv.judge, conv.judged.graph.layers[0]) == 8 * 4 * 8 * 72);
  CHECK(MacsOnHost(add.judge, add.judged.graph.layers[0]) == 0);
  CHECK(MacsOnHost(opaque.judge, opaque.judged.graph.layers[1]) == 0);
}

}  // namespace
}  // namespace sluice_test
