// SPDX-License-Identifier: Apache-2.0
#include "model/roots.h"

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>

#include "support/joined_graph.h"
#include "support/random_graph.h"

namespace sluice {
namespace {

TEST_CASE("roots: boxes of a concat's inputs are boxes of its output, and back") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  CHECK(RootOf(c.lowering, 1) == 3);
  CHECK(RootOf(c.lowering, 4) == 4);
  CHECK(FindRootAxes(c.problem.map, 2).nested);
  const Box rows = {{0, 2, 0, 1}, {1, 3, 8, 2}};
  const Box in_root = BoxInRoot(c.problem.map, 2, rows);
  CHECK(in_root == Box{{0, 2, 0, 5}, {1, 3, 8, 2}});
  Box back = {};
  CHECK(BoxInTensor(c.problem.map, 2, in_root, &back));
  CHECK(back == rows);
  CHECK_FALSE(BoxInTensor(c.problem.map, 1, in_root, &back));
  CHECK(OffsetInRoot(c.lowering, 2, rows) == 2 * 64 + 5);
}

// JoinedGraph's output reshaped to each of `shapes`, and a layer that reads each view.
sluice_test::GraphSpec Reshaped(std::initializer_list<std::array<int32_t, 4>> shapes) {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  g.tensors[4].kind = 0;
  for (const std::array<int32_t, 4>& s : shapes) {
    const uint32_t view = static_cast<uint32_t>(g.tensors.size());
    g.tensors.push_back({{s[0], s[1], s[2], s[3]}, SLUICE_DTYPE_INT8, 0});
    g.layers.push_back({SLUICE_OP_RESHAPE, {4}, {view}, {}});
    g.tensors.push_back({{s[0], s[1], s[2], s[3]}, SLUICE_DTYPE_INT8, 2});
    g.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {view}, {view + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return g;
}

TEST_CASE(
    "roots: rows and columns that a view takes for one axis are one of the root") {
  const sluice_test::SpaceCase c(Reshaped({{1, 1, 64, 8}}));
  REQUIRE(RootOf(c.lowering, 5) == 4);
  CHECK(c.problem.map.WholeOf(4) == Box{{0, 0, 0, 0}, {1, 1, 64, 8}});
  CHECK(c.problem.map.shape[4].row[2] == 8);
  // Pixels 13 to 28 of the view; then rows 2 and 3 by the root's own axes.
  const Box pixels = {{0, 0, 13, 0}, {1, 1, 16, 8}};
  CHECK(BoxInRoot(c.problem.map, 5, pixels) == pixels);
  CHECK(BoxInRoot(c.problem.map, 4, Box{{0, 2, 0, 0}, {1, 2, 8, 8}}) ==
        Box{{0, 0, 16, 0}, {1, 1, 16, 8}});
  // The pixels lie in rows 1 to 3, so the box is these rows.
  Box back = {};
  CHECK(BoxInTensor(c.problem.map, 4, pixels, &back));
  CHECK(back == Box{{0, 1, 0, 0}, {1, 3, 8, 8}});
  CHECK(OffsetOfBox(c.problem.map, 4, pixels) == 13 * 8);
  CHECK(IsContiguous(c.problem.map, 4, pixels));
  CHECK_FALSE(IsContiguous(c.problem.map, 4, Box{{0, 0, 13, 0}, {1, 1, 16, 4}}));
}

TEST_CASE("roots: a view of a part of the channels may shape the root too") {
  // 64 pixels of 4 channels, made as one axis, reshaped, behind 8 other channels.
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 64, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 64, 4}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {0, 1 << 30, 1, 0, -128, 127}});
  g.tensors.push_back({{1, 8, 8, 4}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  g.tensors.push_back({{1, 8, 8, 8}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 8, 8, 12}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_CONCAT, {3, 2}, {4}, {3}});
  const sluice_test::SpaceCase c(g);
  const RootMap& map = c.problem.map;
  REQUIRE(RootOf(c.lowering, 1) == 4);
  CHECK(map.WholeOf(4) == Box{{0, 0, 0, 0}, {1, 1, 64, 12}});
  CHECK(map.shape[4].row[2] == 8);
  CHECK(FindRootAxes(map, 1).nested);
  CHECK(FindRootAxes(map, 2).nested);
  const Box pixels = {{0, 0, 13, 1}, {1, 1, 16, 2}};
  CHECK(BoxInRoot(map, 1, pixels) == Box{{0, 0, 13, 9}, {1, 1, 16, 2}});
  CHECK(BoxInRoot(map, 2, Box{{0, 2, 0, 0}, {1, 1, 8, 4}}) ==
        Box{{0, 0, 16, 8}, {1, 1, 8, 4}});
}

TEST_CASE("roots: pieces of rows are whole rows, or equal parts of one") {
  const sluice_test::SpaceCase c(Reshaped({{1, 1, 64, 8}}));
  const RootAxes axes = FindRootAxes(c.problem.map, 5);
  const int32_t step[] = {1, 2, 3, 5, 8, 9, 33};
  const int32_t fits[] = {1, 2, 4, 8, 8, 16, 40};
  for (int i = 0; i < 7; ++i)
    CHECK(StepOfRows(c.problem.map, axes, 2, step[i]) == fits[i]);
  // Axes that hold no rows, and the root's own rows, are not rounded.
  CHECK(StepOfRows(c.problem.map, axes, 3, 3) == 3);
  CHECK(StepOfRows(c.problem.map, FindRootAxes(c.problem.map, 4), 1, 3) == 3);
}

TEST_CASE("roots: a box of a view that does not nest lies in a box that contains it") {
  // Along its last axis the view has half of a row: four pixels of eight channels.
  const sluice_test::SpaceCase c(Reshaped({{1, 1, 16, 32}}));
  const RootMap& map = c.problem.map;
  CHECK_FALSE(FindRootAxes(map, 5).nested);
  CHECK(map.WholeOf(4) == Box{{0, 0, 0, 0}, {1, 8, 8, 8}});
  const Box parts = {{0, 0, 3, 0}, {1, 1, 2, 32}};
  CHECK(BoxInRoot(map, 5, parts) == Box{{0, 1, 0, 0}, {1, 2, 8, 8}});
  Box back = {};
  CHECK(BoxInTensor(map, 5, Box{{0, 1, 0, 0}, {1, 2, 8, 8}}, &back));
  CHECK(back == Box{{0, 0, 2, 0}, {1, 1, 4, 32}});
}

// Two images of a layer's output, reshaped to rows of one that lie behind other pixels in each
// row of a CONCAT: between the view's images lies what is not the view's.
sluice_test::GraphSpec ReshapedPart() {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{2, 2, 4, 3}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{2, 2, 4, 3}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {0, 1 << 30, 1, 0, -128, 127}});
  g.tensors.push_back({{1, 2, 4, 6}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  g.tensors.push_back({{1, 2, 5, 6}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 2, 9, 6}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_CONCAT, {3, 2}, {4}, {2}});
  return g;
}

