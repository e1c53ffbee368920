// SPDX-License-Identifier: Apache-2.0
// What small graphs must move and compute, counted by hand.
#include "model/needs.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

using sluice_test::kI8;
constexpr uint8_t kMade = 0, kIn = 1, kOut = 2, kState = 4;

struct Needed {
  explicit Needed(const GraphSpec& spec) : n(spec), needs(&n.arena) {
    REQUIRE(FindNeeds(n.graph, &n.arena, &needs) == Status::kOk);
    Span<uint8_t> taken;
    REQUIRE(n.arena.Allocate(n.graph.tensors.size(), &taken) == Status::kOk);
    for (const Layer& layer : n.graph.layers) {
      const Traffic one = TrafficOfLayer(n.graph, needs, layer, taken);
      traffic.read += one.read;
      traffic.written += one.written;
      traffic.constants += one.constants;
      traffic.loads += one.loads;
    }
    bytes = traffic.read + traffic.written;
  }
  Parts PartsOf(uint32_t t) const { return PartsOnChip(n.graph, needs, t); }
  int64_t ElementsOf(uint32_t t) const { return PartsOf(t).elements(); }
  sluice_test::Nouns n;
  Needs needs;
  Traffic traffic = {0, 0, 0, 0};
  int64_t bytes = 0;
};

bool Is(const Progression& p, int32_t first, int32_t step, int32_t count) {
  return p.first == first && p.step == step && p.count == count;
}

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
  CHECK(n.traffic.written == 72);
  CHECK(n.ElementsOf(1) == 128);
}

TEST_CASE("needs: of rows between windows nothing is counted, nor in front of them") {
  const Needed n(Windows(1, 2, 2));
  CHECK(n.bytes == 4 * 8 + 64 + 96 + 32);
  const Parts parts = n.PartsOf(0);
  REQUIRE(parts.count == 1);
  CHECK(Is(parts.lattice[0].axis[1], 0, 2, 2));
  CHECK(Is(parts.lattice[0].axis[3], 0, 1, 8));
  // Windows end before the last row and column, which are not needed; all rows under
  // windows are.
  const Needed end(Windows(3, 2, 1));
  REQUIRE(end.PartsOf(0).count == 1);
  CHECK(Is(end.PartsOf(0).lattice[0].axis[2], 0, 1, 3));
  CHECK(end.ElementsOf(0) == 9 * 8);
}

TEST_CASE("needs: a slice needs its own positions, further along, of any axis") {
  GraphSpec g;
  Add(&g, {1, 1, 8, 4}, kIn);
  Add(&g, {1, 1, 4, 3}, kMade);
  Add(&g, {1, 1, 4, 3}, kOut);
  g.layers.push_back({SLUICE_OP_SLICE, {0}, {1}, {0, 0, 2, 1}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {1}, {2}, {}});
  const Needed n(g);
  const Parts parts = n.PartsOf(0);
  REQUIRE(parts.count == 1);
  CHECK(Is(parts.lattice[0].axis[2], 2, 1, 4));
  CHECK(Is(parts.lattice[0].axis[3], 1, 1, 3));
  CHECK(n.bytes == 12 + 12);
}

// A slice of [1,1,1,12] for each given (begin, count) of channels, each an output.
GraphSpec Slices(const std::vector<std::pair<int32_t, int32_t>>& at) {
  GraphSpec g;
  Add(&g, {1, 1, 1, 12}, kIn);
  for (const auto& [begin, count] : at) {
    const uint32_t t = static_cast<uint32_t>(g.tensors.size());
    Add(&g, {1, 1, 1, count}, kOut);
    g.layers.push_back({SLUICE_OP_SLICE, {0}, {t}, {0, 0, 0, begin}});
  }
  return g;
}

TEST_CASE("needs: parts that lie side by side are one, others stay apart") {
  CHECK(Needed(Slices({{0, 4}, {8, 4}, {4, 4}})).PartsOf(0).count == 1);
  CHECK(Needed(Slices({{0, 4}, {8, 4}, {4, 4}})).ElementsOf(0) == 12);
  CHECK(Needed(Slices({{0, 4}, {8, 4}})).PartsOf(0).count == 2);
  CHECK(Needed(Slices({{0, 4}, {8, 4}})).ElementsOf(0) == 8);
  CHECK(Needed(Slices({{0, 6}, {2, 8}})).ElementsOf(0) == 10);
  CHECK(Needed(Slices({{2, 2}, {0, 8}})).ElementsOf(0) == 8);
  // Of more than four parts only the four largest are counted.
  CHECK(Needed(Slices({{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 4}})).ElementsOf(0) == 7);
}

// What an output of the graph needs of the input, through one layer.
Parts NeedsOf(const std::vector<int32_t>& in, const std::vector<int32_t>& out,
              uint16_t op, const std::vector<int32_t>& attributes) {
  GraphSpec g;
  Add(&g, in, kIn);
  Add(&g, out, kOut);
  g.layers.push_back({op, {0}, {1}, attributes});
  const Needed n(g);
  return n.PartsOf(0);
}

