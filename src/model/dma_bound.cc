// SPDX-License-Identifier: Apache-2.0
#include "model/dma_bound.h"

#include "base/checked.h"

namespace sluice {
namespace {

// Transfers of one direction, and how many cycles a subset of them can take at most.
struct Side {
  int64_t cycles = 0;  // of all transfers
  int64_t count = 0;   // transfers that hold buffer of their own
  int64_t smallest = INT64_MAX;
  int64_t overhead = 0;  // largest cycles of one transfer beyond its bytes / bandwidth
  int64_t loose = 0;     // cycles of transfers that hold no buffer of their own

  void Add(const FusionProblem& problem, const DramTensor& t) {
    cycles += t.cycles;
    if (t.held < t.bytes) {
      loose += t.cycles;
      return;
    }
    ++count;
    smallest = Min(smallest, t.held);
    overhead = Max(overhead, t.cycles - Stream(problem, t.bytes) + 1);
  }
  static int64_t Stream(const FusionProblem& problem, int64_t bytes) {
    return TransferCycles(bytes, problem.dram_bandwidth.numerator,
                          problem.dram_bandwidth.denominator);
  }
  // Upper bound for transfers that together hold at most `bytes`.
  int64_t MostCycles(const FusionProblem& problem, int64_t bytes) const {
    if (count == 0 || smallest > bytes) return loose;
    const int64_t most = Min(count, bytes / Max(smallest, int64_t{1}));
    return Min(loose + most * overhead + Stream(problem, bytes), cycles);
  }
};

struct Sums {
  Span<int64_t> profile;  // minimal buffer use, by position + 1
  Span<int64_t> loads;    // by position: cycles of loads first used there
  Span<int64_t> made;     // by position: cycles of stores made there
  Span<int64_t> due;     // by position: cycles of stores that end there at the earliest
  Span<int64_t> finish;  // by position + 1: earliest end of the tile
  // By position: first load of it that rereads a store, or kNone.
  Span<uint32_t> reread;
  Span<uint32_t> next;  // by transfer: the next such load of the same position
  Side load, store;
};

Status SumUp(const FusionProblem& problem, const TileList& list, Arena* scratch,
             Sums* s) {
  Span<int64_t>* const spans[] = {&s->profile, &s->loads, &s->made, &s->due,
                                  &s->finish};
  for (Span<int64_t>* span : spans) {
    SLUICE_TRY(scratch->Allocate(list.tiles + 2, span));
  }
  SLUICE_TRY(scratch->Allocate(list.tiles, &s->reread));
  SLUICE_TRY(scratch->Allocate(list.transfers, &s->next));
  for (uint32_t& r : s->reread) r = kNone;
  ProfileMinimum(list, s->profile);
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const DramTensor& t = list.transfer[i];
    const size_t use = static_cast<size_t>(t.use);
    if (t.kind == kStore) {
      s->store.Add(problem, t);
      s->made[use] += t.cycles;
      s->due[static_cast<size_t>(t.end)] += t.cycles;
    } else {
      s->load.Add(problem, t);
      s->loads[use] += t.cycles;
      if (t.after == kNone) continue;
      s->next[i] = s->reread[use];
      s->reread[use] = i;
    }
  }
  return Status::kOk;
}

}  // namespace

Status BoundDma(const FusionProblem& problem, const TileList& list,
                int64_t buffer_bytes, Arena* scratch, int64_t* out) {
  ArenaScope scope(scratch);
  Sums s;
  SLUICE_TRY(SumUp(problem, list, scratch, &s));
  int64_t bound = Max(list.compute_cycles, list.dram_cycles);
  int64_t loaded = 0;  // cycles of loads first used before position p
  int64_t stored = 0;  // cycles of stores made before position p - 1
  int64_t due = 0;     // cycles of stores that end by p
  // Largest (finish - cycles of transfers that may be done by then).
  int64_t ahead_loads = 0;
  int64_t ahead_all = 0;
  for (uint32_t p = 0; p < list.tiles; ++p) {
    const int64_t before = s.finish[p];
    // Loads for later tiles that may have begun before tile p - 1 ended.
    const int64_t early =
        p == 0 ? 0 : s.load.MostCycles(problem, buffer_bytes - s.profile[p]);
    ahead_loads = Max(ahead_loads, before - loaded - early);
    ahead_all = Max(ahead_all, before - loaded - early - stored);
    bound = Max(bound, before + Max(s.load.cycles - loaded - early, int64_t{0}) +
                           (s.store.cycles - stored));
    loaded += s.loads[p];
    due += s.due[p];
    const int64_t late = s.store.MostCycles(problem, buffer_bytes - s.profile[p + 1]);
    int64_t start = Max(before, loaded + ahead_loads);
    start = Max(start, loaded + due - late + ahead_all);
    for (uint32_t i = s.reread[p]; i != kNone; i = s.next[i]) {
      const DramTensor& source = list.transfer[list.transfer[i].after];
      start = Max(start, s.finish[static_cast<size_t>(source.use) + 1] + source.cycles +
                             list.transfer[i].cycles);
    }
    s.finish[p + 1] = start + list.cycles[p];
    if (p != 0) stored += s.made[p - 1];
  }
  const uint32_t n = list.tiles;
  *out = Max(bound, s.finish[n] + (n == 0 ? 0 : s.made[n - 1]));
  return Status::kOk;
}

}  // namespace sluice
