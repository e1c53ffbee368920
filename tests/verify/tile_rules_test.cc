// SPDX-License-Identifier: Apache-2.0
// What a tile must read and do, worked out by hand from ops.h.
#include "verify/tile_rules.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

namespace sluice_test {
namespace {

using sluice::judge::Need;
using sluice::judge::TileNeeds;
using Box = std::array<int64_t, 4>;

// A layer whose tensors have these extents; the last one is the output.
struct OneLayer {
  OneLayer(int op, const std::vector<std::array<int32_t, 4>>& extents,
           std::vector<int32_t> values)
      : attributes(std::move(values)) {
    for (const auto& extent : extents) {
      sluice::Tensor t = {};
      for (size_t a = 0; a < 4; ++a) t.extent[a] = extent[a];
      t.dtype = SLUICE_DTYPE_INT8;
      t.producer = sluice::kNone;
      tensors.push_back(t);
    }
    for (uint32_t i = 0; i + 1 < extents.size(); ++i) inputs.push_back(i);
    output = static_cast<uint32_t>(inputs.size());
    layer.op = static_cast<uint16_t>(op);
    layer.inputs = {inputs.data(), inputs.size()};
    layer.outputs = {&output, 1};
    layer.attributes = {attributes.data(), attributes.size()};
    graph.tensors = {tensors.data(), tensors.size()};
    graph.layers = {&layer, 1};
  }
  OneLayer(const OneLayer&) = delete;

  TileNeeds Of(const Box& origin, const Box& extent, uint32_t c_begin = 0,
               uint32_t c_end = 0) const {
    sluice_tile_t tile = {};
    tile.c_begin = c_begin;
    tile.c_end = c_end;
    TileNeeds needs;
    NeedsOfTile(graph, layer, tile, origin.data(), extent.data(), &needs);
    return needs;
  }
  std::string Wrong(const Box& origin, const Box& extent, uint32_t c_begin = 0,
                    uint32_t c_end = 0) const {
    const TileNeeds needs = Of(origin, extent, c_begin, c_end);
    return needs.wrong == nullptr ? "" : needs.wrong;
  }

