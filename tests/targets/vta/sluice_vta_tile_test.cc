// SPDX-License-Identifier: Apache-2.0
// Layers one by one: products, groups, cuts and tokens that whole models do not have.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "support/network_plan.h"
#include "support/random_graph.h"
#include "support/shared_data.h"
#include "targets/layers.h"
#include "targets/vta/recorded.h"
#include "targets/vta/runs.h"
#include "zoo/zoo.h"

namespace vta_test {
namespace {

using sluice_test::Bytes;
using target_test::Conv;
using target_test::Graph;

// Runs a graph's plan; the counts.
sluice_vta_counts RunPlan(const Bytes& graph, const sluice_test::NetworkPlan& plan,
                          uint64_t seed, size_t depth = 255) {
  const Bytes bytes = plan.PlanBytes();
  const Run run = VtaRun(graph.data(), graph.size(), bytes.data(), bytes.size())
                      .Execute(seed, seed * 3, nullptr, depth);
  INFO(run.error);
  CHECK(run.code == 0);
  CHECK(run.counts_hold);
  CHECK(run.hash == Expected(graph, seed));
  return run.counts;
}

// The preset with a scratchpad of this size.
Bytes Machine(const std::string& capacity) {
  std::string text =
      sluice::presets::HardwareAsJson(sluice::presets::LoadPreset("vta-1x16x16"));
  const size_t at = text.find("32768");
  REQUIRE(at != std::string::npos);
  std::string error;
  Bytes made = sluice::presets::HardwareFromJson(text.replace(at, 5, capacity), &error);
  REQUIRE_MESSAGE(!made.empty(), error);
  return made;
}

// Default and baseline plans, each with this budget (0: all).
sluice_vta_counts CheckPlan(const Bytes& graph, const Bytes& machine, uint32_t solver,
                            uint64_t budget) {
  sluice_test::NetworkPlan plan(graph, machine);
  REQUIRE(plan.ok);
  const sluice_status_t status = plan.Schedule(solver, budget);
  REQUIRE_MESSAGE(status == SLUICE_OK, plan.diagnostic.message);
  return RunPlan(graph, plan, 1);
}

sluice_vta_counts Check(const Bytes& graph, uint64_t budget,
                        const std::string& capacity = "32768") {
  const Bytes machine = Machine(capacity);
  (void)CheckPlan(graph, machine, SLUICE_SOLVER_DEFAULT, budget);
  return CheckPlan(graph, machine, SLUICE_SOLVER_BASELINE, budget);
}

}  // namespace

// With the stream's waits alone, a machine whose loads and stores only tokens order gave
// wrong bytes of this layer.
TEST_CASE("vta: a product of 256 x 256 x 256") {
  const Bytes graph = Graph({SLUICE_OP_FULLY_CONNECTED,
                             {1, 1, 256, 256},
                             {256, 256},
                             {1, 1, 256, 256},
                             0,
                             0,
                             0,
                             0,
                             0});
  for (uint64_t budget : {0, 24576, 16384, 8192}) {
    CAPTURE(budget);
    const sluice_vta_counts counts = Check(graph, budget);
    CHECK(counts.gemm_cycles >= 256 * 16 * 16);
    CHECK(counts.moved[SLUICE_VTA_OF_WGT] == 65536);  // WGT holds all of it
    CHECK(counts.moved[SLUICE_VTA_OF_OUT] == 4 * 65536);
    CHECK(counts.packed_bytes == 65536);
    CHECK(counts.planned[0] >= 65536 + 256 * 12);
    CHECK(counts.planned[1] >= 65536);
  }
}

// Where a full queue makes modules wait, they never wait for each other.
TEST_CASE("vta: our own model needs no more than 8 tokens in a queue") {
  const Bytes graph = sluice_test::ImportedGraph(std::string(SLUICE_TESTS) +
                                                 "/models/residual_cnn_int8.tflite");
  for (uint64_t budget : {0, 16384, 8192}) {
    sluice_test::NetworkPlan plan(graph, "vta-1x16x16");
    REQUIRE(plan.Schedule(SLUICE_SOLVER_BASELINE, budget) == SLUICE_OK);
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      for (size_t depth : {8, 255}) RunPlan(graph, plan, seed, depth);
    }
  }
}

