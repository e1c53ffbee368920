// SPDX-License-Identifier: Apache-2.0
// States of the search for spills, and their dominance.
//
// A state is what has run, what is resident and what has a copy outside. Of two states
// with the same executed set, one dominates the other when it can continue in the same
// way for no more bytes.
//
// Input    a model of the graph; a new state (SpillStates::next).
// Output   the state is added to its layer, unless a state there dominates it.
// Errors   kOutOfMemory.
// Cost     per state, the states with the same executed set.
// Source   COSMA (1)-(8), (12), (16); dominance is ours.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STATES_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STATES_H_

#include "base/checked.h"
#include "solve/placement/spill/spill_model.h"
#include "solve/placement/spill/spill_search.h"
#include "solve/placement/spill/spill_window.h"

namespace sluice {

constexpr uint32_t kNoState = 0xffffffffu;

// Outside the templates, as it does not depend on their width: one sort for all.
struct Leaver {  // resident, and not used by the next operator
  int64_t bytes, price;
  uint32_t tensor;
  bool operator<(const Leaver& b) const {  // large ones first
    return bytes != b.bytes ? bytes > b.bytes : tensor < b.tensor;
  }
};
struct RankedState {
  int64_t score;
  uint32_t state;
  bool operator<(const RankedState& b) const {
    return score != b.score ? score < b.score : state < b.state;
  }
};

template <int W>
struct SpillState {
  Bits<W> executed, resident, copied;
  Bits<W> ready;  // operators that may run next
  int64_t bytes;  // spent and owed: includes the return of all that left
  int64_t held;   // sum of the resident tensors
  uint32_t parent;
  uint32_t next;  // in its group: same executed set
  uint32_t op;
  bool dead;  // dominated
};

// Executed sets of the new layer -> first state of the group.
template <int W>
struct GroupTable {
  Span<uint32_t> slots;
  Span<uint32_t> heads;  // states, for clearing and growth
  uint32_t mask = 0;
};

// A search layer by layer: all states after as many operators.
template <int W>
struct SpillStates {
  const SpillModel<W>& model;
  const SpillSearchOptions& options;
  Budget* budget;
  Arena* arena;
  WindowPart* part = nullptr;  // of a larger graph, or none
  uint32_t steps = 0;
  Vector<SpillState<W>> states{arena};
  GroupTable<W> table = {};
  Vector<uint32_t> groups{arena};  // used slots
  Vector<RankedState> ranked{arena};
  Span<Leaver> residents = {};  // of state `sorted_of`, large ones first
  uint32_t resident_count = 0, sorted_of = kNoState;
  Span<Leaver> others = {};
  uint32_t other_count = 0;
  uint32_t leaves = 0;             // sets of tensors tried in this step
  uint32_t looks = 0;              // at sets that were not complete
  int64_t missing = 0;             // bytes that have to leave for it
  SpillState<W> next = {};         // in the making
  SpillState<W> goal = {};         // of a window: the old plan's state after it
  Bits<W> allowed = {};            // operators
  Bits<W> pressing = {};           // operators during which something may have to leave
  Bits<W> large = {};              // operators that need most of the capacity
  Span<uint32_t> taken = {};       // by hash of the large operators run: states kept
  uint32_t width = options.width;  // of a beam; 1 when its time is over
  int64_t give_up = options.give_up;  // states at or above it are dropped
  int64_t dropped = INT64_MAX;        // least bytes of a dropped state
  int64_t beyond = INT64_MAX;         // least bound of states that give_up excluded
  bool cut = false;
  bool limited = false;