  std::vector<sluice::Tensor> tensors;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
  std::vector<int32_t> attributes;
  sluice::Layer layer = {};
  sluice::Graph graph = {};
};

Box Origin(const Need& need) {
  return {need.origin[0], need.origin[1], need.origin[2], need.origin[3]};
}
Box Extent(const Need& need) {
  return {need.extent[0], need.extent[1], need.extent[2], need.extent[3]};
}

// Attributes of a convolution: stride, dilation, pad and groups.
std::vector<int32_t> Conv(int32_t stride, int32_t dilation, int32_t pad,
                          int32_t groups) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = stride;
  a[SLUICE_CONV_DILATION_H] = a[SLUICE_CONV_DILATION_W] = dilation;
  for (size_t i = SLUICE_CONV_PAD_TOP; i <= SLUICE_CONV_PAD_RIGHT; ++i) a[i] = pad;
  a[SLUICE_CONV_GROUPS] = groups;
  return a;
}

TEST_CASE("tile rules: a strided and dilated convolution reads the rows it reaches") {
  const OneLayer conv(SLUICE_OP_CONV,
                      {{1, 9, 9, 4}, {6, 3, 3, 4}, {1, 1, 6, 3}, {1, 4, 4, 6}},
                      Conv(2, 2, 1, 1));
  const TileNeeds needs = conv.Of({0, 1, 0, 2}, {1, 2, 4, 3}, 0, 4);
  REQUIRE(needs.wrong == nullptr);
  REQUIRE(needs.count == 3);
  // The windows of rows 1 and 2 start at 1 and 3 and span 5 rows; those of columns
  // start at -1, the last one at 5.
  CHECK(Origin(needs.need[0]) == Box{0, 1, 0, 0});
  CHECK(Extent(needs.need[0]) == Box{1, 7, 9, 4});
  CHECK(needs.pad[0] == 0);
  CHECK(needs.pad[1] == 1);
  CHECK(needs.pad[2] == 0);
  CHECK(needs.pad[3] == 1);
  CHECK(Origin(needs.need[1]) == Box{2, 0, 0, 0});
  CHECK(Extent(needs.need[1]) == Box{3, 3, 3, 4});
  CHECK(Origin(needs.need[2]) == Box{0, 0, 2, 0});
  CHECK(Extent(needs.need[2]) == Box{1, 1, 3, 3});
  CHECK(needs.need[2].on_last);
  CHECK(needs.work == 2 * 4 * 3 * 9 * 4);
  CHECK(needs.macs);
  CHECK(needs.sum_channels == 4);
}

TEST_CASE("tile rules: groups and channel multipliers choose the input's channels") {
  const OneLayer grouped(SLUICE_OP_CONV,
                         {{1, 4, 4, 4}, {8, 1, 1, 2}, {1, 1, 8, 3}, {1, 4, 4, 8}},
                         Conv(1, 1, 0, 2));
  const TileNeeds both = grouped.Of({0, 0, 0, 0}, {1, 4, 4, 8}, 0, 2);
  CHECK(Extent(both.need[0]) == Box{1, 4, 4, 4});
  const TileNeeds second = grouped.Of({0, 0, 0, 4}, {1, 4, 4, 4}, 1, 2);
  CHECK(Origin(second.need[0]) == Box{0, 0, 0, 3});
  CHECK(Extent(second.need[0]) == Box{1, 4, 4, 1});
  CHECK(grouped.Wrong({0, 0, 0, 0}, {1, 4, 4, 8}, 0, 1) ==
        "a piece of C over several groups");
  const OneLayer depthwise(SLUICE_OP_DEPTHWISE_CONV,
                           {{1, 4, 4, 4}, {1, 1, 1, 8}, {1, 1, 8, 3}, {1, 4, 4, 8}},
                           Conv(1, 1, 0, 0));
  // Outputs 3, 4 and 5 read channels 1, 2 and 2.
  const TileNeeds three = depthwise.Of({0, 0, 0, 3}, {1, 4, 4, 3});
  CHECK(Origin(three.need[0]) == Box{0, 0, 0, 1});
  CHECK(Extent(three.need[0]) == Box{1, 4, 4, 2});
  CHECK(three.work == 4 * 4 * 3);
}

TEST_CASE("tile rules: a transposed convolution reads the rows that scatter into it") {
  const OneLayer scatter(SLUICE_OP_TRANSPOSED_CONV,
                         {{1, 3, 3, 2}, {5, 3, 3, 2}, {1, 1, 5, 3}, {1, 7, 7, 5}},
                         Conv(2, 1, 0, 0));
  // Input row i scatters into outputs 2i to 2i + 2.
  const TileNeeds middle = scatter.Of({0, 2, 3, 0}, {1, 2, 1, 5}, 0, 2);
  CHECK(Origin(middle.need[0]) == Box{0, 0, 1, 0});
  CHECK(Extent(middle.need[0]) == Box{1, 2, 1, 2});
  CHECK(middle.pad[0] == 0);
}

TEST_CASE("tile rules: pools count their windows, and need something but padding") {
  const OneLayer pool(SLUICE_OP_MAX_POOL, {{1, 4, 4, 8}, {1, 6, 6, 8}},
                      {1, 1, 1, 1, 1, 1, 1, 1, -128, 127});
  CHECK(pool.Wrong({0, 0, 1, 0}, {1, 1, 2, 8}) == "the tile lies in padding alone");
  const TileNeeds needs = pool.Of({0, 0, 1, 0}, {1, 2, 2, 8});
  CHECK(Extent(needs.need[0]) == Box{1, 1, 2, 8});
  CHECK(needs.pad[0] == 1);
  CHECK(needs.work == 2 * 2 * 8);
  CHECK(!needs.macs);
}

TEST_CASE("tile rules: rows that are whole, axes that are reduced") {
  const OneLayer softmax(SLUICE_OP_SOFTMAX, {{1, 1, 4, 8}, {1, 1, 4, 8}}, {1, 0, -1});
  CHECK(softmax.Wrong({0, 0, 0, 0}, {1, 1, 4, 4}) == "softmax needs whole rows");
  CHECK(softmax.Wrong({0, 0, 1, 0}, {1, 1, 2, 8}) == "");
  const OneLayer norm(SLUICE_OP_LAYER_NORM, {{1, 1, 4, 8}, {1, 1, 8, 3}, {1, 1, 4, 8}},
                      {0, 0, 0, -128, 127});
  CHECK(norm.Wrong({0, 0, 0, 4}, {1, 1, 4, 4}) == "a norm needs whole rows");
  const OneLayer reduce(SLUICE_OP_REDUCE, {{2, 5, 6, 8}, {2, 1, 1, 8}},
                        {6, SLUICE_REDUCE_KIND_SUM, 0, 0, 1 << 30, 1, -128, 127});
  const TileNeeds needs = reduce.Of({1, 0, 0, 2}, {1, 1, 1, 4});
  CHECK(Origin(needs.need[0]) == Box{1, 0, 0, 2});
  CHECK(Extent(needs.need[0]) == Box{1, 5, 6, 4});
  CHECK(needs.work == 5 * 6 * 4);
}

TEST_CASE("tile rules: elements broadcast, a transposition and a resize move the box") {
  const OneLayer add(SLUICE_OP_ADD, {{1, 4, 4, 8}, {1, 1, 1, 8}, {1, 4, 4, 8}},
                     std::vector<int32_t>(SLUICE_BINARY_ATTRIBUTES));
  const TileNeeds sum = add.Of({0, 2, 0, 4}, {1, 2, 4, 4});
  CHECK(sum.elementwise);
  CHECK(Origin(sum.need[1]) == Box{0, 0, 0, 4});
  CHECK(Extent(sum.need[1]) == Box{1, 1, 1, 4});
  CHECK(sum.work == 2 * 2 * 4 * 4);
  const OneLayer transpose(SLUICE_OP_TRANSPOSE, {{1, 4, 6, 8}, {1, 6, 4, 8}},
                           {0, 2, 1, 3});
  CHECK(Origin(transpose.Of({0, 5, 1, 0}, {1, 1, 2, 8}).need[0]) == Box{0, 1, 5, 0});
  const OneLayer twice(SLUICE_OP_TRANSPOSE, {{1, 4, 6, 8}, {1, 6, 4, 8}}, {0, 1, 1, 3});
  CHECK(twice.Wrong({0, 0, 0, 0}, {1, 1, 1, 1}) == "the layer's permutation is none");
  for (const int32_t axis : {-1, 4}) {
    const OneLayer none(SLUICE_OP_TRANSPOSE, {{1, 4, 6, 8}, {1, 6, 4, 8}},
                        {0, axis, 1, 3});
    CHECK(none.Wrong({0, 0, 0, 0}, {1, 1, 1, 1}) == "the layer's permutation is none");
  }
  // Half-pixel centres, 4 to 8 rows: outputs 3 and 4 lie at 1.25 and 1.75.
  const OneLayer resize(SLUICE_OP_RESIZE_BILINEAR, {{1, 4, 4, 2}, {1, 8, 8, 2}},
                        {0, 1});
  const TileNeeds between = resize.Of({0, 3, 0, 0}, {1, 2, 1, 2});
  CHECK(Origin(between.need[0]) == Box{0, 1, 0, 0});
  CHECK(Extent(between.need[0]) == Box{1, 2, 2, 2});
  CHECK(between.work == 4 * 2 * 2);
}

TEST_CASE("tile rules: a weight gradient sums rows of one image, or whole images") {
  const OneLayer gradient(SLUICE_OP_WEIGHT_GRADIENT,
                          {{2, 4, 4, 3}, {2, 4, 4, 6}, {6, 1, 1, 3}}, Conv(1, 1, 0, 1));
  const Box none = {0, 0, 0, 0}, whole = {6, 1, 1, 3};
  CHECK(gradient.Wrong(none, whole, 2, 6) ==
        "rows of several images must be whole images");
  const TileNeeds part = gradient.Of(none, whole, 5, 7);  // rows 1 and 2 of image 1
  REQUIRE(part.wrong == nullptr);
  CHECK(Origin(part.need[1]) == Box{1, 1, 0, 0});
  CHECK(Extent(part.need[1]) == Box{1, 2, 4, 6});
  CHECK(part.sum_channels == 8);
  CHECK(part.work == 6 * 3 * 2 * 4);
}

TEST_CASE("tile rules: boxes outside an input, and operators without tiles") {
  const OneLayer add(SLUICE_OP_MAXIMUM, {{1, 4, 4, 8}, {1, 4, 4, 8}, {1, 8, 4, 8}}, {});
  CHECK(add.Wrong({0, 4, 0, 0}, {1, 4, 4, 8}) ==
        "the box needs elements outside an input");
  const OneLayer concat(SLUICE_OP_CONCAT, {{1, 1, 1, 4}, {1, 1, 1, 4}, {1, 1, 1, 8}},
                        {3});
  CHECK(concat.Wrong({0, 0, 0, 0}, {1, 1, 1, 8}) == "no tile computes this op");
  const OneLayer lone(SLUICE_OP_ADD, {{1, 4, 4, 8}, {1, 4, 4, 8}}, {});
  CHECK(lone.Wrong({0, 0, 0, 0}, {1, 4, 4, 8}) == "the layer lacks an input");
}

TEST_CASE(
    "tile rules: the channels of a group are known before a tile has a range of them") {
  std::vector<int32_t> groups(SLUICE_CONV_ATTRIBUTES);
  groups[SLUICE_CONV_GROUPS] = 2;
  const OneLayer layer(
      SLUICE_OP_CONV, {{1, 5, 5, 6}, {8, 3, 3, 3}, {1, 1, 8, 3}, {1, 3, 3, 8}}, groups);
  CHECK(layer.Of({0, 0, 0, 0}, {1, 3, 3, 8}).sum_channels == 3);
  CHECK(layer.Of({0, 0, 0, 0}, {1, 3, 3, 8}, 0, 3).work == 72 * 9 * 3);
}

TEST_CASE(
    "tile rules: as many groups as both sides have channels for, and sane windows") {
  const std::vector<std::array<int32_t, 4>> wide = {
      {1, 4, 4, 4}, {8, 1, 1, 1}, {1, 1, 8, 3}, {1, 4, 4, 8}};
  const std::vector<std::array<int32_t, 4>> narrow = {
      {1, 4, 4, 8}, {4, 1, 1, 1}, {1, 1, 4, 3}, {1, 4, 4, 4}};
  const char* none = "the layer's groups make no sense";
  const Box from = {0, 0, 0, 0}, one = {1, 4, 4, 1};
  CHECK(OneLayer(SLUICE_OP_CONV, wide, Conv(1, 1, 0, 4)).Wrong(from, one, 0, 1) == "");
  CHECK(OneLayer(SLUICE_OP_CONV, wide, Conv(1, 1, 0, 5)).Wrong(from, one, 0, 1) ==
        none);
  CHECK(OneLayer(SLUICE_OP_CONV, narrow, Conv(1, 1, 0, 4)).Wrong(from, one, 0, 1) ==
        "");
  CHECK(OneLayer(SLUICE_OP_CONV, narrow, Conv(1, 1, 0, 5)).Wrong(from, one, 0, 1) ==
        none);
  CHECK(OneLayer(SLUICE_OP_CONV, wide, Conv(1, 1, 0, -1)).Wrong(from, one, 0, 1) ==
        none);
  const char* window = "the layer's window makes no sense";
  for (const auto& wrong : {Conv(-1, 1, 0, 1), Conv(1, -1, 0, 1), Conv(1, 1, -1, 1)}) {
    CHECK(OneLayer(SLUICE_OP_CONV, wide, wrong).Wrong(from, one, 0, 4) == window);
  }
}

TEST_CASE("tile rules: a norm takes whole rows, wherever they lie") {
  const OneLayer norm(SLUICE_OP_LAYER_NORM, {{1, 1, 4, 8}, {1, 1, 8, 3}, {1, 1, 4, 8}},
                      {0, 0, 0, -128, 127});
  CHECK(norm.Wrong({0, 0, 1, 0}, {1, 1, 2, 8}) == "");
  CHECK(norm.Wrong({0, 0, 0, 0}, {1, 1, 4, 4}) == "a norm needs whole rows");
}

TEST_CASE("tile rules: weight gradients of whole images, and of a group or several") {
  const Box from = {0, 0, 0, 0};
  const OneLayer gradient(SLUICE_OP_WEIGHT_GRADIENT,
                          {{3, 4, 4, 3}, {3, 4, 4, 6}, {6, 1, 1, 3}}, Conv(1, 1, 0, 1));
  const Box all = {6, 1, 1, 3};
  CHECK(gradient.Wrong(from, all, 0, 12) == "");
  CHECK(gradient.Wrong(from, all, 4, 12) == "");
  for (const auto& rows : {std::array<uint32_t, 2>{0, 6}, {2, 8}, {3, 9}}) {
    CHECK(gradient.Wrong(from, all, rows[0], rows[1]) ==
          "rows of several images must be whole images");
  }
  const OneLayer groups(SLUICE_OP_WEIGHT_GRADIENT,
                        {{1, 4, 4, 4}, {1, 4, 4, 6}, {6, 1, 1, 2}}, Conv(1, 1, 0, 2));
  CHECK(groups.Wrong(from, {6, 1, 1, 2}, 0, 4) == "");
  CHECK(groups.Wrong(from, {3, 1, 1, 1}, 0, 4) == "");
  const char* several = "a piece of C over several groups";
  CHECK(groups.Wrong(from, {6, 1, 1, 1}, 0, 4) == several);
  CHECK(groups.Wrong(from, {4, 1, 1, 1}, 0, 4) == several);
  CHECK(groups.Wrong({0, 0, 0, 1}, {6, 1, 1, 1}, 0, 4) == several);
}

TEST_CASE("tile rules: of a pad's tile all that is not padding is read") {
  // Two rows and one column on top, one channel in front.
  const OneLayer pad(SLUICE_OP_PAD, {{1, 4, 4, 4}, {1, 8, 6, 6}}, {0, 2, 1, 1, 0});
  const TileNeeds corner = pad.Of({0, 1, 0, 0}, {1, 2, 2, 3});
  REQUIRE(corner.wrong == nullptr);
  CHECK(Origin(corner.need[0]) == Box{0, 0, 0, 0});
  CHECK(Extent(corner.need[0]) == Box{1, 1, 1, 2});
  CHECK(corner.pad[0] == 1);
  CHECK(corner.pad[1] == 1);
  const TileNeeds inside = pad.Of({0, 3, 2, 2}, {1, 2, 3, 2});
  CHECK(Origin(inside.need[0]) == Box{0, 1, 1, 1});
  CHECK(Extent(inside.need[0]) == Box{1, 2, 3, 2});
  const char* alone = "the tile lies in padding alone";
  CHECK(pad.Wrong({0, 2, 1, 0}, {1, 4, 4, 1}) == alone);
  CHECK(pad.Wrong({0, 2, 1, 5}, {1, 4, 4, 1}) == alone);
  CHECK(pad.Wrong({0, 0, 1, 1}, {1, 2, 4, 4}) == alone);
  const OneLayer less(SLUICE_OP_PAD, {{1, 4, 4, 4}, {1, 4, 4, 4}}, {0, -1, 0, 0, 0});
  CHECK(less.Wrong({0, 0, 0, 0}, {1, 1, 1, 1}) ==
        "the layer pads by less than nothing");
}

TEST_CASE(
    "tile rules: a weight gradient has as many groups as both sides have channels") {
  const std::vector<std::array<int32_t, 4>> wide = {
      {1, 4, 4, 4}, {1, 4, 4, 8}, {8, 1, 1, 1}};
  const std::vector<std::array<int32_t, 4>> narrow = {
      {1, 4, 4, 8}, {1, 4, 4, 4}, {4, 1, 1, 2}};
  const auto wrong = [](const std::vector<std::array<int32_t, 4>>& sides,
                        int32_t groups) {
    return OneLayer(SLUICE_OP_WEIGHT_GRADIENT, sides, Conv(1, 1, 0, groups))
        .Wrong({0, 0, 0, 0}, {1, 1, 1, 1}, 0, 4);
  };
  const std::string none = "the layer's groups make no sense";
  CHECK(wrong(wide, 4) == "");
  CHECK(wrong(wide, 5) == none);
  CHECK(wrong(wide, -1) == none);
  CHECK(wrong(narrow, 4) == "");
  CHECK(wrong(narrow, 5) == none);
}

}  // namespace
}  // namespace sluice_test
