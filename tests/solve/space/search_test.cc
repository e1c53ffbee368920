// SPDX-License-Identifier: Apache-2.0
#include "solve/space/search.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

SpacePlan Find(const sluice_test::SpaceCase& c, Arena* arena) {
  Budget budget;
  SpaceSearch search;
  search.goal = {1, 1};
  search.budget = &budget;
  SpacePlan plan;
  REQUIRE(SearchSpace(c.problem, search, arena, arena, &plan) == Status::kOk);
  return plan;
}

TEST_CASE("space search: with room, only inputs are loaded and only outputs stored") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  REQUIRE(plan.layers.size() == 3);
  CHECK(plan.segments.begin()->first == 0);
  uint32_t next = 0;
  for (const SpaceSegment& s : plan.segments) {
    CHECK(s.first == next);
    next = s.last;
  }
  CHECK(next == 3);
  for (const SpaceImage& image : plan.images) {
    CHECK(image.load == (image.root == 0));
    CHECK((image.store != SpaceStore::kNever) == (image.root == 4));
    if (image.root == 3) CHECK(image.last == 2);
  }
}

TEST_CASE("space search: an output is stored in pieces while the rest is computed") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  for (sluice_test::TensorSpec& t : g.tensors) t.dims[1] = t.dims[2] = 64;
  const sluice_test::SpaceCase c(g, 1 << 20);  // everything fits many times
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  CHECK(plan.layers[2].loop != kNone);
}

TEST_CASE("space search: a scratchpad too small for any tile is infeasible") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph(), 4);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Budget budget;
  SpaceSearch search;
  search.goal = {1, 1};
  search.budget = &budget;
  SpacePlan plan;
  CHECK(SearchSpace(c.problem, search, &arena, &arena, &plan) == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
