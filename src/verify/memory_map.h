// SPDX-License-Identifier: Apache-2.0
// The pieces in one memory: boxes of bytes in order of their first byte.
//
// Input    pieces from one pool.
// Output   all pieces that may be visible in a range.
// Errors   kOutOfMemory.
// Cost     insert, remove, collect: O(pieces / 64 + found); 24 bytes per piece besides
//          the piece. Removed pieces are reused.
#ifndef SLUICE_VERIFY_MEMORY_MAP_H_
#define SLUICE_VERIFY_MEMORY_MAP_H_

#include "verify/boxes.h"

namespace sluice {
namespace judge {

// A box written or read by one instruction. A write's content: elements [origin, origin
// + extent) of `root`, in the coordinates of the root's tensor.
struct Piece {
  Frame frame;
  Box box;    // same bytes as frame; a read may be not nested and then has only this
  Rows rows;  // of the box
  // Range of the bytes that may still be visible; later writes cover the others. Only
  // MemoryMap::Clip changes begin and end while the piece is in a map.
  int64_t begin, end;
  uint32_t root;  // tensor, or partial sum (contents.h)
  int64_t origin[kAxes];
  uint32_t sequence;  // later writes have higher numbers
  uint32_t engine;    // column of Order; kNone = content from the start
  uint32_t position;
  bool covered;  // a later write may cover some of it
  bool recent;   // in RecentPieces
  bool settled;  // joined with those it continues, if there were any
  Piece* next_free;
};

// The last pieces written to one memory, which a new piece may continue. Several nodes
// store by turns, so more pieces are kept for more nodes.
class RecentPieces {
 public:
  Status Init(Arena* arena, size_t size) { return arena->Allocate(size, &piece_); }
  size_t size() const { return piece_.size(); }
  void Add(Piece* piece) {
    Forget(piece);
    if (piece_[size() - 1] != nullptr) piece_[size() - 1]->recent = false;
    for (size_t i = size() - 1; i > 0; --i) piece_[i] = piece_[i - 1];
    piece_[0] = piece;
    piece->recent = true;
  }
  void Forget(Piece* piece) {
    if (!piece->recent) return;
    size_t i = 0;
    while (piece_[i] != piece) ++i;
    for (; i + 1 < size(); ++i) piece_[i] = piece_[i + 1];
    piece_[size() - 1] = nullptr;
    piece->recent = false;
  }
  Piece* At(size_t i) const { return piece_[i]; }

 private:
  Span<Piece*> piece_;
};

// Extends `newer` by `older` if together they are one box of the same root with the
// same layout, written by the same engine. Returns whether it did.
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

// Pieces that follow each other in a memory.
struct Chunk {
  static constexpr uint32_t kMost = 16;
  uint32_t count;
  int64_t highest_end;
  int64_t reach;  // the highest end of this chunk and of those in front of it
  int64_t begin[kMost];
  int64_t end[kMost];
  Piece* piece[kMost];
  Chunk* next_free;

  // The first piece that begins at an address or behind it, or their number.
  uint32_t FirstFrom(int64_t address) const;
};

class MemoryMap {
 public:
  explicit MemoryMap(Arena* arena) : arena_(arena), chunks_(arena) {}
  Status Insert(Piece* piece);
  void Remove(Piece* piece);
  // Removes [begin, end) from a piece's visible range. If both ends remain, the upper
  // one becomes a new piece. *gone: nothing remains, and the piece was removed from the
  // map.
  Status Clip(Judge* judge, Piece* piece, int64_t begin, int64_t end, PiecePool* pool,
              bool* gone);
  // Finds a piece with visible range exactly [begin, end) for which `is` holds; may
  // miss it.
  template <typename Is>
  Piece* Find(int64_t begin, int64_t end, Is is) const {
    if (chunks_.size() == 0) return nullptr;
    const Chunk& chunk = *chunks_[Last(begin)];
    for (uint32_t i = chunk.FirstFrom(begin);
         i < chunk.count && chunk.begin[i] == begin; ++i) {
      if (chunk.end[i] == end && is(*chunk.piece[i])) return chunk.piece[i];
    }
    return nullptr;
  }
  // Appends every piece that may be visible in [begin, end).
  Status Collect(Judge* judge, int64_t begin, int64_t end, Vector<Piece*>* found) const;

 private:
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
