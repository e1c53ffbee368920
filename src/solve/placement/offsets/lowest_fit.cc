// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/lowest_fit.h"

#include <algorithm>

#include "base/checked.h"
#include "base/first_fit.h"
#include "base/rng.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr uint32_t kLooksPerPoll = 4096;  // gaps looked at between two polls

// Sort keys of one buffer, larger first.
struct FitKey {
  double first;  // exact below 2^53; rounding above makes ties at worst
  int64_t second;
  uint32_t buffer;
};

FitKey KeyOf(const Sections& sections, FitOrder by, uint32_t u) {
  const SectionedBuffer& b = sections.buffers[u];
  const double bytes = static_cast<double>(b.bytes);
  const double duration = b.end_section - b.begin_section;
  switch (by) {
    case FitOrder::kBegin:
      return {-static_cast<double>(b.begin_section), b.bytes, u};
    case FitOrder::kSize:
      return {bytes, b.end_section - b.begin_section, u};
    case FitOrder::kArea:
      return {bytes * duration, b.bytes, u};
    case FitOrder::kDuration:
      return {duration, b.bytes, u};
    default:
      break;
  }
  double load = bytes;
  for (uint32_t v : sections.NearOf(b)) {
    load += static_cast<double>(sections.buffers[v].bytes);
  }
  return {load, b.bytes, u};
}

// Up to so many placed buffers, repeated scans are faster than sorting.
constexpr size_t kFew = 512;

// Lowest offset of b that overlaps none of `placed`, which it overwrites.
int64_t LowestAmong(const Sections& sections, const SectionedBuffer& b,
                    Span<TakenRange> placed) {
  if (placed.size() > kFew) {
    Sort(placed.begin(), placed.end(),
         [](const TakenRange& a, const TakenRange& c) { return a.begin < c.begin; });
  }
  return FirstFit(b.bytes, placed, kNowhere,
                  [&](int64_t from) { return sections.Lowest(b, from); });
}

}  // namespace

Status SortForFit(const Sections& sections, FitOrder by, Arena* arena,
                  Span<uint32_t> order) {
  ArenaScope scope(arena);
  Span<FitKey> keys;
  SLUICE_TRY(arena->Allocate(order.size(), &keys));
  for (uint32_t u = 0; u < keys.size(); ++u) keys[u] = KeyOf(sections, by, u);
  Sort(keys.begin(), keys.end(), [](const FitKey& a, const FitKey& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second != b.second) return a.second > b.second;
    return a.buffer < b.buffer;
  });
  for (size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].buffer;
  return Status::kOk;
}

Status LowestFit(const Sections& sections, Span<const uint32_t> order, int64_t give_up,
                 Arena* arena, Span<int64_t> offsets, int64_t* peak) {
  ArenaScope scope(arena);
  uint32_t widest = 0;
  for (const SectionedBuffer& b : sections.buffers) widest = Max(widest, b.near_count);
  Span<TakenRange> placed;
  SLUICE_TRY(arena->Allocate(widest, &placed));
  for (int64_t& offset : offsets) offset = -1;
  *peak = 0;
  uint32_t looks = 0;  // at buffers nearby, since the last poll
  for (uint32_t u : order) {
    const SectionedBuffer& b = sections.buffers[u];
    looks += 16 + b.near_count;
    if (looks >= kLooksPerPoll) {
      looks = 0;
      if (arena->memory()->Stop()) return Status::kStopped;
    }
    size_t count = 0;
    for (uint32_t v : sections.NearOf(b)) {
      if (offsets[v] < 0 || offsets[v] >= kNowhere) continue;
      placed[count++] = TakenRange{offsets[v], offsets[v] + sections.buffers[v].bytes};
    }
    offsets[u] = LowestAmong(sections, b, placed.Slice(0, count));
    *peak = Max(*peak, offsets[u] + b.bytes);
    if (*peak > give_up) return Status::kOk;
  }
  return Status::kOk;
}

