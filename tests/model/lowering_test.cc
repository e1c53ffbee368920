// SPDX-License-Identifier: Apache-2.0
#include "model/lowering.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

using sluice_test::kI8;
constexpr uint8_t kIn = 1, kOut = 2;

// input -> relu-like requantize -> t
void Unary(GraphSpec* g, uint32_t in, std::vector<int32_t> dims, uint8_t kind = 0) {
  g->tensors.push_back({std::move(dims), kI8, kind});
  g->layers.push_back({SLUICE_OP_REQUANTIZE,
                       {in},
                       {static_cast<uint32_t>(g->tensors.size() - 1)},
                       {0, 1 << 30, 1, 0, -128, 127}});
}

Lowering LowerOk(sluice_test::Nouns* n) {
  Lowering lowering = {};
  REQUIRE(Lower(n->graph, n->hardware, &n->arena, &lowering, &n->diagnostic) ==
          Status::kOk);
  return lowering;
}

TEST_CASE(
    "lowering: producers write into a concat's output, inputs of graphs are copied") {
  GraphSpec g;
  g.tensors.push_back({{1, 2, 2, 4}, kI8, kIn});  // 0
  Unary(&g, 0, {1, 2, 2, 4});                     // 1
  Unary(&g, 0, {1, 2, 2, 4});                     // 2
  g.tensors.push_back({{1, 2, 2, 12}, kI8, kOut});
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 0, 2}, {3}, {3}});
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.places[1].region == SLUICE_REGION_OUTPUT);
  CHECK(l.places[1].offset == l.places[3].offset);
  CHECK(l.places[2].offset == l.places[3].offset + 8);
  CHECK(l.places[2].stride[2] == 12);
  CHECK(l.places[0].region == SLUICE_REGION_INPUT);
  CHECK(l.is_view[2] == 0);  // the graph input still has to be copied
}

TEST_CASE("lowering: a concat of concats is one memory and no work") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 3, 2}, kI8, kIn});  // 0
  Unary(&g, 0, {1, 1, 3, 2});                     // 1
  Unary(&g, 0, {1, 1, 3, 2});                     // 2
  g.tensors.push_back({{1, 1, 3, 4}, kI8, 0});    // 3
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 2}, {3}, {3}});
  Unary(&g, 0, {1, 1, 3, 2});                      // 4
  g.tensors.push_back({{1, 1, 3, 6}, kI8, kOut});  // 5
  g.layers.push_back({SLUICE_OP_CONCAT, {3, 4}, {5}, {3}});
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.is_view[2] == 1);
  CHECK(l.is_view[4] == 1);
  CHECK(l.places[2].offset == 2);
  CHECK(l.places[2].stride[2] == 6);
  CHECK(l.region_bytes[SLUICE_REGION_WORKSPACE] == 0);
}

TEST_CASE("lowering: a slice of columns is a view, its reshape a copy") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 4, 8}, kI8, kIn});  // 0
  g.tensors.push_back({{1, 1, 4, 3}, kI8, 0});    // 1
  g.layers.push_back({SLUICE_OP_SLICE, {0}, {1}, {0, 0, 0, 2}});
  g.tensors.push_back({{1, 1, 2, 6}, kI8, 0});  // 2
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  Unary(&g, 2, {1, 1, 2, 6}, kOut);  // 3
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.is_view[0] == 1);
  CHECK(l.places[1].region == SLUICE_REGION_INPUT);
  CHECK(l.places[1].offset == 2);
  CHECK(l.is_view[1] == 0);
  CHECK(l.places[2].region == SLUICE_REGION_WORKSPACE);
}

TEST_CASE("lowering: a tensor that a reshape relies on does not move into a concat") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 4, 2}, kI8, kIn});  // 0
  Unary(&g, 0, {1, 1, 4, 2});                     // 1
  g.tensors.push_back({{1, 1, 2, 4}, kI8, 0});    // 2: view of 1
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  Unary(&g, 2, {1, 1, 2, 4}, kOut);                // 3
  Unary(&g, 0, {1, 1, 4, 2});                      // 4
  g.tensors.push_back({{1, 1, 4, 4}, kI8, kOut});  // 5
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 4}, {5}, {3}});
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.is_view[1] == 1);
  CHECK(l.places[1].region == SLUICE_REGION_WORKSPACE);
  CHECK(l.places[1].stride[2] == 2);  // still dense
  CHECK(l.is_view[4] == 0);
  CHECK(l.places[4].region == SLUICE_REGION_OUTPUT);
}