TEST_CASE(
    "roots: a view that does not nest is found image by image in a part of rows") {
  const sluice_test::SpaceCase c(ReshapedPart());
  const RootMap& map = c.problem.map;
  REQUIRE(RootOf(c.lowering, 1) == 4);
  REQUIRE_FALSE(FindRootAxes(map, 1).nested);
  Box back = {};
  // Pixels 5 and 6 of the root's second row are the view's second image, its first row.
  CHECK(BoxInTensor(map, 1, Box{{0, 1, 5, 0}, {1, 1, 2, 6}}, &back));
  CHECK(back == Box{{1, 0, 0, 0}, {1, 1, 4, 3}});
  // The pixels in front of it, and none of its own.
  CHECK_FALSE(BoxInTensor(map, 1, Box{{0, 1, 0, 0}, {1, 1, 5, 6}}, &back));
  CHECK_FALSE(BoxInTensor(map, 1, Box{{0, 0, 0, 0}, {1, 1, 5, 6}}, &back));
  // From the last pixels of the first row to the first of the second: one row of each image.
  CHECK(BoxInTensor(map, 1, Box{{0, 0, 8, 0}, {1, 1, 1, 6}}, &back));
  CHECK(back == Box{{0, 1, 2, 0}, {1, 1, 2, 3}});
  CHECK(BoxInTensor(map, 1, Box{{0, 0, 0, 0}, {1, 2, 9, 6}}, &back));
  CHECK(back == WholeBox(c.nouns.graph.tensors[1]));
}