constexpr uint16_t kConv = SLUICE_OP_CONV, kDeep = SLUICE_OP_DEPTHWISE_CONV;
const std::vector<Conv> kConvs = {
    {kConv, {1, 12, 12, 64}, {96, 3, 3, 16}, {1, 12, 12, 96}, 1, 1, 1, 4, -5},
    {kConv, {1, 12, 12, 64}, {64, 3, 3, 2}, {1, 6, 6, 64}, 2, 1, 1, 32, 0},
    {kConv, {2, 9, 9, 24}, {40, 3, 3, 3}, {2, 9, 9, 40}, 1, 1, 1, 8, 7},
    {kConv, {1, 20, 20, 48}, {48, 3, 3, 48}, {1, 16, 16, 48}, 1, 2, 0, 1, 3},
    {kConv, {1, 8, 8, 320}, {320, 1, 1, 320}, {1, 8, 8, 320}, 1, 1, 0, 1, -128},
    {kConv, {1, 14, 14, 3}, {17, 7, 7, 3}, {1, 7, 7, 17}, 2, 1, 3, 1, 11},
    {kConv,
     {1, 42, 121, 5},
     {16, 3, 3, 5},
     {1, 40, 61, 16},
     1,
     1,
     1,
     1,
     3,
     SLUICE_DTYPE_INT8,
     0,
     false,
     -9,
     {{SLUICE_CONV_STRIDE_W, 2}, {SLUICE_CONV_DILATION_H, 2}}},
    {kDeep, {1, 16, 16, 64}, {1, 3, 3, 64}, {1, 16, 16, 64}, 1, 1, 1, 0, -7},
    {kDeep, {1, 15, 15, 40}, {1, 5, 5, 40}, {1, 8, 8, 40}, 2, 1, 2, 0, 9},
    {kDeep, {1, 10, 10, 12}, {1, 3, 3, 36}, {1, 10, 10, 36}, 1, 1, 1, 0, 1},
    {kConv,
     {1, 10, 10, 32},
     {32, 3, 3, 32},
     {1, 10, 10, 32},
     1,
     1,
     1,
     1,
     120,
     SLUICE_DTYPE_UINT8,
     131},
    {kDeep,
     {1, 10, 10, 32},
     {1, 3, 3, 32},
     {1, 10, 10, 32},
     1,
     1,
     1,
     0,
     120,
     SLUICE_DTYPE_UINT8,
     5},
    // Filters whose positions lie far apart: rows of them one behind the other.
    {kConv, {2, 50, 51, 4}, {18, 3, 3, 4}, {2, 2, 3, 18}, 1, 24, 0, 1, 5},
    {kConv, {1, 20, 19, 40}, {16, 3, 3, 40}, {1, 10, 10, 16}, 2, 23, 23, 1, -6},
    {kDeep, {1, 30, 7, 32}, {1, 3, 3, 32}, {1, 30, 7, 32}, 1, 22, 22, 0, 9},
    // Weights minus their zero point up to 255.
    {kConv,
     {1, 7, 9, 18},
     {20, 2, 3, 18},
     {1, 6, 7, 20},
     1,
     1,
     0,
     1,
     120,
     SLUICE_DTYPE_UINT8,
     0},
    {kConv,
     {1, 7, 9, 18},
     {20, 2, 3, 18},
     {1, 6, 7, 20},
     1,
     1,
     0,
     1,
     3,
     SLUICE_DTYPE_INT8,
     -128}};

