// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_bound.h"

#include "base/checked.h"
#include "solve/placement/spill/operator_order.h"
#include "solve/placement/spill/spill_model.h"

namespace sluice {
namespace {

constexpr uint32_t kBeamWidth = 64;         // states: finds a plan of a window
constexpr uint64_t kFirstStates = 1 << 12;  // of a window, in the first round
constexpr uint32_t kRounds = 3;             // each with more states than the one before
constexpr int64_t kSteps =
    8;  // parts of the gap: a search looks for a plan in the lowest
constexpr size_t kMaxItems = 256;  // of a window: the narrowest sets

// The steps [begin, end) of the order, which pay for the tensors that they touch first,
// and the steps up to `last`, which are looked at as well.
struct Window {
  uint32_t begin, end, last;
  int64_t cost;  // of the plan, for these tensors
  int64_t bound;
  bool exact;
};

// The operators of a window as a graph of their own.
struct Excerpt {
  OperatorGraph graph;  // of the spans below, as far as they are used
  Span<OperatorTensor> tensors;
  Span<Operator> operators;
  Span<uint32_t> operands;
  Span<OperatorEdge> edges;
  uint32_t tensor_count, operator_count, operand_count, edge_count;
  int64_t cost;  // of the plan; the bound is not higher
  int64_t bound;
  uint64_t limit;  // of the states, when it was solved
  bool exact;
};

bool AreSame(const OperatorGraph& a, const OperatorGraph& b) {
  bool same = a.tensors.size() == b.tensors.size() &&
              a.operators.size() == b.operators.size() &&
              a.operands.size() == b.operands.size() &&
              a.edges.size() == b.edges.size();
  for (size_t i = 0; same && i < a.tensors.size(); ++i) {
    same = a.tensors[i].bytes == b.tensors[i].bytes &&
           a.tensors[i].role == b.tensors[i].role;
  }
  for (size_t i = 0; same && i < a.operators.size(); ++i) {
    const Operator &x = a.operators[i], &y = b.operators[i];
    same = x.input_count == y.input_count && x.output_count == y.output_count &&
           x.in_place == y.in_place;
  }
  for (size_t i = 0; same && i < a.operands.size(); ++i) {
    same = a.operands[i] == b.operands[i];
  }
  for (size_t i = 0; same && i < a.edges.size(); ++i) {
    same =
        a.edges[i].before == b.edges[i].before && a.edges[i].after == b.edges[i].after;
  }
  return same;
}

struct Bounder {
  const OperatorGraph& graph;
  const SpillBoundOptions& options;
  const SpillDecisions& plan;
  Workspace work;
  Span<Window> windows = {};
  uint32_t window_count = 0;
  Vector<Excerpt*> solved{work.arena};
  Span<uint32_t> step_of = {};  // of each operator
  Span<uint32_t> first = {};    // step that touches a tensor first
  Span<int64_t> price = {};     // bytes moved for tensors that a step touches first
  Span<uint32_t> here = {};     // in the excerpt: the tensor, or kNoOperand
  Span<uint32_t> maker = {};    // in the excerpt: the operator that makes it, likewise
  uint64_t states = 0;
};

Status Prepare(Bounder* self) {
  Arena* arena = self->work.arena;
  const size_t tensors = self->graph.tensors.size();
  SLUICE_TRY(arena->Allocate(self->graph.operators.size(), &self->step_of));
  SLUICE_TRY(arena->Allocate(tensors, &self->first));
  SLUICE_TRY(arena->Allocate(tensors, &self->here));
  SLUICE_TRY(arena->Allocate(tensors, &self->maker));
  for (size_t a = 0; a < tensors; ++a) self->first[a] = kNoOperand;
  for (uint32_t t = 0; t < self->plan.order.size(); ++t) {
    const Operator& op = self->graph.operators[self->plan.order[t]];
    self->step_of[self->plan.order[t]] = t;
    for (uint32_t a : self->graph.InputsOf(op)) {
      self->first[a] = Min(self->first[a], t);
    }
    for (uint32_t a : self->graph.OutputsOf(op)) self->first[a] = t;
  }
  return Status::kOk;
}

// What the plan holds before each step, and what the tensors that are new in each step
// cost it later.
Status Measure(Bounder* self, Span<int64_t> held) {
  Arena* arena = self->work.arena;
  const uint32_t n = static_cast<uint32_t>(self->plan.order.size());
  Span<uint32_t> used;  // plus one
  Span<uint8_t> has_copy;
  SLUICE_TRY(arena->Allocate(self->graph.tensors.size(), &used));
  SLUICE_TRY(arena->Allocate(self->graph.tensors.size(), &has_copy));
  for (uint32_t a = 0; a < used.size(); ++a) {
    has_copy[a] = self->options.charge == SpillCharge::kHost &&
                  self->graph.tensors[a].role != TensorRole::kIntermediate;
  }
  for (uint32_t t = 0; t < n; ++t) {
    const Operator& op = self->graph.operators[self->plan.order[t]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
      const uint32_t a = self->graph.operands[k];
      const int64_t bytes = self->graph.tensors[a].bytes;
      const bool waited = used[a] != 0 && used[a] <= t;
      if (waited && used[a] < t && self->plan.fetch[k]) {
        self->price[self->first[a]] += has_copy[a] ? bytes : 2 * bytes;
        has_copy[a] = 1;
      } else if (waited) {
        held[used[a]] += bytes;
        held[t + 1] -= bytes;
      }
      used[a] = t + 1;
    }
    for (uint32_t a : self->graph.OutputsOf(op)) used[a] = t + 1;
  }
  for (uint32_t t = 1; t <= n; ++t) held[t] += held[t - 1];
  return Status::kOk;
}

// Cuts the order where the plan holds least between two steps.
Status Cut(Bounder* self) {
  Arena* arena = self->work.arena;
  const uint32_t n = static_cast<uint32_t>(self->plan.order.size());
  const SpillBoundOptions& options = self->options;
  SLUICE_TRY(arena->Allocate(n / options.least + 2, &self->windows));
  SLUICE_TRY(arena->Allocate(n, &self->price));
  ArenaScope scope(arena);
  Span<int64_t> held;
  SLUICE_TRY(arena->Allocate(n + 1, &held));
  SLUICE_TRY(Measure(self, held));
  for (uint32_t from = 0; from < n;) {
    uint32_t end = n;
    if (n - from > options.most) {
      end = from + options.least;
      for (uint32_t t = end; t <= from + options.most; ++t) {
        if (held[t] < held[end]) end = t;
      }
    }
    Window* window = &self->windows[self->window_count++];
    *window = {from, end, Min(n, end + options.ahead), 0, 0, false};
    for (uint32_t t = from; t < end; ++t) window->cost += self->price[t];
    from = end;
  }
  return Status::kOk;
}

// Adds a tensor to the excerpt for an operand. A tensor without a price in this window
// becomes an input of its own for each reader; the reader still waits for its maker.
void AddOperand(Bounder* self, const Window& window, uint32_t a, Excerpt* out) {
  const bool priced = self->first[a] >= window.begin && self->first[a] < window.end;
  OperatorTensor tensor = self->graph.tensors[a];
  if (!priced) {
    tensor.role = TensorRole::kInput;
    if (self->maker[a] != kNoOperand) {
      out->edges[out->edge_count++] = {self->maker[a], out->operator_count};
    }
  }
  if (!priced || self->here[a] == kNoOperand) {
    self->here[a] = out->tensor_count;
    out->tensors[out->tensor_count++] = tensor;
  }
}

void AddOperator(Bounder* self, const Window& window, const Operator& op,
                 Excerpt* out) {
  Operator copy = op;
  copy.first_input = out->operand_count;
  for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
    const uint32_t a = self->graph.operands[k];
    uint32_t again = op.first_input;  // a slot of the same tensor
    while (self->graph.operands[again] != a) ++again;
    if (again == k) AddOperand(self, window, a, out);
    out->operands[out->operand_count++] = self->here[a];
  }
  copy.first_output = out->operand_count;
  for (uint32_t a : self->graph.OutputsOf(op)) {
    OperatorTensor tensor = self->graph.tensors[a];
    const bool priced = self->first[a] >= window.begin && self->first[a] < window.end;
    if (!priced) tensor.role = TensorRole::kOutput;
    self->maker[a] = out->operator_count;
    self->here[a] = out->tensor_count;
    out->operands[out->operand_count++] = out->tensor_count;
    out->tensors[out->tensor_count++] = tensor;
  }
  out->operators[out->operator_count++] = copy;
}

Status MakeExcerpt(Bounder* self, const Window& window, Excerpt* out) {
  Arena* arena = self->work.arena;
  for (uint32_t& a : self->here) a = kNoOperand;
  for (uint32_t& o : self->maker) o = kNoOperand;
  size_t operands = 0;
  for (uint32_t t = window.begin; t < window.last; ++t) {
    const Operator& op = self->graph.operators[self->plan.order[t]];
    operands += op.input_count + op.output_count;
  }
  SLUICE_TRY(arena->Allocate(operands, &out->tensors));
  SLUICE_TRY(arena->Allocate(operands, &out->operands));
  SLUICE_TRY(arena->Allocate(window.last - window.begin, &out->operators));
  SLUICE_TRY(arena->Allocate(operands + self->graph.edges.size(), &out->edges));
  for (uint32_t t = window.begin; t < window.last; ++t) {
    AddOperator(self, window, self->graph.operators[self->plan.order[t]], out);
  }
  for (const OperatorEdge& edge : self->graph.edges) {
    const uint32_t before = self->step_of[edge.before];
    const uint32_t after = self->step_of[edge.after];
    if (before < window.begin || after >= window.last) continue;
    out->edges[out->edge_count++] = {before - window.begin, after - window.begin};
  }
  out->graph = {out->tensors.Slice(0, out->tensor_count), out->operators, out->operands,
                out->edges.Slice(0, out->edge_count)};
  return Status::kOk;
}

// Searches for a plan of the excerpt that costs little more than the bound. If there is
// none, the bound rises, until it comes to a plan's cost: that of the beam's plan or,
// without one, of the whole plan's part in this window. As few states cost so little,
// the bound is high before the states run out.
Status SolveExcerpt(Bounder* self, Excerpt* excerpt) {
  ArenaScope scope(self->work.arena);
  const OperatorGraph& graph = excerpt->graph;
  SpillDecisions found;
  OrderOptions order;
  order.charge = self->options.charge;
  order.capacity = self->options.capacity;
  order.give_up = excerpt->cost;
  order.width = kBeamWidth;
  SLUICE_TRY(ChooseOrder(graph, order, self->work, &found));
  self->states += found.states;
  excerpt->bound = Max(excerpt->bound, found.lower_bound);
  const int64_t cost = found.found ? found.bytes : excerpt->cost;
  SpillSearchOptions search;
  search.charge = self->options.charge;
  search.capacity = self->options.capacity;
  search.max_states =
      Min(excerpt->limit,
          self->options.max_states - Min(self->states, self->options.max_states) + 1);
  while (excerpt->bound < cost && !self->work.budget->Exhausted()) {
    search.give_up = excerpt->bound + Max<int64_t>(1, (cost - excerpt->bound) / kSteps);
    SLUICE_TRY(
        SearchSpills(graph, search, self->work.budget, self->work.arena, &found));
    self->states += found.states;
    const bool none = found.complete && !found.found;
    excerpt->bound =
        Max(excerpt->bound, none ? Min(found.beyond, cost) : found.lower_bound);
    if (!found.complete) return Status::kOk;
    if (found.found) break;
  }
  excerpt->exact = !self->work.budget->Exhausted();
  return Status::kOk;
}

// The window's bound, perhaps from an equal window. *fits: it is not too large.
Status SolveWindow(Bounder* self, uint64_t limit, Window* window, bool* fits) {
  Span<Excerpt> place;
  SLUICE_TRY(self->work.arena->Allocate(1, &place));
  Excerpt* excerpt = place.begin();
  SLUICE_TRY(MakeExcerpt(self, *window, excerpt));
  *fits = SpillItems(excerpt->graph) <= kMaxItems;
  if (!*fits) return Status::kOk;
  for (Excerpt* other : self->solved) {
    if (other->cost < window->cost || !AreSame(other->graph, excerpt->graph)) continue;
    excerpt = other;
    break;
  }
  if (!excerpt->exact && excerpt->limit < limit) {
    const bool is_new = excerpt->limit == 0;
    excerpt->limit = limit;
    if (is_new) excerpt->cost = window->cost;
    SLUICE_TRY(SolveExcerpt(self, excerpt));
    if (is_new) SLUICE_TRY(self->solved.Push(excerpt));
  }
  window->bound = excerpt->bound;
  window->exact = excerpt->exact;
  return Status::kOk;
}

bool IsOver(const Bounder& self, int64_t sum) {
  return sum >= self.options.enough || self.states >= self.options.max_states ||
         self.work.budget->Exhausted();
}

int64_t GapOf(const Window& window) { return window.cost - window.bound; }

// Nothing is gained by more states.
bool IsSettled(const Window& window) { return window.exact || GapOf(window) <= 0; }

// More states for windows that ran out of them.
Status RetryWindows(Bounder* self, uint64_t limit, int64_t* sum) {
  for (uint32_t i = 0; i < self->window_count && !IsOver(*self, *sum); ++i) {
    Window* window = &self->windows[i];
    if (IsSettled(*window)) continue;
    const int64_t before = window->bound;
    bool fits = false;
    SLUICE_TRY(SolveWindow(self, limit, window, &fits));
    *sum += window->bound - before;
  }
  return Status::kOk;
}

// Joins neighbours that the plan pays more for than their bound, where the bound of
// both together is higher.
Status JoinWindows(Bounder* self, uint64_t limit, int64_t* sum) {
  uint32_t kept = 0;
  for (uint32_t i = 1; i < self->window_count; ++i) {
    const Window before = self->windows[kept], next = self->windows[i];
    Window both = {before.begin, next.end, next.last, before.cost + next.cost, 0,
                   false};
    bool fits = GapOf(before) + GapOf(next) > 0 && IsSettled(before) && IsSettled(next);
    if (fits && !IsOver(*self, *sum))
      SLUICE_TRY(SolveWindow(self, limit, &both, &fits));
    if (fits && both.bound > before.bound + next.bound) {
      *sum += both.bound - before.bound - next.bound;
      self->windows[kept] = both;
    } else {
      self->windows[++kept] = next;
    }
  }
  self->window_count = kept + 1;
  return Status::kOk;
}

}  // namespace

Status BoundSpills(const OperatorGraph& graph, const SpillBoundOptions& options,
                   const SpillDecisions& plan, const Workspace& work, int64_t* bound) {
  ArenaScope scope(work.arena);
  Bounder self = {graph, options, plan, work};
  SLUICE_TRY(Prepare(&self));
  SLUICE_TRY(Cut(&self));
  uint64_t limit = kFirstStates;
  int64_t sum = 0;
  for (uint32_t i = 0; i < self.window_count && !IsOver(self, sum); ++i) {
    bool fits = false;
    if (self.windows[i].cost == 0) continue;  // it cannot be higher
    SLUICE_TRY(SolveWindow(&self, limit, &self.windows[i], &fits));
    sum += self.windows[i].bound;
  }
  for (uint32_t round = 0; round < kRounds && !IsOver(self, sum); ++round) {
    limit *= 4;
    SLUICE_TRY(RetryWindows(&self, limit, &sum));
    SLUICE_TRY(JoinWindows(&self, limit, &sum));
  }
  *bound = sum;
  return Status::kOk;
}

}  // namespace sluice