// One element of a tensor, by its number in row-major order.
Box ElementOf(const Tensor& tensor, int64_t number) {
  Box one = {{}, {1, 1, 1, 1}};
  for (int a = kAxes - 1; a >= 0; --a) {
    one.begin[a] = static_cast<int32_t>(number % tensor.extent[a]);
    number /= tensor.extent[a];
  }
  return one;
}

Box RandomPart(Box whole, Rng* rng) {
  for (int a = 0; a < kAxes; ++a) {
    const int32_t begin =
        static_cast<int32_t>(rng->Below(static_cast<uint32_t>(whole.extent[a])));
    whole.extent[a] = 1 + static_cast<int32_t>(rng->Below(
                              static_cast<uint32_t>(whole.extent[a] - begin)));
    whole.begin[a] = begin;
  }
  return whole;
}

// Every element of the tensor that lies in a part of its root lies in the tensor's box too.
void CheckParts(const sluice_test::SpaceCase& c, uint32_t t, Rng* rng) {
  const Tensor& tensor = c.nouns.graph.tensors[t];
  const RootMap& map = c.problem.map;
  const Box part = RandomPart(map.WholeOf(RootOf(c.lowering, t)), rng);
  Box found = {};
  const bool any = BoxInTensor(map, t, part, &found);
  for (int64_t e = 0; e < WholeBox(tensor).elements(); ++e) {
    const Box one = ElementOf(tensor, e);
    if (!Contains(part, BoxInRoot(map, t, one))) continue;
    REQUIRE(any);
    REQUIRE(Contains(found, one));
  }
}

TEST_CASE("roots: what of a view lies in a part of its root is found, random graphs") {
  int views = 0;
  for (uint64_t seed = 1; seed <= 800; ++seed) {
    const sluice_test::SpaceCase c(sluice_test::MakeRandomGraph(seed), 1 << 20);
    Rng rng(seed);
    for (uint32_t t = 0; t < c.nouns.graph.tensors.size(); ++t) {
      if (RootOf(c.lowering, t) == t || c.nouns.graph.tensors[t].bytes > 4096) continue;
      CAPTURE(seed);
      CAPTURE(t);
      ++views;
      for (int n = 0; n < 4; ++n) CheckParts(c, t, &rng);
    }
  }
  CHECK(views > 200);
}

TEST_CASE("roots: heads lie nested in channels, and every box of them is found again") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  g.tensors[4].kind = 0;
  g.tensors.push_back({{8, 8, 2, 4}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_RESHAPE, {4}, {5}, {}});
  g.tensors.push_back({{8, 8, 2, 4}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {5}, {6}, {0, 1 << 30, 1, 0, -128, 127}});
  const sluice_test::SpaceCase c(g);
  REQUIRE(RootOf(c.lowering, 5) == 4);
  const RootAxes axes = FindRootAxes(c.problem.map, 5);
  REQUIRE(axes.nested);
  CHECK(axes.axis[0] == 1);
  CHECK(axes.axis[2] == 3);
  CHECK(axes.step[2] == 4);
  CHECK(axes.axis[3] == 3);
  // The second head, of three rows.
  const Box head = {{2, 0, 1, 0}, {3, 8, 1, 4}};
  const Box in_root = BoxInRoot(axes, head);
  CHECK(in_root == Box{{0, 2, 0, 4}, {1, 3, 8, 4}});
  Box back = {};
  CHECK(BoxInTensor(axes, c.nouns.graph.tensors[5], in_root, &back));
  CHECK(back == head);
  // Channels of both heads give both whole heads, the smallest box of the tensor.
  CHECK(BoxInTensor(axes, c.nouns.graph.tensors[5], Box{{0, 0, 0, 3}, {1, 1, 1, 2}},
                    &back));
  CHECK(back == Box{{0, 0, 0, 0}, {1, 1, 2, 4}});
}

TEST_CASE("roots: a box grows to contain another") {
  Box box = {};
  GrowBox(&box, Box{{0, 1, 2, 3}, {1, 1, 1, 1}});
  GrowBox(&box, Box{{0, 4, 2, 0}, {1, 2, 1, 2}});
  CHECK(box == Box{{0, 1, 2, 0}, {1, 5, 1, 4}});
}

}  // namespace
}  // namespace sluice