TEST_CASE("vta: groups, depthwise filters, strides, dilations, zero points") {
  for (size_t i = 0; i < kConvs.size(); ++i) {
    for (uint64_t budget : {0, 12288}) {
      CAPTURE(i);
      CAPTURE(budget);
      const sluice_vta_counts counts = Check(Graph(kConvs[i]), budget);
      if (kConvs[i].dtype == SLUICE_DTYPE_UINT8) {
        CHECK(counts.packed_bytes ==
              counts.moved[SLUICE_VTA_OF_INP] + counts.moved[SLUICE_VTA_OF_WGT]);
      }
    }
  }
}

// Filters of more than 1,024 positions, windows of more than 2,048: rows and columns of the
// filter one behind the other, whatever of them lies in padding; also where sums wait.
TEST_CASE("vta: filters and windows that no buffer holds are cut") {
  const std::vector<Conv> convs = {
      {kDeep, {1, 47, 46, 4}, {1, 43, 43, 4}, {1, 5, 4, 4}, 1, 1, 0, 0, -7},
      {kDeep, {1, 44, 44, 7}, {1, 43, 43, 7}, {1, 22, 22, 7}, 2, 1, 21, 0, 9},
      {kConv, {1, 52, 51, 3}, {5, 50, 49, 3}, {1, 3, 3, 5}, 1, 1, 0, 1, 5},
      {kConv, {1, 10, 12, 2}, {17, 40, 41, 2}, {1, 11, 12, 17}, 1, 1, 20, 1, -3},
      {kConv, {2, 34, 33, 40}, {8, 33, 33, 40}, {2, 2, 1, 8}, 1, 1, 0, 1, 4},
      {kConv, {1, 33, 34, 4}, {6, 33, 33, 2}, {1, 1, 2, 6}, 1, 1, 0, 2, 3},
      {kConv, {1, 2, 1060, 2}, {3, 1, 1030, 2}, {1, 2, 31, 3}, 1, 1, 0, 1, 6},
      {kConv,
       {1, 3, 2300, 1},
       {2, 2, 40, 1},
       {1, 2, 38, 2},
       1,
       58,
       0,
       1,
       2,
       SLUICE_DTYPE_INT8,
       0,
       false,
       -9,
       {{SLUICE_CONV_DILATION_H, 1}}},
      {kConv,
       {1, 33, 33, 3},
       {2, 33, 33, 3},
       {1, 1, 1, 2},
       1,
       1,
       0,
       1,
       120,
       SLUICE_DTYPE_UINT8,
       0}};
  for (size_t i = 0; i < convs.size(); ++i) {
    for (const char* capacity : {i < 2 ? "32768" : "524288", "1048576"}) {
      CAPTURE(i);
      CAPTURE(capacity);
      const sluice_vta_counts counts = Check(Graph(convs[i]), 0, capacity);
      CHECK(counts.host_macs == 0);
    }
  }
}

// What is multiplied by is computed too: the host lays it out as weights.
TEST_CASE("vta: matrices of activations are the array's") {
  const std::vector<target_test::Matmul> all = {
      {1, 1, 1, 16, 16, false, 0, 0},
      {1, 3, 37, 64, 50, false, 0, 0},
      {2, 3, 37, 64, 50, true, 5, 0},
      {1, 2, 65, 33, 7, true, -4, 9},
      {1, 1, 2, 300, 20, false, -128, 3},
      {1, 2, 9, 40, 24, true, 120, 131, SLUICE_DTYPE_UINT8},
      {1, 2, 9, 40, 24, false, 120, 0, SLUICE_DTYPE_UINT8}};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const uint64_t budget : {0, 16384}) {
      CAPTURE(i);
      CAPTURE(budget);
      const target_test::Matmul& m = all[i];
      const sluice_vta_counts counts = Check(Graph(m), budget);
      CHECK(counts.host_macs == 0);
      CHECK(counts.array_macs == uint64_t(m.b) * m.g * m.m * m.c * m.k);
    }
  }
}

