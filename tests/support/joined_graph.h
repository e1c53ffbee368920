// SPDX-License-Identifier: Apache-2.0
// A small network whose two branches are joined, for tests of plans on one node.
#ifndef SLUICE_TESTS_SUPPORT_JOINED_GRAPH_H_
#define SLUICE_TESTS_SUPPORT_JOINED_GRAPH_H_

#include <vector>

#include "model/lowering.h"
#include "solve/space/problem.h"
#include "solve/space/segment.h"
#include "support/read_graph.h"

namespace sluice_test {

// input 0 -> a 1; a -> b 2; concat {a, b} 3; 3 -> output 4. Maps have eight rows of
// eight columns; a and b have four channels.
inline GraphSpec JoinedGraph() {
  GraphSpec g;
  const auto unary = [&](uint32_t in, int32_t channels, uint8_t kind) {
    g.tensors.push_back({{1, 8, 8, channels}, SLUICE_DTYPE_INT8, kind});
    g.layers.push_back({SLUICE_OP_REQUANTIZE,
                        {in},
                        {static_cast<uint32_t>(g.tensors.size() - 1)},
                        {0, 1 << 30, 1, 0, -128, 127}});
  };
  g.tensors.push_back({{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 1});
  unary(0, 4, 0);
  unary(1, 4, 0);
  g.tensors.push_back({{1, 8, 8, 8}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 2}, {3}, {3}});
  unary(3, 8, 2);
  return g;
}

// in 0 -> a 1 of 16 channels -> b 2 of 4 channels -> c 3, an output; 8 rows of 8 columns.
// Weights, and 12 bytes for each channel: 64 + 192, 64 + 48, 16 + 48.
inline GraphSpec ChainGraph(int32_t images) {
  GraphSpec g;
  const int32_t channels[] = {4, 16, 4, 4};
  for (uint32_t t = 0; t < 4; ++t) {
    const uint8_t kind = t == 0 ? 1 : t == 3 ? 2 : 0;
    g.tensors.push_back({{images, 8, 8, channels[t]}, SLUICE_DTYPE_INT8, kind});
  }
  for (uint32_t t = 1; t < 4; ++t) {
    const uint32_t weights = static_cast<uint32_t>(g.tensors.size());
    const int32_t made = channels[t], read = channels[t - 1];
    g.tensors.push_back({{made, 1, 1, read}, SLUICE_DTYPE_INT8, 3, 3});
    g.tensors.push_back({{made, 3}, SLUICE_DTYPE_INT32, 3, 3});
    g.layers.push_back(
        {SLUICE_OP_CONV, {t - 1, weights, weights + 1}, {t}, {1, 1, 1, 1}});
  }
  return g;
}

// A graph, lowered, as the search sees it. Tiles cost what the peak rates say.
struct SpaceCase {
  explicit SpaceCase(const GraphSpec& graph, int64_t capacity = 1 << 16)
      : nouns(graph) {
    REQUIRE(sluice::Lower(nouns.graph, nouns.hardware, &nouns.arena, &lowering,
                          &nouns.diagnostic) == sluice::Status::kOk);
    REQUIRE(sluice::MakeSpaceProblem(
                {nouns.graph, nouns.hardware, lowering, coster, capacity}, &nouns.arena,
                &problem) == sluice::Status::kOk);
  }
  Nouns nouns;
  sluice::Lowering lowering = {};
  sluice::TileCoster coster;
  sluice::SpaceProblem problem;
};

// Puts the first `n` layers of a case under `loop` (kNone: under none), whole; the last one's
// result leaves the chip.
inline void PutUnder(uint32_t loop, const SpaceCase& c, uint32_t n,
                     sluice::SpaceLayer* layers) {
  for (uint32_t i = 0; i < n; ++i) {
    layers[i].layer = c.problem.layer[i];
    layers[i].loop = loop;
    for (auto& cut : layers[i].cut) cut = {sluice::kNone, 0};
  }
  layers[n - 1].leaves = true;
}

// Puts the three layers of JoinedGraph under loop 0, which cuts the last one into pieces of
// three rows.
inline void CutRows(const SpaceCase& c, sluice::SpaceLayer layers[3]) {
  PutUnder(0, c, 3, layers);
  layers[2].cut[1] = {0, 3};
}

// A SpaceCase with a SegmentMaker.
struct MakerCase : SpaceCase {
  explicit MakerCase(const GraphSpec& graph, int64_t bytes = 1 << 16)
      : SpaceCase(graph, bytes), maker(problem) {
    REQUIRE(maker.Init(&arena) == sluice::Status::kOk);
  }
  sluice::Memory memory{Nouns::Allocator(), 0};
  sluice::Arena arena{&memory};
  sluice::SegmentMaker maker;
};

// Layers in a row, each of which changes the scale of all elements; tensor 0 is the input.
inline GraphSpec RowGraph(uint32_t layers, const std::vector<int32_t>& dims) {
  GraphSpec g;
  for (uint32_t t = 0; t <= layers; ++t) {
    const uint8_t kind = t == 0 ? 1 : t == layers ? 2 : 0;
    g.tensors.push_back({dims, SLUICE_DTYPE_INT8, kind});
    if (t == 0) continue;
    g.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {t - 1}, {t}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return g;
}

// input 0 -> a pointwise convolution of 4 to 16 channels -> 3 -> 4 -> output.
inline GraphSpec PointwiseGraph() {
  GraphSpec g;
  g.tensors = {{{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 1},
               {{16, 1, 1, 4}, SLUICE_DTYPE_INT8, 3, 3},
               {{16, 3}, SLUICE_DTYPE_INT32, 3, 3},
               {{1, 8, 8, 16}, SLUICE_DTYPE_INT8, 0},
               {{1, 8, 8, 16}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 0, 0, 0, 0, 1}},
              {SLUICE_OP_REQUANTIZE, {3}, {4}, {0, 1 << 30, 1, 0, -128, 127}}};
  g.layers[0].attributes.resize(SLUICE_CONV_ATTRIBUTES);
  return g;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_JOINED_GRAPH_H_
