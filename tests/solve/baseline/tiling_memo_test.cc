// SPDX-License-Identifier: Apache-2.0
// Layers that are equal share one choice of tiling; a layer that differs gets its own.
#include "solve/baseline/tiling_memo.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;

// Additions: 0 and 1 are equal, 2 has other attributes, 3 another shape, 4 is another
// operator, the second operand of 5 is one row that broadcasts.
sluice_test::GraphSpec Layers() {
  sluice_test::GraphSpec spec;
  const auto add = [&](uint16_t op, int32_t rows, int32_t second_rows, int32_t zero) {
    const uint32_t t = static_cast<uint32_t>(spec.tensors.size());
    spec.tensors.push_back({{1, rows, 4, 8}, kI8, 1});
    spec.tensors.push_back({{1, second_rows, 4, 8}, kI8, 1});
    spec.tensors.push_back({{1, rows, 4, 8}, kI8, 2});
    const int32_t half = 1 << 30;
    const std::vector<int32_t> attributes = {zero, 1, half, 0,   1,    half,
                                             0,    2, half, -18, -128, 127};
    spec.layers.push_back({op, {t, t + 1}, {t + 2}, attributes});
  };
  add(SLUICE_OP_ADD, 64, 64, 0);
  add(SLUICE_OP_ADD, 64, 64, 0);
  add(SLUICE_OP_ADD, 64, 64, 3);
  add(SLUICE_OP_ADD, 48, 48, 0);
  add(SLUICE_OP_SUB, 64, 64, 0);
  add(SLUICE_OP_ADD, 64, 1, 0);
  return spec;
}

// Counts how often tiles are priced; tiles are priced only while a tiling is chosen.
struct Memo {
  static bool Cost(void* user, uint32_t, const int32_t*, int32_t, TileCost* cost) {
    ++static_cast<Memo*>(user)->priced;
    *cost = {100, 0};
    return true;
  }
  // True when the layer was priced.
  bool Chooses(uint32_t l, int64_t bytes = 4096) {
    const Layer& layer = n.graph.layers[l];
    TiledLayer tiled = {n.graph, n.hardware, layer, OperandsOf(layer),
                        AccumulatedChannels(n.graph, layer)};
    tiled.coster = coster;
    tiled.index = l;
    priced = 0;
    int64_t smallest = 0;
    status = memo.Choose(tiled, bytes, &scratch, &tiling, &buffers, &smallest);
    return priced != 0;
  }
  sluice_test::Nouns n{Layers()};
  Arena scratch{&n.memory};
  TilingMemo memo{&n.arena};
  TileCoster coster = {this, Cost, false};
  Tiling tiling = {};
  TileBuffers buffers = {};
  Status status = Status::kInternal;
  int priced = 0;
};

TEST_CASE("tiling memo: an equal layer has the tiling of the first") {
  Memo m;
  REQUIRE(m.Chooses(0));
  REQUIRE(m.status == Status::kOk);
  const Tiling first = m.tiling;
  const TileBuffers buffers = m.buffers;
  m.tiling = {};
  m.buffers = {};
  CHECK(!m.Chooses(1));
  CHECK(m.status == Status::kOk);
  for (int a = 0; a < kAxes; ++a) CHECK(m.tiling.chunk[a] == first.chunk[a]);
  CHECK(m.tiling.doubled == first.doubled);
  CHECK(m.buffers.total_bytes == buffers.total_bytes);
  CHECK(first.chunk[1] > 0);
  CHECK(buffers.total_bytes > 0);
}

TEST_CASE("tiling memo: layers that differ in anything are tiled by themselves") {
  Memo m;
  REQUIRE(m.Chooses(0));
  for (uint32_t l = 2; l < 6; ++l) {
    CAPTURE(l);
    CHECK(m.Chooses(l));
    CHECK(m.status == Status::kOk);
    CHECK(!m.Chooses(l));
  }
}

TEST_CASE("tiling memo: costs by layer are of that layer alone") {
  Memo m;
  m.coster.by_layer = true;
  CHECK(m.Chooses(0));
  CHECK(m.Chooses(1));
  CHECK(!m.Chooses(0));
  CHECK(!m.Chooses(1));
}

TEST_CASE("tiling memo: what does not fit is not remembered") {
  Memo m;
  (void)m.Chooses(0, 16);
  CHECK(m.status == Status::kInfeasible);
  CHECK(m.Chooses(0));
  CHECK(m.status == Status::kOk);
}

}  // namespace
}  // namespace sluice
