// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/partial_gaps.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr size_t kMaxPieces = 4096;         // compared in pairs
constexpr size_t kMaxForbidden = 20000;     // distances that two pieces may not have
constexpr uint64_t kDefaultNodes = 500000;  // where the caller gives no limit
constexpr uint32_t kNoEdge = 0xffffffffu;

// Bytes [low, high) of an item, relative to its offset, during [begin, end).
struct Use {
  int64_t begin, end, low, high;
  uint32_t item;
};

// offset[above] - offset[below] must not lie in (low, high), both excluded.
struct Forbidden {
  uint32_t below, above;
  int64_t low, high;
};

// offset[to] >= offset[from] + distance.
struct Edge {
  uint32_t from, to;
  int64_t distance;
  uint32_t next;  // of the same from
};

struct Change {
  uint32_t item;
  int64_t old;
};

// A search over distances between buffers. Items: all buffers, then the reserved
// regions.
struct GapSearch {
  const LiveRangeSet& set;
  int64_t capacity;
  uint64_t max_nodes;
  Budget* budget;
  Arena* arena;
  Vector<Use> uses{arena};
  Vector<Forbidden> forbidden{arena};
  Vector<Edge> edges{arena};
  Vector<Change> log{arena};
  Vector<uint32_t> queue{arena};
  Span<int64_t> offset = {};
  Span<uint32_t> first_edge = {};
  Span<uint8_t> queued = {};
  uint64_t nodes = 0;
  bool stopped = false;
};

Status Solve(GapSearch* self, bool* found);

bool IsReserved(const GapSearch& self, uint32_t i) {
  return i >= self.set.buffers.size();
}

bool IsFixed(const GapSearch& self, uint32_t i) {
  return IsReserved(self, i) || self.set.buffers[i].fixed_offset != kFreeOffset;
}

int64_t GivenOffset(const GapSearch& self, uint32_t i) {
  return IsReserved(self, i) ? self.set.reserved[i - self.set.buffers.size()].offset
                             : self.set.buffers[i].fixed_offset;
}

bool IsWithin(const GapSearch& self, uint32_t i) {
  return IsFixed(self, i) ||
         (self.offset[i] < kNowhere &&
          self.offset[i] + self.set.buffers[i].bytes <= self.capacity);
}

// Lowest offset >= `from` that alignment and banks allow.
int64_t AllowedOffset(const GapSearch& self, uint32_t i, int64_t from) {
  const LiveRange& r = self.set.buffers[i];
  int64_t at = RoundUpTo(from, r.alignment);
  if (!r.single_bank && r.banks == 0) return at;
  while (at + r.bytes <= self.capacity) {
    const int64_t first = at / self.set.bank_bytes;
    const int64_t last = (at + r.bytes - 1) / self.set.bank_bytes;
    int64_t closed = r.single_bank && first != last ? last - 1 : -1;
    for (int64_t bank = last; r.banks != 0 && bank >= first && closed < first; --bank) {
      if (bank >= 64 || (r.banks >> bank & 1) == 0) closed = bank;
    }
    if (closed < first) return at;
    at = RoundUpTo((closed + 1) * self.set.bank_bytes, r.alignment);
  }
  return kNowhere;
}

Status AddUse(GapSearch* self, uint32_t item, int64_t begin, int64_t end, int64_t low,
              int64_t high) {
  if (begin >= end || low >= high) return Status::kOk;
  return self->uses.Push(Use{begin, end, low, high, item});
}

Status CollectUses(GapSearch* self) {
  for (uint32_t i = 0; i < self->set.buffers.size(); ++i) {
    const LiveRange& r = self->set.buffers[i];
    int64_t from = r.begin;
    for (uint32_t g = 0; g < r.gap_count; ++g) {
      const LiveGap& gap = self->set.gaps[r.first_gap + g];
      SLUICE_TRY(AddUse(self, i, from, gap.begin, 0, r.bytes));
      SLUICE_TRY(AddUse(self, i, gap.begin, gap.end, gap.first_byte, gap.last_byte));
      from = gap.end;
    }
    SLUICE_TRY(AddUse(self, i, from, r.end, 0, r.bytes));
  }
  for (uint32_t k = 0; k < self->set.reserved.size(); ++k) {
    const ReservedRegion& r = self->set.reserved[k];
    SLUICE_TRY(AddUse(self, static_cast<uint32_t>(self->set.buffers.size()) + k,
                      r.begin, r.end, 0, r.bytes));
  }
  return Status::kOk;
}

// Overlapping forbidden distances of one pair become one.
Status Forbid(GapSearch* self, Forbidden f) {
  for (size_t i = 0; i < self->forbidden.size();) {
    const Forbidden& known = self->forbidden[i];
    if (known.below == f.below && known.above == f.above && known.low < f.high &&
        f.low < known.high) {
      f.low = Min(f.low, known.low);
      f.high = Max(f.high, known.high);
      self->forbidden[i] = self->forbidden[self->forbidden.size() - 1];
      self->forbidden.Pop();
      i = 0;
      continue;
    }
    ++i;
  }
  return self->forbidden.Push(f);
}

Status CollectForbidden(GapSearch* self) {
  for (size_t j = 0; j < self->uses.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      const Use& a = self->uses[i];
      const Use& b = self->uses[j];
      if (a.item == b.item || a.end <= b.begin || b.end <= a.begin) continue;
      if (IsFixed(*self, a.item) && IsFixed(*self, b.item)) continue;
      SLUICE_TRY(
          Forbid(self, Forbidden{a.item, b.item, a.low - b.high, a.high - b.low}));
    }
  }
  return Status::kOk;
}

