// SPDX-License-Identifier: Apache-2.0
#include "solve/space/change_plan.h"

#include <doctest/doctest.h>

#include "support/row_case.h"

namespace sluice {
namespace {

struct Changed {
  std::vector<KnownSegment> before;
  double was;   // cost of the plan before
  double cost;  // of the plan
  bool changed;
};

Changed Change(RowCase* c, SpaceSearch search, uint64_t work = 4000) {
  Budget budget;
  search.goal = c->goal;
  search.budget = &budget;
  const auto last = static_cast<uint32_t>(c->nodes.size() - 1);
  ChangedPlan out;
  REQUIRE(ChangePlan({c->problem, search, &c->memo, c->prices, work}, c->nodes, last,
                     &c->arena, &out) == Status::kOk);
  const bool changed = !out.links.empty();
  const SpaceNode& end =
      changed ? out.links[out.links.size() - 1].node : c->nodes[last];
  const PlanTotal& was = out.before.total;
  return {{out.before.segment.begin(), out.before.segment.end()},
          was.energy_pj * static_cast<double>(was.cycles),
          c->CostOf(end),
          changed};
}

// Layers in a scratchpad where random changes find more than those that pay.
constexpr int64_t kBytes = 2816;

SpaceSearch Without() {
  SpaceSearch search;
  search.improving = 0;
  search.annealing = 0;
  return search;
}

TEST_CASE("change plan: nothing is changed without work") {
  RowCase c(ReadAgain(16), 16, kBytes);
  CHECK(!Change(&c, Without()).changed);
}

TEST_CASE("change plan: random changes may be of as much work as the search") {
  RowCase by_work(ReadAgain(16), 16, kBytes), given(ReadAgain(16), 16, kBytes);
  RowCase none(ReadAgain(16), 16, kBytes);
  SpaceSearch search = Without();
  search.annealing = SpaceSearch::kByWork;
  CHECK(!Change(&none, search, 0).changed);
  const Changed first = Change(&by_work, search, 4000);
  search.annealing = 4000;
  const Changed second = Change(&given, search, 0);
  CHECK(first.changed);
  CHECK(first.cost == second.cost);
}

TEST_CASE("change plan: near the bound there are no random changes") {
  RowCase a(ReadAgain(16), 16, kBytes), b(ReadAgain(16), 16, kBytes);
  const PlanTotal total = a.prices.Total(a.nodes[a.nodes.size() - 1]);
  SpaceSearch search = Without();
  search.annealing = 4000;
  search.least_cycles = total.cycles;
  search.least_pj = total.energy_pj / 1.12;
  CHECK(!Change(&a, search).changed);
  search.least_pj = total.energy_pj / 1.13;
  CHECK(Change(&b, search).changed);
}

TEST_CASE(
    "change plan: the plan before changes is that before random ones if they pay") {
  RowCase a(ReadAgain(16), 16, kBytes), b(ReadAgain(16), 16, kBytes);
  SpaceSearch search;
  search.annealing = 0;
  const double first = a.CostOf(a.nodes[a.nodes.size() - 1]);
  const Changed descended = Change(&a, search);
  REQUIRE(descended.changed);
  CHECK(descended.was == first);
  for (uint32_t at = 0; at < descended.before.size(); ++at) {
    CHECK(descended.before[at].last == at + 1);
  }
  search.annealing = 4000;
  const Changed both = Change(&b, search);
  REQUIRE(both.changed);
  const bool paid = both.cost < descended.cost * (1 - 1.0 / 512);
  CHECK((both.before[0].last != 1 || both.before[1].last != 2) == paid);
  CHECK(both.was == (paid ? descended.cost : first));
}

TEST_CASE("change plan: known segments may be changed if the caller says so") {
  for (const bool keeps : {true, false}) {
    RowCase c(ReadAgain(16), 16, kBytes);
    std::vector<KnownSegment> known(c.problem.layer.size());
    LoopChoice loops;
    loops.Add(1, 16);
    for (uint32_t at = 0; at < known.size(); ++at) known[at] = {at + 1, loops};
    SpaceSearch search;
    search.known = {known.data(), known.size()};
    search.keeps_known = keeps;
    CHECK(Change(&c, search).changed == !keeps);
  }
}

}  // namespace
}  // namespace sluice
