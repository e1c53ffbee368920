// SPDX-License-Identifier: Apache-2.0
#include "model/roots.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("roots: boxes of a concat's inputs are boxes of its output, and back") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  const Graph& graph = c.nouns.graph;
  CHECK(RootOf(c.lowering, 1) == 3);
  CHECK(RootOf(c.lowering, 4) == 4);
  CHECK(FindRootAxes(graph, c.lowering, 2).nested);
  const Box rows = {{0, 2, 0, 1}, {1, 3, 8, 2}};
  const Box in_root = BoxInRoot(graph, c.lowering, 2, rows);
  CHECK(in_root == Box{{0, 2, 0, 5}, {1, 3, 8, 2}});
  Box back = {};
  CHECK(BoxInTensor(graph, c.lowering, 2, in_root, &back));
  CHECK(back == rows);
  CHECK_FALSE(BoxInTensor(graph, c.lowering, 1, in_root, &back));
  CHECK(OffsetInRoot(c.lowering, 2, rows) == 2 * 64 + 5);
}

TEST_CASE("roots: a box seen through a reshape contains what is asked for") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  g.tensors[4].kind = 0;
  g.tensors.push_back({{1, 1, 64, 8}, SLUICE_DTYPE_INT8, 0});
  g.layers.push_back({SLUICE_OP_RESHAPE, {4}, {5}, {}});
  g.tensors.push_back({{1, 1, 64, 8}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {5}, {6}, {0, 1 << 30, 1, 0, -128, 127}});
  const sluice_test::SpaceCase c(g);
  CHECK(RootOf(c.lowering, 5) == 4);
  CHECK_FALSE(FindRootAxes(c.nouns.graph, c.lowering, 5).nested);
  // Rows 16 to 31 of 64 are image rows 2 and 3 of eight columns.
  const Box half = {{0, 0, 16, 0}, {1, 1, 16, 8}};
  CHECK(BoxInRoot(c.nouns.graph, c.lowering, 5, half) ==
        Box{{0, 2, 0, 0}, {1, 2, 8, 8}});
  Box back = {};
  CHECK(BoxInTensor(c.nouns.graph, c.lowering, 5, Box{{0, 2, 0, 0}, {1, 2, 8, 8}},
                    &back));
  CHECK(back == half);
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
  const RootAxes axes = FindRootAxes(c.nouns.graph, c.lowering, 5);
  REQUIRE(axes.nested);
  CHECK(axes.axis[0] == 1);
  CHECK(axes.axis[2] == 3);
  CHECK(axes.step[2] == 4);
  CHECK(axes.axis[3] == 3);
  // The second head of three rows.
  const Box head = {{2, 0, 1, 0}, {3, 8, 1, 4}};
  const Box in_root = BoxInRoot(axes, head);
  CHECK(in_root == Box{{0, 2, 0, 4}, {1, 3, 8, 4}});
  Box back = {};
  CHECK(BoxInTensor(axes, c.nouns.graph.tensors[5], in_root, &back));
  CHECK(back == head);
  // Parts of both heads: whole ones, as no box of the tensor holds less.
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
