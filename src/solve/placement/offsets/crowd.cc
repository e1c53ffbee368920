// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/crowd.h"

#include <algorithm>

#include "base/checked.h"
#include "base/first_fit.h"
#include "base/sort.h"
#include "solve/placement/offsets/conflict_set.h"
#include "solve/placement/offsets/sections.h"

namespace sluice {
namespace {

// What is placed first of the buffers that fit the lowest stretch: the longest life, or
// the one at whose fullest moment the most bytes are alive; of equal ones that of more
// bytes. Preferences for bytes alone, and for bytes times life, found nothing lower.
enum class Prefer { kDuration, kLoad };

// A buffer without a fixed offset; its life in moments at which one begins or ends.
struct Strip {
  uint32_t source;
  uint32_t begin, end;
  int64_t load;  // the most bytes alive at once during its life
};

// The least of numbers of which one at a time changes.
struct LeastTree {
  Span<int64_t> nodes;
  size_t leaves = 1;

  Status Init(size_t count, Arena* arena) {
    while (leaves < count) leaves *= 2;
    SLUICE_TRY(arena->Allocate(2 * leaves, &nodes));
    std::fill(nodes.begin(), nodes.end(), kNowhere);
    return Status::kOk;
  }
  int64_t At(size_t leaf) const { return nodes[leaves + leaf]; }
  void Set(size_t leaf, int64_t value) {
    size_t node = leaf + leaves;
    for (nodes[node] = value; node > 1;) {
      node /= 2;
      nodes[node] = Min(nodes[2 * node], nodes[2 * node + 1]);
    }
  }
  // The first of those with the least value.
  uint32_t Least() const {
    size_t node = 1;
    while (node < leaves) node = 2 * node + (nodes[2 * node] == nodes[node] ? 0 : 1);
    return static_cast<uint32_t>(node - leaves);
  }
  int64_t LeastOf(size_t begin, size_t end) const {
    int64_t least = kNowhere;
    for (begin += leaves, end += leaves; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) least = Min(least, nodes[begin++]);
      if (end % 2 == 1) least = Min(least, nodes[--end]);
    }
    return least;
  }
};

struct Crowd {
  const LiveRangeSet& set;
  Span<Strip> strips;   // by begin
  uint32_t last;        // moment
  Span<uint32_t> from;  // per moment: the first strip that begins there or later
  // Of strips that are left: where they end, and their ranks by preference.
  LeastTree ends, ranks;
  // The skyline: stretches of equal height, each at the moment at which it begins.
  LeastTree heights;
  Span<uint32_t> before, after;
  Span<TakenRange> taken;  // scratch, for all fixed and reserved bytes
};

struct Wanted {
  size_t begin, end;  // strips
  int64_t latest;     // end of a life
  int64_t rank;       // a lower one than this
  uint32_t found;
};

void Search(const Crowd& c, size_t node, size_t first, size_t width, Wanted* want) {
  if (first >= want->end || first + width <= want->begin ||
      c.ends.nodes[node] > want->latest || c.ranks.nodes[node] >= want->rank) {
    return;
  }
  if (width == 1) {
    want->rank = c.ranks.nodes[node];
    want->found = static_cast<uint32_t>(first);
    return;
  }
  // The half with the lower rank first: the other one is often left out then.
  const size_t half = width / 2, low = 2 * node;
  const size_t side = c.ranks.nodes[low + 1] < c.ranks.nodes[low] ? 1 : 0;
  Search(c, low + side, first + side * half, half, want);
  Search(c, low + 1 - side, first + (1 - side) * half, half, want);
}

// The lowest offset, not below the skyline's, that fixed and reserved bytes leave.
int64_t LowestAbove(Crowd* c, const LiveRange& buffer, int64_t height) {
  size_t count = 0;
  const auto take = [&](int64_t begin, int64_t end, int64_t at, int64_t bytes) {
    if (begin < buffer.end && buffer.begin < end) c->taken[count++] = {at, at + bytes};
  };
  if (!c->taken.empty()) {
    for (const LiveRange& b : c->set.buffers) {
      if (b.fixed_offset != kFreeOffset) take(b.begin, b.end, b.fixed_offset, b.bytes);
    }
    for (const ReservedRegion& r : c->set.reserved)
      take(r.begin, r.end, r.offset, r.bytes);
  }
  return FirstFit(buffer.bytes, c->taken.Slice(0, count), kNowhere, [&](int64_t at) {
    return RoundUpTo(Max(at, height), buffer.alignment);
  });
}

void Join(Crowd* c, uint32_t begin, uint32_t end) {
  c->after[begin] = end;
  c->before[end] = begin;
}

// Stretches of one height beside each other are one.
void SetHeight(Crowd* c, uint32_t begin, int64_t height) {
  c->heights.Set(begin, height);
  for (const uint32_t second : {c->after[begin], begin}) {
    if (second == 0 || second == c->last) continue;
    const uint32_t first = c->before[second];
    if (c->heights.At(first) != c->heights.At(second)) continue;
    c->heights.Set(second, kNowhere);
    Join(c, first, c->after[second]);
  }
}

// Places all strips, each on the lowest stretch that one fits in; a stretch that none fits
// in rises to its lower neighbour. Ends with a peak above `most`.
Status PlaceOnSkyline(Crowd* c, int64_t most, Budget* budget, Span<int64_t> offsets,
                      int64_t* peak) {
  std::fill(c->heights.nodes.begin(), c->heights.nodes.end(), kNowhere);
  Join(c, 0, c->last);
  c->heights.Set(0, 0);
  for (size_t left = c->strips.size(); left > 0;) {
    if (budget->Exhausted()) return Status::kStopped;
    const uint32_t begin = c->heights.Least(), end = c->after[begin];
    const int64_t height = c->heights.At(begin);
    Wanted want = {c->from[begin], c->from[end], end, kNowhere, 0};
    Search(*c, 1, 0, c->ends.leaves, &want);
    if (want.rank == kNowhere) {
      const int64_t side = begin == 0 ? kNowhere : c->heights.At(c->before[begin]);
      SetHeight(c, begin, Min(side, c->heights.At(end)));
      continue;
    }
    const Strip& strip = c->strips[want.found];
    const LiveRange& buffer = c->set.buffers[strip.source];
    const int64_t at = LowestAbove(c, buffer, height);
    offsets[strip.source] = at;
    *peak = Max(*peak, at + buffer.bytes);
    if (*peak > most) return Status::kOk;
    c->ends.Set(want.found, kNowhere);
    c->ranks.Set(want.found, kNowhere);
    --left;
    if (strip.begin != begin) Join(c, begin, strip.begin);
    Join(c, strip.begin, strip.end);
    if (strip.end != end) {
      Join(c, strip.end, end);
      c->heights.Set(strip.end, height);
    }
    SetHeight(c, strip.begin, at + buffer.bytes);
  }
  return Status::kOk;
}

struct Event {
  int64_t time;
  uint32_t begins;  // ends come first: lives are half-open
  uint32_t index;
};

// Begins and ends of the buffers for which `counts` holds, in order of time.
template <class Counts>
Status MakeEvents(Span<const LiveRange> buffers, Arena* arena, Counts counts,
                  Span<Event>* out) {
  Span<Event> events;
  SLUICE_TRY(arena->Allocate(2 * buffers.size(), &events));
  size_t n = 0;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (!counts(buffers[i])) continue;
    events[n++] = {buffers[i].begin, 1, i};
    events[n++] = {buffers[i].end, 0, i};
  }
  *out = events.Slice(0, n);
  Sort(out->begin(), out->end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.begins != b.begins ? a.begins < b.begins : a.index < b.index;
  });
  return Status::kOk;
}