// One to five sums to which a long list is added: where there are fewer than four, sums that
// nobody reads keep one and the same apart.
TEST_CASE("vta: a few sums are not added to too early") {
  for (int32_t rows = 1; rows <= 5; ++rows) {
    for (const int32_t k : {1, 16, 17, 48}) {
      for (const int32_t c : {16, 40, 512}) {
        CAPTURE(rows);
        CAPTURE(k);
        CAPTURE(c);
        (void)Check(Graph({SLUICE_OP_FULLY_CONNECTED,
                           {1, 1, rows, c},
                           {k, c},
                           {1, 1, rows, k},
                           0,
                           0,
                           0,
                           0,
                           rows}),
                    0);
      }
    }
    for (const int32_t dilation : {1, 2}) {
      const int32_t in = 2 * dilation + rows;
      (void)Check(Graph({SLUICE_OP_CONV,
                         {1, 2 * dilation + 1, in, 48},
                         {16, 3, 3, 48},
                         {1, 1, rows, 16},
                         1,
                         dilation,
                         0,
                         1,
                         3}),
                  0);
    }
  }
}

// Rows of biases fill their part of ACC and begin again; sums that nobody reads lie behind.
TEST_CASE("vta: biases and sums that nobody reads lie apart") {
  const auto layer = [](int32_t c, int32_t k) {
    return Conv{
        SLUICE_OP_FULLY_CONNECTED, {1, 1, 1, c}, {k, c}, {1, 1, 1, k}, 0, 0, 0, 0, 0};
  };
  const Bytes graph =
      target_test::Chain({layer(64, 928), layer(928, 48), layer(48, 16)});
  sluice_test::NetworkPlan plan(graph, kPreset);
  REQUIRE(plan.ok);
  REQUIRE(plan.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const Bytes bytes = plan.PlanBytes();
  uint64_t biases = 0;
  const Run run =
      VtaRun(graph.data(), graph.size(), bytes.data(), bytes.size())
          .Execute(1, 1, [&](uint64_t, Instruction* i) {
            if (Field(*i, 0, 3) != 0 || Field(*i, 7, 3) != 3) return;
            ++biases;
            CHECK(Field(*i, 10, 16) + Field(*i, 80, 16) <= SLUICE_VTA_ACC - 3);
          });
  CHECK(run.error == "");
  CHECK(run.hash == Expected(graph, 1));
  CHECK(biases >= 3);
}

// Tiles of a plan for 1 MiB, which INP, WGT and ACC do not hold: parts of all axes, in
// numbers that do not divide them.
TEST_CASE("vta: tiles that are larger than the buffers") {
  const std::vector<Conv> layers = {
      {SLUICE_OP_FULLY_CONNECTED,
       {1, 1, 40, 512},
       {1040, 512},
       {1, 1, 40, 1040},
       0,
       0,
       0,
       0,
       -9},
      {SLUICE_OP_FULLY_CONNECTED,
       {1, 1, 3, 2080},
       {80, 2080},
       {1, 1, 3, 80},
       0,
       0,
       0,
       0,
       2},
      {kConv, {1, 27, 29, 80}, {80, 3, 3, 80}, {1, 27, 29, 80}, 1, 1, 1, 1, 4},
      {kConv, {2, 7, 7, 208}, {336, 3, 3, 208}, {2, 7, 7, 336}, 1, 1, 1, 1, 4},
      {kConv, {1, 9, 9, 200}, {360, 3, 3, 25}, {1, 9, 9, 360}, 1, 1, 1, 8, -6},
      {kConv, {1, 3, 3, 16}, {48, 5, 5, 16}, {1, 7, 7, 48}, 1, 1, 4, 1, 4},
      {kConv, {1, 3, 3, 1840}, {16, 3, 3, 1840}, {1, 1, 1, 16}, 1, 1, 0, 1, 4},
      {kDeep, {1, 33, 31, 208}, {1, 3, 3, 208}, {1, 33, 31, 208}, 1, 1, 1, 0, 8}};
  for (size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(i);
    const sluice_vta_counts counts = Check(Graph(layers[i]), 0, "1048576");
    uint64_t sums = 4;
    for (int a = 0; a < 3; ++a) sums *= static_cast<uint64_t>(layers[i].output[a]);
    sums *= static_cast<uint64_t>((layers[i].output[3] + 15) / 16 * 16);
    CHECK(counts.moved[SLUICE_VTA_OF_OUT] >= sums);
    if (counts.tiles == 1) CHECK(counts.moved[SLUICE_VTA_OF_OUT] == sums);
  }
}

// A tile of a convolution whose sums, filters and inputs lie one behind the other.
struct Tile {
  uint32_t p, q, k, c, r, s, stride;
  uint32_t across = 0;           // stride along columns, where it is another
  uint32_t down = 1, along = 1;  // dilations
};
job_t JobOf(const Tile& t) {
  job_t j{};
  const uint32_t across = t.across != 0 ? t.across : t.stride;
  const uint32_t h = target_span(t.p, t.stride, t.r, t.down);
  const uint32_t w = target_span(t.q, across, t.s, t.along);
  j.t.in = Dense(0, {1, h, w, t.c}, 1);
  j.t.weight = Dense(j.t.in.span, {t.k, t.r, t.s, t.c}, 1);
  j.t.out = Dense(j.t.weight.offset + j.t.weight.span, {1, t.p, t.q, t.k}, 1);
  j.t.parameters = Dense(j.t.out.offset + j.t.out.span, {1, 1, t.k, 3}, 4);
  for (int a = 0; a < 4; ++a) j.t.filter[a] = j.t.weight.stride[a];
  j.k = t.k;
  j.c = t.c;
  j.kb = blocks(t.k);
  j.cb = blocks(t.c);
  j.t.rows = t.r;
  j.t.cols = t.s;
  j.taps = t.r * t.s;
  j.t.stride[0] = t.stride;
  j.t.stride[1] = across;
  j.t.dilation[0] = t.down;
  j.t.dilation[1] = t.along;
  j.passes = 1;
  j.t.first = j.t.last = 1;
  j.t.tile.accumulator = SLUICE_NONE;
  return j;
}

// What fits in halves alone, along each axis: filters of one block of channels, one row of
// windows, one column. What just fills INP, WGT or ACC is not cut.
TEST_CASE("vta: tiles are cut down to what fits, and no further") {
  const struct {
    Tile tile;
    uint64_t products;  // 0: several
  } cases[] = {
      {{1, 1, 32, 32, 17, 17, 1}, 0},
      {{1, 2, 16, 16, 1, 600, 2000}, 0},
      {{2, 1, 16, 16, 600, 1, 2000}, 0},
      {{8, 8, 16, 512, 1, 1, 1}, 1},
      {{8, 9, 16, 512, 1, 1, 1}, 0},
      {{1, 1, 256, 16, 8, 8, 1}, 1},
      {{1, 1, 272, 16, 8, 8, 1}, 0},
      {{5, 397, 16, 16, 1, 1, 1}, 1},
      {{6, 331, 16, 16, 1, 1, 1}, 0},
      {{2, 2, 16, 16, 32, 32, 1}, 1},
      // Filters that WGT does not hold, in two slices and three; a window that INP
      // does not.
      {{2, 2, 16, 16, 1, 1023, 1}, 1},
      {{2, 2, 16, 16, 33, 33, 1}, 2},
      {{2, 2, 16, 16, 3, 600, 1}, 3},
      {{2, 2, 16, 16, 43, 43, 1}, 2},
      {{2, 2, 16, 16, 1, 1025, 1}, 2}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Recorded r(4 << 20);
    const job_t j = JobOf(c.tile);
    vta_run_tile(&r.state(), &j);
    CHECK(r.state().code == 0);
    const uint64_t resets = r.counts().instructions[SLUICE_VTA_FINISH];
    const uint64_t products = r.counts().instructions[SLUICE_VTA_GEMM] - resets;
    if (c.products != 0) CHECK(products == c.products);
    if (c.products == 0) CHECK(products > 1);
    CHECK(r.counts().requantised == uint64_t{c.tile.p} * c.tile.q * c.tile.k);
  }
}

// Slices of a filter come one behind the other, each for all pixels of a part.
TEST_CASE("vta: slices of a filter bring each weight once") {
  Recorded r(4 << 20);
  const job_t j = JobOf({4, 4, 16, 16, 43, 43, 1});
  vta_run_tile(&r.state(), &j);
  CHECK(r.state().code == 0);
  CHECK(r.counts().moved[SLUICE_VTA_OF_WGT] == 43 * 43 * 256);
  CHECK(r.counts().gemm_cycles == 16 * (1 + 43 * 43));
}

// Of these tiles each extent, each order and each limit of a buffer decides the cut of one: a
// worse one loads more.
TEST_CASE("vta: the cut of a tile loads the fewest bytes") {
  const struct {
    Tile tile;
    uint64_t input, weights;
  } cases[] = {{{7, 18, 576, 128, 3, 1, 2}, 34560, 221184},
               {{5, 3, 16, 16, 46, 21, 1}, 18400, 247296},
               {{23, 4, 448, 32, 3, 3, 1}, 4800, 129024},
               {{1, 1, 48, 16, 58, 40, 2}, 111360, 1781760},
               {{4, 9, 128, 1696, 3, 2, 2}, 274752, 1302528},
               {{4, 7, 416, 1408, 3, 1, 2}, 164736, 1757184},
               {{10, 32, 608, 64, 2, 4, 2}, 168960, 311296},
               {{24, 12, 144, 16, 1, 4, 2}, 19136, 9216},
               {{29, 32, 224, 32, 3, 2, 1}, 32736, 43008},
               {{31, 37, 16, 1056, 4, 2, 1}, 1400256, 270336},
               {{2, 2, 528, 112, 4, 4, 2}, 4032, 946176},
               {{17, 32, 400, 80, 3, 4, 1}, 133760, 384000},
               {{25, 3, 512, 512, 1, 1, 1}, 38400, 262144},
               {{16, 11, 512, 160, 1, 3, 2, 1}, 33280, 245760},
               {{34, 22, 784, 352, 2, 2, 1, 1, 1, 3}, 2340800, 1103872}};
  uint64_t micro_ops = 0;
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Recorded r(4 << 20, true);
    const job_t j = JobOf(c.tile);
    vta_run_tile(&r.state(), &j);
    CHECK(r.state().code == 0);
    CHECK(r.counts().moved[SLUICE_VTA_OF_INP] == c.input);
    CHECK(r.counts().moved[SLUICE_VTA_OF_WGT] == c.weights);
    micro_ops += r.counts().moved[SLUICE_VTA_OF_UOP] / 4;
  }
  CHECK(micro_ops == 13140);  // of all: what can be joined or looped over is
}

