// SPDX-License-Identifier: Apache-2.0
// One step of the search for spills: all ways to run one more operator.
//
// Input    a state, an operator that may run; a limit on the sets of tensors that
//          leave.
// Output   the states after it, inserted; SpillStates::cut and dropped when some were
//          left out.
// Errors   kOutOfMemory.
// Cost     per operator, the sets of resident tensors that free enough and no more.
// Source   COSMA (1)-(8); lazily, only as much leaves as must.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STEPS_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STEPS_H_

#include "base/sort.h"
#include "solve/placement/spill/spill_leave.h"

namespace sluice {

struct Freedom {
  bool taken, proved;
};

// Whether running o at once loses nothing: no tensor has to leave for it, and its
// outputs are no larger than the operand that it reads for the last time. Inputs of the
// network that only o reads come and go with it. An order that runs o later holds that
// operand meanwhile; this order can hold the outputs in its place, at no higher cost
// when they leave. With several such operands the outputs must be no larger than the
// least of them, since some may have left meanwhile; otherwise this is not proved, but
// a beam runs o all the same. An operator that should be delayed runs at once only
// together with the operator that it is delayed for.
template <int W>
Freedom IsFree(const SpillStates<W>& self, const SpillState<W>& s, uint32_t o) {
  Bits<W> with = s.executed;
  with.Add(o);
  int64_t written = 0, stays = 0, read_last = 0, least = INT64_MAX, loaded = 0;
  int operands = 0;
  bool cheap = true, comes = true;
  ForEachInput(*self.model.graph, o, [&](uint32_t a) {
    if (!s.resident.Has(a)) {
      comes = comes && self.model.only_here.Has(a);
      loaded += self.model.bytes[a];
    } else if (self.model.readers[a].Within(with)) {
      read_last += self.model.bytes[a];
      least = Min(least, self.model.bytes[a]);
      ++operands;
      cheap = cheap && (s.copied.Has(a) || WritePrice(self, a) == 0);
    }
  });
  if (!comes) return {false, false};
  for (uint32_t a : self.model.graph->OutputsOf(self.model.graph->operators[o])) {
    written += self.model.bytes[a];
    if (!self.model.readers[a].Empty()) stays += self.model.bytes[a];
  }
  written += loaded;
  const int64_t room =
      self.options.target == 0 ? self.options.capacity : self.options.target;
  if (s.held + written > room || stays > read_last) return {false, false};
  bool proved =
      stays == 0 || (operands == 1 && !cheap) || (operands > 1 && stays <= least);
  if (proved && self.Chained(o) != kNoOperand && self.model.delayed[o]) {
    const uint32_t p = self.model.next[o];
    const int64_t rest = s.held - read_last + stays;
    const int64_t last = self.model.Sum(self.model.outputs[p]);
    const int64_t more = self.model.Sum(self.model.inputs[p] & self.model.only_here);
    proved = last <= stays && rest + last + more <= room && !self.model.delayed[p];
  }
  return {proved || self.options.width != 0, proved};
}

// The tensors that could leave for operator o, of those that the state holds, which are
// sorted once for all operators.
template <int W>
void FindOthers(SpillStates<W>* self, uint32_t from, uint32_t o) {
  const SpillState<W>& s = self->states[from];
  if (self->sorted_of != from) {
    self->sorted_of = from;
    self->resident_count = 0;
    s.resident.ForEach([&](uint32_t a) {
      const int64_t write = s.copied.Has(a) ? 0 : WritePrice(*self, a);
      self->residents[self->resident_count++] =
          Leaver{self->model.bytes[a], self->model.bytes[a] + write, a};
    });
    Sort(self->residents.begin(), self->residents.begin() + self->resident_count);
  }
  self->other_count = 0;
  for (uint32_t i = 0; i < self->resident_count; ++i) {
    const Leaver& leaver = self->residents[i];
    if (self->model.inputs[o].Has(leaver.tensor)) continue;
    self->others[self->other_count++] = leaver;
  }
}

// Tries all ways to run operator o next. Only as many tensors leave as must (lazily).
template <int W>
Status TakeStep(SpillStates<W>* self, uint32_t from, uint32_t o) {
  const SpillState<W>& s = self->states[from];  // until the first state is inserted
  const int64_t bytes = s.bytes;
  self->next.parent = from;
  self->next.op = o;
  self->next.executed = s.executed;
  self->next.executed.Add(o);
  self->next.ready = s.ready;
  self->next.ready.Drop(o);
  (self->model.wakes[o] & self->allowed).ForEach([&](uint32_t p) {
    if (self->model.waits[p].Within(self->next.executed)) self->next.ready.Add(p);
  });
  const int64_t need = self->model.NeedAfter(o, s.executed);
  if (need > self->options.capacity) return Status::kOk;
  const int64_t room =
      self->options.target == 0 ? self->options.capacity : self->options.target;
  int64_t rest = 0;
  (s.resident - self->model.inputs[o]).ForEach([&](uint32_t a) {
    rest += self->model.bytes[a];
  });
  const int64_t excess = need - Max(need, room) + rest;
  self->leaves = self->looks = 0;
  self->missing = excess;
  if (excess <= 0) return FinishStep(self, Bits<W>{}, 0, bytes);
  FindOthers(self, from, o);
  if (self->options.max_evictions != 0) SLUICE_TRY(Greedy(self, excess, bytes));
  return Evict(self, 0, excess, rest, Bits<W>{}, bytes);
}

template <int W>
Status ExpandState(SpillStates<W>* self, uint32_t from, uint32_t layer) {
  if (!self->options.fixed_order.empty()) {
    return TakeStep(self, from,
                    self->part == nullptr ? self->options.fixed_order[layer] : layer);
  }
  const Bits<W> ready = self->states[from].ready;
  const uint32_t next = self->Chained(self->states[from].op);
  if (next != kNoOperand && ready.Has(next)) return TakeStep(self, from, next);
  uint32_t free = kNoOperand;
  ready.ForEach([&](uint32_t o) {
    if (free == kNoOperand && IsFree(*self, self->states[from], o).taken) free = o;
  });
  if (free != kNoOperand) {
    if (!IsFree(*self, self->states[from], free).proved) {
      self->cut = true;
      NoteDropped(self, self->states[from]);
    }
    return TakeStep(self, from, free);
  }
  Status status = Status::kOk;
  ready.ForEach([&](uint32_t o) {
    if (status == Status::kOk) status = TakeStep(self, from, o);
  });
  return status;
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STEPS_H_
