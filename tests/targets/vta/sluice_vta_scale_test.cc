// SPDX-License-Identifier: Apache-2.0
// Sums that VTA's ALU itself makes bytes of: near what ops.h says, and what is foretold.
#include "bindings/targets/vta/sluice_vta_scale.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdlib>
#include <random>

#include "firmware-sim/scaled.h"
#include "targets/layers.h"
#include "targets/vta/recorded.h"
#include "targets/vta/runs.h"

namespace vta_test {
namespace {

sluice_vta_block Block(uint32_t channels) {
  sluice_vta_block b{};
  b.extent[0] = b.extent[1] = b.extent[2] = 1;
  b.extent[3] = channels;
  b.products = 100;
  b.low = -128;
  b.high = 127;
  return b;
}

// The default plan with sums that VTA scales: the outputs are those foretold, and how far
// from the untiled run's.
void CheckScaling(const Case& c, int64_t most, bool all = true) {
  VtaRun exact(c.graph.data(), c.graph.size(), c.plans[0].data(), c.plans[0].size());
  VtaRun scaling(c.graph.data(), c.graph.size(), c.plans[0].data(), c.plans[0].size());
  scaling.Scale();
  const Run wanted = exact.Execute(1, 5), run = scaling.Execute(1, 5);
  REQUIRE_MESSAGE(run.error.empty(), run.error);
  CHECK(run.counts_hold);
  REQUIRE(run.outputs.size() == wanted.outputs.size());
  sluice_sim::SimulateOptions options;
  options.graph = c.graph.data();
  options.graph_size = c.graph.size();
  options.seed = 1;
  sluice_sim::ScaledRun foretold(options);
  for (const sluice_sim::ScaledBox& box : run.scaled) foretold.Add(box);
  const sluice_sim::ScaledDifference d = foretold.Compare();
  int64_t differ = 0, apart = 0;
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    const int64_t by = std::abs(int64_t{static_cast<int8_t>(run.outputs[i])} -
                                static_cast<int8_t>(wanted.outputs[i]));
    differ += by != 0;
    apart = std::max(apart, by);
  }
  CHECK(d.mismatches == differ);
  CHECK(d.most == apart);
  CHECK(apart <= most);
  CHECK(run.counts.scaled > 0);
  CHECK((run.counts.requantised == 0) == all);
  CHECK(run.counts.scaled + run.counts.requantised == wanted.counts.requantised);
  CHECK(run.counts.moved[SLUICE_VTA_OF_OUT] < wanted.counts.moved[SLUICE_VTA_OF_OUT]);
  MESSAGE(c.name << ": " << differ << " of " << run.outputs.size()
                 << " bytes differ, by at most " << apart);
}

}  // namespace

TEST_CASE("vta: shifts are the finest rounding with few ones") {
  // 1.0, 1.5, 1 + 127/128 (seven ones), then what has to be rounded up to 2.
  const int32_t parameters[][3] = {{0, 1 << 30, -4},
                                   {0, (1 << 30) + (1 << 29), 0},
                                   {0, INT32_MAX - (1 << 23) + 1, -4},
                                   {0, INT32_MAX, -4},
                                   {0, 1 << 28, -2}};
  sluice_vta_rows rows;
  sluice_vta_block b = Block(5);
  b.zero = 3;
  REQUIRE(sluice_vta_scaling(&b, parameters, &rows) == 1);
  CHECK(rows.terms == 7);
  const int32_t last[] = {5, 1, 5, 4, 5}, first[] = {15, 1, 1, 15, 15};
  for (size_t k = 0; k < 5; ++k) {
    CAPTURE(k);
    CHECK(rows.shift[0][k] == last[k]);
    CHECK(rows.shift[1][k] == first[k]);
    CHECK(rows.shift[7][k] == (k == 2 ? 1 : 15));
    CHECK(rows.added[k] == 3 * (1 << last[k]) + (1 << last[k]) / 2);
  }
  CHECK(rows.shift[0][5] == 0);  // of no channel
}