// Where sums of other tiles wait in ACC, a tile takes the largest run between them.
TEST_CASE("vta: tiles take no entries of sums that wait") {
  const struct {
    std::vector<std::array<uint32_t, 2>> waiting;  // first, count
    uint32_t rows, first;                          // all that is left; where it begins
  } cases[] = {{{}, BIAS_FIRST, 0},
               {{{0, BIAS_FIRST - 1}}, 1, BIAS_FIRST - 1},
               {{{1, BIAS_FIRST - 1}}, 1, 0},
               {{{100, BIAS_FIRST - 100}, {10, 5}}, 85, 15},
               {{{0, 7}, {7, 3}, {12, BIAS_FIRST - 12}}, 2, 10},
               {{{1000, 100}}, 1000, 0}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Recorded r(1 << 20);
    for (size_t i = 0; i < c.waiting.size(); ++i)
      r.state().sums[i] = {uint64_t{1} << 30, c.waiting[i][0], c.waiting[i][1]};
    const job_t j = JobOf({1, c.rows, 16, 16, 1, 1, 1});
    vta_run_tile(&r.state(), &j);
    CHECK(r.state().code == 0);
    CHECK(r.counts().instructions[SLUICE_VTA_FINISH] == 1);
    CHECK(r.state().uop[0] == c.first);  // of the reset
  }
  Recorded r(1 << 20);
  r.state().sums[0] = {0, 0, BIAS_FIRST};
  const job_t j = JobOf({1, 1, 16, 16, 1, 1, 1});
  vta_run_tile(&r.state(), &j);
  CHECK(r.state().code == SLUICE_VTA_TOO_LARGE);
}

