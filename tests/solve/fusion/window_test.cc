// SPDX-License-Identifier: Apache-2.0
// A stretch of the small network as a problem of its own, by hand.
#include "solve/fusion/window.h"

#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

struct Windowed {
  Windowed(const Small& small, const std::vector<uint8_t>& cuts, uint32_t first,
           uint32_t last)
      : s(small.problem, small.model) {
    for (uint32_t i = 0; i < cuts.size(); ++i) SetCut(&s.scheme.draft, i, Cut{cuts[i]});
    REQUIRE(index.Init(&s.arena, small.problem) == Status::kOk);
    for (uint32_t i = 0; i < cuts.size(); ++i) index.position[i] = i;
    REQUIRE(OpenWindow({small.problem, &s.memo, s.scheme.notation(), first, last},
                       &index, &s.arena, &window) == Status::kOk);
  }
  Searched s;
  WindowIndex index;
  SchemeWindow window;
};

TEST_CASE(
    "window: layers are numbered by their order, sources made before are external") {
  const Small small;
  // DRAM groups {0, 1} and {2, 3, 4}; the window is the second group.
  const Windowed w(small, {kCutDram, kCutFine, kCutDram, kCutFine, kCutFine}, 2, 5);
  CHECK(std::vector<uint32_t>(w.window.layer.begin(), w.window.layer.end()) ==
        std::vector<uint32_t>{2, 3, 4});
  const FusionProblem& p = w.window.problem;
  REQUIRE(p.layers.size() == 3);
  // Layer 2 reads 0; 3 reads 1 and 2; 4 reads 3 and 1. The results of 0 and 1 are in DRAM.
  REQUIRE(p.externals.size() == 2);
  CHECK(p.inputs[0].source == 3);
  CHECK(p.inputs[1].source == 4);
  CHECK(p.inputs[2].source == 0);
  CHECK(p.inputs[3].source == 1);
  CHECK(p.inputs[4].source == 4);
  CHECK(!p.externals[0].resident);
  CHECK(!p.externals[1].resident);
  CHECK(p.externals[0].extent[1] == 16);
  CHECK(p.externals[1].extent[1] == 8);
  CHECK(p.buffer_bytes == small.problem.buffer_bytes);
}

TEST_CASE(
    "window: in one DRAM group earlier tensors are there, and later ones are kept") {
  const Small small;
  // One DRAM group; the window is layers 1 and 2.
  const Windowed w(small, {kCutDram, kCutFine, kCutFine, kCutFine, kCutFine}, 1, 3);
  const FusionProblem& p = w.window.problem;
  REQUIRE(p.layers.size() == 2);
  REQUIRE(p.externals.size() == 1);  // the result of layer 0, which both layers read
  CHECK(p.externals[0].resident);
  CHECK(!p.externals[0].kept);  // nobody reads it later
  CHECK(p.layers[0].kept);      // 3 and 4 read it on chip
  CHECK(p.layers[1].kept);
  CHECK(!p.layers[0].output);
  CHECK(w.window.notation.cut[0] == kCutDram);
}

TEST_CASE("window: what only passes by takes bytes, what goes to DRAM is stored") {
  const Small small;
  // The result of layer 1 stays on chip while layer 2 runs: 2 x 8 x 6 x 16 bytes.
  const Windowed by(small, {kCutDram, kCutFine, kCutFine, kCutFine, kCutFine}, 2, 3);
  CHECK(by.window.problem.buffer_bytes == small.problem.buffer_bytes - 2 * 8 * 6 * 16);
  // A DRAM cut behind layer 2: layer 3 loads the result of layer 2 from DRAM.
  const Windowed stored(small, {kCutDram, kCutFine, kCutFine, kCutDram, kCutFine}, 2,
                        3);
  CHECK(stored.window.problem.layers[0].output);
  CHECK(!stored.window.problem.layers[0].kept);
}

TEST_CASE("window: its model asks the whole problem's about its own layers") {
  const Small small;
  Windowed w(small, {kCutDram, kCutFine, kCutFine, kCutFine, kCutFine}, 1, 3);
  const TileModel model = WindowModel(&w.window);
  CutBox box = {{0, 0, 0, 0}, {2, 4, 6, 16}}, need = {};
  model.need(model.user, 0, 0, box, &need);  // layer 1: 3x3 with stride 2 and padding 1
  CHECK(need.begin[1] == 0);
  CHECK(need.end[1] == 8);
  const int32_t extent[4] = {2, 4, 6, 16};
  TileCost cost = {};
  REQUIRE(model.cost(model.user, 1, extent, &cost));
  CHECK(cost.cycles == 2 * 4 * 6 * 16);
}

}  // namespace
}  // namespace sluice