TEST_CASE("vta: what its ALU cannot scale is the host's") {
  struct {
    int32_t bias, multiplier, shift;
    uint32_t products;
    int answer;
  } const tries[] = {{0, 1 << 30, -14, 100, 1},
                     {0, 1 << 30, -15, 100, 0},
                     {0, 1 << 30, 1, 100, 1},
                     {0, 1 << 30, 2, 100, 0},
                     {0, 1, 31, 100, 1},
                     {0, 1, 32, 100, 0},
                     {0, 0, -5, 100, 0},
                     {0, -(1 << 30), -5, 100, 0},
                     {(1 << 28) - 1, 1 << 30, -5, 1, 1},
                     {1 << 28, 1 << 30, -5, 1, 0},
                     {-(1 << 28), 1 << 30, -5, 1, 0},
                     {1 - (1 << 28), 1 << 30, -5, 1, 1},
                     {0, 1 << 30, -5, 8192, 1},
                     {0, 1 << 30, -5, 8193, 0},
                     {0, INT32_MAX, -14, 1, 1},
                     {0, INT32_MAX, 1, 1, 0}};
  for (const auto& t : tries) {
    CAPTURE(t.multiplier);
    CAPTURE(t.shift);
    sluice_vta_block b = Block(1);
    b.products = t.products;
    const int32_t p[3] = {t.bias, t.multiplier, t.shift};
    CHECK(sluice_vta_scaling(&b, &p, nullptr) == t.answer);
    std::copy_n(p, 3, b.parameters);  // of all channels
    CHECK(sluice_vta_scaling(&b, nullptr, nullptr) == t.answer);
  }
}

// Of the roundings to 0 to 15 places, the finest that has eight ones at most.
double Rounded(double m) {
  for (int places = 15; places > 0; --places) {
    const auto r = static_cast<uint32_t>(std::floor(std::ldexp(m, places) + 0.5));
    if (std::bitset<32>(r).count() <= 8) return std::ldexp(r, -places);
  }
  return std::floor(m + 0.5);
}

TEST_CASE(
    "vta: a factor is one part in 256 away at most, and as near as its shifts allow") {
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    const auto multiplier = static_cast<int32_t>((1u << 30) + random() % (1u << 30));
    const int32_t p[3] = {0, multiplier, -static_cast<int32_t>(random() % 12)};
    const sluice_vta_block b = Block(1);
    sluice_vta_rows rows;
    REQUIRE(sluice_vta_scaling(&b, &p, &rows) == 1);
    double made = 1;
    for (uint32_t t = rows.terms; t > 0; --t) {
      made = 1 + std::ldexp(made, -rows.shift[t][0]);
    }
    made = std::ldexp(made, -rows.shift[0][0]) / std::ldexp(1.0, p[2] - 1);
    const double m = std::ldexp(multiplier, -30);
    CHECK(std::abs(made - m) <= m / 256);
    // Shifts that say nothing are 15.
    CHECK(std::abs(made - Rounded(m)) <= std::ldexp(2.5, -15));
  }
}

TEST_CASE("vta: a scaled sum is within a step of what it should be") {
  std::mt19937 random(7);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const int32_t p[3] = {0, static_cast<int32_t>((1u << 30) + random() % (1u << 30)),
                          -static_cast<int32_t>(random() % 12)};
    sluice_vta_block b = Block(1);
    b.zero = static_cast<int32_t>(random() % 21) - 10;
    sluice_vta_rows rows;
    REQUIRE(sluice_vta_scaling(&b, &p, &rows) == 1);
    const double factor = p[1] * std::pow(2.0, p[2] - 31);
    const auto sum = static_cast<int32_t>((random() % 40000 / 100.0 - 200) / factor);
    const double exact = std::clamp(sum * factor + b.zero, -128.0, 127.0);
    const int32_t made = sluice_vta_scaled(&b, &rows, 0, sum);
    // Half a step of rounding, half a step of the factor at 128, and each shift's.
    const double allowed = 1.05 + 8 * std::pow(2.0, -rows.shift[0][0]);
    CHECK(std::abs(made - exact) <= allowed);
    if (p[2] < -6) worst = std::max(worst, std::abs(made - exact));
  }
  CHECK(worst > 0.5);
}

