// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_search.h"

#include <algorithm>

#include "base/sort.h"
#include "solve/placement/spill/spill_steps.h"

namespace sluice {
namespace {

constexpr uint32_t kKinds = 1024;  // of executed large operators, by their hash

template <int W>
bool HasTooMany(const SpillStates<W>& self) {
  return (self.options.max_states != 0 &&
          self.states.size() >= self.options.max_states) ||
         self.states.size() >= kNoState / 2;
}

// Bytes that `a` must pay to continue exactly as `b`: to drop tensors that b does not
// hold, and for copies that b has. Returns of tensors that only b holds are already in
// a's bytes.
template <int W>
int64_t Surplus(const SpillStates<W>& self, const SpillState<W>& a,
                const SpillState<W>& b) {
  int64_t bytes = 0;
  (a.resident - b.resident).ForEach([&](uint32_t t) {
    bytes += self.model.bytes[t] + (a.copied.Has(t) ? 0 : WritePrice(self, t));
  });
  ((a.resident & b.resident & b.copied) - a.copied).ForEach([&](uint32_t t) {
    bytes += WritePrice(self, t);
  });
  return bytes;
}

// gnu::cold: runs once per search or rarely; optimised for size in a build for speed.

// The state of a plan before its step `step`. A tensor used in the step before is still
// resident; others only if their next use does not fetch them.
template <int W>
[[gnu::cold]] Status StateAt(const SpillStates<W>& self, const SpillDecisions& plan,
                             uint32_t step, SpillState<W>* state) {
  *state = SpillState<W>{};
  ArenaScope scope(self.arena);
  Span<uint32_t> last_use;  // plus one; 0 = none
  SLUICE_TRY(self.arena->Allocate(self.model.bytes.size(), &last_use));
  Bits<W> settled{};  // next use at or after `step` seen
  for (uint32_t t = 0; t < self.model.operators; ++t) {
    const uint32_t o = plan.order[t];
    const Operator& op = self.model.graph->operators[o];
    if (t < step) state->executed.Add(o);
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = self.model.graph->operands[op.first_input + k];
      const uint32_t last = last_use[a];
      const bool drop = last != 0 && last != t + 1 && plan.fetch[op.first_input + k];
      last_use[a] = t + 1;
      if (last == 0 || last > step || settled.Has(a)) continue;
      if (drop && last < step) {
        state->bytes +=
            self.model.bytes[a] + (state->copied.Has(a) ? 0 : WritePrice(self, a));
        state->copied.Add(a);
      }
      if (t < step) continue;
      settled.Add(a);
      if (!drop || last == step) state->resident.Add(a);
    }
    for (uint32_t a : self.model.graph->OutputsOf(op)) last_use[a] = t + 1;
  }
  return Status::kOk;
}

// Fewest bytes first, and of those the emptiest scratchpad. States that put off the
// operators that need most look cheaper than they are: with shares, a quarter of the
// width is for the best; for the rest, those that have run the same large operators
// compete among themselves. Where these leave room, the best of the others stay, up to
// three quarters of the width.
template <int W>
[[gnu::cold]] void DropWorst(SpillStates<W>* self) {
  self->cut = true;
  uint32_t room = self->width, share = room, best = room / 4;
  Sort(self->ranked.begin(), self->ranked.end());
  if (self->options.shares != 0) share = Max(1u, room / self->options.shares);
  for (uint32_t& taken : self->taken) taken = 0;
  for (const RankedState& ranked : self->ranked) {
    SpillState<W>& s = self->states[ranked.state];
    const uint64_t kind = (s.executed & self->large).Hash() >> 32;
    uint32_t* taken = &self->taken[kind % self->taken.size()];
    s.dead = room == 0 || (best == 0 && *taken >= share);
    if (s.dead) continue;
    best -= best != 0;
    --room;
    ++*taken;
  }
  for (const RankedState& ranked : self->ranked) {
    SpillState<W>& s = self->states[ranked.state];
    if (!s.dead) continue;
    if (room > self->width / 4) {
      s.dead = false;
      --room;
    } else {
      self->dropped = Min(self->dropped, s.bytes);
    }
  }
}

// Keeps the best states of a layer, and forgets the others.
template <int W>
[[gnu::cold]] Status KeepBest(SpillStates<W>* self, size_t begin, size_t* end) {
  self->ranked.Truncate(0);
  for (size_t i = begin; i < *end; ++i) {
    if (self->states[i].dead) continue;
    const int64_t score = self->states[i].bytes + self->states[i].held / 8;
    SLUICE_TRY(self->ranked.Push(RankedState{score, static_cast<uint32_t>(i)}));
  }
  if (self->ranked.size() > self->width) DropWorst(self);
  size_t kept = begin;
  for (size_t i = begin; i < *end; ++i) {
    if (!self->states[i].dead) self->states[kept++] = self->states[i];
  }
  self->states.Truncate(kept);
  *end = kept;
  return Status::kOk;
}

// Tensors that the old plan held after the window, and the new one does not, must be
// fetched for their first use there.
template <int W>
[[gnu::cold]] void FetchAfterWindow(const SpillStates<W>& self, Bits<W> missing,
                                    SpillDecisions* out) {
  for (uint32_t t = self.options.window.end; t < self.model.operators; ++t) {
    const Operator& op = self.model.graph->operators[out->order[t]];
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = self.model.graph->operands[op.first_input + k];
      if (missing.Has(a)) out->fetch[op.first_input + k] = 1;
    }
    missing = missing - self.model.inputs[out->order[t]];
  }
}