bool IsFree(const LiveRange& buffer) { return buffer.fixed_offset == kFreeOffset; }

Status MakeStrips(Arena* arena, Crowd* c) {
  const Span<const LiveRange> buffers = c->set.buffers;
  Span<Event> events;
  Span<uint32_t> strip_of;
  LeastTree loads;  // negative
  SLUICE_TRY(MakeEvents(buffers, arena, IsFree, &events));
  const size_t n = events.size() / 2;
  SLUICE_TRY(arena->Allocate(n, &c->strips));
  SLUICE_TRY(arena->Allocate(buffers.size(), &strip_of));
  SLUICE_TRY(arena->Allocate(2 * n + 1, &c->from));
  SLUICE_TRY(arena->Allocate(2 * n + 1, &c->before));
  SLUICE_TRY(arena->Allocate(2 * n + 1, &c->after));
  SLUICE_TRY(loads.Init(2 * n, arena));
  SLUICE_TRY(c->heights.Init(2 * n + 1, arena));
  SLUICE_TRY(c->ends.Init(n, arena));
  SLUICE_TRY(c->ranks.Init(n, arena));
  size_t fixed = c->set.reserved.size() + buffers.size() - n;
  SLUICE_TRY(arena->Allocate(fixed, &c->taken));
  uint32_t moment = 0, begun = 0;
  int64_t load = 0;
  for (size_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    if (e > 0 && event.time != events[e - 1].time) c->from[++moment] = begun;
    const int64_t bytes = buffers[event.index].bytes;
    load += event.begins != 0 ? bytes : -bytes;
    loads.Set(moment, -load);
    if (event.begins != 0) {
      strip_of[event.index] = begun;
      c->strips[begun++] = {event.index, moment, 0, 0};
    } else {
      c->strips[strip_of[event.index]].end = moment;
    }
  }
  c->last = moment;
  for (Strip& strip : c->strips) strip.load = -loads.LeastOf(strip.begin, strip.end);
  return Status::kOk;
}

