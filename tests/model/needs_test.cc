// SPDX-License-Identifier: Apache-2.0
// What small graphs must move and compute, counted by hand.
#include "model/needs.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

constexpr uint8_t kI8 = SLUICE_DTYPE_INT8;
constexpr uint8_t kMade = 0, kIn = 1, kOut = 2, kState = 4;

struct Needed {
  explicit Needed(const GraphSpec& spec) : n(spec) {
    REQUIRE(FindNeeds(n.graph, &n.arena, &needs) == Status::kOk);
    bytes = CompulsoryBytes(n.graph, needs);
    CompulsoryWork(n.graph, needs, &macs, &vector_ops);
  }
  sluice_test::Nouns n;
  Needs needs;
  int64_t bytes = 0, macs = 0, vector_ops = 0;
};

void Add(GraphSpec* g, const std::vector<int32_t>& dims, uint8_t kind) {
  g->tensors.push_back({dims, kI8, kind, 0, 0});
}

// REQUANTIZE of [1,4,4,8], then a convolution of its result to 8 channels.
GraphSpec Windows(int32_t filter, int32_t stride, int32_t rows) {
  GraphSpec g;
  Add(&g, {1, 4, 4, 8}, kIn);
  Add(&g, {1, 4, 4, 8}, kMade);
  Add(&g, {1, rows, rows, 8}, kOut);
  g.tensors.push_back({{8, filter, filter, 8}, kI8, 3, 3, 1});
  g.tensors.push_back({{8, 3}, SLUICE_DTYPE_INT32, 3, 3, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  g.layers.push_back({SLUICE_OP_CONV, {1, 3, 4}, {2}, {stride, stride}});
  return g;
}

TEST_CASE("needs: windows that cover the input need all of it") {
  const Needed n(Windows(2, 1, 3));
  CHECK(n.bytes == 128 + 8 * 4 * 8 + 96 + 72);
  CHECK(n.macs == 72 * 4 * 8);
  CHECK(n.vector_ops == 128);
}

TEST_CASE("needs: of rows between windows nothing is counted, nor in front of them") {
  const Needed n(Windows(1, 2, 2));
  CHECK(n.bytes == 64 + 96 + 32);
  CHECK(n.macs == 32 * 8);
  CHECK(n.vector_ops == 128 / 4);  // each second row and column
  CHECK(n.needs.flags[0] == 0);
  const NeededPositions& part = n.needs.part[0];
  CHECK(part.total() == 4);
  CHECK(part.first[1] == 0);
  CHECK(part.step[1] == 2);
  CHECK(part.count[1] == 2);
  // Windows that end before the last row: the rows under them, each of them.
  const Needed end(Windows(3, 2, 1));
  CHECK(end.needs.part[0].total() == 9);
  CHECK(end.needs.part[0].step[2] == 1);
  CHECK(end.vector_ops == 9 * 8);
}

TEST_CASE("needs: a slice needs its own positions, further along") {
  GraphSpec g;
  Add(&g, {1, 1, 8, 4}, kIn);
  Add(&g, {1, 1, 4, 4}, kMade);
  Add(&g, {1, 1, 4, 4}, kOut);
  g.layers.push_back({SLUICE_OP_SLICE, {0}, {1}, {0, 0, 2, 0}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {1}, {2}, {}});
  const Needed n(g);
  CHECK(n.needs.part[0].first[2] == 2);
  CHECK(n.needs.part[0].count[2] == 4);
  CHECK(n.bytes == 16);
  CHECK(n.vector_ops == 16);
  // Of fewer channels nothing is known.
  g.tensors[0].dims = {1, 1, 8, 5};
  CHECK(Needed(g).needs.part[0].total() == 0);
}

TEST_CASE("needs: what only the host touches is never moved") {
  GraphSpec g;
  Add(&g, {1, 1, 1, 8}, kIn);
  Add(&g, {1, 1, 1, 16}, kOut);
  g.layers.push_back({SLUICE_OP_OPAQUE, {0}, {1}, {100}});
  CHECK(Needed(g).bytes == 0);
  g.tensors[1].kind = kMade;
  Add(&g, {1, 1, 1, 16}, kOut);
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {1}, {2}, {}});
  CHECK(Needed(g).bytes == 16);
}

TEST_CASE("needs: what nobody reads is no work") {
  GraphSpec g;
  Add(&g, {1, 1, 1, 8}, kIn);
  Add(&g, {1, 1, 1, 8}, kMade);
  Add(&g, {1, 1, 1, 8}, kOut);
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {2}, {}});
  CHECK(Needed(g).vector_ops == 8);
  CHECK(Needed(g).bytes == 16);
}

TEST_CASE("needs: a state is loaded where it is read, else its new rows are stored") {
  GraphSpec g;
  Add(&g, {1, 1, 8, 4}, kState);
  Add(&g, {1, 1, 1, 4}, kIn);
  Add(&g, {1, 1, 8, 4}, kOut);
  g.parameters = {{0, 7}};
  g.layers.push_back({SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {2, 0}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {2}, {}});
  CHECK(Needed(g).bytes == 32 + 4 + 32);
  g.layers[1].inputs[0] = 1;
  g.tensors[2].dims = {1, 1, 1, 4};
  CHECK(Needed(g).bytes == 4 + 4 + 4);
}

}  // namespace
}  // namespace sluice
