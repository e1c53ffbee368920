// SPDX-License-Identifier: Apache-2.0
#include "model/timeline.h"

#include "base/checked.h"

namespace sluice {

int64_t Latency(const TileList& list, const DmaNotation& dma, Span<int32_t> due_span) {
  const int32_t n = static_cast<int32_t>(list.tiles);
  const int32_t m = static_cast<int32_t>(list.transfers);
  int32_t* due = due_span.data();
  const DramTensor* transfer = list.transfer.data();
  const uint32_t* order = dma.order.data();
  const int32_t* start = dma.start.data();
  // due[p]: how many transfers, in DRAM order, must be done before tile p.
  for (int32_t p = 0; p <= n; ++p) due[p] = 0;
  for (int32_t i = 0; i < m; ++i) {
    const DramTensor& t = transfer[order[i]];
    due[t.kind == kStore ? dma.end[order[i]] : t.use] = i + 1;
  }
  due[n] = m;
  int64_t compute = 0;
  int64_t dram = 0;
  int32_t i = 0;
  for (; i < due[0]; ++i) dram += transfer[order[i]].cycles;
  compute = dram;
  for (int32_t p = 0; p < n; ++p) {
    if (i < due[p]) {  // could not start before tile p
      for (; i < due[p]; ++i) dram += transfer[order[i]].cycles;
      compute = Max(compute, dram);
    }
    compute += list.cycles[p];
    for (; i < m; ++i) {
      const DramTensor& t = transfer[order[i]];
      if (start[order[i]] > p || (t.kind == kStore && t.use == p)) {
        dram = Max(dram, compute);
        break;
      }
      if (dram + t.cycles > compute) break;
      dram += t.cycles;
    }
    if (i >= due[p + 1]) continue;
    for (; i < due[p + 1] && start[order[i]] <= p; ++i) {
      const DramTensor& t = transfer[order[i]];
      if (t.kind == kStore && t.use == p) dram = Max(dram, compute);
      dram += t.cycles;
    }
    if (p + 1 < n) compute = Max(compute, dram);
  }
  return Max(compute, dram);
}

namespace {

void Add(int64_t* bytes, int32_t start, int32_t end, int64_t n) {
  bytes[start + 1] += n;
  bytes[end + 1] -= n;
}

int64_t SumUp(int64_t* bytes, int32_t tiles) {
  int64_t use = 0;
  int64_t peak = 0;
  for (int32_t x = 0; x <= tiles; ++x) {
    use += bytes[x];
    bytes[x] = use;
    peak = Max(peak, use);
  }
  return peak;
}

void AddOnChip(const TileList& list, int64_t* bytes) {
  const int32_t n = static_cast<int32_t>(list.tiles);
  for (int32_t x = 0; x < n + 2; ++x) bytes[x] = 0;
  for (uint32_t i = 0; i < list.residents; ++i) {
    Add(bytes, -1, list.resident[i].end, list.resident[i].bytes);
  }
  for (int32_t p = 0; p < n; ++p) {
    Add(bytes, p, list.ofmap_end[p], list.ofmap_bytes[p]);
    if (!list.reserve.empty()) Add(bytes, p, p + 1, list.reserve[p]);
  }
}

}  // namespace

int64_t ProfileBuffer(const TileList& list, const DmaNotation& dma,
                      Span<int64_t> bytes) {
  AddOnChip(list, bytes.data());
  for (uint32_t i = 0; i < list.transfers; ++i) {
    Add(bytes.data(), dma.start[i], dma.end[i], list.transfer[i].held);
  }
  return SumUp(bytes.data(), static_cast<int32_t>(list.tiles));
}

int64_t ProfileMinimum(const TileList& list, Span<int64_t> bytes) {
  AddOnChip(list, bytes.data());
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const DramTensor& t = list.transfer[i];
    Add(bytes.data(), t.use, t.end, t.held);
  }
  return SumUp(bytes.data(), static_cast<int32_t>(list.tiles));
}

double Energy(const FusionProblem& problem, const TileList& list) {
  return list.core_pj + problem.dram_pj_per_byte *
                            static_cast<double>(list.load_bytes + list.store_bytes);
}

namespace {

// Order: start, weights first, end, loads before stores, then index.
bool Before(const TileList& list, const DmaNotation& dma, uint32_t a, uint32_t b) {
  if (dma.start[a] != dma.start[b]) return dma.start[a] < dma.start[b];
  const TransferKind ka = list.transfer[a].kind;
  const TransferKind kb = list.transfer[b].kind;
  if ((ka == kLoadWeight) != (kb == kLoadWeight)) return ka == kLoadWeight;
  if (dma.end[a] != dma.end[b]) return dma.end[a] < dma.end[b];
  if ((ka == kStore) != (kb == kStore)) return kb == kStore;
  return a < b;
}

}  // namespace

void DoubleBuffer(const TileList& list, DmaNotation* dma) {
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const DramTensor& t = list.transfer[i];
    const bool store = t.kind == kStore;
    dma->start[i] = store ? t.use : t.use - 1;
    dma->end[i] = store ? Max(t.end, Min(t.use + 2, t.group_end)) : t.end;
    // The list is nearly sorted: an insertion passes only transfers of the same tile.
    uint32_t at = i;
    for (; at > 0 && Before(list, *dma, i, dma->order[at - 1]); --at) {
      dma->order[at] = dma->order[at - 1];
    }
    dma->order[at] = i;
  }
}

namespace {

// *at: number of transfers that are in order.
DmaFault FindFault(const TileList& list, const DmaNotation& dma, Span<int32_t> seen,
                   uint32_t* at) {
  const int32_t n = static_cast<int32_t>(list.tiles);
  for (uint32_t i = 0; i < list.transfers; ++i) seen[i] = -1;
  int32_t latest_start = -1;  // of loads so far
  int32_t latest_made = -1;   // of stores so far
  for (uint32_t i = 0; i < list.transfers; ++i) {
    *at = i;
    const uint32_t id = dma.order[i];
    if (id >= list.transfers || seen[id] >= 0) return DmaFault::kOrder;
    seen[id] = static_cast<int32_t>(i);
    const DramTensor& t = list.transfer[id];
    const int32_t start = dma.start[id];
    const int32_t end = dma.end[id];
    if (t.previous != kNone) {
      if (seen[t.previous] < 0) return DmaFault::kOrder;
      if (start < dma.start[t.previous] || end < dma.end[t.previous]) {
        return DmaFault::kDuration;
      }
    }
    if (t.after != kNone) {
      if (seen[t.after] < 0) return DmaFault::kSource;
      if (start < list.transfer[t.after].use) return DmaFault::kSource;
    }
    if (t.kind == kStore) {
      if (start != t.use || end < t.end || end > n) return DmaFault::kDuration;
      if (latest_start >= end || latest_made >= end) return DmaFault::kBlocked;
      latest_made = Max(latest_made, start);
    } else {
      if (start < -1 || start > t.use || end != t.end) return DmaFault::kDuration;
      if (latest_start > t.use || latest_made >= t.use) return DmaFault::kBlocked;
      latest_start = Max(latest_start, start);
    }
  }
  return DmaFault::kLegal;
}

}  // namespace

DmaFault CheckDma(const TileList& list, const DmaNotation& dma, Span<int32_t> seen,
                  uint32_t* at) {
  uint32_t here = 0;
  const DmaFault fault = FindFault(list, dma, seen, &here);
  if (at != nullptr && fault != DmaFault::kLegal) *at = here;
  return fault;
}

}  // namespace sluice