template <int W>
[[gnu::cold]] void TracePlan(SpillStates<W>* self, uint32_t last, SpillDecisions* out) {
  const SpillWindow& window = self->options.window;
  uint32_t step = self->model.operators;
  if (window.begin == window.end) {
    std::fill(out->fetch.begin(), out->fetch.end(), uint8_t{0});
  } else {
    std::copy(window.base->order.begin(), window.base->order.end(), out->order.begin());
    std::copy(window.base->fetch.begin(), window.base->fetch.end(), out->fetch.begin());
    FetchAfterWindow(*self, self->goal.resident - self->states[last].resident, out);
    step = window.end;
  }
  for (uint32_t i = last; self->states[i].parent != kNoState;
       i = self->states[i].parent) {
    const SpillState<W>& s = self->states[i];
    out->order[--step] = s.op;
    const Operator& op = self->model.graph->operators[s.op];
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = self->model.graph->operands[op.first_input + k];
      out->fetch[op.first_input + k] = !self->states[s.parent].resident.Has(a);
    }
  }
}

// The state before the first step, and what may run.
template <int W>
[[gnu::cold]] Status MakeRoot(SpillStates<W>* self, SpillDecisions* out,
                              SpillState<W>* root) {
  const SpillModel<W>& model = self->model;
  const SpillWindow& window = self->options.window;
  for (uint32_t o = 0; o < model.operators; ++o) self->allowed.Add(o);
  if (window.begin != window.end) {
    SLUICE_TRY(StateAt(*self, *window.base, window.begin, root));
    SLUICE_TRY(StateAt(*self, *window.base, window.end, &self->goal));
    self->goal.bytes -= root->bytes;
    root->bytes = 0;
    root->held = model.Sum(root->resident);
    out->window_bytes = self->goal.bytes;
    self->give_up = Min(self->give_up, self->goal.bytes);
    self->allowed = self->goal.executed - root->executed;
  }
  root->parent = root->next = kNoState;
  root->op = kNoOperand;
  for (uint32_t o = 0; o < model.operators; ++o) {
    if (self->allowed.Has(o) && model.Ready(o, root->executed)) root->ready.Add(o);
  }
  return Status::kOk;
}

