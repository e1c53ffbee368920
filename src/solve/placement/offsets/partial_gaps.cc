// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/partial_gaps.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr size_t kMaxPieces = 4096;  // compared in pairs
constexpr size_t kMaxForbidden = 20000;
constexpr uint64_t kDefaultNodes = 500000;
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

// Items: all buffers, then the reserved regions.
class Search {
 public:
  Search(const LiveRangeSet& set, int64_t capacity, uint64_t max_nodes, Budget* budget,
         Arena* arena)
      : set_(set),
        capacity_(capacity),
        max_nodes_(max_nodes),
        budget_(budget),
        arena_(arena),
        uses_(arena),
        forbidden_(arena),
        edges_(arena),
        log_(arena),
        queue_(arena) {}

  Status Run() {
    const size_t n = set_.buffers.size() + set_.reserved.size();
    SLUICE_TRY(arena_->Allocate(n, &offset_));
    SLUICE_TRY(arena_->Allocate(n, &first_edge_));
    SLUICE_TRY(arena_->Allocate(n, &queued_));
    for (uint32_t& edge : first_edge_) edge = kNoEdge;
    SLUICE_TRY(CollectUses());
    if (uses_.size() > kMaxPieces) return Status::kStopped;
    SLUICE_TRY(CollectForbidden());
    if (forbidden_.size() > kMaxForbidden) return Status::kStopped;
    for (uint32_t i = 0; i < n; ++i) {
      offset_[i] = Fixed(i) ? Given(i) : Allowed(i, 0);
      if (!Within(i)) return Status::kInfeasible;
    }
    bool found = false;
    SLUICE_TRY(Solve(&found));
    if (found) return Status::kOk;
    return stopped_ ? Status::kStopped : Status::kInfeasible;
  }
  int64_t offset(uint32_t buffer) const { return offset_[buffer]; }
  uint64_t nodes() const { return nodes_; }

 private:
  bool Reserved(uint32_t i) const { return i >= set_.buffers.size(); }
  bool Fixed(uint32_t i) const {
    return Reserved(i) || set_.buffers[i].fixed_offset != kFreeOffset;
  }
  int64_t Given(uint32_t i) const {
    return Reserved(i) ? set_.reserved[i - set_.buffers.size()].offset
                       : set_.buffers[i].fixed_offset;
  }
  bool Within(uint32_t i) const {
    return Fixed(i) ||
           (offset_[i] < kNowhere && offset_[i] + set_.buffers[i].bytes <= capacity_);
  }

  // Lowest offset >= from that alignment and banks allow.
  int64_t Allowed(uint32_t i, int64_t from) const {
    const LiveRange& r = set_.buffers[i];
    int64_t at = RoundUpTo(from, r.alignment);
    if (!r.single_bank && r.banks == 0) return at;
    while (at + r.bytes <= capacity_) {
      const int64_t first = at / set_.bank_bytes;
      const int64_t last = (at + r.bytes - 1) / set_.bank_bytes;
      int64_t closed = r.single_bank && first != last ? last - 1 : -1;
      for (int64_t bank = last; r.banks != 0 && bank >= first && closed < first;
           --bank) {
        if (bank >= 64 || (r.banks >> bank & 1) == 0) closed = bank;
      }
      if (closed < first) return at;
      at = RoundUpTo((closed + 1) * set_.bank_bytes, r.alignment);
    }
    return kNowhere;
  }

  Status CollectUses() {
    for (uint32_t i = 0; i < set_.buffers.size(); ++i) {
      const LiveRange& r = set_.buffers[i];
      int64_t from = r.begin;
      for (uint32_t g = 0; g < r.gap_count; ++g) {
        const LiveGap& gap = set_.gaps[r.first_gap + g];
        SLUICE_TRY(Use1(i, from, gap.begin, 0, r.bytes));
        SLUICE_TRY(Use1(i, gap.begin, gap.end, gap.first_byte, gap.last_byte));
        from = gap.end;
      }
      SLUICE_TRY(Use1(i, from, r.end, 0, r.bytes));
    }
    for (uint32_t k = 0; k < set_.reserved.size(); ++k) {
      const ReservedRegion& r = set_.reserved[k];
      SLUICE_TRY(Use1(static_cast<uint32_t>(set_.buffers.size()) + k, r.begin, r.end, 0,
                      r.bytes));
    }
    return Status::kOk;
  }
  Status Use1(uint32_t item, int64_t begin, int64_t end, int64_t low, int64_t high) {
    if (begin >= end || low >= high) return Status::kOk;
    return uses_.Push(Use{begin, end, low, high, item});
  }

  Status CollectForbidden() {
    for (size_t j = 0; j < uses_.size(); ++j) {
      for (size_t i = 0; i < j; ++i) {
        const Use& a = uses_[i];
        const Use& b = uses_[j];
        if (a.item == b.item || a.end <= b.begin || b.end <= a.begin) continue;
        if (Fixed(a.item) && Fixed(b.item)) continue;
        SLUICE_TRY(Forbid(Forbidden{a.item, b.item, a.low - b.high, a.high - b.low}));
      }
    }
    return Status::kOk;
  }
  // Overlapping forbidden distances of one pair become one.
  Status Forbid(Forbidden f) {
    for (size_t i = 0; i < forbidden_.size();) {
      const Forbidden& known = forbidden_[i];
      if (known.below == f.below && known.above == f.above && known.low < f.high &&
          f.low < known.high) {
        f.low = Min(f.low, known.low);
        f.high = Max(f.high, known.high);
        forbidden_[i] = forbidden_[forbidden_.size() - 1];
        forbidden_.Pop();
        i = 0;
        continue;
      }
      ++i;
    }
    return forbidden_.Push(f);
  }

