// SPDX-License-Identifier: Apache-2.0
// Addresses of boxes in buffers, computed by hand.
#include "plan/mesh/node_buffers.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::NodeLayers;
using sluice_test::SplitOf;

TEST_CASE("node buffers: a part keeps the strides of the box that it is cut from") {
  BufferBox box = {};
  box.range = {64, 640};
  box.offset = 100;
  const uint32_t stride[] = {512, 128, 16, 2};
  std::copy(stride, stride + kAxes, box.stride);
  const BufferBox part =
      PartOfBuffer(box, {{0, 4, 0, 8}, {1, 4, 8, 8}}, {{0, 5, 2, 11}, {1, 2, 3, 4}});
  CHECK(part.offset == 100 + 1 * 128 + 2 * 16 + 3 * 2);
  CHECK(part.extent[1] == 2);
  CHECK(part.extent[2] == 3);
  CHECK(part.extent[3] == 4);
  CHECK(part.stride[1] == 128);
  CHECK(part.range.begin == 64);
  CHECK(part.range.end == 640);
}

// A convolution of 3 x 3 on the upper half of a map [2, 8, 8, 16], in two slices.
struct Consumer : NodeLayers {
  Consumer() : NodeLayers(Chain(2, 8, 8, 16).Conv(16, 1).Conv(8, 3).Done()) {
    layer = Make(1, {{0, 0}, {1, 2}}, SplitOf(kDimN, 1, kDimP, 2), 2);
    // Rows 0 to 4 land on the first node.
    layer->roles[kRoleInput0] = {
        layer->roles[kRoleInput0].tensor, nullptr, false, 2, 640, 1024};
  }
  NodeLayer* layer;
};

TEST_CASE("node buffers: a box lies dense in the buffer of its number") {
  const Consumer c;
  const BufferBox box = BoxIn(*c.layer, kRoleInput0, 1, {{0, 2, 0, 0}, {1, 3, 8, 16}});
  CHECK(box.range.begin == 1024 + 640);
  CHECK(box.range.end == 1024 + 2 * 640);
  CHECK(box.offset == 1024 + 640);
  CHECK(box.dtype == SLUICE_DTYPE_INT8);
  CHECK(box.stride[3] == 1);
  CHECK(box.stride[2] == 16);
  CHECK(box.stride[1] == 128);
  CHECK(box.extent[1] == 3);
}

TEST_CASE(
    "node buffers: what lands is waited for in sixteenths, or as a whole by turns") {
  const Consumer c;
  const Box row2 = {{0, 2, 0, 0}, {1, 1, 8, 16}};
  BufferBox box = InLanding(*c.layer, 0, kRoleInput0, 0, row2);
  // Bytes 256 to 383 of 640 lie in the sixteenths (40 bytes) 6 to 9.
  CHECK(box.offset == 1024 + 256);
  CHECK(box.range.begin == 1024 + 240);
  CHECK(box.range.end == 1024 + 400);
  // The next slice has the other buffer.
  box = InLanding(*c.layer, 0, kRoleInput0, 1, {{1, 2, 0, 0}, {1, 1, 8, 16}});
  CHECK(box.offset == 1024 + 640 + 256);
  c.layer->drains = true;
  box = InLanding(*c.layer, 0, kRoleInput0, 0, row2);
  CHECK(box.offset == 1024 + 256);
  CHECK(box.range.begin == 1024);
  CHECK(box.range.end == 1024 + 640);
}

TEST_CASE("node buffers: accumulators are used in turn, one per tile of the output") {
  const Consumer c;
  c.layer->accumulators = 2;
  c.layer->accumulator_begin = 512;
  c.layer->accumulator_bytes = 64;
  NodeTile tile = {};
  tile.number = 3;
  const int32_t extent[] = {1, 1, 2, 8};
  std::copy(extent, extent + kAxes, tile.box.extent);
  const BufferBox box = Accumulator(*c.layer, tile);
  CHECK(box.range.begin == 512 + 64);
  CHECK(box.range.end == 512 + 128);
  CHECK(box.dtype == SLUICE_DTYPE_INT32);
  CHECK(box.stride[3] == 4);
  CHECK(box.stride[2] == 32);
}

}  // namespace
}  // namespace sluice
