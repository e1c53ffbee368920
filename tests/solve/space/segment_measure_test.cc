// SPDX-License-Identifier: Apache-2.0
// Frames and bytes by the iterations of a segment.
#include <doctest/doctest.h>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

// Input 0 of 4 rows is resized to 32: output rows that are neighbours read the same 2 rows.
TEST_CASE(
    "segment measure: frames move on where the first iterations read the same rows") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 4, 4, 16}, SLUICE_DTYPE_INT8, 1},
               {{1, 4, 4, 16}, SLUICE_DTYPE_INT8, 0},
               {{1, 32, 4, 16}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, {0, 1 << 30, 1, 0, -128, 127}},
              {SLUICE_OP_RESIZE_BILINEAR, {1}, {2}, {0, 1}}};
  sluice_test::MakerCase c(g);
  SegmentMaker& maker = c.maker;
  LoopChoice rows;
  rows.Add(1, 32);
  REQUIRE(maker.Make({}, 0, 2, rows));
  for (const SpaceImage& image : maker.images()) {
    CAPTURE(image.root);
    CHECK(image.loop == 0);  // a new frame in each iteration
    if (image.root != 2) CHECK(image.bytes < 4 * 4 * 16);
  }
}

}  // namespace
}  // namespace sluice
