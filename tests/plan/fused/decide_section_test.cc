// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/decide_section.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::SectionedCase;

TEST_CASE(
    "decide section: a chain is fused, for less than its layers cost one by one") {
  SectionedCase c(Chain(4));
  bool any = false;
  REQUIRE(ChooseSections(&c.plan, &any) == Status::kOk);
  CHECK(any);
  REQUIRE(c.plan.count == 1);
  const Section& s = c.plan.sections[0];
  CHECK(s.fused);
  CHECK(s.decision == 1);
  CHECK(s.offsets.size() == s.buffers.ranges.size());
  for (size_t b = 0; b < s.offsets.size(); ++b) {
    CHECK(s.offsets[b] + s.buffers.ranges[b].bytes <= 4096);
  }
}

TEST_CASE(
    "decide section: what does not fit is tried in halves, down to single layers") {
  SectionedCase c(Chain(4), 16);
  bool any = true;
  REQUIRE(ChooseSections(&c.plan, &any) == Status::kOk);
  CHECK(!any);
  CHECK(c.plan.count == 4);
  for (const Section& s : c.plan.all()) CHECK(!s.fused);
}

TEST_CASE("decide section: an equal section shortly before decides for the next") {
  SectionedCase c(Chain(8));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  SplitSection(&c.plan, 0);
  SplitSection(&c.plan, 0);
  SplitSection(&c.plan, 2);
  REQUIRE(c.plan.count == 4);
  // The first reads the graph's input, the last one makes its output.
  const auto open = [&](uint32_t i) {
    bool decided = false;
    REQUIRE(OpenSection(&c.plan, &c.plan.sections[i], &decided) == Status::kOk);
    return decided;
  };
  CHECK(!open(1));
  REQUIRE(TrySection(&c.plan, &c.plan.sections[1]) == Status::kOk);
  REQUIRE(c.plan.sections[1].fused);
  CHECK(open(2));
  CHECK(c.plan.sections[2].fused);
  CHECK(c.plan.sections[2].decision == c.plan.sections[1].decision);
  CHECK(c.plan.sections[2].cost == c.plan.sections[1].cost);
  CHECK(TwinOf(c.plan, 2) == 1);
  c.plan.sections[1].fused = false;
  CHECK(TwinOf(c.plan, 2) == c.plan.count);
  CHECK(!TakeTwin(&c.plan, &c.plan.sections[2]));
}

TEST_CASE(
    "decide section: rounds by the options, or a hundred per layer in a deadline") {
  SectionedCase c(sluice_test::ChainWithHost(6, 3));
  c.Open();
  const Section& three = c.plan.sections[0];
  CHECK(RoundsOf(c.plan, three) == 0);  // no limit: construction only
  c.plan.sections[0].repeats = true;
  CHECK(RoundsOf(c.plan, three) == 300);
  c.plan.sections[0].repeats = false;
  c.options.deadline_ns = 1000000;
  CHECK(RoundsOf(c.plan, three) == 300);
  c.options.max_iterations = 60;  // of six layers
  CHECK(RoundsOf(c.plan, three) == 30);
  c.options.max_iterations = 2;
  CHECK(RoundsOf(c.plan, three) == 1);
  c.options.solver = SLUICE_SOLVER_SOMA;
  CHECK(RoundsOf(c.plan, three) == 0);
}

TEST_CASE("decide section: many layers in a deadline leave a sixteenth free") {
  SectionedCase c(Chain(64));
  c.Open();
  CHECK(BufferOf(c.plan, c.plan.sections[0]) == 4096);
  c.options.deadline_ns = 1000000;
  CHECK(BufferOf(c.plan, c.plan.sections[0]) == 4096 - 256);
  SplitSection(&c.plan, 0);
  CHECK(BufferOf(c.plan, c.plan.sections[0]) == 4096);
}

TEST_CASE(
    "decide section: a carried start is reworked with few evaluations, or with none") {
  SectionedCase c(Chain(4));
  c.Open();
  c.options.solver = SLUICE_SOLVER_SOMA;
  c.options.energy_exponent = 2;
  c.options.seed = 5;
  Section* s = &c.plan.sections[0];
  FusionSearch search = SearchOf(c.plan, *s, 7);
  CHECK(search.solver == SLUICE_SOLVER_SOMA);
  CHECK(search.start == nullptr);
  CHECK(search.objective.energy_exponent == 2);
  CHECK(search.objective.delay_exponent == 0);
  CHECK(search.seed == 5);
  CHECK(search.rounds == 7);
  CarriedSchedule carried;
  c.call.carried = &carried;
  uint32_t order[] = {0, 1, 2, 3};
  s->start.order = {order, 4};
  carried.touched = 8;
  search = SearchOf(c.plan, *s, 0);
  CHECK(search.solver == SLUICE_SOLVER_FUSION);
  CHECK(search.start == &s->start);
  CHECK(search.evaluations == 64);
  carried.touched = 9;
  CHECK(SearchOf(c.plan, *s, 0).evaluations == 8);  // two per layer
  carried.minimise = true;
  CHECK(SearchOf(c.plan, *s, 0).evaluations == 0);
}

TEST_CASE(
    "decide section: a part's iterations count, its end only without a deadline") {
  SectionedCase c(Chain(4));
  Budget part({}, 0, 2, nullptr);
  part.Spend();
  part.Spend();
  REQUIRE(part.Spend());
  c.options.deadline_ns = 1;
  JoinPart(&c.plan, part);
  CHECK(c.budget.iterations() == part.iterations());
  CHECK(!c.budget.Exhausted());
  c.options.deadline_ns = 0;
  JoinPart(&c.plan, part);
  CHECK(c.budget.Exhausted());
}

}  // namespace
}  // namespace sluice