  // Bytes the cheaper way out of a forbidden distance costs; 0: not forbidden now.
  int64_t Urgency(const Forbidden& f) const {
    const int64_t distance = offset_[f.above] - offset_[f.below];
    if (distance <= f.low || distance >= f.high) return 0;
    const int64_t up = Fixed(f.above) ? kNowhere : f.high - distance;
    const int64_t down = Fixed(f.below) ? kNowhere : distance - f.low;
    return Min(up, down);
  }

  Status Solve(bool* found) {
    if (++nodes_ > max_nodes_ || budget_->Tick()) stopped_ = true;
    if (stopped_) return Status::kOk;
    const Forbidden* worst = nullptr;
    int64_t urgency = 0;
    for (const Forbidden& f : forbidden_) {
      const int64_t u = Urgency(f);
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
    const int64_t distance = offset_[f.above] - offset_[f.below];
    const bool up_first =
        !Fixed(f.above) && (Fixed(f.below) || f.high - distance <= distance - f.low);
    for (int way = 0; way < 2; ++way) {
      const bool up = (way == 0) == up_first;
      SLUICE_TRY(Try(up ? Edge{f.below, f.above, f.high, kNoEdge}
                        : Edge{f.above, f.below, -f.low, kNoEdge},
                     found));
      if (*found || stopped_) return Status::kOk;
    }
    return Status::kOk;
  }

  Status Try(Edge edge, bool* found) {
    const size_t mark = log_.size();
    edge.next = first_edge_[edge.from];
    first_edge_[edge.from] = static_cast<uint32_t>(edges_.size());
    SLUICE_TRY(edges_.Push(edge));
    bool ok = true;
    SLUICE_TRY(Propagate(edge.from, &ok));
    if (ok) SLUICE_TRY(Solve(found));
    if (*found) return Status::kOk;
    while (log_.size() > mark) {
      const Change& change = log_[log_.size() - 1];
      offset_[change.item] = change.old;
      log_.Pop();
    }
    first_edge_[edge.from] = edge.next;
    edges_.Pop();
    return Status::kOk;
  }

  // Raises offsets until every edge holds; a cycle of edges ends at the capacity.
  Status Propagate(uint32_t from, bool* ok) {
    queue_.Truncate(0);
    SLUICE_TRY(queue_.Push(from));
    for (size_t i = 0; i < queue_.size() && *ok; ++i) {
      const uint32_t u = queue_[i];
      queued_[u] = 0;
      for (uint32_t e = first_edge_[u]; e != kNoEdge && *ok; e = edges_[e].next) {
        const uint32_t v = edges_[e].to;
        const int64_t least = offset_[u] + edges_[e].distance;
        if (offset_[v] >= least) continue;
        if (Fixed(v)) {
          *ok = false;
          break;
        }
        SLUICE_TRY(log_.Push(Change{v, offset_[v]}));
        offset_[v] = Allowed(v, least);
        *ok = Within(v) && !(i > 1000 && budget_->Tick());
        if (!queued_[v]) {
          queued_[v] = 1;
          SLUICE_TRY(queue_.Push(v));
        }
      }
    }
    for (uint32_t u : queue_) queued_[u] = 0;
    return Status::kOk;
  }

  const LiveRangeSet& set_;
  const int64_t capacity_;
  const uint64_t max_nodes_;
  Budget* const budget_;
  Arena* const arena_;
  Vector<Use> uses_;
  Vector<Forbidden> forbidden_;
  Vector<Edge> edges_;
  Vector<Change> log_;
  Vector<uint32_t> queue_;
  Span<int64_t> offset_;
  Span<uint32_t> first_edge_;
  Span<uint8_t> queued_;
  uint64_t nodes_ = 0;
  bool stopped_ = false;
};

}  // namespace

Status ExactWithGaps(const LiveRangeSet& set, const Sections& sections,
                     int64_t capacity, const ExactLimits& limits, Budget* budget,
                     Arena* arena, Span<int64_t> offsets) {
  const Status whole = ExactOffsets(sections, capacity, limits, budget, arena, offsets);
  if (!sections.conservative ||
      (whole != Status::kInfeasible && whole != Status::kStopped)) {
    return whole;
  }
  ArenaScope scope(arena);
  const uint64_t nodes = limits.max_nodes == 0 ? kDefaultNodes : limits.max_nodes;
  Search search(set, capacity, nodes, budget, arena);
  const Status status = search.Run();
  if (limits.nodes != nullptr) *limits.nodes += search.nodes();
  if (status != Status::kOk) return status;
  for (size_t u = 0; u < offsets.size(); ++u) {
    offsets[u] = search.offset(sections.buffers[u].source);
  }
  return Status::kOk;
}

}  // namespace sluice