// Sums of slices: as many entries as they need, behind others, until the last slice.
TEST_CASE("vta: sums of slices hold their entries until they are finished") {
  Recorded r(1 << 20);
  job_t j = JobOf({3, 5, 48, 16, 1, 1, 1});
  j.t.out.extent[0] = j.t.in.extent[0] = 2;
  j.t.tile.accumulator = 0;
  j.t.last = 0;
  for (const uint64_t offset : {1000, 2000, 3000}) {
    j.t.sum.offset = offset;
    vta_run_tile(&r.state(), &j);
  }
  REQUIRE(r.state().code == 0);
  const auto waiting = [&] {
    std::map<uint64_t, std::pair<uint32_t, uint32_t>> all;
    for (const sluice_vta_sums& u : r.state().sums)
      if (u.count != 0) all[u.offset] = {u.first, u.count};
    return all;
  };
  auto wanted =
      decltype(waiting()){{1000, {0, 90}}, {2000, {90, 90}}, {3000, {180, 90}}};
  CHECK(waiting() == wanted);
  j.t.first = 0;
  j.t.last = 1;
  j.t.sum.offset = 2000;
  vta_run_tile(&r.state(), &j);
  wanted.erase(2000);
  CHECK(waiting() == wanted);
  j.t.sum.offset = 4000;  // no slice has begun these
  vta_run_tile(&r.state(), &j);
  CHECK(r.state().code == SLUICE_VTA_BAD_STREAM);
}

