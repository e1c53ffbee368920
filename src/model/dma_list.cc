// SPDX-License-Identifier: Apache-2.0
#include "model/dma_list.h"

#include "base/checked.h"

namespace sluice {

Status DmaLister::Init(Arena* arena, size_t max_tiles, size_t max_transfers) {
  memory_ = arena->memory();
  SLUICE_TRY(arena->Allocate(max_tiles + 2, &use_));
  SLUICE_TRY(arena->Allocate(max_tiles + 1, &ready_));
  SLUICE_TRY(arena->Allocate(max_transfers, &next_));
  SLUICE_TRY(arena->Allocate(max_transfers, &release_));
  SLUICE_TRY(arena->Allocate(max_transfers, &reserved_));
  SLUICE_TRY(arena->Allocate(max_transfers, &issued_));
  return arena->Allocate(max_transfers, &queue_);
}

int64_t DmaLister::List(const TileList& list, int64_t buffer_bytes, uint32_t policy,
                        DmaNotation* dma) {
  list_ = &list;
  dma_ = dma;
  buffer_ = buffer_bytes;
  policy_ = policy;
  minimum_ = ProfileMinimum(list, use_);
  if (minimum_ > buffer_bytes) return -1;
  tiles_ = static_cast<int32_t>(list.tiles);
  issued_count_ = 0;
  dram_ = compute_ = 0;
  first_store_ = last_store_ = 0;
  in_flight_ = kNone;
  head_ = kNone;
  for (int32_t p = 0; p <= tiles_; ++p) ready_[p] = 0;
  for (uint32_t i = list.transfers; i-- > 0;) {
    issued_[i] = 0;
    if (list.transfer[i].kind == kStore) continue;
    next_[i] = head_;
    head_ = i;
    release_[i] = -1;
    reserved_[i] = 0;
  }
  for (int32_t p = 0; p < tiles_; ++p) {
    if (p % 64 == 63 && memory_->Stop()) return -1;
    Boundary(p);
    compute_ = Max(compute_, ready_[p]) + list.cycles[p];
    FreePhase(p);
    if (list.store[p] != kNone) {
      const uint32_t store = list.store[p];
      dma->start[store] = p;
      dma->end[store] = list.transfer[store].end;
      queue_[last_store_++] = store;
    }
  }
  while (first_store_ != last_store_) IssueStore();
  return Max(compute_, dram_);
}

// True if there is room for the load from position p to its use. If not, records the
// first position from which there is.
bool DmaLister::Fits(uint32_t load, int32_t p) {
  if (reserved_[load] != 0) return release_[load] <= p;
  const DramTensor& t = list_->transfer[load];
  const int64_t room = buffer_ - t.held;
  const int64_t* use = use_.data() + 1;
  for (int32_t x = t.use - 1; x >= p; --x) {
    if (use[x] > room) {
      release_[load] = x + 1;
      return false;
    }
  }
  return true;
}

void DmaLister::Reserve(uint32_t load) {
  const DramTensor& t = list_->transfer[load];
  for (int32_t x = release_[load]; x < t.use; ++x) use_[x + 1] += t.held;
  reserved_[load] = 1;
}

void DmaLister::IssueLoad(uint32_t load, int32_t start) {
  const DramTensor& t = list_->transfer[load];
  if (reserved_[load] == 0) {
    for (int32_t x = start; x < t.use; ++x) use_[x + 1] += t.held;
  }
  dma_->order[issued_count_++] = load;
  dma_->start[load] = start;
  dma_->end[load] = t.end;
  issued_[load] = 1;
  dram_ += t.cycles;
  ready_[t.use] = Max(ready_[t.use], dram_);
}

// Issues the store of the oldest finished ofmap.
void DmaLister::IssueStore() {
  const uint32_t store = queue_[first_store_++];
  const DramTensor& t = list_->transfer[store];
  dma_->order[issued_count_++] = store;
  issued_[store] = 1;
  dram_ += t.cycles;
  in_flight_ = store;
  in_flight_done_ = dram_;
}

bool DmaLister::Ready(const DramTensor& t) const {
  return (t.previous == kNone || issued_[t.previous] != 0) &&
         (t.after == kNone || issued_[t.after] != 0);
}

// Issues the first load that may start during tile p.
bool DmaLister::PickLoad(int32_t p) {
  uint32_t before = kNone;
  uint32_t load = head_;
  for (int seen = 0; load != kNone && seen < kWindow; ++seen) {
    const DramTensor& t = list_->transfer[load];
    if (release_[load] <= p && Ready(t)) {
      if (Fits(load, p)) {
        (before == kNone ? head_ : next_[before]) = next_[load];
        IssueLoad(load, p);
        return true;
      }
      if ((policy_ & kDmaNoReserve) == 0) Reserve(load);
    }
    before = load;
    load = next_[load];
  }
  return false;
}

void DmaLister::FreePhase(int32_t p) {
  dram_ = Max(dram_, compute_ - list_->cycles[p]);
  while (dram_ < compute_) {
    const bool store = first_store_ != last_store_;
    if (store && (policy_ & kDmaStoreFirst) != 0) {
      IssueStore();
    } else if (!PickLoad(p)) {
      if (!store) {
        dram_ = compute_;
        return;
      }
      IssueStore();
    }
  }
}

// Issues what tile q waits for: stores that no longer fit, and loads of q.
void DmaLister::Boundary(int32_t q) {
  int64_t waiting = 0;
  for (uint32_t i = first_store_; i < last_store_; ++i) {
    if (dma_->end[queue_[i]] == q) waiting += list_->transfer[queue_[i]].held;
  }
  const bool flying =
      in_flight_ != kNone && in_flight_done_ > compute_ && dma_->end[in_flight_] == q;
  if (flying) {
    const int64_t bytes = list_->transfer[in_flight_].held;
    if (use_[q + 1] + waiting + bytes <= buffer_) {
      use_[q + 1] += bytes;
      dma_->end[in_flight_] = q + 1;
    } else {
      ready_[q] = Max(ready_[q], in_flight_done_);
    }
  }
  while (waiting > 0 && use_[q + 1] + waiting > buffer_) {
    const uint32_t store = queue_[first_store_];
    IssueStore();
    if (dma_->end[store] != q) continue;
    waiting -= list_->transfer[store].held;
    ready_[q] = Max(ready_[q], dram_);
  }
  for (uint32_t i = first_store_; i < last_store_; ++i) {
    if (dma_->end[queue_[i]] == q) dma_->end[queue_[i]] = q + 1;
  }
  use_[q + 1] += waiting;
  while (head_ != kNone && list_->transfer[head_].use == q) {
    const DramTensor& t = list_->transfer[head_];
    while (t.after != kNone && issued_[t.after] == 0) IssueStore();
    const bool early = q > 0 && release_[head_] < q && Fits(head_, q - 1);
    IssueLoad(head_, early ? q - 1 : q);
    head_ = next_[head_];
  }
}

}  // namespace sluice
