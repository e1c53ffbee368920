// SPDX-License-Identifier: Apache-2.0
// Tiles of a few MACs on arrays of one and two cores, counted by hand.
#include "model/core_array.h"

#include <doctest/doctest.h>

#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

// One core of 2 x 2 MACs; each kind of access has a different price.
CoreArray OneCore() {
  CoreArray a = {};
  a.rows = a.columns = 1;
  a.vector = a.lane = 2;
  a.input_bytes = a.weight_bytes = 16;
  a.output_bytes = 4;
  a.read_bytes_per_cycle = 4;
  a.vector_ops_per_cycle = 16;
  a.mac_pj = 19;
  a.vector_op_pj = 2;
  a.input_read_pj = 1;
  a.input_write_pj = 2;
  a.weight_read_pj = 3;
  a.weight_write_pj = 5;
  a.output_read_pj = 7;
  a.output_write_pj = 11;
  a.slice_read_pj = 13;
  a.slice_write_pj = 17;
  a.gbuf_read_pj = 1000;
  a.gbuf_write_pj = 100;
  return a;
}

// A 1 x 1 convolution from c to k channels.
CoreLayer Pointwise(int32_t c, int32_t k, int32_t groups = 1) {
  CoreLayer layer = {};
  layer.c = c;
  layer.k = k;
  layer.r = layer.s = layer.stride_h = layer.stride_w = 1;
  layer.groups = groups;
  layer.operands = 2;
  return layer;
}

constexpr int32_t kTwoPixels[4] = {1, 1, 2, 2};

TEST_CASE("core array: two pixels of two channels on one core") {
  CoreCost cost;
  REQUIRE(CoreArrayCost(OneCore(), Pointwise(2, 2), kTwoPixels, &cost));
  // 4 bytes of input, 4 of weights and 4 of output; a step per pixel, 8 MACs.
  CHECK(cost.cycles == 2);
  CHECK(cost.scratchpad_pj == 8 * 1000 + 4 * 100);
  CHECK(cost.core_pj ==
        4 * 1 + 4 * 2 + 4 * 3 + 4 * 5 + 8 * 7 + 4 * 11 + 4 * 13 + 4 * 17);
  CHECK(cost.arithmetic_pj == 8 * 19);
  CHECK(cost.energy_pj == 8400 + 264 + 152);
  // The scratchpad is the bottleneck: 8 bytes at 1 per cycle.
  CoreArray slow = OneCore();
  slow.read_bytes_per_cycle = 1;
  REQUIRE(CoreArrayCost(slow, Pointwise(2, 2), kTwoPixels, &cost));
  CHECK(cost.cycles == 8);
}

TEST_CASE("core array: of all partitionings the one with least energy x time") {
  CoreArray a = OneCore();
  a.columns = 2;
  a.read_bytes_per_cycle = 8;
  CoreCost cost;
  REQUIRE(CoreArrayCost(a, Pointwise(2, 2), kTwoPixels, &cost));
  // One pixel on each core; both cores write and read the 4 weights.
  CHECK(cost.cycles == 1);
  CHECK(cost.energy_pj == 8816 + 4 * 3 + 4 * 5);
}

TEST_CASE("core array: groups share a core, or take turns") {
  CoreArray a = OneCore();
  a.read_bytes_per_cycle = 8;
  const int32_t four[4] = {1, 1, 2, 4};
  CoreCost cost;
  // 4 groups of one channel; two run at a time, 2 pixels each.
  REQUIRE(CoreArrayCost(a, Pointwise(4, 4, 4), four, &cost));
  CHECK(cost.cycles == 2 * 2);
  CHECK(cost.arithmetic_pj == 4 * 2 * 19);
  CHECK(cost.scratchpad_pj == 4 * (3 * 1000 + 2 * 100));
  // 2 groups of two channels; each fills the unit, so they run one after the other.
  REQUIRE(CoreArrayCost(a, Pointwise(4, 4, 2), four, &cost));
  CHECK(cost.cycles == 2 * 2);
  CHECK(cost.scratchpad_pj == 2 * 8400);
  // In a product of activations each image is a group, so weights are read three times.
  CoreLayer product = Pointwise(2, 2);
  product.activations = true;
  const int32_t three[4] = {3, 1, 2, 2};
  REQUIRE(CoreArrayCost(a, product, three, &cost));
  CHECK(cost.scratchpad_pj == 3 * 8400);
  product.activations = false;
  REQUIRE(CoreArrayCost(a, product, three, &cost));
  CHECK(cost.scratchpad_pj == (12 + 4) * 1000 + 12 * 100);
}

TEST_CASE("core array: what fits no core buffer has no cost, and vectors need none") {
  CoreArray a = OneCore();
  a.weight_bytes = 8;
  CoreLayer window = Pointwise(2, 2);
  window.r = window.s = 3;
  CoreCost cost;
  CHECK_FALSE(CoreArrayCost(a, window, kTwoPixels, &cost));
  a.weight_bytes = 9;
  CHECK(CoreArrayCost(a, window, kTwoPixels, &cost));
  a.input_bytes = 8;
  CHECK_FALSE(CoreArrayCost(a, window, kTwoPixels, &cost));
  window.vector_op = true;
  REQUIRE(CoreArrayCost(a, window, kTwoPixels, &cost));
  CHECK(cost.cycles == 5);  // 4 outputs x 2 operands x 9 positions, 16 per cycle
  CHECK(cost.energy_pj == 72 * 2);
  CHECK(cost.scratchpad_pj == 0);
}

TEST_CASE("core array: from a descriptor, and a tile as a mapping problem") {
  Machine m;
  m.AddLevel(32, 0.125, 0.25);
  m.AddLevel(48, 0.375, 0.625);
  m.AddLevel(8, 0.875, 1.375);
  m.AddLevel(4096, 125, 12.5);
  m.levels[3].bandwidth = Rational{9, 2};
  m.AddLevel(0, 0, 0);
  m.hardware.mac_pj = 19;
  m.hardware.vector_op_pj = 2;
  m.hardware.vector_ops_per_cycle = 16;
  m.hardware.cores = CoreGrid{1, 1, 2, 2, 0, 1, 2, 1.625, 2.125};
  m.Finish();
  const CoreArray a = CoreArrayOf(m.hardware);
  CHECK(a.input_bytes == 16);   // per vector element
  CHECK(a.weight_bytes == 24);  // per vector element
  CHECK(a.output_bytes == 4);   // per lane
  CHECK(a.read_bytes_per_cycle == 4);
  CHECK(a.slice_write_pj == 17);
  CHECK(a.gbuf_write_pj == 100);
  CoreCost cost;
  REQUIRE(CoreTileCost(a, ConvProblem({1, 2, 2, 1, 2, 1, 1, 1, 1}), &cost));
  CHECK(cost.cycles == 2);
  CHECK(cost.energy_pj == 8816);
  // Too many rows for 32 bits are refused, not cut off.
  MappingProblem tall = ConvProblem({1, 2, 2, int64_t{1} << 31, 1, 1, 1, 1, 1});
  CHECK_FALSE(CoreTileCost(a, tall, &cost));
  m.levels[3].bandwidth = Rational{1, 2};
  CHECK(CoreArrayOf(m.hardware).read_bytes_per_cycle == 1);
  m.levels[3].bandwidth = Rational{0, 1};
  CHECK(CoreArrayOf(m.hardware).read_bytes_per_cycle == INT64_MAX / 2);
}

}  // namespace
}  // namespace sluice