// Slices of a tile whose weights are cut: 33 output blocks in 17 and 16, of which each sum is
// where the reset has put it.
TEST_CASE("vta: sums of slices are added to where they lie, part by part") {
  job_t j = JobOf({2, 2, 528, 64, 3, 3, 1});
  j.t.tile.accumulator = 0;
  for (const int last : {0, 1}) {
    CAPTURE(last);
    Recorded r(1 << 20);
    j.t.last = last;
    vta_run_tile(&r.state(), &j);
    vta_flush(&r.state());
    CHECK(r.state().code == 0);
    std::set<uint32_t> cleared, added;
    for (const auto& [reset, sums] : r.sums())
      (reset ? &cleared : &added)->insert(sums.begin(), sums.end());
    CHECK(cleared.size() == 2 * 2 * 33);
    CHECK(added == cleared);
    CHECK(r.counts().gemm_cycles == 2 * 2 * 33 * (1 + 9 * 4));
  }
}

// Weights of 0: a sum is its bias, and what the host makes of it has every bit.
TEST_CASE("vta: the host scales sums as ops.h says, also at the ends of 32 bits") {
  std::vector<int32_t> rows;
  const int32_t most = INT32_MAX, least_ = INT32_MIN;
  for (const int32_t sum : {least_, least_ + 1, -3, -2, -1, 0, 1, 2, 3, 1 << 30, most})
    for (const int32_t factor : {least_, -(1 << 30), 1, 1 << 30, (1 << 30) + 1, most})
      for (const int32_t shift : {-31, -30, -2, -1, 0, 1, 2, 30})
        rows.insert(rows.end(), {sum, factor, shift});
  const size_t defined_once = rows.size();
  for (const int32_t sum : {least_, most})
    for (const int32_t shift : {-40, -32, 31, 32, 33})
      rows.insert(rows.end(), {sum, least_, shift, sum, most, shift});
  for (const int32_t once : {0, 1}) {
    for (const uint8_t dtype : {SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT32}) {
      CAPTURE(int(dtype));
      CAPTURE(once);
      if (once != 0) rows.resize(defined_once);
      const int32_t channels = static_cast<int32_t>(rows.size() / 3);
      sluice_test::GraphSpec spec;
      spec.tensors.push_back({{1, 1, 1, 16}, SLUICE_DTYPE_INT8, 1});
      spec.tensors.push_back(
          spec.Inline({channels, 16}, SLUICE_DTYPE_INT8,
                      std::vector<int8_t>(static_cast<size_t>(channels) * 16)));
      spec.tensors.push_back(spec.Inline({channels, 3}, SLUICE_DTYPE_INT32, rows));
      spec.tensors.push_back({{1, 1, 1, channels}, dtype, 2});
      std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
      a[SLUICE_CONV_ACT_MIN] = dtype == SLUICE_DTYPE_INT8 ? -100 : least_;
      a[SLUICE_CONV_ACT_MAX] = dtype == SLUICE_DTYPE_INT8 ? 101 : most;
      a[SLUICE_CONV_ROUNDING] = once;
      spec.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, a});
      const auto counts = Check(sluice_test::GraphBytes(spec), 0, "1048576");
      CHECK(counts.host_calls == 0);
    }
  }
}

