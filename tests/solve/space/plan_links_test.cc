// SPDX-License-Identifier: Apache-2.0
#include "solve/space/plan_links.h"

#include <doctest/doctest.h>

#include "support/row_case.h"

namespace sluice {
namespace {

TEST_CASE("plan links: links are replaced by copies, and rooms are used again") {
  sluice_test::SpaceCase c(sluice_test::RowGraph(4, {1, 8, 8, 4}));
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  PlanLinks links(&arena);
  REQUIRE(arena.Allocate(4, &links.all) == Status::kOk);
  Held held[] = {{1, false}, {2, true}};
  const auto link = [&](uint32_t first, uint32_t last, size_t roots) {
    PlanLink l = {};
    l.node.first = first;
    l.node.last = last;
    l.node.held = Span<const Held>(held, roots);
    return l;
  };
  const PlanLink three[] = {link(0, 1, 1), link(1, 3, 2), link(3, 4, 0)};
  REQUIRE(ReplaceLinks(0, 0, Span<const PlanLink>(three, 3), &links) == Status::kOk);
  REQUIRE(links.count == 3);
  held[0].root = 7;  // the links have copies
  CHECK(links.all[0].node.held[0].root == 1);
  CHECK(links.all[1].node.held.size() == 2);
  const Held* room = links.all[1].room.begin();
  const PlanLink two[] = {link(1, 2, 1), link(2, 3, 1)};
  REQUIRE(ReplaceLinks(1, 1, Span<const PlanLink>(two, 2), &links) == Status::kOk);
  REQUIRE(links.count == 4);
  CHECK(links.all[1].room.begin() == room);
  CHECK(links.all[1].node.held[0].root == 7);
  for (uint32_t k = 0; k < 4; ++k) CHECK(links.all[k].node.last == k + 1);
  CHECK(links.Before(2).last == 2);
  CHECK(links.end().last == 4);
  const PlanLink one[] = {link(0, 3, 0)};
  REQUIRE(ReplaceLinks(0, 3, Span<const PlanLink>(one, 1), &links) == Status::kOk);
  REQUIRE(links.count == 2);
  CHECK((links.all[0].node.last == 3 && links.all[1].node.last == 4));
}

TEST_CASE("plan links: a plan is later where all clocks are, by as many cycles") {
  SpaceNode node = {};
  node.compute = 5;
  node.dma = 3;
  node.stored = 9;
  node.window_size = 1;
  node.window[0] = {2, 64, 0};
  SpaceNode then = node;
  Delay(4, 1, &then);
  CHECK(then.energy_pj == node.energy_pj + 1);
  CHECK(then.window[0].start == 6);
  CHECK(IsLater(node, then));
  ++then.dma;
  CHECK_FALSE(IsLater(node, then));
}

}  // namespace
}  // namespace sluice
