// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_search.h"

#include <algorithm>

#include "base/sort.h"
#include "solve/placement/spill/spill_steps.h"
#include "solve/placement/spill/spill_window.h"

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

// The plan that ends in state `last`, and what it holds there.
template <int W>
[[gnu::cold]] void TracePlan(SpillStates<W>* self, uint32_t last, SpillDecisions* out) {
  for (uint32_t a = 0; self->part != nullptr && a < self->model.bytes.size(); ++a)
    self->part->held[a] = self->states[last].resident.Has(a);
  std::fill(out->fetch.begin(), out->fetch.end(), uint8_t{0});
  uint32_t step = self->steps;
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
[[gnu::cold]] void MakeRoot(SpillStates<W>* self, SpillDecisions* out,
                            SpillState<W>* root) {
  const SpillModel<W>& model = self->model;
  const WindowPart* const part = self->part;
  for (uint32_t o = 0; o < self->steps; ++o) self->allowed.Add(o);
  for (uint32_t a = 0; part != nullptr && a < model.bytes.size(); ++a) {
    const uint8_t state = part->state[a];
    if ((state & kHeldBefore) != 0) root->resident.Add(a);
    if ((state & kCopiedBefore) != 0) root->copied.Add(a);
    if ((state & kHeldAfter) != 0) self->goal.resident.Add(a);
    if ((state & kCopiedAfter) != 0) self->goal.copied.Add(a);
  }
  if (part != nullptr) {
    root->held = model.Sum(root->resident);
    out->window_bytes = part->bytes;
    self->give_up = Min(self->give_up, part->bytes);
  }
  root->parent = root->next = kNoState;
  root->op = kNoOperand;
  for (uint32_t o = 0; o < model.operators; ++o) {
    if (self->allowed.Has(o) && model.Ready(o, root->executed)) root->ready.Add(o);
  }
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
      // a plan, unless there is one to beat; when the whole call is over, nobody waits
      // for it.
      if (self->arena->memory()->Stop()) return Status::kStopped;
      self->limited |= self->width == 0 || self->part != nullptr ||
                       self->options.give_up != INT64_MAX;
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
  uint32_t best = kNoState;
  for (size_t i = begin; i < end && !self->limited; ++i) {
    SpillState<W>& state = self->states[i];
    if (state.dead) continue;
    if (self->part != nullptr) state.bytes += Surplus(*self, state, self->goal);
    if (state.bytes >= self->give_up) continue;
    if (best == kNoState || state.bytes < self->states[best].bytes) {
      best = static_cast<uint32_t>(i);
    }
  }
  return best;
}

template <int W>
[[gnu::cold]] Status SearchLayers(SpillStates<W>* self, SpillDecisions* out) {
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
  MakeRoot(self, out, &root);
  SLUICE_TRY(self->states.Push(root));
  const int64_t owed =
      self->model.read_after.empty() ? 0 : Owed(*self, root, INT64_MAX);
  size_t begin = 0, end = 1;
  for (uint32_t layer = 0; layer < self->steps; ++layer) {
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

// part: a window of a plan, or nullptr for a whole graph.
Status SearchGraph(const OperatorGraph& graph, const SpillSearchOptions& options,
                   WindowPart* part, Budget* budget, Arena* arena,
                   SpillDecisions* out) {
  return WithWidth(SpillItems(graph), [&](auto* tag) {
    constexpr int kWords = WordsOf(decltype(tag){});
    ArenaScope scope(arena);
    SpillModel<kWords> model;
    SLUICE_TRY(model.Init(graph, arena));
    if (options.width == 0 || part == nullptr) SLUICE_TRY(model.InitBounds(arena));
    if (options.fixed_order.empty()) SLUICE_TRY(model.InitChains(arena));
    SpillStates<kWords> search = {model, options, budget, arena, part};
    search.steps = part == nullptr ? model.operators : part->steps;
    return SearchLayers(&search, out);
  });
}

}  // namespace

Status SearchSpills(const OperatorGraph& graph, const SpillSearchOptions& options,
                    Budget* budget, Arena* arena, SpillDecisions* out) {
  if (options.window.begin == options.window.end)
    return SearchGraph(graph, options, nullptr, budget, arena, out);
  ArenaScope scope(arena);
  WindowPart part;
  SLUICE_TRY(CutWindow(graph, options.charge, options.window, arena, &part));
  SpillDecisions found = *out;
  SLUICE_TRY(arena->Allocate(part.graph.operators.size(), &found.order));
  SLUICE_TRY(arena->Allocate(part.graph.operands.size(), &found.fetch));
  SLUICE_TRY(SearchGraph(part.graph, options, &part, budget, arena, &found));
  if (found.found)
    SLUICE_TRY(PasteWindow(graph, options.window, part, found, arena, out));
  found.order = out->order;
  found.fetch = out->fetch;
  *out = found;
  return Status::kOk;
}

}  // namespace sluice
