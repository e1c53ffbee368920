// SPDX-License-Identifier: Apache-2.0
// Remembers boxes and costs of the tiles of fine-grained groups parsed before.
//
// Input    hash of a group's content: layers in order, tiling, tensors that leave it.
// Output   its tiles in execution order, or nullptr.
// Errors   none. A group that does not fit is not stored; new groups overwrite old
//          ones.
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
  // nullptr when the group is not known.
  const KnownTile* Find(uint64_t key, uint32_t tiles) const {
    const Entry& e = entries_[key & mask_];
    if (e.key != key || e.tiles != tiles || written_ > e.start + ring_.size()) {
      return nullptr;
    }
    return &ring_[e.start % ring_.size()];
  }
  // Reserves space for `tiles` tiles, which the caller writes; nullptr if there is too
  // little. Find() returns the group only after Keep().
  KnownTile* Reserve(uint32_t tiles) {
    if (tiles > ring_.size() / 2) return nullptr;
    const size_t at = written_ % ring_.size();
    if (at + tiles > ring_.size()) written_ += ring_.size() - at;
    KnownTile* tile = &ring_[written_ % ring_.size()];
    written_ += tiles;
    return tile;
  }
  // Keeps what was reserved last.
  void Keep(uint64_t key, uint32_t tiles) {
    entries_[key & mask_] = Entry{key, written_ - tiles, tiles};
  }

 private:
  struct Entry {
    uint64_t key;
    uint64_t start;  // in tiles written since Init; modulo the ring's size: the place
    uint32_t tiles;
  };
  Span<Entry> entries_;
  Span<KnownTile> ring_;
  uint64_t mask_ = 0;
  uint64_t written_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_GROUP_MEMO_H_
