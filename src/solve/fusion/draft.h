// SPDX-License-Identifier: Apache-2.0
// The notation of a fusion scheme while a search changes it: changes are logged, and
// kept or undone.
//
// Input    a notation; changes by position in its order
// Output   the notation as it is now, and as it was saved last
// Errors   AllocateDraft: kOutOfMemory
// Cost     a change: the positions that it touches; no allocation
#ifndef SLUICE_SOLVE_FUSION_DRAFT_H_
#define SLUICE_SOLVE_FUSION_DRAFT_H_

#include "base/memory.h"
#include "model/notation.h"

namespace sluice {

// What a position was before a change.
struct DraftChange {
  uint32_t position;
  uint32_t order;
  int32_t tiles;
  uint8_t cut;
};

struct Draft {
  GroupNotation notation, best;
  uint32_t policy = 0;  // DmaPolicy
  uint32_t best_policy = 0, kept_policy = 0;
  Span<DraftChange> log;
  uint32_t log_size = 0;
};
Status AllocateDraft(Arena* arena, size_t layers, Draft* draft);

inline size_t Layers(const Draft& draft) { return draft.notation.order.size(); }
// The first position of the group of position i, and one past its last.
uint32_t GroupFirst(const Draft& draft, uint32_t i);
uint32_t GroupLast(const Draft& draft, uint32_t i);

// Starts afresh: the layers in their given order, each a fine group of one tile.
void ResetDraft(Draft* draft);
void LoadDraft(Draft* draft, const GroupNotation& from);

// Logged changes.
void SetCut(Draft* draft, uint32_t i, Cut cut);
void SetTiles(Draft* draft, uint32_t i, int32_t tiles);
struct DraftPlace {
  uint32_t layer;
  uint8_t cut;
  int32_t tiles;
};
void SetPlace(Draft* draft, uint32_t i, const DraftPlace& place);
// Moves the layer at position `from` to position `to`, those between by one.
void MoveLayer(Draft* draft, uint32_t from, uint32_t to);
// Positions [first, last) become one fine group of this many tiles; outside, groups
// that are cut off keep their tiling number. DRAM cuts at the ends stay.
void MakeGroup(Draft* draft, uint32_t first, uint32_t last, int32_t tiles);

// Changes up to now are not undone any more.
inline void KeepChanges(Draft* draft) {
  draft->log_size = 0;
  draft->kept_policy = draft->policy;
}
void UndoChanges(Draft* draft);
void SaveDraft(Draft* draft);     // as the best so far
void RestoreDraft(Draft* draft);  // to the best so far

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_DRAFT_H_
