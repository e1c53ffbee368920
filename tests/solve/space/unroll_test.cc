// SPDX-License-Identifier: Apache-2.0
#include "solve/space/unroll.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space unroll: an image lasts over all segments that hold it") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker maker(c.problem);
  REQUIRE(maker.Init(&arena) == Status::kOk);
  Held held[] = {{3, false}};
  Vector<SpaceNode> nodes(&arena);
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
  REQUIRE(UnrollNodes(c.problem, nodes, 3, &maker, &arena, &plan) == Status::kOk);
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
