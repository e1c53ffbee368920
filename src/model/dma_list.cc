// SPDX-License-Identifier: Apache-2.0
#include "model/dma_list.h"

#include "base/checked.h"

namespace sluice {

Status InitDmaLister(Arena* arena, size_t max_tiles, size_t max_transfers,
                     DmaLister* l) {
  l->memory = arena->memory();
  SLUICE_TRY(arena->Allocate(max_tiles + 2, &l->use));
  SLUICE_TRY(arena->Allocate(max_tiles + 1, &l->ready));
  SLUICE_TRY(arena->Allocate(max_transfers, &l->next));
  SLUICE_TRY(arena->Allocate(max_transfers, &l->release));
  SLUICE_TRY(arena->Allocate(max_transfers, &l->reserved));
  SLUICE_TRY(arena->Allocate(max_transfers, &l->issued));
  return arena->Allocate(max_transfers, &l->queue);
}

namespace {

constexpr int kWindow = 12;  // loads considered behind the first unissued one

// True if there is room for the load from position p to its use. If not, records the
// first position from which there is.
bool Fits(DmaLister* l, uint32_t load, int32_t p) {
  if (l->reserved[load] != 0) return l->release[load] <= p;
  const DramTensor& t = l->tile_list->transfer[load];
  const int64_t room = l->buffer - t.held;
  const int64_t* use = l->use.data() + 1;
  for (int32_t x = t.use - 1; x >= p; --x) {
    if (use[x] > room) {
      l->release[load] = x + 1;
      return false;
    }
  }
  return true;
}

void Reserve(DmaLister* l, uint32_t load) {
  const DramTensor& t = l->tile_list->transfer[load];
  for (int32_t x = l->release[load]; x < t.use; ++x) l->use[x + 1] += t.held;
  l->reserved[load] = 1;
}

void IssueLoad(DmaLister* l, uint32_t load, int32_t start) {
  const DramTensor& t = l->tile_list->transfer[load];
  if (l->reserved[load] == 0) {
    for (int32_t x = start; x < t.use; ++x) l->use[x + 1] += t.held;
  }
  l->notation->order[l->issued_count++] = load;
  l->notation->start[load] = start;
  l->notation->end[load] = t.end;
  l->issued[load] = 1;
  l->dram += t.cycles;
  l->ready[t.use] = Max(l->ready[t.use], l->dram);
}

// Issues the store of the oldest finished ofmap.
void IssueStore(DmaLister* l) {
  const uint32_t store = l->queue[l->first_store++];
  const DramTensor& t = l->tile_list->transfer[store];
  l->notation->order[l->issued_count++] = store;
  l->issued[store] = 1;
  l->dram += t.cycles;
  l->in_flight = store;
  l->in_flight_done = l->dram;
}

bool Ready(const DmaLister& l, const DramTensor& t) {
  return (t.previous == kNone || l.issued[t.previous] != 0) &&
         (t.after == kNone || l.issued[t.after] != 0);
}

// Issues the first load that may start during tile p.
bool PickLoad(DmaLister* l, int32_t p) {
  uint32_t before = kNone;
  uint32_t load = l->head;
  for (int seen = 0; load != kNone && seen < kWindow; ++seen) {
    const DramTensor& t = l->tile_list->transfer[load];
    if (l->release[load] <= p && Ready(*l, t)) {
      if (Fits(l, load, p)) {
        (before == kNone ? l->head : l->next[before]) = l->next[load];
        IssueLoad(l, load, p);
        return true;
      }
      if ((l->policy & kDmaNoReserve) == 0) Reserve(l, load);
    }
    before = load;
    load = l->next[load];
  }
  return false;
}

void FreePhase(DmaLister* l, int32_t p) {
  l->dram = Max(l->dram, l->compute - l->tile_list->cycles[p]);
  while (l->dram < l->compute) {
    const bool store = l->first_store != l->last_store;
    if (store && (l->policy & kDmaStoreFirst) != 0) {
      IssueStore(l);
    } else if (!PickLoad(l, p)) {
      if (!store) {
        l->dram = l->compute;
        return;
      }
      IssueStore(l);
    }
  }
}

// Issues what tile q waits for: stores that no longer fit, and loads of q.
void Boundary(DmaLister* l, int32_t q) {
  int64_t waiting = 0;
  for (uint32_t i = l->first_store; i < l->last_store; ++i) {
    if (l->notation->end[l->queue[i]] == q)
      waiting += l->tile_list->transfer[l->queue[i]].held;
  }
  const bool flying = l->in_flight != kNone && l->in_flight_done > l->compute &&
                      l->notation->end[l->in_flight] == q;
  if (flying) {
    const int64_t bytes = l->tile_list->transfer[l->in_flight].held;
    if (l->use[q + 1] + waiting + bytes <= l->buffer) {
      l->use[q + 1] += bytes;
      l->notation->end[l->in_flight] = q + 1;
    } else {
      l->ready[q] = Max(l->ready[q], l->in_flight_done);
    }
  }
  while (waiting > 0 && l->use[q + 1] + waiting > l->buffer) {
    const uint32_t store = l->queue[l->first_store];
    IssueStore(l);
    if (l->notation->end[store] != q) continue;
    waiting -= l->tile_list->transfer[store].held;
    l->ready[q] = Max(l->ready[q], l->dram);
  }
  for (uint32_t i = l->first_store; i < l->last_store; ++i) {
    if (l->notation->end[l->queue[i]] == q) l->notation->end[l->queue[i]] = q + 1;
  }
  l->use[q + 1] += waiting;
  while (l->head != kNone && l->tile_list->transfer[l->head].use == q) {
    const DramTensor& t = l->tile_list->transfer[l->head];
    while (t.after != kNone && l->issued[t.after] == 0) IssueStore(l);
    const bool early = q > 0 && l->release[l->head] < q && Fits(l, l->head, q - 1);
    IssueLoad(l, l->head, early ? q - 1 : q);
    l->head = l->next[l->head];
  }
}

}  // namespace

int64_t ListTransfers(DmaLister* l, const TileList& list, int64_t buffer_bytes,
                      uint32_t policy, DmaNotation* dma) {
  l->tile_list = &list;
  l->notation = dma;
  l->buffer = buffer_bytes;
  l->policy = policy;
  l->minimum_bytes = ProfileMinimum(list, l->use);
  if (l->minimum_bytes > buffer_bytes) return -1;
  l->tiles = static_cast<int32_t>(list.tiles);
  l->issued_count = 0;
  l->dram = l->compute = 0;
  l->first_store = l->last_store = 0;
  l->in_flight = kNone;
  l->head = kNone;
  for (int32_t p = 0; p <= l->tiles; ++p) l->ready[p] = 0;
  for (uint32_t i = list.transfers; i-- > 0;) {
    l->issued[i] = 0;
    if (list.transfer[i].kind == kStore) continue;
    l->next[i] = l->head;
    l->head = i;
    l->release[i] = -1;
    l->reserved[i] = 0;
  }
  for (int32_t p = 0; p < l->tiles; ++p) {
    if (p % 64 == 63 && l->memory->Stop()) return -1;
    Boundary(l, p);
    l->compute = Max(l->compute, l->ready[p]) + list.cycles[p];
    FreePhase(l, p);
    if (list.store[p] != kNone) {
      const uint32_t store = list.store[p];
      dma->start[store] = p;
      dma->end[store] = list.transfer[store].end;
      l->queue[l->last_store++] = store;
    }
  }
  while (l->first_store != l->last_store) IssueStore(l);
  return Max(l->compute, l->dram);
}

}  // namespace sluice
