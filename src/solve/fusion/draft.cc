// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/draft.h"

#include "base/checked.h"

namespace sluice {

namespace {

void Copy(const GroupNotation& from, GroupNotation* to) {
  const size_t n = from.order.size();
  memcpy(to->order.data(), from.order.data(), n * sizeof(uint32_t));
  memcpy(to->cut.data(), from.cut.data(), n);
  memcpy(to->tiles.data(), from.tiles.data(), n * sizeof(int32_t));
}

void Log(Draft* draft, uint32_t i) {
  SLUICE_ASSERT(draft->log_size < draft->log.size());
  draft->log[draft->log_size++] = DraftChange{
      i, draft->notation.order[i], draft->notation.tiles[i], draft->notation.cut[i]};
}

}  // namespace

Status AllocateDraft(Arena* arena, size_t layers, Draft* draft) {
  GroupNotation* const notations[] = {&draft->notation, &draft->best};
  for (GroupNotation* g : notations) {
    SLUICE_TRY(arena->Allocate(layers, &g->order));
    SLUICE_TRY(arena->Allocate(layers, &g->cut));
    SLUICE_TRY(arena->Allocate(layers, &g->tiles));
  }
  return arena->Allocate(3 * layers + 16, &draft->log);
}

void SetCut(Draft* draft, uint32_t i, Cut cut) {
  Log(draft, i);
  draft->notation.cut[i] = cut;
}

void SetTiles(Draft* draft, uint32_t i, int32_t tiles) {
  Log(draft, i);
  draft->notation.tiles[i] = tiles;
}

void SetPlace(Draft* draft, uint32_t i, const DraftPlace& place) {
  Log(draft, i);
  draft->notation.order[i] = place.layer;
  draft->notation.cut[i] = place.cut;
  draft->notation.tiles[i] = place.tiles;
}

void ResetDraft(Draft* draft) {
  for (uint32_t i = 0; i < Layers(*draft); ++i) {
    draft->notation.order[i] = i;
    draft->notation.cut[i] = i == 0 ? kCutDram : kCutFine;
    draft->notation.tiles[i] = 1;
  }
  draft->policy = 0;
  KeepChanges(draft);
}

void UndoChanges(Draft* draft) {
  while (draft->log_size != 0) {
    const DraftChange& c = draft->log[--draft->log_size];
    draft->notation.order[c.position] = c.order;
    draft->notation.tiles[c.position] = c.tiles;
    draft->notation.cut[c.position] = c.cut;
  }
  draft->policy = draft->kept_policy;
}

void MoveLayer(Draft* draft, uint32_t from, uint32_t to) {
  const uint32_t layer = draft->notation.order[from];
  const int step = from < to ? 1 : -1;
  for (uint32_t i = from; i != to; i += static_cast<uint32_t>(step)) {
    Log(draft, i);
    draft->notation.order[i] = draft->notation.order[i + static_cast<uint32_t>(step)];
  }
  Log(draft, to);
  draft->notation.order[to] = layer;
}

uint32_t GroupFirst(const Draft& draft, uint32_t i) {
  while (draft.notation.cut[i] == kCutNone) --i;
  return i;
}

uint32_t GroupLast(const Draft& draft, uint32_t i) {
  const uint32_t n = static_cast<uint32_t>(Layers(draft));
  for (++i; i < n && draft.notation.cut[i] == kCutNone;) ++i;
  return i;
}

void MakeGroup(Draft* draft, uint32_t first, uint32_t last, int32_t tiles) {
  if (last < Layers(*draft) && draft->notation.cut[last] == kCutNone) {
    const int32_t outside = draft->notation.tiles[GroupFirst(*draft, last)];
    Log(draft, last);
    draft->notation.cut[last] = kCutFine;
    draft->notation.tiles[last] = outside;
  }
  for (uint32_t i = first + 1; i < last; ++i) {
    if (draft->notation.cut[i] != kCutNone) SetCut(draft, i, kCutNone);
  }
  Log(draft, first);
  if (draft->notation.cut[first] == kCutNone) draft->notation.cut[first] = kCutFine;
  draft->notation.tiles[first] = tiles;
}

void LoadDraft(Draft* draft, const GroupNotation& from) {
  Copy(from, &draft->notation);
  KeepChanges(draft);
}

void SaveDraft(Draft* draft) {
  Copy(draft->notation, &draft->best);
  draft->best_policy = draft->policy;
}

void RestoreDraft(Draft* draft) {
  Copy(draft->best, &draft->notation);
  draft->policy = draft->best_policy;
  KeepChanges(draft);
}

}  // namespace sluice
