// SPDX-License-Identifier: Apache-2.0
// Which layers are written together, and what is stored because another group reads it.
#include "plan/mesh/node_groups.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"
#include "tests/solve/fusion/lowered.h"

namespace sluice {
namespace {

// input -> a (layer 0, tensor 1) -> b (1, 2); concat {a, b} (2, 3), a view; -> last (3, 4).
struct Grouped : sluice_test::Lowered {
  Grouped() : Lowered(sluice_test::JoinedGraph()) { REQUIRE(lowering.is_view[2] == 1); }
  SegmentSchedule segments = {};
  TileCoster coster = {};
  Budget budget;
  Arena places{&n.memory}, scratch{&n.memory};
  Program program{&places, n.hardware};
  NodeCall call{n.graph, n.hardware, lowering, 1 << 16, segments, WholeMesh(n.hardware),
                false,   coster,     &budget,  &places, &scratch};
  NodeSchedule schedule{call, &scratch, &program};
};

TEST_CASE("node groups: the order of the graph without its views, or the given one") {
  Grouped g;
  REQUIRE(StartGroups(&g.schedule, {}) == Status::kOk);
  REQUIRE(g.schedule.order.size() == 3);
  CHECK(g.schedule.order[0] == 0);
  CHECK(g.schedule.order[2] == 3);
  for (const uint32_t group : g.schedule.group_of) CHECK(group == kNone);
  const uint32_t given[] = {0, 3, 1};
  REQUIRE(StartGroups(&g.schedule, Span<const uint32_t>(given, 3)) == Status::kOk);
  CHECK(g.schedule.order[1] == 3);
}

TEST_CASE("node groups: what a later group reads through a view is stored") {
  Grouped g;
  REQUIRE(StartGroups(&g.schedule, {}) == Status::kOk);
  const NodeGroup pair = {0, 2, nullptr};
  MarkGroup(&g.schedule, pair);
  REQUIRE(g.schedule.groups.Push(pair) == Status::kOk);
  REQUIRE(AddAlone(&g.schedule, 2, nullptr) == Status::kOk);
  CHECK(g.schedule.group_of[0] == 0);
  CHECK(g.schedule.group_of[1] == 0);
  CHECK(g.schedule.group_of[2] == kNone);
  CHECK(g.schedule.group_of[3] == 1);
  CHECK(IsStored(g.schedule, 0));  // the view reads it
  CHECK(IsStored(g.schedule, 1));
  CHECK(IsStored(g.schedule, 3));  // an output
  // Tensor 3 is a view of tensors that group 0 makes. Tensor 1, which is no view, counts
  // only with `through`.
  CHECK(ComesFrom(g.schedule, 3, 0, false));
  CHECK(ComesFrom(g.schedule, 1, 0, true));
  CHECK(!ComesFrom(g.schedule, 1, 0, false));
  CHECK(!ComesFrom(g.schedule, 4, 0, true));
  CHECK(!ComesFrom(g.schedule, 0, 0, true));  // the graph's input
}

}  // namespace
}  // namespace sluice
