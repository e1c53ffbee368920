// SPDX-License-Identifier: Apache-2.0
#include "solve/space/layer_facts.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("layer facts: bytes of constants and of the other roots") {
  const sluice_test::SpaceCase c(sluice_test::ChainGraph(1));
  CHECK(ConstantsOf(c.problem, 0) == 256);
  CHECK(ConstantsOf(c.problem, 1) == 112);
  CHECK(ConstantsOf(c.problem, 2) == 64);
  CHECK(TouchedBy(c.problem, 0) == 256 + 1024);
  CHECK(TouchedBy(c.problem, 2) == 256 + 256);
  CHECK(&OutputOf(c.problem, 1) == &c.problem.graph->tensors[2]);
}

// Of 4,096 bytes, a map of 1,024 is no more than a quarter; of 2,048 it is.
TEST_CASE("layer facts: maps that fill much of the scratchpad are handed on") {
  const sluice_test::SpaceCase large(sluice_test::ChainGraph(1), 4096),
      small(sluice_test::ChainGraph(1), 2048);
  CHECK(!HandsOnMuch(large.problem, 0, 3));
  CHECK(HandsOnMuch(small.problem, 0, 3));
  CHECK(!HandsOnMuch(small.problem, 1, 3));  // b has 256 bytes
  CHECK(!HandsOnMuch(small.problem, 0, 1));  // a lives on
  const sluice_test::SpaceCase images(sluice_test::ChainGraph(8),
                                      4096);  // each map is as large as before
  CHECK(!HandsOnMuch(images.problem, 0, 3));
}

TEST_CASE("layer facts: an output is near, the layer that computes most") {
  const sluice_test::SpaceCase c(sluice_test::ChainGraph(1)),
      joined(sluice_test::JoinedGraph());
  CHECK(StoresSoon(c.problem, 0));
  CHECK(ComputesMost(c.problem, 0, 3) == 0);  // as many MACs as the second one
  CHECK(ComputesMost(c.problem, 1, 3) == 1);
  CHECK(ComputesMost(c.problem, 2, 3) == 2);
  CHECK(ComputesMost(joined.problem, 0, 2) == kNone);  // no layer computes
}

}  // namespace
}  // namespace sluice
