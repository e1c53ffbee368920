// SPDX-License-Identifier: Apache-2.0
// Loops inside of a segment's: slices of weights, pieces of intermediate tensors, and parts of
// a sum.
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

// Two images of 256 bytes -> 1,024 bytes -> 256 bytes -> the output, by `last`.
sluice_test::GraphSpec HandsOnImages(const sluice_test::LayerSpec& last,
                                     const std::vector<int32_t>& dims) {
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  g.tensors[0].dims = {2, 8, 8, 4};
  g.tensors[3].dims = {2, 8, 8, 16};
  g.tensors[4] = {{2, 8, 8, 4}, SLUICE_DTYPE_INT8, 0};
  g.tensors.push_back({{4, 1, 1, 16}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{4, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({dims, SLUICE_DTYPE_INT8, 2});
  const sluice_test::LayerSpec first = g.layers[0];
  g.layers = {first, first, last};
  g.layers[1].inputs = {3, 5, 6};
  g.layers[1].outputs = {4};
  g.layers[2].inputs = {4};
  g.layers[2].outputs = {7};
  return g;
}

TEST_CASE(
    "space segment loops: what is handed on comes in pieces, by a loop of its layers") {
  sluice_test::MakerCase c(
      HandsOnImages(sluice_test::PointwiseGraph().layers[1], {2, 8, 8, 4}));
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

// The transpose makes rows of images: its first iteration reads both of them, when the loop
// over pieces has made the first one alone.
TEST_CASE(
    "space segment loops: pieces of one image are not read as those of all images") {
  const sluice_test::LayerSpec images_last = {
      SLUICE_OP_TRANSPOSE, {}, {}, {3, 1, 2, 0}};
  sluice_test::MakerCase c(HandsOnImages(images_last, {4, 8, 8, 2}));
  LoopChoice halves;
  halves.Add(0, 2);
  CHECK(c.maker.Make({}, 0, 3, halves));
  halves.piece = 300;
  CHECK_FALSE(c.maker.Make({}, 0, 3, halves));
}

// input 0 -> 16 channels 3 -> 4 -> a second convolution to 4 channels 5 -> output 6.
sluice_test::GraphSpec TwoConvolutions() {
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  g.tensors[4].kind = 0;
  g.tensors.push_back({{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 0});
  g.tensors.push_back({{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 2});
  g.tensors.push_back({{4, 1, 1, 16}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{4, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.layers.push_back(g.layers[0]);
  g.layers[2].inputs = {4, 7, 8};
  g.layers[2].outputs = {5};
  g.layers.push_back(g.layers[1]);
  g.layers[3].inputs = {5};
  g.layers[3].outputs = {6};
  return g;
}

TEST_CASE(
    "space segment loops: a sum is added up in parts of what layers before make") {
  sluice_test::MakerCase c(TwoConvolutions(), 1120);
  SegmentMaker& maker = c.maker;
  REQUIRE(SummedOf(c.problem, 0, 4) == 2);
  CHECK(SummedOf(c.problem, 0, 2) == 0);
  CHECK(PartsOfSum(c.problem, 2, 4) == 4);
  CHECK(PartsOfSum(c.problem, 2, 5) == 4);  // of 16 channels: steps of 4
  LoopChoice rows;
  rows.Add(1, 2);
  CHECK(!maker.Make({}, 0, 4, rows));
  LoopChoice parts = rows;
  parts.Add(kSumCut, 4);
  REQUIRE(maker.Make({}, 0, 4, parts));
  // For each half of the rows all weights, a quarter at a time, and the parameters of the
  // first layer are loaded again; the input and the parameters of the last layer are loaded
  // once.
  CHECK(maker.cost().load == 256 + 2 * (64 + 64 + 16 * 3 * 4) + 4 * 3 * 4);
  CHECK(maker.cost().store == 256);
  REQUIRE(maker.loops().size() == 2);
  CHECK(maker.loops()[1].parent == 0);
  CHECK(maker.loops()[1].trips == 4);
  CHECK(maker.layers()[2].summed);
  for (int p = 0; p < 3; ++p) CHECK(maker.layers()[p].loop == 1);
  CHECK(maker.layers()[3].loop == 0);  // runs after the sum is complete
  int sums = 0;
  for (const SpaceImage& image : maker.images()) {
    CAPTURE(image.root);
    if (image.sum) {
      ++sums;
      CHECK(image.root == 5);
      CHECK(image.loop == 0);
      CHECK((image.first == 0 && image.last == 2));
      CHECK(image.bytes >= 32 * 4 * 4);  // half of the rows, four channels
      continue;
    }
    // Intermediate tensors and weights have frames of one part; input, output and the
    // result of the sum have frames of half the rows.
    if (image.root == 3 || image.root == 4) {
      CHECK((image.loop == 1 && image.bytes == 32 * 4 && image.slots == 1));
    }
    if (image.root == 1 || image.root == 7) CHECK(image.loop == 1);
    if (image.root == 0 || image.root == 5 || image.root == 6) CHECK(image.loop == 0);
  }
  CHECK(sums == 1);
}

TEST_CASE("space segment loops: where there is room, a sum's weights are loaded once") {
  sluice_test::MakerCase c(TwoConvolutions());
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.Add(1, 2);
  REQUIRE(maker.Make({}, 0, 4, rows));
  const SpaceCost whole = maker.cost();
  rows.Add(kSumCut, 4);
  REQUIRE(maker.Make({}, 0, 4, rows));
  CHECK(maker.cost().load == whole.load);
  CHECK(maker.cost().store == whole.store);
  CHECK(maker.cost().cycles >= whole.cycles);
  CHECK(maker.cost().peak < whole.peak + 32 * 4 * 4 + 64);  // the sum
  for (const SpaceImage& image : maker.images()) {
    if (image.root == 1 || image.root == 7) CHECK(image.loop == kNone);
  }
}

TEST_CASE("space segment loops: what other layers read is not made in parts of a sum") {
  sluice_test::GraphSpec g = TwoConvolutions();
  g.tensors.push_back({{1, 8, 8, 16}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back(g.layers[1]);
  g.layers[4].inputs = {4};
  g.layers[4].outputs = {9};
  sluice_test::MakerCase c(g);
  LoopChoice parts;
  parts.Add(1, 2);
  parts.Add(kSumCut, 4);
  CHECK(!c.maker.Make({}, 0, 5, parts));
  // A layer whose result is read behind the segment runs before the loop over parts.
  REQUIRE(c.maker.Make({}, 0, 4, parts));
  CHECK((c.maker.layers()[1].loop == 0 && c.maker.layers()[2].loop == 1));
  CHECK(c.maker.Make({}, 2, 3, parts));
  // A number of parts that whole steps of the sum cannot give is refused, and so are parts
  // of layers under no loop.
  parts.trips[1] = 5;
  CHECK(!c.maker.Make({}, 2, 3, parts));
  LoopChoice alone;
  alone.Add(kSumCut, 4);
  CHECK(!c.maker.Make({}, 2, 4, alone));
}

}  // namespace
}  // namespace sluice