TEST_CASE("vta: what a buffer holds is not loaded again") {
  const Bytes graph = Graph({SLUICE_OP_CONV,
                             {1, 28, 28, 64},
                             {64, 3, 3, 64},
                             {1, 28, 28, 64},
                             1,
                             1,
                             1,
                             1,
                             4});
  const Bytes machine = Machine("32768");
  const auto found = CheckPlan(graph, machine, SLUICE_SOLVER_DEFAULT, 16384);
  CHECK(found.moved[SLUICE_VTA_OF_WGT] == 64 * 64 * 9);
  CHECK(found.moved[SLUICE_VTA_OF_ACC] == 64 * 4);
  CHECK(found.moved[SLUICE_VTA_OF_UOP] < 10 * 1024);
  // The plain plan sums slices of the channels in four blocks of pixels: biases come with
  // the last slice of each.
  const auto plain = CheckPlan(graph, machine, SLUICE_SOLVER_BASELINE, 16384);
  CHECK(plain.moved[SLUICE_VTA_OF_WGT] == 64 * 64 * 9);
  CHECK(plain.moved[SLUICE_VTA_OF_ACC] == 4 * 64 * 4);
}

TEST_CASE("vta: random graphs") {
  uint64_t products = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    sluice_test::RandomGraphLimits limits;
    limits.layers = 6;
    const Bytes graph =
        sluice_test::GraphBytes(sluice_test::MakeRandomGraph(seed, limits));
    sluice_test::NetworkPlan plan(graph, "vta-1x16x16");
    REQUIRE(plan.ok);
    if (plan.Schedule(seed % 2 ? SLUICE_SOLVER_DEFAULT : SLUICE_SOLVER_BASELINE, 0) !=
        SLUICE_OK) {
      continue;
    }
    products += RunPlan(graph, plan, seed).gemm_cycles;
  }
  CHECK(products > 10000);
}

TEST_CASE("vta: a block of a vision transformer") {
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  const Bytes graph = sluice::zoo::MakeZooGraph("vit_b_16", options);
  sluice_test::NetworkPlan plan(graph, "vta-1x16x16");
  REQUIRE(plan.ok);
  REQUIRE(plan.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(RunPlan(graph, plan, 1).host_calls > 0);
}

// Layers that models of other people have: float and int16 inputs, lookups, resizes.
TEST_CASE("vta: models of other people") {
  const std::string folder = sluice_test::SharedPath("models/people/");
  for (const char* model :
       {"anomaly_detection", "conv20", "fdmobilenet_0.25_128_int8", "gmp_wl_24_int8",
        "keyword_scrambled", "pretrainedResnet", "stmnist_v1_int8", "trained_lstm_int8",
        "transpose_conv4", "vad"}) {
    CAPTURE(std::string(model));
    if (!std::filesystem::exists(folder + model + ".tflite")) {
      MESSAGE("skipped: " << folder + model << " is not there");
      continue;
    }
    Check(sluice_test::ImportedGraph(folder + model + ".tflite"), 0);
  }
}

}  // namespace vta_test
