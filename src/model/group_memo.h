// SPDX-License-Identifier: Apache-2.0
// Boxes and costs of the tiles of fine-grained groups that were parsed before.
//
// Input    a group's content as a hash: its layers in order, tiling, what leaves it.
// Output   its tiles, one after the other as they run, or nothing.
// Errors   none. A group that does not fit is not stored; old groups are overwritten.
// Cost     one probe per look-up.
#ifndef SLUICE_MODEL_GROUP_MEMO_H_
#define SLUICE_MODEL_GROUP_MEMO_H_

#include "model/tile_cost.h"

namespace sluice {

struct KnownTile {
  CutBox box;
  TileCost cost;
};

class GroupMemo {
 public:
  Status Init(Arena* arena, size_t groups, size_t tiles) {
    size_t size = 64;
    while (size < groups) size *= 2;
    mask_ = size - 1;
    SLUICE_TRY(arena->Allocate(size, &entries_));
    return arena->Allocate(tiles, &ring_);
  }
  // nullptr when unknown.
  const KnownTile* Find(uint64_t key, uint32_t tiles) const {
    const Entry& e = entries_[key & mask_];
    if (e.key != key || e.tiles != tiles || written_ > e.start + ring_.size()) {
      return nullptr;
    }
    return &ring_[e.start % ring_.size()];
  }
  // Room for that many tiles, which the caller writes; nullptr if there is not enough.
  // Find() returns the group once Keep() has been called.
  KnownTile* Reserve(uint32_t tiles) {
    if (tiles > ring_.size() / 2) return nullptr;
    const size_t at = written_ % ring_.size();
    if (at + tiles > ring_.size()) written_ += ring_.size() - at;
    KnownTile* tile = &ring_[written_ % ring_.size()];
    written_ += tiles;
    return tile;
  }
  // Of what was reserved last.
  void Keep(uint64_t key, uint32_t tiles) {
    entries_[key & mask_] = Entry{key, written_ - tiles, tiles};
  }

 private:
  struct Entry {
    uint64_t key;
    uint64_t start;  // of all tiles ever written
    uint32_t tiles;
  };
  Span<Entry> entries_;
  Span<KnownTile> ring_;
  uint64_t mask_ = 0;
  uint64_t written_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_GROUP_MEMO_H_
