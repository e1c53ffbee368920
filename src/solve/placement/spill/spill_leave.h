// SPDX-License-Identifier: Apache-2.0
// Which tensors leave so that an operator can run.
//
// Input    a step in progress: SpillStates::next and the tensors that could leave,
//          SpillStates::others; bytes that are missing.
// Output   a state for each set of tensors that frees enough and no more.
// Errors   kOutOfMemory.
// Cost     exponential in the tensors that could leave, up to max_evictions sets.
// Source   COSMA (1)-(8); the bound on what a state still has to pay is ours.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_LEAVE_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_LEAVE_H_

#include "solve/placement/spill/spill_states.h"

namespace sluice {

// Tensors that fit beside an operator or leave.
struct Waiting {
  int64_t excess;             // bytes without room
  int64_t cheap = 0;          // bytes of those that leave without a write
  int64_t least = INT64_MAX;  // price of the cheapest

  void Add(int64_t bytes, int64_t write) {
    excess += bytes;
    if (write == 0) cheap += bytes;
    least = Min(least, bytes + write);
  }
  // What is paid at least.
  int64_t Price(int64_t granule) const {
    if (excess <= 0 || least == INT64_MAX) return 0;
    return Max(least, RoundUpTo(excess + Max<int64_t>(0, excess - cheap), granule));
  }
};

// A lower bound on the bytes that any continuation still pays. While an operator to come
// runs, tensors read after it that are resident or made before must fit beside its
// operands, or leave. What different tensors pay adds up. Looks no further when it comes
// to `enough`.
template <int W>
int64_t Owed(const SpillStates<W>& self, const SpillState<W>& s, int64_t enough) {
  int64_t sum = 0, most = 0;  // most: of one operator
  Bits<W> made{};             // resident, or gone and paid
  s.executed.ForEach([&](uint32_t o) {
    for (int k = 0; k < W; ++k)
      made.w[k] |= self.model.inputs[o].w[k] | self.model.outputs[o].w[k];
  });
  Bits<W> counted{};
  ((self.allowed & self.pressing) - s.executed).ForEach([&](uint32_t o) {
    if (Max(sum, most) >= enough) return;
    int64_t excess = self.model.need[o] - self.options.capacity;
    if (self.model.in_place[o] != kNoOperand)
      excess -= self.model.bytes[self.model.in_place[o]];
    Waiting all = {excess}, more = {excess};  // more: not counted yet
    Bits<W> waiting;
    for (int k = 0; k < W; ++k) {
      waiting.w[k] = (self.model.read_after[o].w[k] & s.resident.w[k]) |
                     (self.model.across[o].w[k] & ~made.w[k]);
      for (uint64_t rest = waiting.w[k]; rest != 0; rest &= rest - 1) {
        const uint32_t a = static_cast<uint32_t>(64 * k + __builtin_ctzll(rest));
        const int64_t bytes = self.model.bytes[a];
        const int64_t write = s.copied.Has(a) ? 0 : WritePrice(self, a);
        all.Add(bytes, write);
        if (!counted.Has(a)) more.Add(bytes, write);
      }
    }
    if (all.excess <= 0) return;
    most = Max(most, all.Price(self.model.granule));
    if (more.excess <= 0) return;
    sum += more.Price(self.model.granule);
    counted = counted | waiting;
  });
  return Max(sum, most);
}

// Whether a plan of at least these bytes is still wanted.
template <int W>
bool MayPay(SpillStates<W>* self, int64_t bytes) {
  if (bytes < self->give_up) return true;
  self->beyond = Min(self->beyond, bytes);
  return false;
}

// freed: bytes of the tensors that are gone.
template <int W>
Status FinishStep(SpillStates<W>* self, const Bits<W>& gone, int64_t freed,
                  int64_t bytes) {
  ++self->leaves;
  if (!MayPay(self, bytes)) return Status::kOk;
  const SpillState<W>& s = self->states[self->next.parent];
  SpillState<W>& next = self->next;
  next.bytes = bytes;
  next.copied = s.copied | gone;
  next.resident = s.resident - gone;
  next.held = s.held - freed;
  ForEachOperand(*self->model.graph, next.op, [&](uint32_t a) {
    const bool was = next.resident.Has(a);
    const bool is_over = self->model.readers[a].Within(next.executed);
    if (was && is_over) {
      next.resident.Drop(a);
      next.held -= self->model.bytes[a];
    } else if (!was && !is_over) {
      next.resident.Add(a);
      next.held += self->model.bytes[a];
    }
  });
  if (self->options.width == 0) {
    const int64_t enough = self->give_up - bytes;
    if (!MayPay(self, bytes + Owed(*self, self->next, enough))) return Status::kOk;
  }
  return InsertState(self);
}

// With a limit on sets: only the cheapest single tensor and one set in order of price
// per byte.
template <int W>
Status Greedy(SpillStates<W>* self, int64_t excess, int64_t bytes) {
  uint32_t single = kNoState;
  for (uint32_t i = 0; i < self->other_count; ++i) {
    if (self->others[i].bytes < excess) continue;
    if (single == kNoState || self->others[i].price < self->others[single].price)
      single = i;
  }
  if (single != kNoState) {
    Bits<W> gone{};
    gone.Add(self->others[single].tensor);
    SLUICE_TRY(FinishStep(self, gone, self->others[single].bytes,
                          bytes + self->others[single].price));
  }
  Bits<W> gone{};
  while (excess > 0) {  // least price per byte, ties by size
    uint32_t pick = kNoState;
    for (uint32_t i = 0; i < self->other_count; ++i) {
      if (gone.Has(self->others[i].tensor)) continue;
      if (pick == kNoState ||
          static_cast<__int128>(self->others[i].price) * self->others[pick].bytes <
              static_cast<__int128>(self->others[pick].price) * self->others[i].bytes) {
        pick = i;
      }
    }
    if (pick == kNoState) return Status::kOk;
    gone.Add(self->others[pick].tensor);
    excess -= self->others[pick].bytes;
    bytes += self->others[pick].price;
  }
  return FinishStep(self, gone, self->missing - excess, bytes);
}

// Where most sets free too little, few are complete: then it is the looks that count.
constexpr uint32_t kLooksPerSet = 512;

// Sets of tensors by falling size, each complete as soon as it frees `excess`: the last
// one taken is the smallest, so sets are minimal.
template <int W>
Status Evict(SpillStates<W>* self, uint32_t at, int64_t excess, int64_t rest,
             const Bits<W>& gone, int64_t bytes) {
  if (self->options.width == 0 && self->budget->Tick()) self->limited = true;
  if (self->limited || !MayPay(self, bytes)) return Status::kOk;
  if (excess <= 0) return FinishStep(self, gone, self->missing - excess, bytes);
  if (rest < excess) return Status::kOk;
  const uint32_t most = self->options.max_evictions;
  if (most != 0 && (self->leaves >= most || ++self->looks > kLooksPerSet * most)) {
    self->cut = true;
    self->dropped = Min(self->dropped, bytes);
    return Status::kOk;
  }
  const Leaver& other = self->others[at];
  Bits<W> with = gone;
  with.Add(other.tensor);
  SLUICE_TRY(Evict(self, at + 1, excess - other.bytes, rest - other.bytes, with,
                   bytes + other.price));
  return Evict(self, at + 1, excess, rest - other.bytes, gone, bytes);
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_LEAVE_H_
