// SPDX-License-Identifier: Apache-2.0
// A notation that is changed in place: groups, moved layers, undone changes.
#include "solve/fusion/draft.h"

#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

using Cuts = std::vector<uint8_t>;
constexpr uint8_t kD = kCutDram, kF = kCutFine, kN = kCutNone;

TEST_CASE("draft: at first every layer is a fine group of one tile in one DRAM group") {
  const Small small;
  Searched s(small.problem, small.model);
  const Copy n(s.scheme.draft.notation);
  CHECK(n.order == std::vector<uint32_t>{0, 1, 2, 3, 4});
  CHECK(n.cut == Cuts{kD, kF, kF, kF, kF});
  CHECK(n.tiles == std::vector<int32_t>{1, 1, 1, 1, 1});
}

TEST_CASE("draft: a layer moves, and those between by one place") {
  const Small small;
  Searched s(small.problem, small.model);
  MoveLayer(&s.scheme.draft, 1, 3);
  CHECK(Copy(s.scheme.draft.notation).order == std::vector<uint32_t>{0, 2, 3, 1, 4});
  MoveLayer(&s.scheme.draft, 3, 1);
  CHECK(Copy(s.scheme.draft.notation).order == std::vector<uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("draft: a stretch becomes one group, what it cuts off keeps its number") {
  const Small small;
  Searched s(small.problem, small.model);
  MakeGroup(&s.scheme.draft, 0, 5, 4);
  CHECK(Copy(s.scheme.draft.notation).cut == Cuts{kD, kN, kN, kN, kN});
  CHECK(s.scheme.draft.notation.tiles[0] == 4);
  CHECK(GroupFirst(s.scheme.draft, 3) == 0);
  CHECK(GroupLast(s.scheme.draft, 3) == 5);
  MakeGroup(&s.scheme.draft, 1, 3, 2);
  CHECK(Copy(s.scheme.draft.notation).cut == Cuts{kD, kF, kN, kF, kN});
  CHECK(s.scheme.draft.notation.tiles[0] == 4);
  CHECK(s.scheme.draft.notation.tiles[1] == 2);
  CHECK(s.scheme.draft.notation.tiles[3] == 4);
  KeepChanges(&s.scheme.draft);
  SetCut(&s.scheme.draft, 3, kCutDram);
  SetTiles(&s.scheme.draft, 3, 8);
  UndoChanges(&s.scheme.draft);
  CHECK(s.scheme.draft.notation.cut[3] == kCutFine);
  CHECK(s.scheme.draft.notation.tiles[3] == 4);
}

TEST_CASE("draft: what was saved comes back after kept changes, with its policy") {
  const Small small;
  Searched s(small.problem, small.model);
  Draft& draft = s.scheme.draft;
  draft.policy = 2;
  SaveDraft(&draft);
  SetPlace(&draft, 2, {1, kCutDram, 8});
  draft.policy = 1;
  KeepChanges(&draft);
  UndoChanges(&draft);  // nothing is left to undo
  CHECK(draft.notation.order[2] == 1);
  CHECK(draft.notation.cut[2] == kCutDram);
  CHECK(draft.notation.tiles[2] == 8);
  CHECK(draft.policy == 1);
  RestoreDraft(&draft);
  CHECK(draft.notation.order[2] == 2);
  CHECK(draft.notation.cut[2] == kCutFine);
  CHECK(draft.notation.tiles[2] == 1);
  CHECK(draft.policy == 2);
}

}  // namespace
}  // namespace sluice
