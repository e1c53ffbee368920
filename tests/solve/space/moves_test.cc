// SPDX-License-Identifier: Apache-2.0
#include "solve/space/moves.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "support/joined_graph.h"

namespace sluice {
namespace {

std::string Text(const LoopChoice& loops) {
  std::string text;
  for (int k = 0; k < loops.count; ++k) {
    text += std::string(1, "NHWCS"[loops.cut[k]]) + std::to_string(loops.trips[k]);
  }
  return text;
}

// The segments of a change: "3-5 H2, 5-6".
std::string Text(const SegmentChange& change) {
  std::string text;
  for (size_t k = 0; k < change.made; ++k) {
    text += (k == 0 ? "" : ", ") + std::to_string(change.border[k]) + "-" +
            std::to_string(change.border[k + 1]) + " " + Text(change.loops[k]);
  }
  return text;
}

std::set<std::string> AllOf(const SegmentAt& segment, const SegmentAt* next,
                            int moves) {
  std::set<std::string> all;
  for (int move = 0; move < moves; ++move) {
    SegmentChange change;
    if (!DraftChange(segment, next, move, &change)) continue;
    CHECK(change.border[0] == segment.first);
    const uint32_t end = change.replaced == 2 ? next->last : segment.last;
    CHECK(change.border[change.made] == end);
    all.insert(Text(change));
  }
  return all;
}

LoopChoice Loops(int axis, int32_t trips) {
  LoopChoice loops;
  loops.Add(axis, trips);
  return loops;
}

TEST_CASE("moves: parts, loops, places to divide, and nothing that needs a neighbour") {
  const LoopChoice rows = Loops(1, 4);
  const std::set<std::string> expected = {
      "3-6 H5",         "3-6 H3",       "3-6 H8",       "3-6 H2",
      "3-6 ",           "3-6 H4N2",     "3-6 H4W2",     "3-6 H4C2",
      "3-4 H4, 4-6 H4", "3-4 , 4-6 H4", "3-4 H4, 4-6 ", "3-5 H4, 5-6 H4",
      "3-5 , 5-6 H4",   "3-5 H4, 5-6 "};
  CHECK(AllOf({3, 6, rows}, nullptr, kSegmentMoves) == expected);
}

TEST_CASE("moves: two segments are joined, or their border moves by a layer") {
  const LoopChoice rows = Loops(1, 4), images = Loops(0, 2);
  const SegmentAt next = {5, 8, images};
  std::set<std::string> all = AllOf({4, 5, rows}, &next, kSegmentMoves);
  for (const std::string& alone : AllOf({4, 5, rows}, nullptr, kSegmentMoves)) {
    CHECK(all.erase(alone) == 1);
  }
  // The first segment has no layer to give away.
  CHECK(all == std::set<std::string>{"4-8 H4", "4-8 N2", "4-6 H4, 6-8 N2"});
}

TEST_CASE(
    "moves: a loop has a part less where another one has more, a sum twice as many") {
  LoopChoice loops = Loops(1, 4);
  loops.Add(2, 3);
  std::set<std::string> pairs = AllOf({4, 5, loops}, nullptr, kSegmentMoves);
  CHECK(pairs.count("4-5 H3W4") == 1);
  CHECK(pairs.count("4-5 H5W2") == 1);
  loops.Add(kSumCut, 5);
  pairs = AllOf({4, 5, loops}, nullptr, kSegmentMoves);
  CHECK(pairs.count("4-5 H3W3S10") == 1);
  CHECK(pairs.count("4-5 H4W4S4") == 1);
  CHECK(AllOf({4, 5, loops}, nullptr, kRandomMoves).count("4-5 H3W3S10") == 0);
}

TEST_CASE("moves: one loop takes the place of all, around one segment or two") {
  const LoopChoice rows = Loops(1, 4);
  const SegmentAt next = {5, 6, rows};
  std::set<std::string> all = AllOf({4, 5, rows}, &next, kAllMoves);
  for (const char* loop :
       {"N2", "N4", "H2", "H4", "W2", "W4", "C2", "C4", "S2", "S4", "S8"}) {
    CAPTURE(loop);
    CHECK(all.count("4-5 " + std::string(loop)) == 1);
    CHECK(all.count("4-6 " + std::string(loop)) == 1);
  }
}

TEST_CASE("moves: loops have no more parts than there is to cut") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  const SpaceProblem& p = c.problem;
  const Tensor& out = p.graph->tensors[p.at(0).outputs[0]];
  REQUIRE(out.extent[1] == 8);
  const auto fitted = [&](LoopChoice loops) {
    FitLoops(p, 0, 1, &loops);
    return Text(loops);
  };
  CHECK(fitted(Loops(1, 4)) == "H4");
  CHECK(fitted(Loops(1, 5)) == "H4");  // of two rows each
  CHECK(fitted(Loops(1, 100)) == "H8");
  CHECK(fitted(Loops(1, 0)) == "");
  CHECK(fitted(Loops(0, 3)) == "");  // there is one image
  LoopChoice none = Loops(1, 2);
  for (none.trips[0] = 1; none.trips[0] >= -1; --none.trips[0]) {
    CHECK(fitted(none) == "");
  }
  LoopChoice both = Loops(0, 3);
  both.Add(2, 2);
  CHECK(fitted(both) == "W2");
}

TEST_CASE(
    "moves: a sum has at least one part, and at most as many as there are channels") {
  const sluice_test::SpaceCase c(sluice_test::ChainGraph(1));
  LoopChoice loops = Loops(kSumCut, 2);
  const auto fitted = [&](int32_t trips) {
    LoopChoice some = loops;
    some.trips[0] = trips;
    FitLoops(c.problem, 1, 2, &some);
    return Text(some);
  };
  for (int32_t trips = -1; trips <= 1; ++trips) CHECK(fitted(trips) == "");
  CHECK(fitted(4) == "S4");
  CHECK(fitted(100) == "S16");
}

}  // namespace
}  // namespace sluice