// All strips are left, with ranks by this preference.
void RankStrips(Prefer by, Span<uint32_t> order, Crowd* c) {
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  Sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Strip &x = c->strips[a], &y = c->strips[b];
    const int64_t p = by == Prefer::kLoad ? x.load : x.end - x.begin;
    const int64_t q = by == Prefer::kLoad ? y.load : y.end - y.begin;
    if (p != q) return p > q;
    const int64_t m = c->set.buffers[x.source].bytes;
    const int64_t n = c->set.buffers[y.source].bytes;
    return m != n ? m > n : a < b;
  });
  for (uint32_t i = 0; i < order.size(); ++i) {
    c->ranks.Set(order[i], i);
    c->ends.Set(i, c->strips[i].end);
  }
}

}  // namespace

Status CountMeetings(Span<const LiveRange> buffers, Arena* arena, uint64_t* pairs) {
  ArenaScope scope(arena);
  Span<Event> events;
  SLUICE_TRY(MakeEvents(buffers, arena, IsFree, &events));
  uint64_t alive = 0;
  *pairs = 0;
  for (const Event& event : events) {
    if (event.begins != 0) {
      *pairs += alive++;
    } else {
      --alive;
    }
  }
  return Status::kOk;
}

Status PlaceCrowd(const LiveRangeSet& set, int64_t good_enough, const Workspace& work,
                  OffsetPlan* plan) {
  Arena* arena = work.arena;
  const Span<int64_t> best = plan->offsets;
  plan->offsets = Span<int64_t>();  // until there are some
  ArenaScope scope(arena);
  Crowd c = {set, {}, 0, {}, {}, {}, {}, {}, {}, {}};
  SLUICE_TRY(MakeStrips(arena, &c));
  Span<uint32_t> order;
  Span<int64_t> trial;
  SLUICE_TRY(arena->Allocate(c.strips.size(), &order));
  SLUICE_TRY(arena->Allocate(best.size(), &trial));
  int64_t fixed_peak = 0;
  for (size_t i = 0; i < trial.size(); ++i) {
    const LiveRange& b = set.buffers[i];
    trial[i] = b.fixed_offset;
    if (!IsFree(b)) fixed_peak = Max(fixed_peak, b.fixed_offset + b.bytes);
  }
  for (const Prefer by : {Prefer::kDuration, Prefer::kLoad}) {
    const bool later = !plan->offsets.empty();
    if (later && plan->peak <= good_enough) break;
    RankStrips(by, order, &c);
    int64_t peak = fixed_peak;
    const Status status = PlaceOnSkyline(&c, later ? plan->peak - 1 : kNowhere,
                                         work.budget, trial, &peak);
    if (status != Status::kOk) return later ? Status::kOk : status;
    if (later && peak >= plan->peak) break;
    plan->peak = peak;
    plan->offsets = best;
    std::copy(trial.begin(), trial.end(), best.begin());
  }
  return Status::kOk;
}

}  // namespace sluice
