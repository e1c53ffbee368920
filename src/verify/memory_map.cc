// SPDX-License-Identifier: Apache-2.0
#include "verify/memory_map.h"

#include <string.h>

#include <initializer_list>

#include "base/checked.h"

namespace sluice {
namespace judge {

namespace {

// Extents and strides of a piece by logical axis; stride 0 if the extent is 1.
struct Layout {
  int64_t extent[kAxes] = {1, 1, 1, 1};
  int64_t stride[kAxes] = {};

  explicit Layout(const Piece& piece) {
    for (uint32_t d = 0; d < piece.frame.dims; ++d) {
      extent[piece.frame.axis[d]] = piece.frame.count[d];
      stride[piece.frame.axis[d]] = piece.frame.stride[d];
    }
  }
};

// An additional piece counts as so many steps, so that the bound on work bounds memory
// too.
constexpr int64_t kSplitCost = 128;

// The axis along which b follows a, or -1: same origin and extent on all others.
int AxisBetween(const Piece& a, const Layout& la, const Piece& b, const Layout& lb) {
  int along = -1;
  for (int x = 0; x < kAxes; ++x) {
    if (a.origin[x] == b.origin[x] && la.extent[x] == lb.extent[x]) continue;
    if (along >= 0 || a.origin[x] + la.extent[x] != b.origin[x]) return -1;
    along = x;
  }
  return along;
}

// Moves n pieces of a chunk, from the first on, to a place of another or of the same.
void MovePieces(const Chunk& from, uint32_t first, Chunk* to, uint32_t at, uint32_t n) {
  memmove(to->begin + at, from.begin + first, n * sizeof from.begin[0]);
  memmove(to->end + at, from.end + first, n * sizeof from.end[0]);
  memmove(to->piece + at, from.piece + first, n * sizeof from.piece[0]);
}

int64_t HighestEnd(const Chunk& chunk) {
  int64_t end = INT64_MIN;
  for (uint32_t i = 0; i < chunk.count; ++i) end = Max(end, chunk.end[i]);
  return end;
}

// Makes `reach` true again after a change of a chunk and of the one behind it.
void UpdateReach(Span<Chunk*> chunks, size_t from) {
  int64_t reach = from == 0 ? INT64_MIN : chunks[from - 1]->reach;
  for (size_t at = from; at < chunks.size(); ++at) {
    reach = Max(reach, chunks[at]->highest_end);
    if (at > from + 1 && chunks[at]->reach == reach) return;
    chunks[at]->reach = reach;
  }
}

// The first chunk with a piece that ends behind an address, or the number of chunks.
size_t FirstReaching(Span<Chunk* const> chunks, int64_t address) {
  size_t first = 0;
  for (size_t high = chunks.size(); first < high;) {
    const size_t middle = (first + high) / 2;
    if (chunks[middle]->reach <= address) {
      first = middle + 1;
    } else {
      high = middle;
    }
  }
  return first;
}

}  // namespace

bool TryMerge(const Piece& older, Piece* newer) {
  if (older.root != newer->root || older.engine != newer->engine || older.covered ||
      older.frame.width != newer->frame.width) {
    return false;
  }
  const Layout lo(older);
  const Layout ln(*newer);
  bool forward = true;
  int along = AxisBetween(older, lo, *newer, ln);
  if (along < 0) {
    forward = false;
    along = AxisBetween(*newer, ln, older, lo);
    if (along < 0) return false;
  }
  const Piece& first = forward ? older : *newer;
  const Piece& second = forward ? *newer : older;
  const Layout& l = forward ? lo : ln;
  Layout merged = l;
  for (int x = 0; x < kAxes; ++x) {
    if (x != along && lo.stride[x] != ln.stride[x]) return false;
  }
  const int64_t distance = second.frame.base - first.frame.base;
  const int64_t step = distance / l.extent[along];  // MakeFrame refuses less than 1
  if (step * l.extent[along] != distance) return false;
  for (const Layout* part : {&lo, &ln}) {
    if (part->extent[along] > 1 && part->stride[along] != step) return false;
  }
  merged.extent[along] = lo.extent[along] + ln.extent[along];
  merged.stride[along] = step;
  Frame frame;
  if (!MakeFrame(first.frame.base, older.frame.width, merged.extent, merged.stride,
                 &frame)) {
    return false;
  }
  for (int x = 0; x < kAxes; ++x) newer->origin[x] = first.origin[x];
  newer->frame = frame;
  newer->box = BoxOf(frame);
  newer->rows = RowsOf(newer->box);
  newer->begin = newer->box.base;
  newer->end = newer->box.end();
  return true;
}

Status PiecePool::Take(Piece** piece) {
  if (free_ == nullptr) {
    Span<Piece> fresh;
    SLUICE_TRY(arena_->Allocate(32, &fresh));
    for (Piece& p : fresh) Give(&p);
  }
  *piece = free_;
  free_ = free_->next_free;
  return Status::kOk;
}

uint32_t Chunk::FirstFrom(int64_t address) const {
  uint32_t low = 0;
  for (uint32_t left = count; left > 0; left /= 2) {
    const uint32_t middle = low + left / 2;
    // Without a jump, which a processor could only guess.
    const bool behind = begin[middle] < address;
    low = behind ? middle + 1 : low;
    left -= behind ? 1 : 0;
  }
  return low;
}

size_t MemoryMap::Last(int64_t begin) const {
  size_t low = 0, high = chunks_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (chunks_[middle]->begin[0] <= begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : low - 1;
}

Status MemoryMap::NewChunk(size_t at, Chunk** chunk) {
  if (free_ == nullptr) {
    Span<Chunk> fresh;
    SLUICE_TRY(arena_->Allocate(1, &fresh));
    free_ = &fresh[0];
  }
  SLUICE_TRY(chunks_.Push(free_));
  *chunk = free_;
  free_ = free_->next_free;
  for (size_t i = chunks_.size() - 1; i > at; --i) chunks_[i] = chunks_[i - 1];
  chunks_[at] = *chunk;
  (*chunk)->count = 0;
  (*chunk)->highest_end = INT64_MIN;
  return Status::kOk;
}

Status MemoryMap::Insert(Piece* piece) {
  const int64_t begin = piece->begin;
  Chunk* chunk;
  size_t at = Last(begin);
  if (chunks_.size() == 0) {
    SLUICE_TRY(NewChunk(0, &chunk));
  } else if (chunks_[at]->count == Chunk::kMost) {
    Chunk* full = chunks_[at];
    SLUICE_TRY(NewChunk(at + 1, &chunk));
    // What comes in order of addresses fills each chunk.
    constexpr uint32_t kMost = Chunk::kMost;
    const uint32_t moved = begin >= full->begin[kMost - 1] ? 0 : kMost / 2;
    full->count = kMost - moved;
    chunk->count = moved;
    MovePieces(*full, full->count, chunk, 0, moved);
    chunk->highest_end = HighestEnd(*chunk);
    full->highest_end = HighestEnd(*full);
    if (moved != 0 && begin < chunk->begin[0]) chunk = full;
  } else {
    chunk = chunks_[at];
  }
  const uint32_t i = chunk->FirstFrom(begin + 1);
  MovePieces(*chunk, i, chunk, i + 1, chunk->count++ - i);
  chunk->begin[i] = begin;
  chunk->end[i] = piece->end;
  chunk->piece[i] = piece;
  chunk->highest_end = Max(chunk->highest_end, piece->end);
  UpdateReach({chunks_.data(), chunks_.size()}, at);
  return Status::kOk;
}

bool MemoryMap::FindPiece(const Piece& piece, size_t* out, uint32_t* index) const {
  // Pieces with equal begin may start several chunks earlier.
  for (size_t at = Last(piece.begin) + 1; at-- > 0;) {
    const Chunk& chunk = *chunks_[at];
    for (uint32_t i = chunk.FirstFrom(piece.begin);
         i < chunk.count && chunk.begin[i] == piece.begin; ++i) {
      if (chunk.piece[i] != &piece) continue;
      *out = at;
      *index = i;
      return true;
    }
  }
  return false;
}

void MemoryMap::RemoveAt(size_t at, uint32_t i) {
  Chunk* chunk = chunks_[at];
  const bool highest = chunk->end[i] == chunk->highest_end;
  --chunk->count;
  MovePieces(*chunk, i + 1, chunk, i, chunk->count - i);
  if (chunk->count != 0) {
    if (!highest) return;
    chunk->highest_end = HighestEnd(*chunk);
    UpdateReach({chunks_.data(), chunks_.size()}, at);
    return;
  }
  for (size_t j = at; j + 1 < chunks_.size(); ++j) chunks_[j] = chunks_[j + 1];
  chunks_.Pop();
  UpdateReach({chunks_.data(), chunks_.size()}, at);
  chunk->next_free = free_;
  free_ = chunk;
}

void MemoryMap::Remove(Piece* piece) {
  size_t at;
  uint32_t i;
  if (FindPiece(*piece, &at, &i)) RemoveAt(at, i);
}

Status MemoryMap::Clip(Judge* judge, Piece* piece, int64_t begin, int64_t end,
                       PiecePool* pool, bool* gone) {
  const bool below = piece->begin < begin;
  const bool above = end < piece->end;
  *gone = !below && !above;
  size_t at;
  uint32_t i;
  if (!FindPiece(*piece, &at, &i)) return Status::kOk;
  if (*gone) {
    RemoveAt(at, i);
    return Status::kOk;
  }
  Chunk* chunk = chunks_[at];
  if (below && above) {
    SLUICE_TRY(Spend(judge, kSplitCost));
    Piece* upper;
    SLUICE_TRY(pool->Take(&upper));
    *upper = *piece;
    upper->begin = end;
    // chunk->highest_end may stay too high: Collect then visits it more often.
    piece->end = chunk->end[i] = begin;
    return Insert(upper);
  }
  if (below) {
    piece->end = chunk->end[i] = Min(piece->end, begin);
    return Status::kOk;
  }
  piece->begin = Max(piece->begin, end);
  // Mostly the piece still sorts before the next one.
  const bool last = i + 1 == chunk->count;
  if (last ? at + 1 == chunks_.size() || chunks_[at + 1]->begin[0] >= piece->begin
           : chunk->begin[i + 1] >= piece->begin) {
    chunk->begin[i] = piece->begin;
    return Status::kOk;
  }
  RemoveAt(at, i);
  return Insert(piece);
}

Status MemoryMap::Collect(Judge* judge, int64_t begin, int64_t end,
                          Vector<Piece*>* found) const {
  int64_t work = 1 + static_cast<int64_t>(chunks_.size() / 16);
  size_t c = FirstReaching({chunks_.data(), chunks_.size()}, begin);
  for (; c < chunks_.size() && chunks_[c]->begin[0] < end; ++c) {
    const Chunk* chunk = chunks_[c];
    if (chunk->highest_end <= begin) continue;
    work += 4;
    for (uint32_t i = 0; i < chunk->count && chunk->begin[i] < end; ++i) {
      if (chunk->end[i] > begin) SLUICE_TRY(found->Push(chunk->piece[i]));
    }
  }
  return Spend(judge, work);
}

}  // namespace judge
}  // namespace sluice
