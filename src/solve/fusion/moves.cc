// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/moves.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr int32_t kMostTiles = 1 << 16;  // no move makes more
constexpr int kReach = 64;               // positions a layer is moved at most

uint32_t Size(const Scheme& s) { return static_cast<uint32_t>(s.layers()); }

bool Reads(const FusionProblem& p, uint32_t reader, uint32_t source) {
  const FusionLayer& l = p.layers[reader];
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    if (p.inputs[e].source == source) return true;
  }
  return false;
}

bool SameSegment(const Scheme& s, uint32_t a, uint32_t b) {
  return s.segment.empty() || s.segment[a] == s.segment[b];
}

// Moves a layer to a random place between its sources and its readers.
bool MoveOrder(Scheme* s, Rng* rng) {
  const uint32_t n = Size(*s);
  const Span<uint32_t> order = s->notation().order;
  const uint32_t from = rng->Below(n);
  const uint32_t layer = order[from];
  uint32_t low = from;
  uint32_t high = from;
  while (low > 0 && from - low < kReach && SameSegment(*s, layer, order[low - 1]) &&
         !Reads(s->problem(), layer, order[low - 1])) {
    --low;
  }
  while (high + 1 < n && high - from < kReach &&
         SameSegment(*s, layer, order[high + 1]) &&
         !Reads(s->problem(), order[high + 1], layer)) {
    ++high;
  }
  if (low == high) return false;
  uint32_t to = low + rng->Below(high - low);
  if (to >= from) ++to;
  MoveLayer(&s->draft, from, to);
  return true;
}

// Cuts the map into one part more or less, the same in all batch entries.
bool MoveTilesNear(Scheme* s, Rng* rng) {
  const uint32_t first = GroupFirst(s->draft, rng->Below(Size(*s)));
  const FusionLayer& l = s->problem().layers[s->notation().order[first]];
  const int32_t tiles = s->notation().tiles[first];
  const int32_t step = tiles % l.extent[0] == 0 ? l.extent[0] : 1;
  const int32_t next = rng->Below(2) != 0 ? tiles + step : tiles - step;
  if (next < 1) return false;
  SetTiles(&s->draft, first, next);
  return true;
}

bool MoveTiles(Scheme* s, Rng* rng) {
  const uint32_t first = GroupFirst(s->draft, rng->Below(Size(*s)));
  const int32_t tiles = s->notation().tiles[first];
  const bool up = tiles == 1 || (rng->Below(2) != 0 && tiles < kMostTiles);
  SetTiles(&s->draft, first, up ? 2 * tiles : tiles / 2);
  return true;
}

// Sets or removes a fine-grained cut (SoMa's FLC).
bool MoveFine(Scheme* s, Rng* rng) {
  const GroupNotation& g = s->notation();
  if (Size(*s) < 2) return false;
  const uint32_t i = 1 + rng->Below(Size(*s) - 1);
  const uint32_t before = GroupFirst(s->draft, i - 1);
  if (g.cut[i] == kCutNone) {
    const int32_t tiles = g.tiles[before];
    SetCut(&s->draft, i, kCutFine);
    SetTiles(&s->draft, i, rng->Below(2) != 0 ? tiles : 1);
    if (rng->Below(4) == 0) SetTiles(&s->draft, before, 1);
    return true;
  }
  if (g.cut[i] == kCutDram && rng->Below(4) != 0) return false;
  const int32_t tiles = g.tiles[i];
  SetCut(&s->draft, i, kCutNone);
  if (rng->Below(2) != 0) SetTiles(&s->draft, before, tiles);
  return true;
}

// Moves a cut by one or two positions.
bool MoveShift(Scheme* s, Rng* rng) {
  const GroupNotation& g = s->notation();
  const uint32_t from = GroupFirst(s->draft, rng->Below(Size(*s)));
  if (from == 0) return false;
  const uint32_t step = 1 + rng->Below(2);
  const bool up = rng->Below(2) != 0;
  const int64_t target = up ? int64_t{from} + step : int64_t{from} - step;
  if (target < 1 || target >= Size(*s)) return false;
  const uint32_t to = static_cast<uint32_t>(target);
  for (uint32_t i = Min(from, to); i <= Max(from, to); ++i) {
    if (i != from && g.cut[i] != kCutNone) return false;
  }
  const Cut cut = static_cast<Cut>(g.cut[from]);
  const int32_t tiles = g.tiles[from];
  SetCut(&s->draft, from, kCutNone);
  SetCut(&s->draft, to, cut);
  SetTiles(&s->draft, to, tiles);
  return true;
}

// Makes a window one group.
bool MoveWindow(Scheme* s, Rng* rng) {
  const uint32_t n = Size(*s);
  const uint32_t first = rng->Below(n);
  const uint32_t draw = rng->Below(16);
  const uint32_t most = draw == 0 ? n : draw < 4 ? 24 : 6;
  const uint32_t last = Min(n, first + 1 + rng->Below(most));
  MakeGroup(&s->draft, first, last, 1 << rng->Below(6));
  return true;
}

// Draws any tiling number: powers of two, multiples of the batch, and others.
bool MoveTilesFar(Scheme* s, Rng* rng) {
  const uint32_t first = GroupFirst(s->draft, rng->Below(Size(*s)));
  const int32_t factor = static_cast<int32_t>(1 + rng->Below(16));
  int32_t tiles = 1 << rng->Below(7);
  if (rng->Below(2) != 0) {
    const FusionLayer& l = s->problem().layers[s->notation().order[first]];
    tiles = rng->Below(2) != 0 ? factor * l.extent[0] : factor;
  }
  SetTiles(&s->draft, first, tiles);
  return true;
}