TEST_CASE("vta: convolutions scaled by VTA") {
  std::vector<target_test::Conv> layers = {
      {SLUICE_OP_CONV, {2, 13, 12, 32}, {40, 3, 3, 32}, {2, 7, 6, 40}, 2, 1, 1, 1, 5},
      {SLUICE_OP_DEPTHWISE_CONV,
       {2, 7, 6, 40},
       {1, 3, 3, 40},
       {2, 7, 6, 40},
       1,
       1,
       1,
       0,
       -3},
      {SLUICE_OP_CONV, {2, 7, 6, 40}, {33, 1, 1, 40}, {2, 7, 6, 33}, 1, 1, 0, 1, 0}};
  CheckScaling(
      target_test::PlansOf("convolutions", target_test::Chain(layers), kPreset, {}), 3);
  layers[1].shift = -20;  // by more than VTA shifts: the host's
  CheckScaling(
      target_test::PlansOf("one by the host", target_test::Chain(layers), kPreset, {}),
      3, false);
}

TEST_CASE("vta: matrices of activations scaled by VTA") {
  CheckScaling(target_test::PlansOf("matrices",
                                    target_test::Graph(target_test::Matmul{
                                        2, 3, 20, 40, 36, true, 4, 0}),
                                    kPreset, {}),
               2);
}

TEST_CASE("vta: a block of a transformer scaled by VTA") {
  CheckScaling(
      target_test::PlansOf("a block", target_test::ZooGraph("vit_b_16:1"), kPreset, {}),
      6);
}

// Sums that many tiles add to, and few entries of ACC beside them.
TEST_CASE("vta: sums of slices are scaled beside what waits") {
  CheckScaling(
      target_test::PlansOf("slices",
                           target_test::Graph(target_test::Conv{SLUICE_OP_CONV,
                                                                {1, 30, 30, 256},
                                                                {64, 3, 3, 256},
                                                                {1, 30, 30, 64},
                                                                1,
                                                                1,
                                                                1,
                                                                1,
                                                                0}),
                           kPreset, {}),
      2);
}

// Twelve pixels with room for five: two pieces of five and one of two.
TEST_CASE("vta: sums are scaled in pieces that the room holds") {
  for (uint32_t room = 1; room <= 13; ++room) {
    CAPTURE(room);
    Recorded r;
    r.port().scale = [](void*, const sluice_vta_block* block, sluice_vta_rows* rows) {
      if (rows != nullptr) *rows = {};
      return block->products == 9 * kInputChannels ? 1 : -1;
    };
    job_t j{};
    j.taps = 9;
    j.t.out = Dense(0, {1, 3, 4, 32}, 1);
    j.k = 32;
    j.kb = 2;
    j.t.last = j.scales = 1;
    part_t a{};
    a.pn = 3;
    a.qn = 4;
    a.kn = 2;
    CHECK(vta_scale(&r.state(), &j, &a, 100, room) == 1);
    CHECK(r.state().code == 0);
    CHECK(r.counts().scaled == 12 * 32);
    CHECK(r.counts().moved[SLUICE_VTA_OF_OUT] == 12 * 32);
    CHECK(r.counts().moved[SLUICE_VTA_OF_ACC] == 2 * 2 * 64);  // of each block once
    CHECK(r.counts().gemm_cycles == 12 * 2);  // a copy of each sum begins with 0
  }
}

TEST_CASE("vta: our own model scaled by VTA") {
  CheckScaling(target_test::PlansOf("own", target_test::OwnModel(), kPreset, {}), 6);
}

}  // namespace vta_test
