// SPDX-License-Identifier: Apache-2.0
#include "plan/space/segment_notation.h"

#include <doctest/doctest.h>
#include <string.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

// A plan, its notation, and a copy of it to change.
struct Noted {
  explicit Noted(const sluice_test::GraphSpec& graph, int64_t capacity)
      : c(graph, capacity) {
    plan = Search({});
    REQUIRE(NoteSpace({plan, c.problem.slack, 1}, &arena, &notation) == Status::kOk);
    segment.assign(notation.segment.begin(), notation.segment.end());
    loop.assign(notation.loop.begin(), notation.loop.end());
  }

  SpacePlan Search(Span<const KnownSegment> known) {
    Budget budget;
    SpaceSearch search;
    search.goal = {1, 1};
    search.budget = &budget;
    search.known = known;
    SpacePlan found;
    REQUIRE(SearchSpace(c.problem, search, &arena, &arena, &found) == Status::kOk);
    return found;
  }

  Status Read(CarriedSegments* out, const Alignment* alignment = nullptr,
              bool near = true) {
    PlanNotation n = notation;
    n.segment = {segment.data(), segment.size()};
    n.loop = {loop.data(), loop.size()};
    *out = {};
    diagnostic = {};
    return CarrySegments({&n, alignment, near}, c.problem, &arena, out, &diagnostic);
  }

  sluice_test::SpaceCase c;
  sluice::Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  SpacePlan plan;
  PlanNotation notation;
  std::vector<PlanSegment> segment;
  std::vector<PlanLoop> loop;
  Diagnostic diagnostic = {};
};

// Convolutions whose data do not fit the scratchpad: some segments have loops.
sluice_test::GraphSpec Large() {
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  for (const int t : {0, 3, 4}) g.tensors[t].dims[1] = 64;
  return g;
}

bool Same(const SpaceImage& a, const SpaceImage& b) {
  return a.root == b.root && a.loop == b.loop && a.from == b.from &&
         a.first == b.first && a.last == b.last && a.whole == b.whole &&
         a.load == b.load && a.store == b.store && a.slots == b.slots &&
         a.bytes == b.bytes;
}

TEST_CASE("segment notation: the plan follows from it") {
  Noted n(Large(), 2048);
  REQUIRE(!n.loop.empty());
  CHECK(n.notation.placing == 1);
  CHECK(n.notation.leave.empty());
  CHECK(n.notation.cut.empty());
  CarriedSegments carried;
  REQUIRE(n.Read(&carried) == Status::kOk);
  CHECK(carried.all);
  CHECK(carried.kept == n.plan.segments.size());
  const SpacePlan again = n.Search(carried.known);
  REQUIRE(again.segments.size() == n.plan.segments.size());
  REQUIRE(again.images.size() == n.plan.images.size());
  for (size_t i = 0; i < again.images.size(); ++i) {
    CHECK(Same(again.images[i], n.plan.images[i]));
  }
}

TEST_CASE("segment notation: other loops make another plan") {
  Noted n(Large(), 1 << 16);  // everything fits
  CarriedSegments carried;
  REQUIRE(n.Read(&carried) == Status::kOk);
  KnownSegment* first = carried.known.begin();
  REQUIRE(first->last != 0);
  first->choice = {};
  first->choice.Add(1, 8);
  const SpacePlan other = n.Search(carried.known);
  CHECK(other.segments.begin()->choice.trips[0] == 8);
  CHECK(other.loops.size() >= 1);
}

TEST_CASE("segment notation: bytes left empty are noted by position") {
  Noted n(sluice_test::JoinedGraph(), 1 << 16);
  n.c.problem.slack[1] = 96;
  PlanNotation notation;
  REQUIRE(NoteSpace({n.plan, n.c.problem.slack, 0}, &n.arena, &notation) ==
          Status::kOk);
  REQUIRE(notation.leave.size() == notation.order.size());
  CHECK(notation.leave[1] == 96);
  CarriedSegments carried;
  REQUIRE(CarrySegments({&notation, nullptr, true}, n.c.problem, &n.arena, &carried,
                        &n.diagnostic) == Status::kOk);
  CHECK(carried.leave[1] == 96);
  CHECK(carried.leave[0] == 0);
  n.c.problem.slack[1] = int64_t{1} << 40;  // more than the field's bits hold
  CHECK(NoteSpace({n.plan, n.c.problem.slack, 0}, &n.arena, &notation) ==
        Status::kUnsupported);
}

