// SPDX-License-Identifier: Apache-2.0
// A scheme that is changed in place: groups, moved layers, undone changes, scores.
#include "solve/fusion/scheme.h"

#include "solve/fusion/moves.h"
#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

using Cuts = std::vector<uint8_t>;
constexpr uint8_t kD = kCutDram, kF = kCutFine, kN = kCutNone;

TEST_CASE("scheme: the cost is energy and time to the powers of the objective") {
  CHECK(Cost(Objective{1, 1}, 3.0, 5) == 15.0);
  CHECK(Cost(Objective{2, 1}, 3.0, 5) == 45.0);
  CHECK(Cost(Objective{0, 2}, 3.0, 5) == 25.0);
}

TEST_CASE(
    "scheme: at first every layer is a fine group of one tile in one DRAM group") {
  const Small small;
  Searched s(small.problem, small.model);
  const Copy n(s.scheme.notation());
  CHECK(n.order == std::vector<uint32_t>{0, 1, 2, 3, 4});
  CHECK(n.cut == Cuts{kD, kF, kF, kF, kF});
  CHECK(n.tiles == std::vector<int32_t>{1, 1, 1, 1, 1});
}

TEST_CASE("scheme: a layer moves, and those between by one place") {
  const Small small;
  Searched s(small.problem, small.model);
  s.scheme.MoveLayer(1, 3);
  CHECK(Copy(s.scheme.notation()).order == std::vector<uint32_t>{0, 2, 3, 1, 4});
  s.scheme.MoveLayer(3, 1);
  CHECK(Copy(s.scheme.notation()).order == std::vector<uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("scheme: a stretch becomes one group, what it cuts off keeps its number") {
  const Small small;
  Searched s(small.problem, small.model);
  s.scheme.MakeGroup(0, 5, 4);
  CHECK(Copy(s.scheme.notation()).cut == Cuts{kD, kN, kN, kN, kN});
  CHECK(s.scheme.notation().tiles[0] == 4);
  CHECK(s.scheme.GroupFirst(3) == 0);
  CHECK(s.scheme.GroupLast(3) == 5);
  s.scheme.MakeGroup(1, 3, 2);
  CHECK(Copy(s.scheme.notation()).cut == Cuts{kD, kF, kN, kF, kN});
  CHECK(s.scheme.notation().tiles[0] == 4);
  CHECK(s.scheme.notation().tiles[1] == 2);
  CHECK(s.scheme.notation().tiles[3] == 4);
  s.scheme.Keep();
  s.scheme.SetCut(3, kCutDram);
  s.scheme.SetTiles(3, 8);
  s.scheme.Undo();
  CHECK(s.scheme.notation().cut[3] == kCutFine);
  CHECK(s.scheme.notation().tiles[3] == 4);
}

TEST_CASE("scheme: a bound is never above the score, and no smaller buffer is legal") {
  Small small;
  Searched s(small.problem, small.model);
  const SchemeScore bound = s.scheme.Bound();
  REQUIRE(bound.parsed == ParseResult::kOk);
  CHECK(bound.excess == 0);
  const SchemeScore score = s.scheme.Score(kAnnealRejected);
  REQUIRE(score.parsed == ParseResult::kOk);
  CHECK(bound.cost <= score.cost);
  CHECK(bound.energy_pj == score.energy_pj);
  CHECK(score.cost == Cost(Objective(), score.energy_pj, score.latency_cycles));
  // Scoring stops once the cost exceeds the limit given.
  CHECK(s.scheme.Score(score.cost / 2).cost == kAnnealRejected);
  small.problem.buffer_bytes = bound.minimum_bytes;
  CHECK(s.scheme.Score(kAnnealRejected).cost < kAnnealRejected);
  small.problem.buffer_bytes = bound.minimum_bytes - 1;
  CHECK(s.scheme.Score(kAnnealRejected).cost == kAnnealRejected);
  s.scheme.target_bytes = bound.minimum_bytes - 1;
  CHECK(s.scheme.Bound().excess > 0);
  CHECK(s.scheme.Use(s.scheme.PeakPosition()) <= bound.minimum_bytes);
}

TEST_CASE("scheme: a reader in front of what it reads is no order") {
  const Small small;
  Searched s(small.problem, small.model);
  s.scheme.MoveLayer(1, 0);
  CHECK(s.scheme.Bound().parsed == ParseResult::kOrder);
  CHECK(s.scheme.Score(kAnnealRejected).cost == kAnnealRejected);
}

TEST_CASE("scheme: a parse after changes is the parse of a fresh parser") {
  const auto network = MakeGrowingNetwork("dag", 40);
  Searched s(network->problem, network->model);
  TileMemo memo;
  REQUIRE(memo.Init(&s.arena, network->model, 1 << 12) == Status::kOk);
  Rng rng(7);
  int parsed = 0;
  for (int round = 0; round < 1500; ++round) {
    if (!RandomMove(kMovesOurs, &s.scheme, &rng)) {
      s.scheme.Undo();
      continue;
    }
    const SchemeScore score = s.scheme.Bound();
    ArenaScope scope(&s.arena);
    Parser fresh;
    TileList list;
    REQUIRE(InitParser(&fresh, &s.arena, &network->problem, &memo, {256 * 40, 512 * 40},
                       &list) == Status::kOk);
    REQUIRE(ParseNotation(&fresh, s.scheme.notation(), &list) == score.parsed);
    if (score.parsed == ParseResult::kOk) {
      ++parsed;
      REQUIRE(s.scheme.list().compute_cycles == list.compute_cycles);
      REQUIRE(s.scheme.list().dram_cycles == list.dram_cycles);
      REQUIRE(s.scheme.list().core_pj == list.core_pj);
    }
    if (score.parsed == ParseResult::kOk && rng.Below(2) == 0) {
      s.scheme.Keep();
    } else {
      s.scheme.Undo();
    }
  }
  CHECK(parsed > 300);
}

}  // namespace
}  // namespace sluice
