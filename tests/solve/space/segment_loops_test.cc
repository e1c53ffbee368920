// SPDX-License-Identifier: Apache-2.0
// Slices of weights and pieces of what is handed on.
#include <doctest/doctest.h>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE(
    "space segment loops: weights come in slices of channels, again in each "
    "iteration") {
  sluice_test::MakerCase c(sluice_test::PointwiseGraph());
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.Add(1, 4);
  REQUIRE(maker.Make({}, 0, 2, rows));
  const SpaceCost whole = maker.cost();
  CHECK(maker.loops().size() == 1);
  rows.slice = 24;  // of 64 bytes: 6 channels of 4 bytes, 3 slices
  REQUIRE(maker.Make({}, 0, 2, rows));
  const SpaceCost& sliced = maker.cost();
  CHECK(sliced.load == whole.load + 3 * 64);
  CHECK(sliced.transfers == whole.transfers + 3 * 4 - 1);
  CHECK(sliced.cycles >= whole.cycles);
  REQUIRE(maker.loops().size() == 2);
  CHECK(maker.loops()[1].parent == 0);
  CHECK(maker.loops()[1].trips == 3);
  CHECK(maker.layers()[0].sliced);
  CHECK(maker.layers()[0].loop == 1);
  CHECK(maker.layers()[1].loop == 0);
  int slices = 0;
  for (const SpaceImage& image : maker.images()) {
    if (image.root != 1) continue;
    ++slices;
    CHECK(image.loop == 1);
    CHECK(image.slots == 2);
    CHECK(image.bytes >= 6 * 4);
    CHECK(image.bytes < 64);
  }
  CHECK(slices == 1);
}

TEST_CASE(
    "space segment loops: what is handed on comes in pieces, by a loop of its layers") {
  // Two images of 256 bytes -> 1,024 bytes -> 256 bytes -> the output.
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  g.tensors[0].dims = {2, 8, 8, 4};
  g.tensors[3].dims = {2, 8, 8, 16};
  g.tensors[4] = {{2, 8, 8, 4}, SLUICE_DTYPE_INT8, 0};
  g.tensors.push_back({{4, 1, 1, 16}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{4, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{2, 8, 8, 4}, SLUICE_DTYPE_INT8, 2});
  const sluice_test::LayerSpec first = g.layers[0], last = g.layers[1];
  g.layers = {first, first, last};
  g.layers[1].inputs = {3, 5, 6};
  g.layers[1].outputs = {4};
  g.layers[2].inputs = {4};
  g.layers[2].outputs = {7};
  sluice_test::MakerCase c(g);
  SegmentMaker& maker = c.maker;
  LoopChoice images;
  images.Add(0, 2);
  REQUIRE(maker.Make({}, 0, 3, images));
  const SpaceCost whole = maker.cost();
  images.piece = 300;  // of 1,024 bytes: 4 pieces of 2 rows
  REQUIRE(maker.Make({}, 0, 3, images));
  CHECK(maker.cost().load == whole.load);
  CHECK(maker.cost().store == whole.store);
  CHECK(maker.cost().cycles >= whole.cycles);
  CHECK(maker.cost().peak <= whole.peak - 700);
  REQUIRE(maker.loops().size() == 2);
  CHECK(maker.loops()[1].parent == 0);
  CHECK(maker.loops()[1].trips == 4);
  CHECK(maker.layers()[0].loop == 1);
  CHECK(maker.layers()[1].loop == 1);
  CHECK(maker.layers()[1].leaves);
  CHECK(maker.layers()[2].loop == 0);
  for (const SpaceImage& image : maker.images()) {
    CAPTURE(image.root);
    if (image.root == 3) CHECK((image.loop == 1 && image.bytes == 256));
    if (image.root == 4) CHECK((image.loop == 0 && image.bytes == 256));
    // Each piece needs the image's input and weights.
    if (image.root == 0 || image.root == 1) CHECK(image.last >= 1);
  }
}

}  // namespace
}  // namespace sluice
