// SPDX-License-Identifier: Apache-2.0
#include "solve/prefetch/prefetch.h"

#include "base/checked.h"
#include "search/anneal.h"

namespace sluice {
namespace {

struct Change {
  enum Kind : uint8_t { kStart, kEnd, kPlace } kind;
  uint32_t id;
  int32_t old;  // start, end or place
};

struct Refiner {
  const TileList* list;
  int64_t buffer;
  int64_t ideal;
  DmaNotation now, best;
  Span<uint32_t> place;  // by transfer, in now.order
  Span<uint32_t> next;   // by transfer: next tile of its stream, or kNone
  Span<int64_t> weight;  // by transfer: cumulated bytes, for weighted draws
  Span<int64_t> use;     // bytes by position + 1
  Span<int64_t> begin;   // by position: cycles of the tiles before
  double area;           // bytes x cycles in use
  int64_t slowest;       // balancing: no latency above this is kept
  Span<int32_t> due;
  Change log[8];
  uint32_t logged;
};

bool IsStore(const Refiner& r, uint32_t id) {
  return r.list->transfer[id].kind == kStore;
}

// May `a` come before `b` in the order?
bool MayPrecede(const Refiner& r, uint32_t a, uint32_t b) {
  const DramTensor& ta = r.list->transfer[a];
  const DramTensor& tb = r.list->transfer[b];
  if (ta.previous == b || ta.after == b) return false;
  const bool store_a = ta.kind == kStore;
  const int32_t release = store_a ? ta.use : r.now.start[a];
  if (tb.kind == kStore) return release < r.now.end[b];
  return store_a ? release < tb.use : release <= tb.use;
}

void AddUse(Refiner* r, int32_t from, int32_t to, int64_t bytes) {
  if (from >= to) return;
  for (int32_t x = from; x < to; ++x) r->use[x + 1] += bytes;
  r->area += static_cast<double>(bytes) *
             static_cast<double>(r->begin[static_cast<size_t>(to)] -
                                 r->begin[static_cast<size_t>(Max(from, 0))]);
}

bool HasRoom(const Refiner& r, int32_t from, int32_t to, int64_t bytes) {
  for (int32_t x = from; x < to; ++x) {
    if (r.use[x + 1] + bytes > r.buffer) return false;
  }
  return true;
}

void Slide(Refiner* r, uint32_t id, uint32_t to) {
  uint32_t* order = r->now.order.data();
  uint32_t at = r->place[id];
  for (; at < to; ++at) r->place[order[at] = order[at + 1]] = at;
  for (; at > to; --at) r->place[order[at] = order[at - 1]] = at;
  order[to] = id;
  r->place[id] = to;
}

void SetStart(Refiner* r, uint32_t id, int32_t start) {
  const int64_t bytes = r->list->transfer[id].held;
  const int32_t old = r->now.start[id];
  AddUse(r, start, old, bytes);
  AddUse(r, old, start, -bytes);
  r->now.start[id] = start;
}

void SetEnd(Refiner* r, uint32_t id, int32_t end) {
  const int64_t bytes = r->list->transfer[id].held;
  const int32_t old = r->now.end[id];
  AddUse(r, old, end, bytes);
  AddUse(r, end, old, -bytes);
  r->now.end[id] = end;
}

void Log(Refiner* r, Change::Kind kind, uint32_t id, int32_t old) {
  r->log[r->logged++] = Change{kind, id, old};
}

// Slides a transfer towards a random place as far as the rules let it.
bool MoveOrder(Refiner* r, uint32_t id, Rng* rng) {
  const uint32_t n = r->list->transfers;
  const uint32_t from = r->place[id];
  const uint32_t reach = 1 + rng->Below(rng->Below(3) == 0 ? n : 6);
  const bool up = rng->Below(2) != 0;
  uint32_t to = from;
  for (uint32_t k = 0; k < reach; ++k) {
    if (up) {
      if (to + 1 == n || !MayPrecede(*r, r->now.order[to + 1], id)) break;
      ++to;
    } else {
      if (to == 0 || !MayPrecede(*r, id, r->now.order[to - 1])) break;
      --to;
    }
  }
  if (to == from) return false;
  Log(r, Change::kPlace, id, static_cast<int32_t>(from));
  Slide(r, id, to);
  return true;
}

int32_t Near(int32_t from, int32_t low, int32_t high, Rng* rng) {
  if (low >= high) return from;
  const uint32_t span = static_cast<uint32_t>(high - low);
  if (rng->Below(3) == 0) return low + static_cast<int32_t>(rng->Below(span + 1));
  const int32_t step = 1 + static_cast<int32_t>(rng->Below(4));
  return rng->Below(2) != 0 ? Min(from + step, high) : Max(from - step, low);
}

bool MoveStart(Refiner* r, uint32_t id, Rng* rng) {
  const DramTensor& t = r->list->transfer[id];
  int32_t low = -1;
  int32_t high = t.use;
  if (t.previous != kNone) low = Max(low, r->now.start[t.previous]);
  if (t.after != kNone) low = Max(low, r->list->transfer[t.after].use);
  if (r->next[id] != kNone) high = Min(high, r->now.start[r->next[id]]);
  const int32_t old = r->now.start[id];
  const int32_t start = Near(old, low, high, rng);
  if (start == old) return false;
  if (start < old) {
    if (!HasRoom(*r, start, old, t.held)) return false;
  } else {
    for (uint32_t at = r->place[id] + 1; at < r->list->transfers; ++at) {
      const uint32_t other = r->now.order[at];
      const int32_t most =
          IsStore(*r, other) ? r->now.end[other] - 1 : r->list->transfer[other].use;
      if (start > most) return false;
    }
  }
  Log(r, Change::kStart, id, old);
  SetStart(r, id, start);
  return true;
}

bool MoveEnd(Refiner* r, uint32_t id, Rng* rng) {
  const DramTensor& t = r->list->transfer[id];
  int32_t low = t.end;
  int32_t high = static_cast<int32_t>(r->list->tiles);
  if (t.previous != kNone) low = Max(low, r->now.end[t.previous]);
  if (r->next[id] != kNone) high = Min(high, r->now.end[r->next[id]]);
  const int32_t old = r->now.end[id];
  const int32_t end = Near(old, low, high, rng);
  if (end == old) return false;
  if (end > old) {
    if (!HasRoom(*r, old, end, t.held)) return false;
  } else {
    for (uint32_t at = 0; at < r->place[id]; ++at) {
      const uint32_t other = r->now.order[at];
      const int32_t release =
          IsStore(*r, other) ? r->list->transfer[other].use : r->now.start[other];
      if (release >= end) return false;
    }
  }
  Log(r, Change::kEnd, id, old);
  SetEnd(r, id, end);
  return true;
}

// Draws a transfer: half of the draws are weighted by bytes.
uint32_t Draw(const Refiner& r, Rng* rng) {
  const uint32_t n = r.list->transfers;
  if (rng->Below(2) != 0) return rng->Below(n);
  const uint64_t total = static_cast<uint64_t>(r.weight[n - 1]);
  const int64_t at = static_cast<int64_t>(rng->Next() % Max(total, uint64_t{1}));
  uint32_t low = 0;
  uint32_t high = n - 1;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (r.weight[middle] > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

double CostOf(const Refiner& r, int64_t latency) {
  return static_cast<double>(latency - r.ideal + 1);
}

bool RandomChange(Refiner* r, Rng* rng) {
  const uint32_t id = Draw(*r, rng);
  const uint32_t kind = rng->Below(10);
  bool changed = false;
  if (kind >= 4) changed |= MoveOrder(r, id, rng);
  if (kind < 9) {
    changed |= IsStore(*r, id) ? MoveEnd(r, id, rng) : MoveStart(r, id, rng);
  }
  return changed;
}

double Propose(void* user, Rng* rng, double) {
  Refiner* r = static_cast<Refiner*>(user);
  if (!RandomChange(r, rng)) return kAnnealRejected;
  return CostOf(*r, Latency(*r->list, r->now, r->due));
}

double ProposeBalance(void* user, Rng* rng, double limit) {
  Refiner* r = static_cast<Refiner*>(user);
  if (!RandomChange(r, rng) || r->area > limit) return kAnnealRejected;
  if (Latency(*r->list, r->now, r->due) > r->slowest) return kAnnealRejected;
  return r->area;
}

void Undo(void* user) {
  Refiner* r = static_cast<Refiner*>(user);
  while (r->logged != 0) {
    const Change& c = r->log[--r->logged];
    if (c.kind == Change::kStart) SetStart(r, c.id, c.old);
    if (c.kind == Change::kEnd) SetEnd(r, c.id, c.old);
    if (c.kind == Change::kPlace) Slide(r, c.id, static_cast<uint32_t>(c.old));
  }
}

void Copy(const DmaNotation& from, uint32_t n, DmaNotation* to) {
  if (n == 0) return;
  memcpy(to->order.data(), from.order.data(), n * sizeof(uint32_t));
  memcpy(to->start.data(), from.start.data(), n * sizeof(int32_t));
  memcpy(to->end.data(), from.end.data(), n * sizeof(int32_t));
}

void Restore(void* user) {
  Refiner* r = static_cast<Refiner*>(user);
  Copy(r->best, r->list->transfers, &r->now);
  for (uint32_t i = 0; i < r->list->transfers; ++i) r->place[r->now.order[i]] = i;
  ProfileBuffer(*r->list, r->now, r->use);
  r->area = 0;
  for (uint32_t p = 0; p < r->list->tiles; ++p) {
    r->area +=
        static_cast<double>(r->use[p + 1]) * static_cast<double>(r->list->cycles[p]);
  }
  r->logged = 0;
}

Status Prepare(Arena* arena, const TileList& list, Refiner* r) {
  const uint32_t n = list.transfers;
  DmaNotation* const notations[] = {&r->now, &r->best};
  for (DmaNotation* d : notations) {
    SLUICE_TRY(arena->Allocate(n, &d->order));
    SLUICE_TRY(arena->Allocate(n, &d->start));
    SLUICE_TRY(arena->Allocate(n, &d->end));
  }
  SLUICE_TRY(arena->Allocate(n, &r->place));
  SLUICE_TRY(arena->Allocate(n, &r->next));
  SLUICE_TRY(arena->Allocate(n, &r->weight));
  SLUICE_TRY(arena->Allocate(list.tiles + 2, &r->use));
  SLUICE_TRY(arena->Allocate(list.tiles + 1, &r->due));
  SLUICE_TRY(arena->Allocate(list.tiles + 1, &r->begin));
  for (uint32_t p = 0; p < list.tiles; ++p) {
    r->begin[p + 1] = r->begin[p] + list.cycles[p];
  }
  for (uint32_t i = 0; i < n; ++i) r->next[i] = kNone;
  int64_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const DramTensor& t = list.transfer[i];
    if (t.previous != kNone) r->next[t.previous] = i;
    r->weight[i] = sum += t.bytes;
  }
  return Status::kOk;
}

AnnealState State(Refiner* r, bool balance) {
  AnnealState state;
  state.user = r;
  state.propose = balance ? ProposeBalance : Propose;
  state.keep = [](void* user) { static_cast<Refiner*>(user)->logged = 0; };
  state.undo = Undo;
  state.save = [](void* user) {
    Refiner* x = static_cast<Refiner*>(user);
    Copy(x->now, x->list->transfers, &x->best);
  };
  state.restore = Restore;
  return state;
}

}  // namespace

Status RefineDma(const TileList& list, int64_t buffer_bytes,
                 const PrefetchOptions& options, const Workspace& work,
                 DmaNotation* dma, PrefetchResult* out) {
  Budget* budget = work.budget;
  ArenaScope scope(work.arena);
  Refiner r = {};
  r.list = &list;
  r.buffer = buffer_bytes;
  r.ideal = Max(list.compute_cycles, list.dram_cycles);
  SLUICE_TRY(Prepare(work.arena, list, &r));
  if (CheckDma(list, *dma, r.best.start) != DmaFault::kLegal ||
      ProfileBuffer(list, *dma, r.use) > buffer_bytes) {
    return Status::kBadInput;
  }
  out->latency_cycles = Latency(list, *dma, r.due);
  out->rounds = 0;
  if (list.transfers < 2) return Status::kOk;
  Copy(*dma, list.transfers, &r.best);
  Restore(&r);
  const uint64_t rounds =
      options.rounds != 0 ? options.rounds : 1000 * uint64_t{list.transfers};
  Rng rng(options.seed);
  AnnealOptions anneal = {rounds, options.start_temperature, 8, 0.9,
                          options.last_rounds};
  const AnnealResult result =
      Anneal(State(&r, false), anneal, CostOf(r, out->latency_cycles), &rng, budget);
  out->latency_cycles = Latency(list, r.best, r.due);
  out->rounds = result.rounds;
  if (options.balance_rounds != 0) {
    r.slowest = out->latency_cycles;
    anneal.rounds = options.balance_rounds;
    anneal.start_temperature = 0;
    out->rounds += Anneal(State(&r, true), anneal, r.area, &rng, budget).rounds;
    out->latency_cycles = Latency(list, r.best, r.due);
  }
  if (list.compute_cycles != 0) {
    out->average_bytes = r.area / static_cast<double>(list.compute_cycles);
  }
  Copy(r.best, list.transfers, dma);
  return Status::kOk;
}

}  // namespace sluice