// What a layer makes, reshaped, between `before` (made by a layer too) and nothing.
GraphSpec ReshapedConcat(std::vector<int32_t> made, std::vector<int32_t> shape,
                         std::vector<int32_t> before, int32_t axis) {
  GraphSpec g;
  g.tensors.push_back({made, kI8, kIn});  // 0
  Unary(&g, 0, made);                     // 1
  g.tensors.push_back({shape, kI8, 0});   // 2
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  g.tensors.push_back({before, kI8, kIn});  // 3
  Unary(&g, 3, before);                     // 4
  shape[static_cast<size_t>(axis)] += before[static_cast<size_t>(axis)];
  g.tensors.push_back({shape, kI8, kOut});  // 5
  g.layers.push_back({SLUICE_OP_CONCAT, {4, 2}, {5}, {axis}});
  return g;
}

TEST_CASE("lowering: the reshape of what a layer makes moves into a concat") {
  // Rows and columns are one axis of what the layer makes; other channels come before.
  sluice_test::Nouns channels(
      ReshapedConcat({1, 2, 6, 4}, {2, 3, 2, 4}, {2, 3, 2, 5}, 3));
  Lowering l = LowerOk(&channels);
  CHECK(l.is_view[1] == 1);
  CHECK(l.is_view[3] == 1);
  CHECK(l.region_bytes[SLUICE_REGION_WORKSPACE] == 0);
  CHECK(l.places[1].region == SLUICE_REGION_OUTPUT);
  CHECK(l.places[1].offset == 5);
  CHECK(l.places[1].stride[1] == 6 * 9);
  CHECK(l.places[1].stride[2] == 9);
  CHECK(l.places[2].stride[0] == 6 * 9);
  CHECK(l.places[2].stride[1] == 2 * 9);
  // All elements in one axis, behind others.
  sluice_test::Nouns rows(ReshapedConcat({1, 2, 2, 6}, {1, 24, 1, 1}, {1, 7, 1, 1}, 1));
  l = LowerOk(&rows);
  CHECK(l.is_view[3] == 1);
  CHECK(l.places[1].offset == 7);
  CHECK(l.places[1].stride[1] == 12);
}

TEST_CASE("lowering: a reshape without strides in the concat stays where it is") {
  // Four channels of the layer are two of one pixel and two of the next.
  sluice_test::Nouns n(ReshapedConcat({1, 1, 3, 4}, {1, 3, 2, 2}, {1, 3, 2, 5}, 3));
  const Lowering l = LowerOk(&n);
  CHECK(l.is_view[1] == 1);
  CHECK(l.is_view[3] == 0);
  CHECK(l.places[1].region == SLUICE_REGION_WORKSPACE);
  CHECK(l.places[1].stride[2] == 4);
  CHECK(l.places[2].offset == l.places[1].offset);
}

TEST_CASE("lowering: a tensor with two reshapes does not move into a concat") {
  GraphSpec g = ReshapedConcat({1, 2, 6, 4}, {2, 3, 2, 4}, {2, 3, 2, 5}, 3);
  g.tensors.push_back({{1, 1, 6, 8}, kI8, 0});  // 6
  g.layers.insert(g.layers.begin() + 1, {SLUICE_OP_RESHAPE, {1}, {6}, {}});
  Unary(&g, 6, {1, 1, 6, 8}, kOut);
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.places[1].region == SLUICE_REGION_WORKSPACE);
  CHECK(l.is_view[4] == 0);
}

