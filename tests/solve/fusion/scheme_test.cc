// SPDX-License-Identifier: Apache-2.0
// The bound and the score of a scheme, while it is changed in place.
#include "solve/fusion/scheme.h"

#include "solve/fusion/moves.h"
#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

TEST_CASE("scheme: the cost is energy and time to the powers of the objective") {
  CHECK(Cost(Objective{1, 1}, 3.0, 5) == 15.0);
  CHECK(Cost(Objective{2, 1}, 3.0, 5) == 45.0);
  CHECK(Cost(Objective{0, 2}, 3.0, 5) == 25.0);
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
  MoveLayer(&s.scheme.draft, 1, 0);
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
      UndoChanges(&s.scheme.draft);
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
      KeepChanges(&s.scheme.draft);
    } else {
      UndoChanges(&s.scheme.draft);
    }
  }
  CHECK(parsed > 300);
}

}  // namespace
}  // namespace sluice
