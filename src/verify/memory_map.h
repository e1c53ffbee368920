// SPDX-License-Identifier: Apache-2.0
// What lies in one memory: boxes of bytes in order of their first byte.
//
// Input    pieces from one pool.
// Output   all pieces that may show in a range.
// Errors   kOutOfMemory.
// Cost     insert, remove, collect: O(pieces / 64 + found); 24 bytes per piece besides
//          the piece. Removed pieces are used again.
#ifndef SLUICE_VERIFY_MEMORY_MAP_H_
#define SLUICE_VERIFY_MEMORY_MAP_H_

#include "verify/boxes.h"

namespace sluice {
namespace judge {

// A box written or read by one instruction. Of a write, the content: elements
// [origin, origin + extent) of root, in the coordinates of the root's tensor.
struct Piece {
  Frame frame;
  Box box;    // same bytes; reads need not be nested, so they have no frame
  Rows rows;  // of the box
  // The bytes that may still be visible lie in here; later writes cover the others. Only
  // MemoryMap::Clip changes these fields while the piece is in a map.
  int64_t begin, end;
  uint32_t root;  // tensor, or partial sum (contents.h)
  int64_t origin[kAxes];
  uint32_t sequence;  // later writes lie over earlier ones
  uint32_t engine;    // column of Order; kNone = there from the start
  uint32_t position;
  bool covered;  // a later write may lie over some of it
  Piece* next_free;
};

// The last few pieces written to one memory. A new piece may continue one of them.
// Several nodes store in turn, so more pieces are kept where there are several nodes.
class RecentPieces {
 public:
  Status Init(Arena* arena, size_t size) { return arena->Allocate(size, &piece_); }
  size_t size() const { return piece_.size(); }
  void Add(Piece* piece) {
    Forget(piece);
    for (size_t i = size() - 1; i > 0; --i) piece_[i] = piece_[i - 1];
    piece_[0] = piece;
  }
  void Forget(const Piece* piece) {
    for (size_t i = 0; i < size(); ++i) {
      if (piece_[i] != piece) continue;
      for (size_t j = i; j + 1 < size(); ++j) piece_[j] = piece_[j + 1];
      piece_[size() - 1] = nullptr;
    }
  }
  Piece* At(size_t i) const { return piece_[i]; }

 private:
  Span<Piece*> piece_;
};

// Extends `newer` by `older` when together they are one box of the same root, laid out
// alike and written by the same engine. Returns whether it did.
bool TryMerge(const Piece& older, Piece* newer);

class PiecePool {
 public:
  explicit PiecePool(Arena* arena) : arena_(arena) {}
  Status Take(Piece** piece);
  void Give(Piece* piece) {
    piece->next_free = free_;
    free_ = piece;
  }

 private:
  Arena* arena_;
  Piece* free_ = nullptr;
};

class MemoryMap {
 public:
  explicit MemoryMap(Arena* arena) : arena_(arena), chunks_(arena) {}
  Status Insert(Piece* piece);
  void Remove(Piece* piece);
  // Keeps of a piece what is visible outside [begin, end): nothing, one end or both
  // ends. Of two ends, the upper one becomes a piece of its own. *gone: nothing was left,
  // and the piece was removed.
  Status Clip(Judge* judge, Piece* piece, int64_t begin, int64_t end, PiecePool* pool,
              bool* gone);
  // A piece that shows in just [begin, end) and `is` the one; may miss it.
  template <typename Is>
  Piece* Find(int64_t begin, int64_t end, Is is) const {
    if (chunks_.size() == 0) return nullptr;
    const Chunk& chunk = *chunks_[Last(begin)];
    uint32_t i = 0;
    while (i < chunk.count && chunk.begin[i] < begin) ++i;
    for (; i < chunk.count && chunk.begin[i] == begin; ++i) {
      if (chunk.end[i] == end && is(*chunk.piece[i])) return chunk.piece[i];
    }
    return nullptr;
  }
  // Appends every piece that may show in [begin, end).
  Status Collect(Judge* judge, int64_t begin, int64_t end, Vector<Piece*>* found) const;

 private:
  static constexpr uint32_t kChunk = 64;
  struct Chunk {
    uint32_t count;
    int64_t highest_end;
    int64_t begin[kChunk];
    int64_t end[kChunk];
    Piece* piece[kChunk];
    Chunk* next_free;
  };
  size_t Last(int64_t begin) const;  // last chunk that starts at or before; 0 if none
  Status NewChunk(size_t at, Chunk** chunk);
  bool FindPiece(const Piece& piece, size_t* at, uint32_t* i) const;
  void RemoveAt(size_t at, uint32_t i);

  Arena* arena_;
  Vector<Chunk*> chunks_;
  Chunk* free_ = nullptr;
};

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_MEMORY_MAP_H_
