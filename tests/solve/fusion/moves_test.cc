// SPDX-License-Identifier: Apache-2.0
// Random moves: each leaves a notation, stays within its set, and can be undone.
#include "solve/fusion/moves.h"

#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"

namespace sluice {
namespace {

TEST_CASE("moves: every move leaves a notation, and undo brings back what was there") {
  for (const char* kind : {"chain", "dag", "residual"}) {
    const auto network = MakeGrowingNetwork(kind, 30);
    for (const MoveSet set : {kMovesOurs, kMovesSoma, kMovesCocco}) {
      CAPTURE(std::string(kind));
      CAPTURE(int{set});
      Searched s(network->problem, network->model);
      Rng rng(set);
      int changed = 0;
      for (int round = 0; round < 1000; ++round) {
        const Copy before(s.scheme.notation());
        const uint32_t policy = s.scheme.draft.policy;
        const bool moved = RandomMove(set, &s.scheme, &rng);
        const Copy after(s.scheme.notation());
        REQUIRE(IsNotation(after));
        if (!moved) REQUIRE(after == before);
        changed += moved ? 1 : 0;
        if (moved && rng.Below(3) == 0) {
          KeepChanges(&s.scheme.draft);
          continue;
        }
        UndoChanges(&s.scheme.draft);
        REQUIRE(Copy(s.scheme.notation()) == before);
        REQUIRE(s.scheme.draft.policy == policy);
      }
      CHECK(changed > 200);
    }
  }
}

TEST_CASE("moves: each set makes DRAM cuts where there were none") {
  const auto network = MakeGrowingNetwork("chain", 20);
  for (const MoveSet set : {kMovesOurs, kMovesSoma, kMovesCocco}) {
    Searched s(network->problem, network->model);
    Rng rng(1);
    bool cut = false;
    for (int round = 0; round < 500; ++round) {
      const Copy before(s.scheme.notation());
      if (!RandomMove(set, &s.scheme, &rng)) {
        UndoChanges(&s.scheme.draft);
        continue;
      }
      const Copy after(s.scheme.notation());
      for (size_t i = 1; i < after.cut.size(); ++i) {
        const bool is_cut = after.cut[i] == kCutDram, was = before.cut[i] == kCutDram;
        cut |= is_cut && !was;
      }
      KeepChanges(&s.scheme.draft);
    }
    CAPTURE(int{set});
    CHECK(cut);
  }
}

TEST_CASE("moves: the same seed draws the same moves") {
  const auto network = MakeGrowingNetwork("dag", 25);
  const auto end_of = [&](uint64_t seed) {
    Searched s(network->problem, network->model);
    Rng rng(seed);
    for (int round = 0; round < 200; ++round) {
      if (RandomMove(kMovesOurs, &s.scheme, &rng)) {
        KeepChanges(&s.scheme.draft);
      } else {
        UndoChanges(&s.scheme.draft);
      }
    }
    return Copy(s.scheme.notation());
  };
  CHECK(end_of(4) == end_of(4));
  CHECK(!(end_of(4) == end_of(5)));
}

}  // namespace
}  // namespace sluice