TEST_CASE("lowering: heads of a slice of channels are a view of it") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 4, 8}, kI8, kIn});  // 0
  g.tensors.push_back({{1, 1, 4, 6}, kI8, 0});    // 1
  g.layers.push_back({SLUICE_OP_SLICE, {0}, {1}, {0, 0, 0, 2}});
  g.tensors.push_back({{1, 4, 3, 2}, kI8, 0});  // 2
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  Unary(&g, 2, {1, 4, 3, 2}, kOut);
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  CHECK(l.is_view[1] == 1);
  CHECK(l.places[2].offset == 2);
  CHECK(l.places[2].stride[1] == 8);
  CHECK(l.places[2].stride[2] == 2);
}

TEST_CASE("lowering: a view has the time of its latest producer") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 3, 2}, kI8, kIn});  // 0
  Unary(&g, 0, {1, 1, 3, 2});                     // 1, layer 0
  Unary(&g, 0, {1, 1, 3, 2});                     // 2, layer 1
  g.tensors.push_back({{1, 1, 3, 4}, kI8, 0});    // 3
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 2}, {3}, {3}});
  Unary(&g, 3, {1, 1, 3, 4}, kOut);
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  REQUIRE(l.is_view[2] == 1);
  Span<uint32_t> when;
  REQUIRE(n.arena.Allocate(4, &when) == Status::kOk);
  when[0] = 7;
  when[1] = 4;
  when[2] = 99;
  when[3] = 9;
  TimeViews(n.graph, l, when);
  CHECK(when[0] == 7);
  CHECK(when[2] == 7);
  CHECK(when[3] == 9);
}

TEST_CASE("lowering: tensors that live at the same time share no workspace") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 100}, kI8, kIn});
  for (uint32_t i = 0; i < 6; ++i) Unary(&g, i, {1, 1, 1, 100});  // chain 1..6
  g.tensors.push_back({{1, 1, 1, 100}, kI8, kOut});               // 7
  g.layers.push_back({SLUICE_OP_ADD, {6, 2}, {7}, {}});
  sluice_test::Nouns n(g);
  const Lowering l = LowerOk(&n);
  // Tensor 2 lives to the end, together with two of the chain at any time.
  CHECK(l.region_bytes[SLUICE_REGION_WORKSPACE] <= 3 * 128);
  for (uint32_t a : {1u, 3u, 4u, 5u, 6u}) {
    const uint64_t begin = l.places[a].offset, two = l.places[2].offset;
    CHECK((begin + 100 <= two || two + 100 <= begin));
  }
}

GraphSpec PaddedConv(int32_t pad_value, int32_t zero) {
  GraphSpec g;
  g.tensors.push_back({{1, 4, 4, 2}, kI8, kIn});  // 0
  g.tensors.push_back({{1, 6, 6, 2}, kI8, 0});    // 1
  g.layers.push_back({SLUICE_OP_PAD, {0}, {1}, {0, 1, 1, 0, pad_value}});
  g.tensors.push_back({{3, 3, 3, 2}, kI8, 3, 3});           // 2
  g.tensors.push_back({{3, 3}, SLUICE_DTYPE_INT32, 3, 3});  // 3
  g.tensors.push_back({{1, 4, 4, 3}, kI8, kOut});           // 4
  g.layers.push_back(
      {SLUICE_OP_CONV, {1, 2, 3}, {4}, {1, 1, 1, 1, 0, 0, 0, 0, 1, zero}});
  return g;
}

TEST_CASE("lowering: a PAD by the convolution's zero point folds, another does not") {
  sluice_test::Nouns same(PaddedConv(-7, -7));
  const Lowering folded = LowerOk(&same);
  CHECK(folded.is_view[0] == 1);
  CHECK(folded.executed[1].inputs[0] == 0);
  CHECK(folded.executed[1].attribute(SLUICE_CONV_PAD_BOTTOM) == 1);
  CHECK(folded.places[1].region == kRegionNowhere);
  sluice_test::Nouns other(PaddedConv(0, -7));
  const Lowering kept = LowerOk(&other);
  CHECK(kept.is_view[0] == 0);
  CHECK(kept.executed[1].inputs[0] == 1);
}

}  // namespace
}  // namespace sluice