  // The operator that may run directly after o without a loss; kNoOperand: none.
  uint32_t Chained(uint32_t o) const {
    return o == kNoOperand || model.next.empty() ? kNoOperand : model.next[o];
  }
};

template <int W>
void NoteDropped(SpillStates<W>* self, const SpillState<W>& s) {
  if (!s.dead) self->dropped = Min(self->dropped, s.bytes);
}

// Cost of the write on leaving, without the return.
template <int W>
int64_t WritePrice(const SpillStates<W>& self, uint32_t a) {
  if (self.options.charge == SpillCharge::kHost &&
      self.model.graph->tensors[a].role != TensorRole::kIntermediate) {
    return 0;
  }
  return self.model.bytes[a];
}

template <int W>
bool Dominates(const SpillStates<W>& self, const SpillState<W>& a,
               const SpillState<W>& b) {
  // At least the difference of the sums must leave; this decides most pairs.
  if (a.bytes + a.held - b.held > b.bytes) return false;
  int64_t slack = b.bytes - a.bytes;
  for (int k = 0; k < W; ++k) {
    if (a.resident.w[k] == 0) continue;  // most are
    uint64_t rest =
        a.resident.w[k] & ~(b.resident.w[k] & (a.copied.w[k] | ~b.copied.w[k]));
    if (rest == 0) continue;
    rest &= ~b.resident.w[k];
    for (; rest != 0 && slack >= 0; rest &= rest - 1) {
      const uint32_t t = static_cast<uint32_t>(64 * k + __builtin_ctzll(rest));
      slack -= self.model.bytes[t] + (a.copied.Has(t) ? 0 : WritePrice(self, t));
    }
    rest = a.resident.w[k] & b.resident.w[k] & b.copied.w[k] & ~a.copied.w[k];
    for (; rest != 0 && slack >= 0; rest &= rest - 1) {
      slack -= WritePrice(self, static_cast<uint32_t>(64 * k + __builtin_ctzll(rest)));
    }
  }
  return slack >= 0;
}

template <int W>
void ClearTable(SpillStates<W>* self) {
  for (uint32_t slot : self->groups) self->table.slots[slot] = kNoState;
  self->groups.Truncate(0);
}

template <int W>
[[gnu::cold]] Status GrowTable(SpillStates<W>* self, uint32_t size) {
  const Span<uint32_t> old = self->table.slots;
  SLUICE_TRY(self->arena->Allocate(size, &self->table.slots));
  self->table.mask = size - 1;
  for (uint32_t& slot : self->table.slots) slot = kNoState;
  for (uint32_t& group : self->groups) {
    const uint32_t head = old[group];
    group = static_cast<uint32_t>(self->states[head].executed.Hash() >> 32) &
            self->table.mask;
    while (self->table.slots[group] != kNoState) group = (group + 1) & self->table.mask;
    self->table.slots[group] = head;
  }
  return Status::kOk;
}

template <int W>
Status InsertState(SpillStates<W>* self) {
  uint32_t slot =
      static_cast<uint32_t>(self->next.executed.Hash() >> 32) & self->table.mask;
  while (self->table.slots[slot] != kNoState &&
         !(self->states[self->table.slots[slot]].executed == self->next.executed)) {
    slot = (slot + 1) & self->table.mask;
  }
  uint32_t before = kNoState;
  for (uint32_t i = self->table.slots[slot]; i != kNoState;
       before = i, i = self->states[i].next) {
    SpillState<W>& other = self->states[i];
    if (other.dead) continue;
    if (other.bytes <= self->next.bytes && Dominates(*self, other, self->next)) {
      // It is likely to dominate more states: move it to the front of the group.
      if (before != kNoState) {
        self->states[before].next = other.next;
        other.next = self->table.slots[slot];
        self->table.slots[slot] = i;
      }
      return Status::kOk;
    }
    if (self->next.bytes <= other.bytes && Dominates(*self, self->next, other))
      other.dead = true;
  }
  const bool is_new = self->table.slots[slot] == kNoState;
  self->next.next = is_new ? kNoState : self->states[self->table.slots[slot]].next;
  const uint32_t index = static_cast<uint32_t>(self->states.size());
  SLUICE_TRY(self->states.Push(self->next));
  if (!is_new) {  // after the head, which names the group
    self->states[self->table.slots[slot]].next = index;
    return Status::kOk;
  }
  self->table.slots[slot] = index;
  SLUICE_TRY(self->groups.Push(slot));
  if (self->groups.size() * 2 > self->table.mask)
    return GrowTable(self, 4 * (self->table.mask + 1));
  return Status::kOk;
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_STATES_H_
