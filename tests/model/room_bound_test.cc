// SPDX-License-Identifier: Apache-2.0
// Loads that must wait for room in the scratchpad, worked out by hand.
#include "model/room_bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/random_graph.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

using sluice_test::kI32;
using sluice_test::kI8;
constexpr int64_t kRoom = 32768, kFirst = 11, kRate = 4;
constexpr int64_t kMany = 1000000;  // cycles of tiles, which pass over no layer

sluice_test::MachineSpec Chip(uint64_t macs) {
  sluice_test::MachineSpec m;
  m.base.scratchpad_bytes = kRoom;
  m.base.macs_per_cycle = macs;
  m.base.vector_ops_per_cycle = 16;
  m.base.dram_numerator = kRate;
  m.base.dma_latency_cycles = 10;
  return m;
}

// A convolution of 8x8 pixels, 16 to 16 channels; the sum of its result over the axes
// `reduced`; a matrix product to 4,096 channels.
GraphSpec Chain(int32_t reduced) {
  GraphSpec g;
  const int32_t pixels = reduced == 0 ? 8 : 1;
  g.tensors = {{{1, 8, 8, 16}, kI8, 1},           {{16, 3, 3, 16}, kI8, 3, 3, 1},
               {{16, 3}, kI32, 3, 3, 2},          {{1, 8, 8, 16}, kI8, 0},
               {{1, pixels, pixels, 16}, kI8, 0}, {{4096, 16}, kI8, 3, 3, 3},
               {{4096, 3}, kI32, 3, 3, 4},        {{1, pixels, pixels, 4096}, kI8, 2}};
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 1, 1, 1, 1}});
  g.layers.push_back({SLUICE_OP_REDUCE, {3}, {4}, {reduced}});
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {4, 5, 6}, {7}, {}});
  return g;
}

// The bound that `cycles` is raised to, where all tiles take `tiles`, as if the first layer
// had them all.
int64_t RoomOf(const GraphSpec& spec, uint64_t macs = 64, int64_t tiles = kMany,
               int64_t cycles = 0) {
  sluice_test::Nouns n(spec);
  const std::vector<uint8_t> machine = sluice_test::MachineBytes(Chip(macs));
  REQUIRE(ReadHardware(machine.data(), machine.size(), &n.arena, &n.hardware,
                       &n.diagnostic) == Status::kOk);
  Needs needs(&n.arena);
  REQUIRE(FindNeeds(n.graph, &n.arena, &needs) == Status::kOk);
  std::vector<sluice_layer_least_t> layers(n.graph.layers.size());
  std::vector<uint8_t> taken(n.graph.tensors.size());
  int64_t bytes = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    const sluice::Traffic moved =
        TrafficOfLayer(n.graph, needs, n.graph.layers[l], {taken.data(), taken.size()});
    layers[l].cycles = 1;
    layers[l].loaded_bytes = static_cast<uint64_t>(moved.read);
    layers[l].stored_bytes = static_cast<uint64_t>(moved.written);
    bytes += moved.read + moved.written;
  }
  layers[0].cycles = static_cast<uint64_t>(tiles);
  const Arena::Mark before = n.arena.mark();
  REQUIRE(BoundByRoom({n.graph,
                       n.hardware,
                       needs,
                       PricedBy::kMachine,
                       n.hardware.scratchpad().capacity_bytes,
                       bytes,
                       kFirst,
                       {layers.data(), layers.size()}},
                      &n.arena, &cycles) == Status::kOk);
  CHECK(n.arena.mark().used == before.used);
  return cycles;
}

constexpr int64_t kMatrix = 4096 * 16 + 4096 * 12;
// Of one channel of the convolution, with 4 MACs per cycle: a tile that begins the matrix
// product's sums needs no more.
constexpr int64_t kConvCycles = 8 * 8 * 16 * 9 / 4;

TEST_CASE("room: behind a sum over all pixels a matrix comes late") {
  CHECK(RoomOf(Chain(6), 4) ==
        kFirst + kConvCycles + 8 * 8 / 16 + (kMatrix + 4096 - kRoom) / kRate);
}

TEST_CASE("room: layers that cannot raise a bound are passed over") {
  const int64_t late = RoomOf(Chain(6), 4), tiles = kConvCycles + 8 * 8 / 16;
  CHECK(RoomOf(Chain(6), 4, tiles) == late);
  CHECK(RoomOf(Chain(6), 4, tiles, late - 1) == late);
  CHECK(RoomOf(Chain(6), 4, tiles, late + 5) == late + 5);
  // All bytes behind the first tile, were there no tiles.
  const int64_t all = 8 * 8 * 16 + 16 * 16 * 9 + 16 * 12 + kMatrix + 4096;
  const int64_t port = kFirst + (all - kRoom) / kRate;
  REQUIRE(port < late);
  CHECK(RoomOf(Chain(6), 4, 0, port) == port);
}

TEST_CASE("room: one pixel needs four of the convolution at a corner") {
  GraphSpec g = Chain(0);
  // Replaces the sum by another convolution of the same shape.
  g.layers[1] = {SLUICE_OP_CONV, {3, 1, 2}, {4}, {1, 1, 1, 1, 1, 1, 1, 1}};
  const int64_t pixel = 16 * 16 * 9 / 4;
  CHECK(RoomOf(g, 4) ==
        kFirst + pixel / 16 + 4 * pixel + (kMatrix + 64 * 4096 - kRoom) / kRate);
}

TEST_CASE("room: all weights of later layers wait for the last pixel") {
  GraphSpec g = Chain(0);
  g.tensors[7].kind = 0;
  g.tensors.push_back({{16, 1, 1, 16}, kI8, 3, 3, 1});
  g.tensors.push_back({{1, 1, 1, 4096}, kI8, 2});
  g.layers[1] = {SLUICE_OP_CONV, {3, 8, 2}, {4}, {1, 1, 1, 1}};
  g.layers.push_back({SLUICE_OP_REDUCE, {7}, {9}, {6}});
  // Behind the last element of the first convolution's result: weights for one of the
  // 16 channels in the second convolution, and the whole matrix.
  const int64_t behind = 16 + 4096 * 16 - kRoom;
  CHECK(RoomOf(g, 4) == kFirst + 8 * 8 * 16 * 16 * 9 / 4 + behind / kRate);
  // Where only every second row and column is read, the others need not be made.
  g.tensors[4].dims = {1, 4, 4, 16};
  g.tensors[7].dims = {1, 4, 4, 4096};
  g.layers[1].attributes = {2, 2, 1, 1};
  CHECK(RoomOf(g, 4) < kFirst + 8 * 8 * 16 * 16 * 9 / 4);
}

TEST_CASE("room: what fits, or waits for nothing, says nothing") {
  GraphSpec g = Chain(6);
  g.tensors[5].dims[0] = g.tensors[6].dims[0] = g.tensors[7].dims[3] = 512;
  CHECK(RoomOf(g) == 0);
  // A join waits for the chain; its readers need not wait, as they may read another
  // part.
  g = Chain(6);
  g.tensors[7].kind = 0;
  g.tensors.push_back({{1, 1, 1, 4096}, kI8, 1});
  g.tensors.push_back({{1, 1, 1, 8192}, kI8, 0});
  g.tensors.push_back({{1, 1, 1, 8192}, kI8, 2});
  g.layers.push_back({SLUICE_OP_CONCAT, {7, 8}, {9}, {3}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {9}, {10}, {}});
  CHECK(RoomOf(g, 4) == kFirst + kConvCycles + 8 * 8 / 16 + (kMatrix - kRoom) / kRate);
}

}  // namespace
}  // namespace sluice
