// SPDX-License-Identifier: Apache-2.0
#include "solve/space/layer_facts.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

// in 0 -> a 1 of 16 channels -> b 2 of 4 channels -> c 3, an output; 8 rows of 8 columns.
// Weights, and 12 bytes for each channel: 64 + 192, 64 + 48, 16 + 48.
sluice_test::GraphSpec Chain(int32_t images) {
  sluice_test::GraphSpec g;
  const int32_t channels[] = {4, 16, 4, 4};
  for (uint32_t t = 0; t < 4; ++t) {
    const uint8_t kind = t == 0 ? 1 : t == 3 ? 2 : 0;
    g.tensors.push_back({{images, 8, 8, channels[t]}, SLUICE_DTYPE_INT8, kind});
  }
  for (uint32_t t = 1; t < 4; ++t) {
    const uint32_t weights = static_cast<uint32_t>(g.tensors.size());
    const int32_t made = channels[t], read = channels[t - 1];
    g.tensors.push_back({{made, 1, 1, read}, SLUICE_DTYPE_INT8, 3, 3});
    g.tensors.push_back({{made, 3}, SLUICE_DTYPE_INT32, 3, 3});
    g.layers.push_back(
        {SLUICE_OP_CONV, {t - 1, weights, weights + 1}, {t}, {1, 1, 1, 1}});
  }
  return g;
}

TEST_CASE("layer facts: bytes of constants and of the other roots") {
  const sluice_test::SpaceCase c(Chain(1));
  CHECK(ConstantsOf(c.problem, 0) == 256);
  CHECK(ConstantsOf(c.problem, 1) == 112);
  CHECK(ConstantsOf(c.problem, 2) == 64);
  CHECK(TouchedBy(c.problem, 0) == 256 + 1024);
  CHECK(TouchedBy(c.problem, 2) == 256 + 256);
  CHECK(&OutputOf(c.problem, 1) == &c.problem.graph->tensors[2]);
}

// Of 4,096 bytes, a map of 1,024 is no more than a quarter; of 2,048 it is.
TEST_CASE("layer facts: maps that fill much of the scratchpad are handed on") {
  const sluice_test::SpaceCase large(Chain(1), 4096), small(Chain(1), 2048);
  CHECK(!HandsOnMuch(large.problem, 0, 3));
  CHECK(HandsOnMuch(small.problem, 0, 3));
  CHECK(!HandsOnMuch(small.problem, 1, 3));  // b has 256 bytes
  CHECK(!HandsOnMuch(small.problem, 0, 1));  // a lives on
  const sluice_test::SpaceCase images(Chain(8),
                                      4096);  // each map is as large as before
  CHECK(!HandsOnMuch(images.problem, 0, 3));
}

TEST_CASE("layer facts: an output is near, the layer that computes most") {
  const sluice_test::SpaceCase c(Chain(1)), joined(sluice_test::JoinedGraph());
  CHECK(StoresSoon(c.problem, 0));
  CHECK(ComputesMost(c.problem, 0, 3) == 0);  // as many MACs as the second one
  CHECK(ComputesMost(c.problem, 1, 3) == 1);
  CHECK(ComputesMost(c.problem, 2, 3) == 2);
  CHECK(ComputesMost(joined.problem, 0, 2) == kNone);  // no layer computes
}

}  // namespace
}  // namespace sluice