// Runs one more operator after each of the states [begin, end); notes a bound for
// states that are not expanded.
template <int W>
Status ExpandLayer(SpillStates<W>* self, size_t begin, size_t end, uint32_t layer) {
  for (size_t i = begin; i < end && !self->limited; ++i) {
    if (self->states[i].dead) continue;
    if (HasTooMany(*self)) self->limited = true;
    if (self->budget->Exhausted()) {
      // A beam continues with its best state alone, so that the search still ends with
      // a plan; when the whole call is over, nobody waits for it.
      if (self->arena->memory()->Stop()) return Status::kStopped;
      const bool whole = self->options.window.begin == self->options.window.end;
      self->limited |= self->width == 0 || !whole;
      self->width = 1;
    }
    if (!self->limited) {
      SLUICE_TRY(ExpandState(self, static_cast<uint32_t>(i), layer));
    }
  }
  if (!self->limited) return Status::kOk;
  // A state that was not expanded may lead to any cost from its own bytes on.
  for (size_t i = begin; i < end; ++i) NoteDropped(self, self->states[i]);
  return Status::kOk;
}

// The cheapest of the last layer, or none.
template <int W>
[[gnu::cold]] uint32_t PickBest(SpillStates<W>* self, size_t begin, size_t end) {
  const SpillWindow& window = self->options.window;
  uint32_t best = kNoState;
  for (size_t i = begin; i < end && !self->limited; ++i) {
    SpillState<W>& state = self->states[i];
    if (state.dead) continue;
    if (window.begin != window.end) state.bytes += Surplus(*self, state, self->goal);
    if (state.bytes >= self->give_up) continue;
    if (best == kNoState || state.bytes < self->states[best].bytes) {
      best = static_cast<uint32_t>(i);
    }
  }
  return best;
}

template <int W>
[[gnu::cold]] Status SearchLayers(SpillStates<W>* self, SpillDecisions* out) {
  const SpillWindow& window = self->options.window;
  SLUICE_TRY(self->arena->Allocate(self->model.bytes.size(), &self->others));
  SLUICE_TRY(self->arena->Allocate(self->model.bytes.size(), &self->residents));
  SLUICE_TRY(
      self->arena->Allocate(self->options.shares == 0 ? 1 : kKinds, &self->taken));
  for (uint32_t o = 0; o < self->model.operators; ++o) {
    const int64_t need = self->model.need[o], capacity = self->options.capacity;
    if (need > capacity / 16 * self->options.large) self->large.Add(o);
    if (self->model.read_after.empty()) continue;
    if (need + self->model.Sum(self->model.read_after[o]) > capacity)
      self->pressing.Add(o);
  }
  SLUICE_TRY(GrowTable(self, 256));
  SpillState<W> root{};
  SLUICE_TRY(MakeRoot(self, out, &root));
  const uint32_t layers =
      window.begin != window.end ? window.end - window.begin : self->model.operators;
  SLUICE_TRY(self->states.Push(root));
  const int64_t owed =
      self->model.read_after.empty() ? 0 : Owed(*self, root, INT64_MAX);
  size_t begin = 0, end = 1;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    SLUICE_TRY(ExpandLayer(self, begin, end, layer));
    if (self->limited) break;
    begin = end;
    end = self->states.size();
    ClearTable(self);
    if (self->options.width != 0) SLUICE_TRY(KeepBest(self, begin, &end));
  }
  const uint32_t best = PickBest(self, begin, end);
  out->states = self->states.size();
  out->found = best != kNoState;
  if (out->found) {
    out->bytes = self->states[best].bytes;
    TracePlan(self, best, out);
  }
  const int64_t reached = out->found ? out->bytes : self->give_up;
  out->lower_bound = Min(reached, Max(self->dropped, owed));
  out->beyond = Min(self->beyond, self->dropped);
  out->complete = !self->limited && !self->cut;
  return Status::kOk;
}

}  // namespace

Status SearchSpills(const OperatorGraph& graph, const SpillSearchOptions& options,
                    Budget* budget, Arena* arena, SpillDecisions* out) {
  return WithWidth(SpillItems(graph), [&](auto* tag) {
    constexpr int kWords = WordsOf(decltype(tag){});
    ArenaScope scope(arena);
    SpillModel<kWords> model;
    SLUICE_TRY(model.Init(graph, arena));
    const bool window = options.window.begin != options.window.end;
    if (options.width == 0 || !window) SLUICE_TRY(model.InitBounds(arena));
    if (options.fixed_order.empty()) SLUICE_TRY(model.InitChains(arena));
    SpillStates<kWords> search = {model, options, budget, arena};
    return SearchLayers(&search, out);
  });
}

}  // namespace sluice