// Bytes that the cheaper way out of a forbidden distance costs; 0: it is not forbidden
// now.
int64_t Urgency(const GapSearch& self, const Forbidden& f) {
  const int64_t distance = self.offset[f.above] - self.offset[f.below];
  if (distance <= f.low || distance >= f.high) return 0;
  const int64_t up = IsFixed(self, f.above) ? kNowhere : f.high - distance;
  const int64_t down = IsFixed(self, f.below) ? kNowhere : distance - f.low;
  return Min(up, down);
}

// Raises offsets until every edge holds; a cycle of edges ends at the capacity.
Status Propagate(GapSearch* self, uint32_t from, bool* ok) {
  self->queue.Truncate(0);
  SLUICE_TRY(self->queue.Push(from));
  for (size_t i = 0; i < self->queue.size() && *ok; ++i) {
    const uint32_t u = self->queue[i];
    self->queued[u] = 0;
    for (uint32_t e = self->first_edge[u]; e != kNoEdge && *ok;
         e = self->edges[e].next) {
      const uint32_t v = self->edges[e].to;
      const int64_t least = self->offset[u] + self->edges[e].distance;
      if (self->offset[v] >= least) continue;
      if (IsFixed(*self, v)) {
        *ok = false;
        break;
      }
      SLUICE_TRY(self->log.Push(Change{v, self->offset[v]}));
      self->offset[v] = AllowedOffset(*self, v, least);
      *ok = IsWithin(*self, v) && !(i > 1000 && self->budget->Tick());
      if (!self->queued[v]) {
        self->queued[v] = 1;
        SLUICE_TRY(self->queue.Push(v));
      }
    }
  }
  for (uint32_t u : self->queue) self->queued[u] = 0;
  return Status::kOk;
}

Status Try(GapSearch* self, Edge edge, bool* found) {
  const size_t mark = self->log.size();
  edge.next = self->first_edge[edge.from];
  self->first_edge[edge.from] = static_cast<uint32_t>(self->edges.size());
  SLUICE_TRY(self->edges.Push(edge));
  bool ok = true;
  SLUICE_TRY(Propagate(self, edge.from, &ok));
  if (ok) SLUICE_TRY(Solve(self, found));
  if (*found) return Status::kOk;
  while (self->log.size() > mark) {
    const Change& change = self->log[self->log.size() - 1];
    self->offset[change.item] = change.old;
    self->log.Pop();
  }
  self->first_edge[edge.from] = edge.next;
  self->edges.Pop();
  return Status::kOk;
}

Status Solve(GapSearch* self, bool* found) {
  if (++self->nodes > self->max_nodes || self->budget->Tick()) self->stopped = true;
  if (self->stopped) return Status::kOk;
  const Forbidden* worst = nullptr;
  int64_t urgency = 0;
  for (const Forbidden& f : self->forbidden) {
    const int64_t u = Urgency(*self, f);
    if (u > urgency) {
      urgency = u;
      worst = &f;
    }
  }
  if (worst == nullptr) {
    *found = true;
    return Status::kOk;
  }
  const Forbidden f = *worst;
  const int64_t distance = self->offset[f.above] - self->offset[f.below];
  const bool up_first =
      !IsFixed(*self, f.above) &&
      (IsFixed(*self, f.below) || f.high - distance <= distance - f.low);
  for (int way = 0; way < 2; ++way) {
    const bool up = (way == 0) == up_first;
    SLUICE_TRY(Try(self,
                   up ? Edge{f.below, f.above, f.high, kNoEdge}
                      : Edge{f.above, f.below, -f.low, kNoEdge},
                   found));
    if (*found || self->stopped) return Status::kOk;
  }
  return Status::kOk;
}

Status Run(GapSearch* self) {
  const size_t n = self->set.buffers.size() + self->set.reserved.size();
  SLUICE_TRY(self->arena->Allocate(n, &self->offset));
  SLUICE_TRY(self->arena->Allocate(n, &self->first_edge));
  SLUICE_TRY(self->arena->Allocate(n, &self->queued));
  for (uint32_t& edge : self->first_edge) edge = kNoEdge;
  SLUICE_TRY(CollectUses(self));
  if (self->uses.size() > kMaxPieces) return Status::kStopped;
  SLUICE_TRY(CollectForbidden(self));
  if (self->forbidden.size() > kMaxForbidden) return Status::kStopped;
  for (uint32_t i = 0; i < n; ++i) {
    self->offset[i] =
        IsFixed(*self, i) ? GivenOffset(*self, i) : AllowedOffset(*self, i, 0);
    if (!IsWithin(*self, i)) return Status::kInfeasible;
  }
  bool found = false;
  SLUICE_TRY(Solve(self, &found));
  if (found) return Status::kOk;
  return self->stopped ? Status::kStopped : Status::kInfeasible;
}

}  // namespace

Status ExactWithGaps(const LiveRangeSet& set, const Sections& sections,
                     int64_t capacity, const ExactLimits& limits, const Workspace& work,
                     Span<int64_t> offsets) {
  Budget* budget = work.budget;
  Arena* arena = work.arena;
  const Status whole = ExactOffsets(sections, capacity, limits, budget, arena, offsets);
  if (!sections.conservative ||
      (whole != Status::kInfeasible && whole != Status::kStopped)) {
    return whole;
  }
  ArenaScope scope(arena);
  const uint64_t nodes = limits.max_nodes == 0 ? kDefaultNodes : limits.max_nodes;
  GapSearch search = {set, capacity, nodes, budget, arena};
  const Status status = Run(&search);
  if (limits.nodes != nullptr) *limits.nodes += search.nodes;
  if (status != Status::kOk) return status;
  for (size_t u = 0; u < offsets.size(); ++u) {
    offsets[u] = search.offset[sections.buffers[u].source];
  }
  return Status::kOk;
}

}  // namespace sluice