Status FitAround(Span<const LiveRange> buffers, int64_t capacity, Arena* arena,
                 Span<int64_t> offsets, bool* placed) {
  ArenaScope scope(arena);
  Span<uint32_t> order;
  Span<TakenRange> taken;
  SLUICE_TRY(arena->Allocate(buffers.size(), &order));
  SLUICE_TRY(arena->Allocate(buffers.size(), &taken));
  size_t free = 0;
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    offsets[b] = buffers[b].fixed_offset;
    if (offsets[b] == kFreeOffset) order[free++] = b;
  }
  Sort(order.begin(), order.begin() + free, [&](uint32_t a, uint32_t b) {
    if (buffers[a].bytes != buffers[b].bytes)
      return buffers[a].bytes > buffers[b].bytes;
    return a < b;
  });
  const Sections no_holes;
  *placed = false;
  for (size_t i = 0; i < free; ++i) {
    if (i % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const LiveRange& range = buffers[order[i]];
    SectionedBuffer b = {};
    b.bytes = range.bytes;
    b.alignment = range.alignment;
    size_t count = 0;
    for (size_t o = 0; o < buffers.size(); ++o) {
      const LiveRange& other = buffers[o];
      if (offsets[o] == kFreeOffset || other.begin >= range.end ||
          range.begin >= other.end) {
        continue;
      }
      taken[count++] = TakenRange{offsets[o], offsets[o] + other.bytes};
    }
    const int64_t at = LowestAmong(no_holes, b, taken.Slice(0, count));
    if (at + range.bytes > capacity) return Status::kOk;
    offsets[order[i]] = at;
  }
  *placed = true;
  return Status::kOk;
}

Status BestFit(const Sections& sections, int64_t good_enough, uint32_t swaps,
               const Workspace& work, Span<int64_t> offsets, int64_t* peak) {
  Arena* arena = work.arena;
  Budget* budget = work.budget;
  ArenaScope scope(arena);
  const size_t n = sections.buffers.size();
  Span<uint32_t> order, best_order;
  Span<int64_t> trial;
  SLUICE_TRY(arena->Allocate(n, &order));
  SLUICE_TRY(arena->Allocate(n, &best_order));
  SLUICE_TRY(arena->Allocate(n, &trial));
  *peak = INT64_MAX;
  const auto keep = [&](int64_t reached) {
    if (reached >= *peak) return;
    *peak = reached;
    std::copy(order.begin(), order.end(), best_order.begin());
    std::copy(trial.begin(), trial.end(), offsets.begin());
  };
  for (int by = 0; by < static_cast<int>(FitOrder::kCount); ++by) {
    int64_t reached = 0;
    SLUICE_TRY(SortForFit(sections, static_cast<FitOrder>(by), arena, order));
    const Status status = LowestFit(sections, order, *peak - 1, arena, trial, &reached);
    if (status == Status::kStopped && *peak < INT64_MAX) return Status::kOk;
    SLUICE_TRY(status);
    keep(reached);
    if (*peak <= good_enough || (by >= 1 && budget->Exhausted())) return Status::kOk;
  }
  Rng rng(1);
  for (uint32_t i = 0; i < swaps && n > 1; ++i) {
    if (*peak <= good_enough) break;
    if (budget->Exhausted()) break;
    // Moves the buffer that ends highest, or one that lives at the same time, forward
    // in the order of placing.
    uint32_t top = 0;
    for (uint32_t u = 0; u < n; ++u) {
      if (offsets[u] + sections.buffers[u].bytes == *peak) top = u;
    }
    const SectionedBuffer& b = sections.buffers[top];
    const uint32_t pick = rng.Below(b.near_count + 1);
    const uint32_t moved = pick < b.near_count ? sections.NearOf(b)[pick] : top;
    std::copy(best_order.begin(), best_order.end(), order.begin());
    uint32_t* from = std::find(order.begin(), order.end(), moved);
    uint32_t* to = order.begin() + rng.Below(static_cast<uint32_t>(n));
    if (to < from) {
      std::rotate(to, from, from + 1);
    } else {
      std::rotate(from, from + 1, to + 1);
    }
    int64_t reached = 0;
    const Status status = LowestFit(sections, order, *peak - 1, arena, trial, &reached);
    if (status == Status::kStopped) break;
    SLUICE_TRY(status);
    keep(reached);
  }
  return Status::kOk;
}

}  // namespace sluice
