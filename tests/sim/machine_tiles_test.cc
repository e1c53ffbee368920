// SPDX-License-Identifier: Apache-2.0
// What a machine demands of single tiles: granules of its array, whole filters.
#include <doctest/doctest.h>

#include "sim/judge_case.h"
#include "support/random_machine.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

// What the simulator says on a machine whose array has granules k, c and p and such demands.
std::string ErrorOn(const Case& c, const Four& granules, bool crosses_rows = true) {
  MachineSpec machine;
  machine.base = c.hardware;
  machine.array = {granules[0],  granules[1], granules[2],
                   crosses_rows, false,       granules[3]};
  const Bytes graph = c.Graph(), hardware = MachineBytes(machine);
  const Bytes plan = BytesOfPlan(c.stream.Image(), c.places, graph, hardware, c.report);
  sluice_sim::SimulateOptions options = SimulationOf(graph, hardware, plan);
  options.functional = true;
  return sluice_sim::Simulate(options).error;
}

// A sum over 12 channels of [1,12], in parts of 8 and of 4, for 4 outputs.
Case UnevenCase() {
  Case c;
  c.graph.tensors.push_back({{1, 12}, kI8, 1, 0, 0});
  c.graph.tensors.push_back({{4, 12}, kI8, 3, 3, 12});
  c.graph.tensors.push_back(c.graph.Inline({4, 3}, kI32, ChannelParameters(4)));
  c.graph.tensors.push_back({{1, 4}, kI8, 2, 0, 0});
  const std::vector<int32_t> attributes = {0, 0, 0, 0, 0, 0,    0,
                                           0, 0, 0, 0, 0, -100, 100};
  c.graph.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, {1, 1, 1, 12}, kI8),
              PlaceAt(SLUICE_REGION_CONST, 0, {1, 1, 4, 12}, kI8),
              PlaceAt(SLUICE_REGION_CONST, 48, {1, 1, 4, 3}, kI32),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, {1, 1, 1, 4}, kI8)};
  BlockBuilder& b = OneBlock(&c, 176, 96, 12, 4, 0);
  c.stream.AddKernel(SLUICE_OP_FULLY_CONNECTED, 0, attributes);
  const uint32_t parameters = b.Dense(0, kI32, {1, 1, 4, 3}, 64);
  b.Load(b.Dense(2, kI8, {1, 1, 1, 12}, 0), b.Dense(0, kI8, {1, 1, 1, 12}, 0));
  b.Load(b.Dense(1, kI8, {1, 1, 4, 12}, 0), b.Dense(0, kI8, {1, 1, 4, 12}, 16));
  b.Load(b.Dense(1, kI32, {1, 1, 4, 3}, 48), parameters);
  for (uint32_t t = 0; t < 2; ++t) {
    const uint32_t channels = t == 0 ? 8 : 4;
    sluice_tile_t tile = EmptyTile(0, 1);
    tile.input0 = b.Dense(0, kI8, {1, 1, 1, channels}, 8 * t);
    tile.weight = b.Strided(0, kI8, {1, 1, 4, channels}, {48, 48, 12, 1}, 16 + 8 * t);
    tile.parameters = t == 1 ? parameters : SLUICE_NONE;
    tile.accumulator = b.Dense(0, kI32, {1, 1, 1, 4}, 128);
    tile.output = t == 1 ? b.Dense(0, kI8, {1, 1, 1, 4}, 160) : SLUICE_NONE;
    tile.c_begin = static_cast<uint16_t>(8 * t);
    tile.c_end = static_cast<uint16_t>(8 * t + channels);
    b.Compute(tile, {After(kDma, 3)}, t == 0 ? SLUICE_FLAG_FIRST : SLUICE_FLAG_LAST);
  }
  b.Store(b.Dense(0, kI8, {1, 1, 1, 4}, 160), b.Dense(3, kI8, {1, 1, 1, 4}, 0),
          {After(kCompute, 2)});
  return c;
}

TEST_CASE("machine tiles: parts of a sum are granules, but for its end") {
  const std::string wrong = "the array demands multiples of its c";
  CHECK(ErrorOn(AccumulateCase(), {1, 8, 1, 7}) == "");
  CHECK(ErrorOn(AccumulateCase(), {1, 4, 1, 7}) == "");
  CHECK(ErrorOn(AccumulateCase(), {1, 16, 1, 7}) == wrong);
  CHECK(ErrorOn(AccumulateCase(), {1, 3, 1, 7}) == wrong);
  CHECK(ErrorOn(UnevenCase(), {1, 8, 1, 7}) == "");
  CHECK(ErrorOn(UnevenCase(), {1, 4, 1, 7}) == "");
  CHECK(ErrorOn(UnevenCase(), {1, 5, 1, 7}) == wrong);
  CHECK(ErrorOn(UnevenCase(), {5, 8, 1, 7}) == "");
}

// Tiles of two rows of [1,8,4,8].
TEST_CASE("machine tiles: granules of places cross rows, or lie in each row") {
  CHECK(ErrorOn(ConvCase(), {1, 1, 8, 7}) == "");
  CHECK(ErrorOn(ConvCase(), {1, 1, 16, 7}) == "the array demands multiples of its p");
  CHECK(ErrorOn(ConvCase(), {1, 1, 16, 7}, false) == "");
  CHECK(ErrorOn(ConvCase(), {1, 1, 16, 3}) == "");
}

TEST_CASE("machine tiles: a tile has its whole filter") {
  for (const Four& part : {Four{8, 3, 2, 8}, Four{8, 2, 3, 8}}) {
    Case c = ConvCase();
    BlockBuilder& b = c.stream.blocks[0];
    b.tiles[0].weight = b.Dense(0, kI8, part, 0);
    CHECK(Judge(c).error == "extents: weight lacks taps of the filter");
  }
}

}  // namespace
}  // namespace sluice_test
