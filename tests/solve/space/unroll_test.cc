// SPDX-License-Identifier: Apache-2.0
#include "solve/space/unroll.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space unroll: an image lasts over all segments that hold it") {
  sluice_test::MakerCase c(sluice_test::JoinedGraph());
  SegmentMaker& maker = c.maker;
  Held held[] = {{3, false}};
  Sequence<SpaceNode> nodes(&c.arena);
  SpaceNode node = {};
  node.before = kNone;
  REQUIRE(nodes.Push(node) == Status::kOk);
  for (uint32_t i = 0; i < 3; ++i) {
    node.before = i;
    node.first = i;
    node.last = i + 1;
    node.held = i < 2 ? Span<const Held>(held, 1) : Span<const Held>();
    REQUIRE(nodes.Push(node) == Status::kOk);
  }
  SpacePlan plan;
  REQUIRE(UnrollNodes(c.problem, nodes, 3, &maker, &c.arena, &plan) == Status::kOk);
  CHECK(plan.segments.size() == 3);
  int found = 0;
  for (const SpaceImage& image : plan.images) {
    if (image.root != 3) continue;
    ++found;
    CHECK(image.whole);
    CHECK(image.first == 0);
    CHECK(image.last == 2);
    CHECK(image.store == SpaceStore::kNever);
  }
  CHECK(found == 1);
}

}  // namespace
}  // namespace sluice
