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

constexpr uint32_t kLong = 64;  // stretches of a row

struct Row {
  Stretch stretch[kLong];
};

struct RowEntry {
  Row* row;
  uint32_t size;
  int64_t oldest;  // none of its stretches was touched before
};

// The bytes below the capacity, while buffers get their offsets in order of time. Their
// stretches lie in rows, so that neither a stretch more nor a search for old bytes moves
// or reads all others.
class Shelf {
 public:
  Shelf(int64_t capacity, Arena* arena)
      : capacity_(capacity),
        arena_(arena),
        rows_(arena),
        spare_(arena),
        avoid_(arena) {}
  Status Init() {
    SLUICE_TRY(AddRow(0));
    rows_[0].row->stretch[0] = Stretch{0, capacity_, -1, -1};
    rows_[0].size = 1;
    Look(0);
    return Status::kOk;
  }

  // Excludes bytes from the next Find: another buffer needs them during the life of the
  // buffer that Find places.
  Status Avoid(int64_t begin, int64_t end) {
    return avoid_.Push(Stretch{begin, end, 0, 0});
  }

  // Finds bytes that are free from time `begin` on. Of these, takes the ones whose last
  // touch is longest ago. Clears the excluded bytes.
  bool Find(int64_t bytes, int64_t begin, int64_t* at) {
    Wish wish = {bytes, begin, begin, 0};
    // Begins with the row that has the oldest stretch: its place is a limit that lets most
    // other rows be skipped.
    uint32_t oldest = 0;
    for (uint32_t r = 1; r < rows_.size(); ++r) {
      if (rows_[r].oldest < rows_[oldest].oldest) oldest = r;
    }
    TryRow(oldest, &wish);
    // Of places of one age the first is taken.
    if (wish.best < begin) ++wish.best;
    for (uint32_t r = 0; r < rows_.size(); ++r) TryRow(r, &wish);
    for (const Stretch& avoid : avoid_) {
      Consider(avoid.end, PlaceOf(avoid.end), &wish);
      Consider(avoid.begin - bytes, PlaceOf(avoid.begin - bytes), &wish);
    }
    avoid_.Truncate(0);
    if (wish.best < begin) *at = wish.found;
    return wish.best < begin;
  }

  Status Take(int64_t begin, const AgedRange& buffer) {
    const int64_t end = begin + buffer.bytes;
    SLUICE_TRY(SplitAt(begin));
    SLUICE_TRY(SplitAt(end));
    Place place = PlaceOf(begin);
    At(place) = Stretch{begin, end, buffer.end, buffer.used};
    Look(place.row);
    for (;;) {
      Place next = place;
      if (!Next(&next) || At(next).begin >= end) break;
      SLUICE_TRY(Remove(next));
    }
    return Status::kOk;
  }

 private:
  struct Place {
    uint32_t row, index;
  };
  struct Wish {
    int64_t bytes, begin;
    int64_t best;   // the last touch of the bytes found so far
    int64_t found;  // these
  };

  Stretch& At(Place p) const { return rows_[p.row].row->stretch[p.index]; }
  bool Next(Place* p) const {
    if (++p->index < rows_[p->row].size) return true;
    *p = Place{p->row + 1, 0};
    return p->row < rows_.size();
  }
  void Before(Place* p) const {
    if (p->index == 0) p->index = rows_[--p->row].size;
    --p->index;
  }
  // The stretch in which a byte lies: the first or last one for bytes outside.
  Place PlaceOf(int64_t at) const {
    uint32_t row = 0, behind = static_cast<uint32_t>(rows_.size());
    while (behind - row > 1) {
      const uint32_t middle = row + (behind - row) / 2;
      (At({middle, 0}).begin <= at ? row : behind) = middle;
    }
    Place p = {row, 0};
    while (p.index + 1 < rows_[row].size && At({row, p.index + 1}).begin <= at) {
      ++p.index;
    }
    return p;
  }
  void Look(uint32_t r) {
    RowEntry* entry = &rows_[r];
    entry->oldest = INT64_MAX;
    for (uint32_t i = 0; i < entry->size; ++i) {
      entry->oldest = Min(entry->oldest, entry->row->stretch[i].used);
    }
  }

  void TryRow(uint32_t r, Wish* wish) const {
    if (rows_[r].oldest >= wish->best) return;
    for (Place p = {r, 0}; p.index < rows_[r].size; ++p.index) {
      const Stretch& s = At(p);
      if (s.until > wish->begin || s.used >= wish->best) continue;
      Consider(s.begin, p, wish);
      const int64_t at = s.end - wish->bytes;
      if (at < 0) continue;
      Place first = p;
      while (At(first).begin > at) Before(&first);
      Consider(at, first, wish);
    }
  }

