// SPDX-License-Identifier: Apache-2.0
#include "verify/memory_map.h"

#include "base/checked.h"

namespace sluice {
namespace judge {

Status PiecePool::Take(Piece** piece) {
  if (free_ == nullptr) {
    Span<Piece> fresh;
    SLUICE_TRY(arena_->Allocate(128, &fresh));
    for (Piece& p : fresh) Give(&p);
  }
  *piece = free_;
  free_ = free_->next_free;
  return Status::kOk;
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
  const int64_t begin = piece->box.base;
  Chunk* chunk;
  size_t at = Last(begin);
  if (chunks_.size() == 0) {
    SLUICE_TRY(NewChunk(0, &chunk));
  } else if (chunks_[at]->count == kChunk) {
    Chunk* full = chunks_[at];
    SLUICE_TRY(NewChunk(at + 1, &chunk));
    constexpr uint32_t half = kChunk / 2;
    full->count = chunk->count = half;
    full->highest_end = INT64_MIN;
    for (uint32_t i = 0; i < half; ++i) {
      chunk->begin[i] = full->begin[half + i];
      chunk->end[i] = full->end[half + i];
      chunk->piece[i] = full->piece[half + i];
      chunk->highest_end = Max(chunk->highest_end, chunk->end[i]);
      full->highest_end = Max(full->highest_end, full->end[i]);
    }
    if (begin < chunk->begin[0]) chunk = full;
  } else {
    chunk = chunks_[at];
  }
  uint32_t i = chunk->count++;
  for (; i > 0 && chunk->begin[i - 1] > begin; --i) {
    chunk->begin[i] = chunk->begin[i - 1];
    chunk->end[i] = chunk->end[i - 1];
    chunk->piece[i] = chunk->piece[i - 1];
  }
  chunk->begin[i] = begin;
  chunk->end[i] = piece->end;
  chunk->piece[i] = piece;
  chunk->highest_end = Max(chunk->highest_end, piece->end);
  return Status::kOk;
}

void MemoryMap::Remove(Piece* piece) {
  // Equal beginnings may reach back over several chunks.
  for (size_t at = Last(piece->box.base) + 1; at-- > 0;) {
    Chunk* chunk = chunks_[at];
    for (uint32_t i = 0; i < chunk->count; ++i) {
      if (chunk->piece[i] != piece) continue;
      --chunk->count;
      chunk->highest_end = INT64_MIN;
      for (uint32_t j = i; j < chunk->count; ++j) {
        chunk->begin[j] = chunk->begin[j + 1];
        chunk->end[j] = chunk->end[j + 1];
        chunk->piece[j] = chunk->piece[j + 1];
      }
      for (uint32_t j = 0; j < chunk->count; ++j) {
        chunk->highest_end = Max(chunk->highest_end, chunk->end[j]);
      }
      if (chunk->count != 0) return;
      for (size_t j = at; j + 1 < chunks_.size(); ++j) chunks_[j] = chunks_[j + 1];
      chunks_.Pop();
      chunk->next_free = free_;
      free_ = chunk;
      return;
    }
  }
}

Status MemoryMap::Collect(Judge* judge, int64_t begin, int64_t end,
                          Vector<Piece*>* found) const {
  SLUICE_TRY(Spend(judge, 1 + static_cast<int64_t>(chunks_.size() / 16)));
  for (size_t c = 0; c < chunks_.size() && chunks_[c]->begin[0] < end; ++c) {
    const Chunk* chunk = chunks_[c];
    if (chunk->highest_end <= begin) continue;
    SLUICE_TRY(Spend(judge, 4));
    for (uint32_t i = 0; i < chunk->count && chunk->begin[i] < end; ++i) {
      if (chunk->end[i] > begin) SLUICE_TRY(found->Push(chunk->piece[i]));
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
