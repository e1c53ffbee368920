// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/oldest_fit.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

// A range of bytes, the time until which a buffer holds it, and its last touch; -1: no
// buffer so far.
struct Stretch {
  int64_t begin, end;
  int64_t until, used;
};

// The bytes below the capacity, while buffers get their offsets in order of time.
class Shelf {
 public:
  Shelf(int64_t capacity, Arena* arena)
      : capacity_(capacity), stretches_(arena), avoid_(arena) {}
  Status Init() { return stretches_.Push(Stretch{0, capacity_, -1, -1}); }

  // Excludes bytes from the next Find: another buffer needs them during the life of the
  // buffer that Find places.
  Status Avoid(int64_t begin, int64_t end) {
    return avoid_.Push(Stretch{begin, end, 0, 0});
  }

  // Finds bytes that are free from time `begin` on. Of these, takes the ones whose last
  // touch is longest ago. Clears the excluded bytes.
  bool Find(int64_t bytes, int64_t begin, int64_t* at) {
    int64_t best = begin;
    for (size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& s = stretches_[i];
      if (s.until > begin) continue;
      Consider(s.begin, bytes, begin, &best, at);
      Consider(s.end - bytes, bytes, begin, &best, at);
    }
    for (size_t i = 0; i < avoid_.size(); ++i) {
      Consider(avoid_[i].end, bytes, begin, &best, at);
      Consider(avoid_[i].begin - bytes, bytes, begin, &best, at);
    }
    avoid_.Truncate(0);
    return best < begin;
  }

  Status Take(int64_t begin, const AgedRange& buffer) {
    const int64_t end = begin + buffer.bytes;
    SLUICE_TRY(SplitAt(begin));
    SLUICE_TRY(SplitAt(end));
    size_t i = 0;
    while (stretches_[i].begin < begin) ++i;
    stretches_[i] = Stretch{begin, end, buffer.end, buffer.used};
    size_t next = i + 1;
    while (next < stretches_.size() && stretches_[next].begin < end) ++next;
    const size_t gone = next - i - 1;
    for (size_t k = next; k < stretches_.size(); ++k)
      stretches_[k - gone] = stretches_[k];
    stretches_.Truncate(stretches_.size() - gone);
    return Status::kOk;
  }

 private:
  // *best: the last touch of the bytes found so far.
  void Consider(int64_t at, int64_t bytes, int64_t begin, int64_t* best,
                int64_t* found) const {
    const int64_t end = at + bytes;
    if (at < 0 || end > capacity_) return;
    int64_t used = -1;
    for (size_t i = 0; i < stretches_.size() && stretches_[i].begin < end; ++i) {
      if (stretches_[i].end <= at) continue;
      if (stretches_[i].until > begin) return;
      used = Max(used, stretches_[i].used);
    }
    if (used >= *best) return;
    for (size_t i = 0; i < avoid_.size(); ++i) {
      if (avoid_[i].begin < end && at < avoid_[i].end) return;
    }
    *best = used;
    *found = at;
  }
  Status SplitAt(int64_t at) {
    for (size_t i = 0; i < stretches_.size(); ++i) {
      if (stretches_[i].begin >= at || stretches_[i].end <= at) continue;
      SLUICE_TRY(stretches_.Push(Stretch{}));
      for (size_t k = stretches_.size() - 1; k > i + 1; --k) {
        stretches_[k] = stretches_[k - 1];
      }
      stretches_[i + 1] = stretches_[i];
      stretches_[i].end = stretches_[i + 1].begin = at;
      break;
    }
    return Status::kOk;
  }

  int64_t capacity_;
  Vector<Stretch> stretches_;
  Vector<Stretch> avoid_;
};

bool IsFixed(const AgedRange& buffer) { return buffer.fixed_offset != kFreeOffset; }

void SortByTime(Span<const AgedRange> buffers, Span<uint32_t> order) {
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  Sort(order.begin(), order.end(), [&](uint32_t i, uint32_t k) {
    const AgedRange& a = buffers[i];
    const AgedRange& b = buffers[k];
    if (a.begin != b.begin) return a.begin < b.begin;
    if (IsFixed(a) != IsFixed(b)) return IsFixed(a);
    if (!IsFixed(a) && a.bytes != b.bytes) return a.bytes > b.bytes;
    return i < k;
  });
}

}  // namespace

Status OldestFit(Span<const AgedRange> buffers, int64_t capacity, Arena* arena,
                 Span<int64_t> offsets) {
  ArenaScope scope(arena);
  Span<uint32_t> order;
  SLUICE_TRY(arena->Allocate(buffers.size(), &order));
  SortByTime(buffers, order);
  Shelf shelf(capacity, arena);
  SLUICE_TRY(shelf.Init());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const AgedRange& buffer = buffers[order[i]];
    int64_t* at = &offsets[order[i]];
    *at = buffer.fixed_offset;
    if (!IsFixed(buffer)) {
      // The order of the excluded bytes decides between places of one age.
      for (const AgedRange& other : buffers) {
        if (!IsFixed(other) || other.begin <= buffer.begin || other.begin >= buffer.end)
          continue;
        SLUICE_TRY(shelf.Avoid(other.fixed_offset, other.fixed_offset + other.bytes));
      }
      if (!shelf.Find(buffer.bytes, buffer.begin, at)) return Status::kInfeasible;
    }
    SLUICE_TRY(shelf.Take(*at, buffer));
  }
  return Status::kOk;
}

}  // namespace sluice