TEST_CASE("needs: through transposes, pads, resizes and reductions") {
  CHECK(NeedsOf({1, 2, 3, 4}, {1, 4, 2, 3}, SLUICE_OP_TRANSPOSE, {0, 3, 1, 2})
            .elements() == 24);
  CHECK(NeedsOf({1, 2, 3, 4}, {1, 4, 5, 4}, SLUICE_OP_PAD, {0, 1, 1, 0}).elements() ==
        24);
  CHECK(NeedsOf({1, 3, 3, 2}, {1, 6, 6, 2}, SLUICE_OP_RESIZE_NEAREST, {}).elements() ==
        18);
  // Each output reads two rows; only those of the first output are certain.
  CHECK(NeedsOf({1, 9, 1, 2}, {1, 3, 1, 2}, SLUICE_OP_RESIZE_BILINEAR, {}).elements() ==
        4);
  CHECK(NeedsOf({1, 5, 5, 2}, {1, 1, 1, 2}, SLUICE_OP_REDUCE, {6}).elements() == 50);
}

// What a slice of channels needs, behind a reshape of [2,6,8] to `shape`.
Parts Behind(const std::vector<int32_t>& shape, const std::vector<int32_t>& begin,
             const std::vector<int32_t>& slice) {
  GraphSpec g;
  Add(&g, {1, 2, 6, 8}, kIn);
  Add(&g, shape, kMade);
  Add(&g, slice, kOut);
  g.layers.push_back({SLUICE_OP_RESHAPE, {0}, {1}, {}});
  g.layers.push_back({SLUICE_OP_SLICE, {1}, {2}, begin});
  return Needed(g).PartsOf(0);
}

TEST_CASE("needs: a reshape keeps what is certain of a part") {
  CHECK(Behind({1, 1, 12, 8}, {0, 0, 0, 0}, {1, 1, 12, 8}).elements() == 96);
  // The second of two heads in each row.
  const Parts head = Behind({2, 6, 2, 4}, {0, 0, 1, 0}, {2, 6, 1, 4});
  REQUIRE(head.count == 1);
  CHECK(Is(head.lattice[0].axis[3], 4, 1, 4));
  CHECK(head.elements() == 2 * 6 * 4);
  // Rows 3 to 8 of 12 are three rows of the first image and three of the second.
  const Parts rows = Behind({1, 1, 12, 8}, {0, 0, 3, 0}, {1, 1, 6, 8});
  CHECK(rows.elements() == 3 * 8);
  CHECK(Behind({1, 1, 1, 96}, {0, 0, 0, 48}, {1, 1, 1, 48}).elements() == 48);
}

TEST_CASE("needs: a transposed convolution needs the inputs that reach its output") {
  GraphSpec g;
  Add(&g, {1, 4, 4, 8}, kIn);
  Add(&g, {1, 8, 8, 8}, kOut);
  g.tensors.push_back({{8, 2, 2, 8}, kI8, 3, 3, 1});
  g.tensors.push_back({{8, 3}, SLUICE_DTYPE_INT32, 3, 3, 2});
  g.layers.push_back({SLUICE_OP_TRANSPOSED_CONV, {0, 2, 3}, {1}, {2, 2}});
  CHECK(Needed(g).bytes == 128 + 256 + 96 + 512);
}

TEST_CASE("needs: rows that a gather takes are loaded, whatever the table is") {
  GraphSpec g;
  g.tensors.push_back({{100, 8}, kI8, 3, 3, 1});
  g.tensors.push_back({{5}, SLUICE_DTYPE_INT32, kIn, 0, 0});
  Add(&g, {5, 8}, kOut);
  g.layers.push_back({SLUICE_OP_GATHER, {0, 1}, {2}, {}});
  const Needed n(g);
  CHECK(n.traffic.read == 5 * 4 + 5 * 8);
  CHECK(n.traffic.written == 40);
}

TEST_CASE("needs: what only the host touches is never moved") {
  GraphSpec g;
  Add(&g, {1, 1, 1, 8}, kIn);
  Add(&g, {1, 1, 1, 16}, kOut);
  g.layers.push_back({SLUICE_OP_OPAQUE, {0}, {1}, {100}});
  CHECK(Needed(g).bytes == 0);
  g.tensors[1].kind = kMade;
  Add(&g, {1, 1, 1, 16}, kOut);
  // What the host makes is loaded, and the result is stored.
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {1}, {2}, {}});
  CHECK(Needed(g).bytes == 32);
  // An input of the host that tiles compute has to be stored.
  Add(&g, {1, 1, 1, 16}, kOut);
  g.tensors[2].kind = kMade;
  g.layers.push_back({SLUICE_OP_OPAQUE, {2}, {3}, {100}});
  CHECK(Needed(g).traffic.written == 16);
  // A reshape of it as an output may be the place where it is stored.
  Add(&g, {1, 1, 16, 1}, kOut);
  g.layers.push_back({SLUICE_OP_RESHAPE, {2}, {4}, {}});
  CHECK(Needed(g).traffic.written == 16);
}

TEST_CASE("needs: what nobody reads is no work") {
  GraphSpec g;
  Add(&g, {1, 1, 1, 8}, kIn);
  Add(&g, {1, 1, 1, 8}, kMade);
  Add(&g, {1, 1, 1, 8}, kOut);
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {2}, {}});
  CHECK(Needed(g).ElementsOf(1) == 0);
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
