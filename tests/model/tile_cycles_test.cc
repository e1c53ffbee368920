// SPDX-License-Identifier: Apache-2.0
#include "model/tile_cycles.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

struct Shape {
  int32_t size, c, k, filter, stride;  // rows = columns of the ifmap; no pads
};

GraphSpec ConvGraph(const Shape& v) {
  const int32_t out = (v.size - v.filter) / v.stride + 1;
  GraphSpec g;
  g.tensors.push_back({{1, v.size, v.size, v.c}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{v.k, v.filter, v.filter, v.c}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{v.k, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, out, out, v.k}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back(
      {SLUICE_OP_CONV, {0, 1, 2}, {3}, {v.stride, v.stride, 1, 1, 0, 0, 0, 0, 1}});
  return g;
}

// A convolution, and one tile that computes its whole output.
struct Conv {
  sluice_test::Nouns nouns;
  const Layer& layer;
  TileBoxes boxes;
  int32_t channels;

  explicit Conv(const Shape& shape)
      : nouns(ConvGraph(shape)), layer(nouns.graph.layers[0]), channels(shape.c) {
    boxes = BoxesOf(nouns.graph, layer, WholeBox(nouns.graph.tensors[3]), 0, shape.c);
  }
  int64_t Cycles(const MacArray& array, int64_t macs_per_cycle) {
    nouns.hardware.array = array;
    nouns.hardware.macs_per_cycle = macs_per_cycle;
    return ArrayCycles(nouns.hardware, layer, boxes, channels);
  }
  int64_t Bytes(TileSum sum) {
    return ScratchpadBytes(nouns.graph, layer, 4, boxes, sum);
  }
};

MacArray ArrayOf(uint32_t k, uint32_t c, uint32_t p = 1) {
  MacArray array;
  array.k = k;
  array.c = c;
  array.p = p;
  return array;
}

TEST_CASE("an array of channels loses what its ceilings lose") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const Shape shape = {3 + static_cast<int32_t>(rng.Below(6)),
                         1 + static_cast<int32_t>(rng.Below(40)),
                         1 + static_cast<int32_t>(rng.Below(40)),
                         1 + static_cast<int32_t>(rng.Below(3)), 1};
    Conv conv(shape);
    const int64_t k = 1 + rng.Below(20), c = 1 + rng.Below(20);
    const int64_t out = shape.size - shape.filter + 1;
    const int64_t taps = out * out * shape.filter * shape.filter;
    CHECK(conv.Cycles(ArrayOf(static_cast<uint32_t>(k), static_cast<uint32_t>(c)),
                      k * c) ==
          taps * ((shape.k + k - 1) / k) * ((shape.c + c - 1) / c));
  }
}

TEST_CASE("pixels are taken by granules, of all rows or of each row") {
  Conv conv({7, 16, 16, 1, 1});
  MacArray array = ArrayOf(16, 16, 16);
  CHECK(conv.Cycles(array, 4096) == 4);  // 49 pixels
  array.crosses_rows = false;
  CHECK(conv.Cycles(array, 4096) == 7);
  // A pass of 16 x 16 x 16 MACs on 256 units takes 16 cycles.
  CHECK(conv.Cycles(array, 256) == 7 * 16);
  array.fill_cycles = 3;
  array.drain_cycles = 2;
  CHECK(conv.Cycles(array, 256) == 7 * (16 + 5));
}

TEST_CASE("filter positions may share the places of input channels") {
  Conv conv({5, 3, 8, 3, 1});
  MacArray array = ArrayOf(8, 16);
  CHECK(conv.Cycles(array, 128) == 9 * 9);
  array.packs_filter = true;
  CHECK(conv.Cycles(array, 128) == 9 * 2);  // 27 of 32 places
}

TEST_CASE("a tile's parts never take fewer cycles than the whole") {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    Conv conv({6, 1 + static_cast<int32_t>(rng.Below(30)),
               2 + static_cast<int32_t>(rng.Below(30)), 3, 1});
    MacArray array = ArrayOf(1 + rng.Below(8), 1 + rng.Below(8), 1 + rng.Below(6));
    array.crosses_rows = rng.Below(2) == 0;
    array.packs_filter = rng.Below(2) == 0;
    array.fill_cycles = static_cast<int64_t>(rng.Below(4));
    const int64_t units = int64_t{array.k} * array.c * array.p;
    const int64_t whole = conv.Cycles(array, 1 + units / 2);
    const Box out = conv.boxes.box[kRoleOutput];
    int64_t parts = 0;
    for (int32_t half = 0; half < 2; ++half) {
      Box box = out;
      const int axis = 1 + static_cast<int>(round % 3);
      const int32_t first = box.extent[axis] / 2;
      box.begin[axis] = half == 0 ? 0 : first;
      box.extent[axis] = half == 0 ? first : box.extent[axis] - first;
      const TileBoxes part =
          BoxesOf(conv.nouns.graph, conv.layer, box, 0, conv.channels);
      parts += ArrayCycles(conv.nouns.hardware, conv.layer, part, conv.channels);
    }
    CHECK(parts >= whole);
  }
}

TEST_CASE("what would overflow is longer than any tile may be") {
  Conv conv({64, 64, 64, 3, 1});
  MacArray array = ArrayOf(1 << 20, 1 << 20, 1 << 20);
  array.fill_cycles = 1 << 20;
  CHECK(conv.Cycles(array, 1) == kManyCycles);
}

TEST_CASE("a tile takes the bytes that it touches over the scratchpad's bandwidth") {
  Conv conv({6, 8, 4, 3, 1});
  const int64_t in = 6 * 6 * 8, weight = 4 * 9 * 8, parameters = 4 * 3 * 4;
  const int64_t out = 4 * 4 * 4;
  CHECK(conv.Bytes({8}) == in + weight + parameters + out);
  CHECK(conv.Bytes({8, true, false}) == in + weight + 4 * out);
  CHECK(conv.Bytes({8, false, false}) == in + weight + 8 * out);
  CHECK(conv.Bytes({8, false, true}) == in + weight + parameters + 5 * out);
  Hardware& hardware = conv.nouns.hardware;
  const auto cycles = [&] {
    return TileCycles(hardware, conv.nouns.graph, conv.layer, conv.boxes, {8});
  };
  hardware.macs_per_cycle = int64_t{1} << 30;
  CHECK(cycles() == 1);  // no bandwidth: never limits
  MemoryLevel levels[2] = {hardware.levels[0], hardware.levels[1]};
  levels[0].bandwidth = Rational{3, 2};
  hardware.levels = Span<const MemoryLevel>(levels, 2);
  CHECK(cycles() == (2 * (in + weight + parameters + out) + 2) / 3);
  // Costs from a caller or a mapping never go below the time to move the bytes.
  TileCoster coster;
  coster.cost = [](void*, uint32_t, const int32_t*, int32_t, TileCost* cost) {
    *cost = TileCost{7, 1.5};
    return true;
  };
  CHECK(
      DeclaredCost({coster, hardware, conv.nouns.graph, conv.layer, 0}, conv.boxes, {8})
          .cycles == cycles());
  levels[0].bandwidth = Rational{1 << 20, 1};
  CHECK(
      DeclaredCost({coster, hardware, conv.nouns.graph, conv.layer, 0}, conv.boxes, {8})
          .cycles == 7);
}

TEST_CASE("rows and columns that strides skip are not read") {
  Conv conv({9, 8, 4, 1, 4});
  CHECK(conv.Bytes({8}) == 3 * 3 * 8 + 4 * 8 + 4 * 3 * 4 + 3 * 3 * 4);
}

}  // namespace
}  // namespace sluice
