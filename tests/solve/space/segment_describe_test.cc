// SPDX-License-Identifier: Apache-2.0
// Which loops may cut a segment, and which layers it may have.
#include <doctest/doctest.h>

#include <vector>

#include "solve/space/segment.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

// Layer 0 reads a state, layer 1 appends a row to it, layer 2 reads it again.
TEST_CASE("segment describe: a state is not read on both sides of an append") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 4},
               {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 2},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 2}};
  g.parameters = {{0, 7}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  g.layers = {{SLUICE_OP_REQUANTIZE, {0}, {2}, same},
              {SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {2, 0}},
              {SLUICE_OP_REQUANTIZE, {0}, {3}, same}};
  sluice_test::MakerCase c(g);
  CHECK(c.maker.Make({}, 0, 2, LoopChoice{}));
  CHECK(c.maker.Make({}, 1, 3, LoopChoice{}));
  CHECK_FALSE(c.maker.Make({}, 0, 3, LoopChoice{}));
}

TEST_CASE(
    "segment describe: no loop runs from one piece of a joined root to the next") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  LoopChoice cut;
  cut.count = 1;
  cut.trips[0] = 2;
  cut.cut[0] = 3;  // the pieces are channels
  CHECK_FALSE(maker.Make({}, 0, 3, cut));
  CHECK(maker.Make({}, 0, 1, cut));
  cut.cut[0] = 1;
  CHECK(maker.Make({}, 0, 3, cut));
}

}  // namespace
}  // namespace sluice