// Makes every layer of a group a group of its own.
bool MoveApart(Scheme* s, Rng* rng) {
  const uint32_t first = GroupFirst(s->draft, rng->Below(Size(*s)));
  const uint32_t last = GroupLast(s->draft, first);
  if (last - first < 2) return false;
  const int32_t tiles = rng->Below(2) != 0 ? s->notation().tiles[first] : 1;
  for (uint32_t i = first; i < last; ++i) {
    if (i != first) SetCut(&s->draft, i, kCutFine);
    SetTiles(&s->draft, i, tiles);
  }
  return true;
}

bool MoveDram(Scheme* s, Rng* rng) {
  const GroupNotation& g = s->notation();
  const uint32_t n = Size(*s);
  if (n < 2) return false;
  uint32_t i = 1 + rng->Below(n - 1);
  if (rng->Below(2) != 0) {  // an existing cut, the next from here on
    for (uint32_t seen = 0; seen < n && g.cut[i] != kCutDram; ++seen) {
      i = i + 1 < n ? i + 1 : 1;
    }
  }
  if (g.cut[i] == kCutDram) {
    SetCut(&s->draft, i, kCutFine);
    return true;
  }
  if (g.cut[i] == kCutNone) SetTiles(&s->draft, i, g.tiles[GroupFirst(s->draft, i)]);
  SetCut(&s->draft, i, kCutDram);
  return true;
}

// True with this percentage; else lowers *draw for the alternatives that follow.
bool FallsOn(uint32_t percent, uint32_t* draw) {
  if (*draw < percent) return true;
  *draw -= percent;
  return false;
}

bool MoveOurs(Scheme* s, Rng* rng) {
  uint32_t draw = rng->Below(100);
  if (FallsOn(18, &draw)) return MoveOrder(s, rng);
  if (FallsOn(13, &draw)) return MoveTiles(s, rng);
  if (FallsOn(6, &draw)) return MoveTilesNear(s, rng);
  if (FallsOn(19, &draw)) return MoveFine(s, rng);
  if (FallsOn(12, &draw)) return MoveShift(s, rng);
  if (FallsOn(15, &draw)) return MoveWindow(s, rng);
  if (FallsOn(6, &draw)) return MoveTilesFar(s, rng);
  if (FallsOn(2, &draw)) return MoveApart(s, rng);
  if (FallsOn(6, &draw)) return MoveDram(s, rng);
  s->draft.policy = rng->Below(kDmaPolicies);
  return true;
}

// The n-th position after `from`, cyclically, whose cut is `cut`; 0 when there is none.
uint32_t FindCut(const Scheme& s, Cut cut, uint32_t from) {
  const uint32_t n = Size(s);
  for (uint32_t k = 0; k + 1 < n; ++k) {
    const uint32_t i = 1 + (from + k) % (n - 1);
    if (s.notation().cut[i] == cut) return i;
  }
  return 0;
}

// Joins the groups on both sides of i; the tiling number is one of theirs.
void Join(Scheme* s, uint32_t i, Rng* rng) {
  const int32_t tiles = s->notation().tiles[i];
  const uint32_t before = GroupFirst(s->draft, i - 1);
  SetCut(&s->draft, i, kCutNone);
  if (rng->Below(2) != 0) SetTiles(&s->draft, before, tiles);
}

void CutAt(Scheme* s, uint32_t i, Cut cut) {
  if (s->notation().cut[i] == kCutNone) {
    SetTiles(&s->draft, i, s->notation().tiles[GroupFirst(s->draft, i)]);
  }
  SetCut(&s->draft, i, cut);
}

// The published changes of the DRAM cut set: fuse two groups, cut one, move a cut.
// left: the kind of cut that stays at a place from which a DRAM cut is moved away.
bool PublishedDram(Scheme* s, Rng* rng, Cut left) {
  const uint32_t n = Size(*s);
  if (n < 2) return false;
  const uint32_t draw = rng->Below(10);
  const uint32_t at = 1 + rng->Below(n - 1);
  if (draw < 3) {
    const uint32_t i = FindCut(*s, kCutDram, at - 1);
    if (i == 0) return false;
    Join(s, i, rng);
    return true;
  }
  if (s->notation().cut[at] == kCutDram) return false;
  if (draw < 6) {
    CutAt(s, at, kCutDram);
    return true;
  }
  const uint32_t i = FindCut(*s, kCutDram, rng->Below(n - 1));
  if (i == 0) return false;
  CutAt(s, at, kCutDram);
  if (left == kCutFine) {
    SetCut(&s->draft, i, kCutFine);
  } else {
    Join(s, i, rng);
  }
  return true;
}

bool MoveSoma(Scheme* s, Rng* rng) {
  uint32_t draw = rng->Below(100);
  if (FallsOn(20, &draw)) return MoveOrder(s, rng);
  if (FallsOn(35, &draw)) return MoveTiles(s, rng);
  if (!FallsOn(15, &draw)) return PublishedDram(s, rng, kCutFine);
  if (Size(*s) < 2) return false;
  const uint32_t i = FindCut(*s, kCutFine, rng->Below(Size(*s) - 1));
  if (i == 0) return false;
  Join(s, i, rng);
  return true;
}

bool MoveCocco(Scheme* s, Rng* rng) {
  return rng->Below(10) < 4 ? MoveOrder(s, rng) : PublishedDram(s, rng, kCutNone);
}

}  // namespace

bool RandomMove(MoveSet set, Scheme* scheme, Rng* rng) {
  switch (set) {
    case kMovesSoma:
      return MoveSoma(scheme, rng);
    case kMovesCocco:
      return MoveCocco(scheme, rng);
    case kMovesOurs:
      break;
  }
  return MoveOurs(scheme, rng);
}

}  // namespace sluice
