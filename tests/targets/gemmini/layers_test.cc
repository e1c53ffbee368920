// SPDX-License-Identifier: Apache-2.0
// Layers one by one and random graphs on the model of Gemmini. Each box that the host
// finishes is compared with the reference, see board.cc.
#include "targets/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "support/library.h"
#include "support/random_graph.h"
#include "targets/gemmini/board.h"
#include "targets/models.h"

namespace gemmini_model {
namespace {

using target_test::Conv;
using target_test::Graph;

// What a graph's plan counts on the machine. No commands: there is no such plan.
sluice_gemmini_counts Check(const Bytes& graph, uint32_t solver, uint64_t budget,
                            uint64_t seed = 1) {
  sluice_test::NetworkPlan plan(graph, "gemmini-16x16");
  REQUIRE(plan.ok);
  if (plan.Schedule(solver, budget) != SLUICE_OK) return {};
  const BoardResult result =
      RunBoard(graph, plan.PlanBytes(), seed, seed % 2 ? Late::kStores : Late::kLoads);
  // The one thing of a stream for one node that the lowering refuses.
  if (result.error == "a transfer by indices, or between nodes") return {};
  CHECK_MESSAGE(result.error.empty(), result.error);
  CHECK(result.output_fnv1a == target_test::Expected(graph, seed));
  // The lowering counts what its commands say.
  const sluice_gemmini_counts& c = result.counts;
  LayerCounts all;
  for (const LayerCounts& l : result.layers) {
    all.bytes += l.bytes;
    all.passes += l.passes;
  }
  CHECK(c.array_cycles == 16 * all.passes);
  CHECK(c.input_bytes + c.weight_bytes + c.output_bytes + c.sum_bytes + c.scaled_bytes +
            c.fetched_bytes + c.spilled_bytes ==
        all.bytes);
  return c;
}

}  // namespace

TEST_CASE("targets: layers by themselves on Gemmini") {
  const uint16_t conv = SLUICE_OP_CONV, deep = SLUICE_OP_DEPTHWISE_CONV;
  const uint16_t full = SLUICE_OP_FULLY_CONNECTED;
  const std::vector<Conv> layers = {
      {conv, {1, 12, 12, 64}, {96, 3, 3, 16}, {1, 12, 12, 96}, 1, 1, 1, 4, -5},
      {conv, {1, 12, 12, 64}, {64, 3, 3, 2}, {1, 6, 6, 64}, 2, 1, 1, 32, 0},
      {conv, {2, 9, 9, 24}, {40, 3, 3, 3}, {2, 9, 9, 40}, 1, 1, 1, 8, 7},
      {conv, {1, 20, 20, 48}, {48, 3, 3, 48}, {1, 16, 16, 48}, 1, 2, 0, 1, 3},
      {conv, {1, 8, 8, 320}, {320, 1, 1, 320}, {1, 8, 8, 320}, 1, 1, 0, 1, -128},
      {conv, {1, 9, 9, 200}, {360, 3, 3, 25}, {1, 9, 9, 360}, 1, 1, 1, 8, -6},
      {conv, {1, 3, 3, 16}, {48, 5, 5, 16}, {1, 7, 7, 48}, 1, 1, 4, 1, 4},
      {conv, {2, 7, 7, 208}, {336, 3, 3, 208}, {2, 7, 7, 336}, 1, 1, 1, 1, 4},
      {conv, {1, 8, 8, 16}, {1, 3, 3, 16}, {1, 8, 8, 1}, 1, 1, 1, 1, 4},
      {conv, {1, 8, 8, 32}, {1, 1, 1, 32}, {1, 8, 8, 1}, 1, 1, 0, 1, 0},
      {conv, {1, 8, 8, 16}, {33, 3, 3, 16}, {1, 8, 8, 33}, 1, 1, 1, 1, 4},
      {deep, {1, 16, 16, 64}, {1, 3, 3, 64}, {1, 16, 16, 64}, 1, 1, 1, 0, -7},
      {deep, {1, 15, 15, 40}, {1, 5, 5, 40}, {1, 8, 8, 40}, 2, 1, 2, 0, 9},
      {deep, {1, 33, 31, 208}, {1, 3, 3, 208}, {1, 33, 31, 208}, 1, 1, 1, 0, 8},
      {deep, {1, 10, 10, 12}, {1, 3, 3, 36}, {1, 10, 10, 36}, 1, 1, 1, 0, 1},
      {deep, {1, 10, 10, 64}, {1, 3, 3, 128}, {1, 10, 10, 128}, 1, 1, 1, 0, -9},
      {deep, {2, 9, 12, 7}, {1, 3, 5, 147}, {2, 9, 10, 147}, 1, 1, 1, 0, 5},
      {deep, {1, 6, 6, 48}, {1, 2, 2, 1584}, {1, 5, 5, 1584}, 1, 1, 0, 0, 3},
      {deep, {1, 16, 16, 16}, {1, 16, 16, 16}, {1, 1, 1, 16}, 1, 1, 0, 0, 2},
      {conv, {1, 4, 4, 100}, {24, 1, 1, 100}, {1, 4, 4, 24}, 1, 1, 0, 1, 1},
      {conv, {1, 4, 4, 256}, {17, 3, 3, 256}, {1, 4, 4, 17}, 1, 1, 1, 1, 1},
      {conv, {1, 100, 100, 3}, {16, 5, 5, 3}, {1, 100, 100, 16}, 1, 1, 2, 1, 4},
      // Rows and columns of other strides and dilations, in parts.
      {conv,
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
      // Matrices that are loaded whole, and read in slices of their input channels.
      {full, {1, 11, 9, 512}, {15, 512}, {1, 11, 9, 15}, 0, 0, 0, 0, 3},
      {full, {1, 3, 7, 816}, {1, 816}, {1, 3, 7, 1}, 0, 0, 0, 0, 3},
      {full, {1, 1, 40, 320}, {16, 320}, {1, 1, 40, 16}, 0, 0, 0, 0, -7}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool small = layers[i].op == full;
    for (const uint64_t budget : {uint64_t{0}, uint64_t{small ? 32768u : 98304u}}) {
      CAPTURE(i);
      CAPTURE(budget);
      const auto counts = Check(Graph(layers[i]), SLUICE_SOLVER_DEFAULT, budget);
      CHECK(counts.host_macs == 0);
      CHECK(counts.array_macs > 0);
    }
  }
}

// Matrices of activations: whole rows of both where channels are, else parts of them.
TEST_CASE("targets: matrices of activations are Gemmini's array's") {
  const std::vector<target_test::Matmul> all = {
      {1, 1, 1, 16, 16, false, 0, 0},     {1, 3, 37, 64, 50, false, 0, 0},
      {2, 3, 37, 64, 50, true, 5, 0},     {1, 2, 65, 33, 7, true, -4, 0},
      {1, 1, 2, 300, 20, false, -128, 0}, {2, 2, 40, 16, 100, true, 3, 0},
      {1, 2, 1100, 16, 32, false, 1, 0}};
  for (const target_test::Matmul& m : all) {
    for (const uint64_t budget : {0, 98304}) {
      CAPTURE(&m - all.data());
      CAPTURE(budget);
      const auto counts = Check(Graph(m), SLUICE_SOLVER_DEFAULT, budget);
      CHECK(counts.host_macs == 0);
      CHECK(counts.array_macs == uint64_t(m.b) * m.g * m.m * m.c * m.k);
      if (m.c % 16 == 0) CHECK(counts.input_bytes > 0);
    }
  }
}

// First layers: few channels, so that several filter positions are one block.
TEST_CASE("targets: convolutions of few channels on Gemmini") {
  uint64_t cycles = 0;
  for (int32_t channels = 1; channels <= 9; ++channels) {
    for (int32_t kernel = 1; kernel <= 7; ++kernel) {
      for (int32_t stride = 1; stride <= 2; ++stride) {
        for (int32_t pad = 0; pad < kernel; ++pad) {
          const int32_t in = 9 + kernel, out = (in + 2 * pad - kernel) / stride + 1;
          CAPTURE(channels);
          CAPTURE(kernel);
          CAPTURE(stride);
          CAPTURE(pad);
          const Conv c = {SLUICE_OP_CONV,
                          {1, in, in, channels},
                          {17, kernel, kernel, channels},
                          {1, out, out, 17},
                          stride,
                          1,
                          pad,
                          1,
                          5};
          const auto counts = Check(Graph(c), SLUICE_SOLVER_DEFAULT, 0);
          CHECK(counts.array_macs > 0);
          cycles += counts.array_cycles;
        }
      }
    }
  }
  // Positions side by side where that takes fewer passes, else one at a time.
  CHECK(cycles <= 3868928);
}

// Tiles add slices of the input's channels; sums leave the accumulators once.
TEST_CASE("targets: sums of several slices stay in Gemmini's accumulators") {
  const Conv c = {
      SLUICE_OP_CONV, {1, 7, 7, 512}, {512, 3, 3, 512}, {1, 7, 7, 512}, 1, 1, 1, 1, 4};
  const auto counts = Check(Graph(c), SLUICE_SOLVER_DEFAULT, 65536);
  CHECK(counts.array_macs == 49ull * 512 * 512 * 9);
  CHECK(counts.sum_bytes == 49 * 512 * 4);
  CHECK(counts.weight_bytes == 512 * 512 * 9);  // in blocks, once
}

// Sums that stay are whole with their last slice, and Gemmini scales them. A slice that the
// host adds, as of two images, is not.
TEST_CASE("targets: Gemmini scales whole sums alone") {
  for (const int32_t images : {1, 2}) {
    CAPTURE(images);
    Conv c = {SLUICE_OP_CONV,
              {images, 7, 7, 512},
              {128, 3, 3, 512},
              {images, 7, 7, 128},
              1,
              1,
              1,
              1,
              0};
    c.one_scale = true;
    const Bytes graph = Graph(c);
    sluice_test::NetworkPlan plan(graph, "gemmini-16x16");
    REQUIRE(plan.Schedule(SLUICE_SOLVER_BASELINE, 65536) == SLUICE_OK);
    const Bytes bytes = plan.PlanBytes();
    const BoardResult exact = RunBoard(graph, bytes, 1, Late::kLoads);
    const BoardResult own =
        RunBoard(graph, bytes, 1, Late::kLoads, {}, Scaling::kMachine);
    CHECK_MESSAGE(own.error.empty(), own.error);
    CHECK(exact.counts.sum_bytes >= 4u * 49 * 128);
    CHECK(own.counts.scaled_bytes == (images == 1 ? 49 * 128 : 0));
    CHECK(own.counts.sum_bytes == (images == 1 ? 0 : exact.counts.sum_bytes));
    int most = 0;
    for (size_t i = 0; i < own.outputs.size(); ++i)
      most = std::max(most, std::abs(static_cast<int8_t>(own.outputs[i]) -
                                     static_cast<int8_t>(exact.outputs[i])));
    CHECK(most <= (images == 1 ? 1 : 0));
  }
}

// Of several images they do not stay: the host adds.
TEST_CASE("targets: sums of several images are added by the host") {
  const Conv c = {
      SLUICE_OP_CONV, {2, 7, 7, 512}, {128, 3, 3, 512}, {2, 7, 7, 128}, 1, 1, 1, 1, 4};
  for (const uint64_t budget : {32768, 49152, 65536}) {
    for (const uint32_t solver : {SLUICE_SOLVER_DEFAULT, SLUICE_SOLVER_BASELINE}) {
      CAPTURE(budget);
      CAPTURE(solver);
      const auto counts = Check(Graph(c), solver, budget);
      CHECK(counts.array_macs > 0);
    }
  }
}

// Plans for other machines have tiles that the array does not take: other types, weights with
// a zero point, windows of depthwise filters that the host's range does not hold.
TEST_CASE("targets: what Gemmini's array does not take is refused") {
  const uint16_t conv = SLUICE_OP_CONV, deep = SLUICE_OP_DEPTHWISE_CONV;
  const struct {
    bool takes;
    Conv layer;
  } cases[] = {
      {true, {conv, {1, 17, 17, 16}, {16, 17, 17, 16}, {1, 1, 1, 16}, 1, 1, 0, 1, 2}},
      {false, {deep, {1, 17, 17, 16}, {1, 17, 17, 16}, {1, 1, 1, 16}, 1, 1, 0, 0, 2}},
      {true, {deep, {1, 16, 16, 16}, {1, 16, 16, 16}, {1, 1, 1, 16}, 1, 1, 0, 0, 2}},
      {false,
       {conv,
        {1, 4, 4, 16},
        {16, 1, 1, 16},
        {1, 4, 4, 16},
        1,
        1,
        0,
        1,
        2,
        SLUICE_DTYPE_INT8,
        3}},
      {false,
       {conv,
        {1, 4, 4, 16},
        {16, 1, 1, 16},
        {1, 4, 4, 16},
        1,
        1,
        0,
        1,
        2,
        SLUICE_DTYPE_UINT8}}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    const Bytes graph = Graph(c.layer);
    const Bytes plan = target_test::PlansOf("a layer", graph, "mcu-256k", {}).plans[0];
    const BoardResult result = RunBoard(graph, plan, 1, Late::kLoads);
    CHECK((result.error.empty()) == c.takes);
    if (c.takes) CHECK(result.output_fnv1a == target_test::Expected(graph, 1));
    if (!c.takes) CHECK(result.error.find("plan it for the host") != std::string::npos);
  }
}

// Inputs that begin rows are read where the plan has put them, whatever the number of output
// channels.
TEST_CASE("targets: inputs stay where they were loaded") {
  const auto counts = Check(
      Graph(Conv{
          SLUICE_OP_CONV, {1, 8, 8, 16}, {48, 3, 3, 16}, {1, 8, 8, 48}, 1, 1, 1, 1, 4}),
      SLUICE_SOLVER_BASELINE, 0);
  CHECK(counts.input_bytes >= 8 * 8 * 16);
  CHECK(counts.fetched_bytes == 0);
}

// A gather reads rows of a table that its indices name.
TEST_CASE("targets: transfers by indices are refused, and say where") {
  const Bytes graph = target_test::ZooGraph("gpt2_small_decode:1");
  const Bytes plan = target_test::PlansOf("a gather", graph, "mcu-256k", {}).plans[0];
  const BoardResult result = RunBoard(graph, plan, 1, Late::kLoads);
  CHECK(result.error == "a transfer by indices, or between nodes");
  CHECK(result.counts.layer == 0);
}

// What one layer leaves in rows, the next one finds there: no DRAM between them.
TEST_CASE("targets: outputs that Gemmini scales stay in rows for the next layer") {
  Conv c = {
      SLUICE_OP_CONV, {1, 8, 8, 64}, {64, 3, 3, 64}, {1, 8, 8, 64}, 1, 1, 1, 1, 0};
  c.one_scale = true;
  const Bytes graph = target_test::Chain({c, c, c});
  sluice_test::NetworkPlan plan(graph, "gemmini-16x16");
  REQUIRE(plan.ok);
  REQUIRE(plan.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  Late late = Late::kStores;  // a fence ends the stream too
  const Bytes stored =
      RunBoard(graph, plan.PlanBytes(), 1, late, {}, Scaling::kOnChip).outputs;
  late = Late::kLoads;
  const auto run = [&](Scaling scaling) {
    const BoardResult result = RunBoard(graph, plan.PlanBytes(), 1, late, {}, scaling);
    CHECK_MESSAGE(result.error.empty(), result.error);
    return result;
  };
  const BoardResult dram = run(Scaling::kMachine), rows = run(Scaling::kOnChip);
  CHECK(dram.outputs == rows.outputs);
  CHECK(dram.outputs == stored);
  CHECK(dram.counts.scaled_bytes == 3 * 4096);
  // Rows of pixels follow each other: 16 pixels by 16 channels each.
  CHECK(dram.counts.commands[SLUICE_GEMMINI_MVOUT] == 3 * 16);
  CHECK(rows.counts.commands[SLUICE_GEMMINI_MVOUT_SPAD] == 3 * 16);
  CHECK(dram.counts.fetched_bytes == 2 * 4096);
  CHECK(rows.counts.kept_bytes == 3 * 4096);
  CHECK(rows.counts.fetched_bytes == 0);
  CHECK(rows.counts.spilled_bytes == 0);
  CHECK(rows.counts.output_bytes == 4096);
}

// What a float, a ReLU and biases can say of a layer, Gemmini scales; the host all else.
TEST_CASE("targets: Gemmini scales what it can, and nothing else") {
  const int zero = SLUICE_CONV_OUTPUT_ZERO, low = SLUICE_CONV_ACT_MIN;
  const int high = SLUICE_CONV_ACT_MAX, in = SLUICE_CONV_INPUT_ZERO;
  const struct {
    bool scales;
    std::vector<std::pair<int, int32_t>> set;
    int32_t shift = -9;
    bool one_scale = true;
    int32_t multiplier = 1 << 30;
  } cases[] = {{true, {}},
               {true, {}, -2},
               {false, {}, -9, false},
               {true, {{zero, 0}, {low, 0}}},
               {true, {{zero, 100}}},
               {true, {{zero, 100}}, -23},
               {true, {{zero, 1}}, 1, true, 3 << 29},
               {false, {{zero, 0}}, -9, true, 0},
               {false, {{zero, 100}}, -27},
               {false, {{zero, -100}}, -27},
               {false, {{zero, 1}, {low, 0}}},
               {false, {{zero, 0}, {low, 1}}},
               {false, {{zero, 0}, {low, -127}}},
               {false, {{high, 126}}},
               {true, {{in, 4}}},
               {false, {{in, 4}, {SLUICE_CONV_PAD_TOP, 1}}},
               {false, {{in, 4}, {SLUICE_CONV_PAD_LEFT, 1}}},
               {false, {{in, 4}, {SLUICE_CONV_PAD_BOTTOM, 1}}},
               {false, {{in, 4}, {SLUICE_CONV_PAD_RIGHT, 1}}},
               {true, {{SLUICE_CONV_PAD_TOP, 1}}}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Conv layer = {
        SLUICE_OP_CONV, {1, 6, 6, 32}, {24, 3, 3, 32}, {1, 4, 4, 24}, 1, 1, 0, 1, 0};
    for (const auto& [attribute, value] : c.set) {
      const bool tall =
          attribute == SLUICE_CONV_PAD_TOP || attribute == SLUICE_CONV_PAD_BOTTOM;
      const bool wide =
          attribute == SLUICE_CONV_PAD_LEFT || attribute == SLUICE_CONV_PAD_RIGHT;
      layer.output[1] += tall;
      layer.output[2] += wide;
    }
    layer.one_scale = c.one_scale;
    layer.shift = c.shift;
    layer.multiplier = c.multiplier;
    layer.set = c.set;
    const Bytes graph = Graph(layer);
    sluice_test::NetworkPlan plan(graph, "gemmini-16x16");
    REQUIRE(plan.ok);
    REQUIRE(plan.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const Bytes bytes = plan.PlanBytes();
    const BoardResult exact = RunBoard(graph, bytes, 1, Late::kLoads);
    const BoardResult own =
        RunBoard(graph, bytes, 1, Late::kLoads, {}, Scaling::kMachine);
    CHECK_MESSAGE(own.error.empty(), own.error);
    CHECK((own.counts.scaled_bytes > 0) == c.scales);
    int32_t zero_point = -3;
    bool padded = false;  // by a zero point of the input, which biases hold as well
    for (const auto& [attribute, value] : c.set) {
      if (attribute == zero) zero_point = value;
      padded |= attribute == in;
    }
    for (const sluice_sim::ScaledBox& box : own.scaled) {
      const int64_t bias = box.begin[3] * 777 - 4000;
      if (!padded) CHECK(box.biases[0] == bias + std::lround(zero_point / box.scale));
    }
    REQUIRE(own.outputs.size() == exact.outputs.size());
    int most = 0;
    for (size_t i = 0; i < own.outputs.size(); ++i)
      most = std::max(most, std::abs(static_cast<int8_t>(own.outputs[i]) -
                                     static_cast<int8_t>(exact.outputs[i])));
    CHECK(most <= (c.scales ? 1 : 0));
  }
}

// The input of a half of one of this layer's tiles just fits the 8,192 rows for what does
// not stay: two parts each.
TEST_CASE("targets: parts of a layer on Gemmini are no smaller than they must be") {
  const Conv c = {
      SLUICE_OP_CONV, {1, 5, 6544, 3}, {16, 5, 5, 3}, {1, 1, 2180, 16}, 3, 1, 0, 1, 4};
  const auto counts = Check(Graph(c), SLUICE_SOLVER_BASELINE, 0);
  CHECK(counts.array_macs == 2180ull * 16 * 75);
  CHECK(counts.steps[SLUICE_GEMMINI_COPY] == 6);  // inputs and outputs of two tiles
  CHECK(counts.steps[SLUICE_GEMMINI_FINISH] == 4);
}

TEST_CASE("targets: random graphs on Gemmini") {
  uint64_t macs = 0, ran = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    sluice_test::RandomGraphLimits limits;
    limits.layers = 6;
    const Bytes graph =
        sluice_test::GraphBytes(sluice_test::MakeRandomGraph(seed, limits));
    const auto counts = Check(
        graph, seed % 2 ? SLUICE_SOLVER_DEFAULT : SLUICE_SOLVER_BASELINE, 0, seed);
    macs += counts.array_macs;
    ran += counts.fences > 0;
  }
  CHECK(macs > 10000);
  CHECK(ran > 360);
}

// Layers that models of other people have: one output channel, floats, lookups, states.
TEST_CASE("targets: models of other people on Gemmini") {
  for (const char* model :
       {"tflite/hello_world_int8", "people/anomaly_detection", "people/conv20",
        "people/fdmobilenet_0.25_128_int8", "people/gmp_wl_24_int8",
        "people/keyword_scrambled", "people/pretrainedResnet", "people/stmnist_v1_int8",
        "people/trained_lstm_int8", "people/transpose_conv4", "people/vad"}) {
    CAPTURE(std::string(model));
    const std::string file =
        sluice_test::SharedPath(std::string("models/") + model + ".tflite");
    if (!std::filesystem::exists(file)) {
      MESSAGE("skipped: " << file << " is not there");
      continue;
    }
    const Bytes graph = sluice_test::ImportedGraph(file);
    for (const uint64_t seed : {1, 2}) Check(graph, SLUICE_SOLVER_DEFAULT, 0, seed);
  }
}

}  // namespace gemmini_model
