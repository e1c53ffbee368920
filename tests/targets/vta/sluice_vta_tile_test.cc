// SPDX-License-Identifier: Apache-2.0
// Layers one by one: products, groups, cuts and tokens that whole models do not have.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "support/network_plan.h"
#include "support/random_graph.h"
#include "support/shared_data.h"
#include "targets/layers.h"
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
TEST_CASE("vta: queues of 8 tokens are enough") {
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

TEST_CASE("vta: groups, depthwise filters, strides, dilations, zero points") {
  const uint16_t conv = SLUICE_OP_CONV, deep = SLUICE_OP_DEPTHWISE_CONV;
  const std::vector<Conv> convs = {
      {conv, {1, 12, 12, 64}, {96, 3, 3, 16}, {1, 12, 12, 96}, 1, 1, 1, 4, -5},
      {conv, {1, 12, 12, 64}, {64, 3, 3, 2}, {1, 6, 6, 64}, 2, 1, 1, 32, 0},
      {conv, {2, 9, 9, 24}, {40, 3, 3, 3}, {2, 9, 9, 40}, 1, 1, 1, 8, 7},
      {conv, {1, 20, 20, 48}, {48, 3, 3, 48}, {1, 16, 16, 48}, 1, 2, 0, 1, 3},
      {conv, {1, 8, 8, 320}, {320, 1, 1, 320}, {1, 8, 8, 320}, 1, 1, 0, 1, -128},
      {conv, {1, 14, 14, 3}, {17, 7, 7, 3}, {1, 7, 7, 17}, 2, 1, 3, 1, 11},
      {deep, {1, 16, 16, 64}, {1, 3, 3, 64}, {1, 16, 16, 64}, 1, 1, 1, 0, -7},
      {deep, {1, 15, 15, 40}, {1, 5, 5, 40}, {1, 8, 8, 40}, 2, 1, 2, 0, 9},
      {deep, {1, 10, 10, 12}, {1, 3, 3, 36}, {1, 10, 10, 36}, 1, 1, 1, 0, 1},
      {conv,
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
      {deep,
       {1, 10, 10, 32},
       {1, 3, 3, 32},
       {1, 10, 10, 32},
       1,
       1,
       1,
       0,
       120,
       SLUICE_DTYPE_UINT8,
       5}};
  for (size_t i = 0; i < convs.size(); ++i) {
    for (uint64_t budget : {0, 12288}) {
      CAPTURE(i);
      CAPTURE(budget);
      const sluice_vta_counts counts = Check(Graph(convs[i]), budget);
      if (convs[i].dtype == SLUICE_DTYPE_UINT8) {
        CHECK(counts.packed_bytes ==
              counts.moved[SLUICE_VTA_OF_INP] + counts.moved[SLUICE_VTA_OF_WGT]);
      }
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
      {1, 2, 9, 40, 24, true, 120, 131, SLUICE_DTYPE_UINT8}};
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
  const uint16_t conv = SLUICE_OP_CONV, deep = SLUICE_OP_DEPTHWISE_CONV;
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
      {conv, {1, 27, 29, 80}, {80, 3, 3, 80}, {1, 27, 29, 80}, 1, 1, 1, 1, 4},
      {conv, {2, 7, 7, 208}, {336, 3, 3, 208}, {2, 7, 7, 336}, 1, 1, 1, 1, 4},
      {conv, {1, 9, 9, 200}, {360, 3, 3, 25}, {1, 9, 9, 360}, 1, 1, 1, 8, -6},
      {conv, {1, 3, 3, 16}, {48, 5, 5, 16}, {1, 7, 7, 48}, 1, 1, 4, 1, 4},
      {deep, {1, 33, 31, 208}, {1, 3, 3, 208}, {1, 33, 31, 208}, 1, 1, 1, 0, 8}};
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