TEST_CASE("segment notation: layers stand in its order, as far as they are paired") {
  Noted n(sluice_test::JoinedGraph(), 1 << 16);
  Span<uint32_t> order;
  REQUIRE(LayersOf({&n.notation, nullptr, true}, &n.arena, &order) == Status::kOk);
  REQUIRE(order.size() == 3);
  CHECK(order[2] == 3);
  uint32_t after[] = {1, kNone};
  Alignment alignment = {};
  alignment.after_of = {after, 2};
  REQUIRE(LayersOf({&n.notation, &alignment, true}, &n.arena, &order) == Status::kOk);
  CHECK(order[0] == 1);
  CHECK(order[1] == kNone);
  CHECK(order[2] == kNone);
}

TEST_CASE("segment notation: what is none is refused") {
  Noted n(Large(), 2048);
  CarriedSegments carried;
  const std::vector<PlanLoop> loops = n.loop;
  const auto refused = [&] {
    return n.Read(&carried) == Status::kBadInput &&
           strcmp(n.diagnostic.stage, "notation") == 0;
  };
  n.loop[0].axis = 5;
  CHECK(refused());
  n.loop = loops;
  n.loop[0].trips = 1;
  CHECK(refused());
  n.loop[0].trips = -3;
  CHECK(refused());
  n.loop[0].trips = 1 << 30;
  CHECK(refused());
  n.loop = loops;
  n.segment[0].layers = 0;
  CHECK(refused());
  n.segment[0].layers = 1000;
  CHECK(refused());
  n.segment[0].layers = 1;
  n.segment[0].loops = 1000;
  CHECK(refused());
  n.notation.section = {};
  CHECK(refused());
}

TEST_CASE("segment notation: more trips than there are parts are not kept") {
  Noted n(Large(), 2048);
  CarriedSegments carried;
  REQUIRE(n.Read(&carried) == Status::kOk);
  const uint32_t kept = carried.kept;
  n.loop[0] = {1, 65};  // of 64 rows
  REQUIRE(n.Read(&carried) == Status::kOk);
  CHECK(carried.kept == kept - 1);
  CHECK(!carried.all);
}

TEST_CASE("segment notation: changed layers take their segments and those beside") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  for (uint32_t t = 4; t < 7; ++t) {
    g.tensors.push_back({{1, 8, 8, 8}, SLUICE_DTYPE_INT8, 2});
    g.tensors[t].kind = 0;
    g.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {t}, {t + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  Noted n(g, 1 << 16);
  const size_t layers = n.c.problem.layer.size();
  REQUIRE(layers == 6);
  n.segment.assign(layers, PlanSegment{1, 0, 0, 0});
  n.loop.clear();
  std::vector<uint32_t> pair(n.c.lowering.executed.size());
  std::vector<uint8_t> same(pair.size(), 1);
  for (uint32_t i = 0; i < pair.size(); ++i) pair[i] = i;
  same[n.c.problem.layer[2]] = 0;
  Alignment alignment;
  alignment.before_of = alignment.after_of = {pair.data(), pair.size()};
  alignment.same = {same.data(), same.size()};
  CarriedSegments carried;
  REQUIRE(n.Read(&carried, &alignment, true) == Status::kOk);
  CHECK(carried.kept == layers - 1);
  CHECK(carried.known[1].last == 2);
  CHECK(carried.known[2].last == 0);
  REQUIRE(n.Read(&carried, &alignment, false) == Status::kOk);
  CHECK(carried.kept == layers - 3);
  CHECK(carried.known[0].last == 1);
  CHECK(carried.known[1].last == 0);
  CHECK(carried.known[3].last == 0);
  CHECK(carried.known[4].last == 5);
}

}  // namespace
}  // namespace sluice
