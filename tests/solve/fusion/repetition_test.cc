// SPDX-License-Identifier: Apache-2.0
// The longest repeating stretch of layers, in chains made by hand.
#include "solve/fusion/repetition.h"

#include <doctest/doctest.h>

#include "tests/solve/fusion/lowered.h"

namespace sluice {
namespace {

Repetition Find(const sluice_test::GraphSpec& spec) {
  sluice_test::Lowered lowered(spec);
  std::vector<uint32_t> layers(spec.layers.size());
  for (uint32_t i = 0; i < layers.size(); ++i) layers[i] = i;
  Arena scratch(&lowered.n.memory);
  Repetition found = {9, 9, 9};
  REQUIRE(FindRepetition(lowered.n.graph, lowered.lowering,
                         {layers.data(), layers.size()}, &scratch,
                         &found) == Status::kOk);
  return found;
}

// Blocks "REQUANTIZE, POOL": a pool of one element keeps the extents.
sluice_test::GraphSpec Blocks(size_t blocks) {
  sluice_test::GraphSpec g = sluice_test::Chain(2 * blocks);
  for (size_t l = 1; l < g.layers.size(); l += 2) {
    g.layers[l].op = SLUICE_OP_MAX_POOL;
    g.layers[l].attributes = {1, 1, 1, 1, 0, 0, 0, 0, -128, 127};
  }
  return g;
}

TEST_CASE("repetition: blocks of two layers repeat as often as there are") {
  const Repetition r = Find(Blocks(6));
  CHECK(r.period == 2);
  CHECK(r.first <= 2);
  CHECK(r.times >= 5);
  CHECK(r.first + r.period * r.times <= 12);
}

TEST_CASE("repetition: two blocks are too few, and a layer that differs ends it") {
  CHECK(Find(Blocks(2)).times == 0);
  sluice_test::GraphSpec g = Blocks(8);
  g.layers[4].op = SLUICE_OP_AVERAGE_POOL;  // in place of a REQUANTIZE
  g.layers[4].attributes = {1, 1, 1, 1, 0, 0, 0, 0, -128, 127};
  const Repetition r = Find(g);
  CHECK(r.period == 2);
  CHECK(r.first >= 4);
  CHECK(r.times >= 3);
}

}  // namespace
}  // namespace sluice