  // p: the stretch in which byte `at` lies, if it lies in one.
  void Consider(int64_t at, Place p, Wish* wish) const {
    const int64_t end = at + wish->bytes;
    if (at < 0 || end > capacity_) return;
    int64_t used = -1;
    do {
      const Stretch& s = At(p);
      if (s.begin >= end) break;
      if (s.until > wish->begin) return;
      used = Max(used, s.used);
      if (used >= wish->best) return;
    } while (Next(&p));
    for (const Stretch& avoid : avoid_) {
      if (avoid.begin < end && at < avoid.end) return;
    }
    wish->best = used;
    wish->found = at;
  }

  // An empty row behind all rows before `r`.
  Status AddRow(uint32_t r) {
    RowEntry entry = {nullptr, 0, INT64_MAX};
    if (spare_.size() != 0) {
      entry.row = spare_[spare_.size() - 1];
      spare_.Pop();
    } else {
      Span<Row> made;
      SLUICE_TRY(arena_->Allocate(1, &made));
      entry.row = made.data();
    }
    SLUICE_TRY(rows_.Push(entry));
    for (size_t k = rows_.size() - 1; k > r; --k) rows_[k] = rows_[k - 1];
    rows_[r] = entry;
    return Status::kOk;
  }

  Status SplitAt(int64_t at) {
    Place p = PlaceOf(at);
    if (At(p).begin >= at || At(p).end <= at) return Status::kOk;
    if (rows_[p.row].size == kLong) {
      SLUICE_TRY(AddRow(p.row + 1));
      RowEntry* full = &rows_[p.row];
      for (uint32_t i = kLong / 2; i < kLong; ++i) {
        full[1].row->stretch[i - kLong / 2] = full->row->stretch[i];
      }
      full->size = full[1].size = kLong / 2;
      Look(p.row);
      Look(p.row + 1);
      p = PlaceOf(at);
    }
    Stretch* const stretch = rows_[p.row].row->stretch;
    for (uint32_t i = rows_[p.row].size++; i > p.index; --i)
      stretch[i] = stretch[i - 1];
    stretch[p.index].end = stretch[p.index + 1].begin = at;
    return Status::kOk;
  }

  Status Remove(Place p) {
    RowEntry* entry = &rows_[p.row];
    --entry->size;
    for (uint32_t i = p.index; i < entry->size; ++i) {
      entry->row->stretch[i] = entry->row->stretch[i + 1];
    }
    Look(p.row);
    if (entry->size != 0) return Status::kOk;
    SLUICE_TRY(spare_.Push(entry->row));
    for (size_t k = p.row + 1; k < rows_.size(); ++k) rows_[k - 1] = rows_[k];
    rows_.Pop();
    return Status::kOk;
  }

  int64_t capacity_;
  Arena* arena_;
  Vector<RowEntry> rows_;
  Vector<Row*> spare_;
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

// Excludes the bytes of fixed buffers that begin during the life of `buffer`.
Status AvoidLater(Span<const AgedRange> buffers, const AgedRange& buffer,
                  Span<const uint32_t> fixed, Vector<uint32_t>* found, Shelf* shelf) {
  size_t first = 0, behind = fixed.size();
  while (first < behind) {
    const size_t middle = first + (behind - first) / 2;
    if (buffers[fixed[middle]].begin > buffer.begin) {
      behind = middle;
    } else {
      first = middle + 1;
    }
  }
  found->Truncate(0);
  for (; first < fixed.size() && buffers[fixed[first]].begin < buffer.end; ++first) {
    SLUICE_TRY(found->Push(fixed[first]));
  }
  // Their order decides between places of one age.
  Sort(found->begin(), found->end(), [](uint32_t i, uint32_t k) { return i < k; });
  for (const uint32_t i : *found) {
    const AgedRange& other = buffers[i];
    SLUICE_TRY(shelf->Avoid(other.fixed_offset, other.fixed_offset + other.bytes));
  }
  return Status::kOk;
}

}  // namespace

Status OldestFit(Span<const AgedRange> buffers, int64_t capacity, Arena* arena,
                 Span<int64_t> offsets) {
  ArenaScope scope(arena);
  Span<uint32_t> order;
  SLUICE_TRY(arena->Allocate(buffers.size(), &order));
  SortByTime(buffers, order);
  Vector<uint32_t> fixed(arena), found(arena);  // fixed: in order of time
  for (const uint32_t i : order) {
    if (IsFixed(buffers[i])) SLUICE_TRY(fixed.Push(i));
  }
  Shelf shelf(capacity, arena);
  SLUICE_TRY(shelf.Init());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const AgedRange& buffer = buffers[order[i]];
    int64_t* at = &offsets[order[i]];
    *at = buffer.fixed_offset;
    if (!IsFixed(buffer)) {
      SLUICE_TRY(AvoidLater(buffers, buffer, fixed.span(), &found, &shelf));
      if (!shelf.Find(buffer.bytes, buffer.begin, at)) return Status::kInfeasible;
    }
    SLUICE_TRY(shelf.Take(*at, buffer));
  }
  return Status::kOk;
}

}  // namespace sluice
