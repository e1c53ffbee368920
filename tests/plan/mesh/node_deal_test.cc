// SPDX-License-Identifier: Apache-2.0
// How loops are distributed over columns and rows, for a convolution made by hand.
#include "plan/mesh/node_deal.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice {
namespace {

// ifmap [1, 8, 8, 16], filter [32, 3, 3, 16], ofmap [1, 8, 8, 32].
sluice_test::GraphSpec Convolution() {
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 8, 8, 16}, i8, 1});
  g.tensors.push_back({{32, 3, 3, 16}, i8, 3, 3, 7});
  g.tensors.push_back({{32, 3}, i32, 3, 3, 8});
  g.tensors.push_back({{1, 8, 8, 32}, i8, 2});
  g.layers.push_back({SLUICE_OP_CONV,
                      {0, 1, 2},
                      {3},
                      {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, -128, 127}});
  return g;
}

// Loops of a tile: N H W K of the output, then C.
constexpr int kN = 0, kH = 1, kW = 2, kK = 3, kC = 4;

struct Dealt {
  Dealt() : n(Convolution()), layer(n.graph.layers[0]) {}
  NodeDeal Of(const NodeSplit& split) const { return DealOf(n.graph, layer, split); }
  sluice_test::Nouns n;
  const Layer& layer;
};

TEST_CASE("node deal: dims of the nest become loops of the tile") {
  const Dealt d;
  NodeSplit split = WholeOnEach();
  split.factor[kColumns][kDimK] = 4;
  split.factor[kRows][kDimP] = 2;
  split.factor[kRows][kDimC] = 2;
  const NodeDeal deal = d.Of(split);
  CHECK(deal.parts[kColumns][kK] == 4);
  CHECK(deal.parts[kColumns][kH] == 1);
  CHECK(deal.parts[kRows][kH] == 2);
  CHECK(deal.parts[kRows][kC] == 2);
  CHECK(deal.parts[kRows][kK] == 1);
  CHECK(deal.parts[kRows][kN] == 1);
}

TEST_CASE("node deal: taps of the filter are never dealt out") {
  const Dealt d;
  NodeSplit split = WholeOnEach();
  split.factor[kColumns][kDimR] = 3;
  const NodeDeal deal = d.Of(split);
  for (int v = 0; v < kNodeLoops; ++v) CHECK(deal.parts[kColumns][v] == 1);
}

TEST_CASE("node deal: the loop that varies fastest stands first in the order") {
  const Dealt d;
  NodeSplit split = WholeOnEach();
  uint8_t* order = split.order[kColumns];
  for (uint32_t i = 0; i < kDims; ++i) {
    if (order[i] == kDimC) std::swap(order[0], order[i]);
  }
  CHECK(d.Of(split).order[kColumns][0] == kC);
  bool seen[kNodeLoops] = {};
  for (const uint8_t v : d.Of(split).order[kColumns]) seen[v] = true;
  for (const bool s : seen) CHECK(s);
}

TEST_CASE("node deal: sums of one channel, and of grouped layers, stay whole") {
  Dealt d;
  CHECK(CanSplitC(d.layer, 16));
  CHECK(!CanSplitC(d.layer, 1));
  sluice_test::GraphSpec grouped = Convolution();
  grouped.layers[0].attributes[8] = 2;
  grouped.tensors[1].dims[3] = 8;
  const sluice_test::Nouns n(grouped);
  CHECK(!CanSplitC(n.graph.layers[0], 8));
  NodeDeal deal = d.Of(WholeOnEach());
  deal.parts[kRows][kC] = deal.parts[kRows][kW] = 2;
  RestrictDeal(n.graph, n.graph.layers[0], &deal);
  CHECK(deal.parts[kRows][kC] == 1);
  CHECK(deal.parts[kRows][kW] == 2);
}

TEST_CASE("node deal: nodes that read the same words become neighbours") {
  const Dealt d;
  NodeSplit split = WholeOnEach();
  split.factor[kRows][kDimC] = 2;
  split.factor[kRows][kDimP] = 7;
  split.order[kRows][0] = kDimC;
  split.order[kRows][kDimC] = 0;
  SharedRole roles[2] = {};  // weights, then inputs
  roles[0].depends[kC] = roles[0].depends[kK] = true;
  roles[1].depends[kC] = roles[1].depends[kH] = true;
  const auto ordered = [&](double weights, double inputs, double sums) {
    NodeDeal deal = d.Of(split);
    roles[0].bytes = weights;
    roles[1].bytes = inputs;
    OrderDeal(Span<const SharedRole>(roles, 2), sums, &deal);
    int at[kNodeLoops];
    for (int i = 0; i < kNodeLoops; ++i) at[deal.order[kRows][i]] = i;
    return at[kC] < at[kH];
  };
  CHECK(d.Of(split).order[kRows][0] == kC);
  CHECK(!ordered(1000, 0, 0));       // rows of the same channels share weights
  CHECK(!ordered(1000, 8000, 0));    // inputs are each node's own in any order
  CHECK(ordered(0, 8000, 0));        // nothing to gain: as it was
  CHECK(ordered(1000, 0, 1 << 20));  // links of the sum are short
  split.factor[kRows][kDimC] = 1;
  split.factor[kRows][kDimK] = 2;
  NodeDeal deal = d.Of(split);
  roles[0].bytes = 1000;
  roles[1].bytes = 8000;
  OrderDeal(Span<const SharedRole>(roles, 2), 0, &deal);
  int k = 0, h = 0;
  while (deal.order[kRows][k] != kK) ++k;
  while (deal.order[kRows][h] != kH) ++h;
  CHECK(k < h);  // 8 KB of inputs in one piece, weights in seven
}

TEST_CASE("node deal: the one that is chosen uses the region and no more") {
  const Dealt d;
  Arena scratch(const_cast<Memory*>(&d.n.memory));
  const NodeRegion region = {{0, 0}, {2, 2}};
  const NodeDeal deal =
      ChooseDeal(d.n.graph, d.n.hardware, d.layer, region, 1 << 20, &scratch);
  int64_t parts = 1;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t along = 1;
    for (int v = 0; v < kNodeLoops; ++v) along *= deal.parts[axis][v];
    CHECK(along <= 2);
    parts *= along;
  }
  CHECK(parts == 4);  // 147,456 MACs are worth four nodes
  const NodeRegion one = {{0, 0}, {1, 1}};
  const NodeDeal whole =
      ChooseDeal(d.n.graph, d.n.hardware, d.layer, one, 1 << 20, &scratch);
  for (int v = 0; v < kNodeLoops; ++v) CHECK(whole.parts[kColumns][v] == 1);
}

}  // namespace
}  // namespace sluice
