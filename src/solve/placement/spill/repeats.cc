// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/repeats.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/spill/replacement.h"

namespace sluice {
namespace {

constexpr size_t kTries = 16;  // repetitions tried one by one, per round
constexpr size_t kExactUpTo =
    24;  // operators; larger graphs are tried without an exact search
// Of the search's part of the time, for the plan without repetitions. What its part is of
// the call's time is said in plan/deadline.h.
constexpr uint32_t kBasePercent = 75;

// The result of the operator that made `tensor`, made again for the readers at the steps
// [from, to) of the plan.
struct Repeat {
  uint32_t tensor;
  uint32_t from, to;
  int64_t gain;    // bytes, an estimate
  bool retrieved;  // the plan retrieves the tensor at `from`
};

struct Repeats {
  const OperatorGraph& graph;  // the given one
  Span<const int64_t> again;
  const JointOptions& options;
  Budget* budget;
  Arena* arena;  // of the best plan
  RepeatedPlan* best;
  Span<uint8_t> bound_by_edge;  // per given operator
};

// Plans p->graph, whose operators are numbered in the order that they had.
Status Solve(const Repeats& self, bool exact, Budget* budget, Arena* arena,
             RepeatedPlan* p, Diagnostic* diagnostic) {
  JointOptions options = self.options;
  options.exact = exact;
  options.needed = false;
  if (options.fixed_order.empty())
    return PlanJoint(p->graph, options, budget, arena, &p->plan, diagnostic);
  Span<uint32_t> order;
  SLUICE_TRY(arena->Allocate(p->graph.operators.size(), &order));
  for (uint32_t o = 0; o < order.size(); ++o) order[o] = o;
  options.fixed_order = order;
  return PlanReplacement(p->graph, options, budget, arena, &p->plan, diagnostic);
}

// A copy of the graph of `p`, its operators in the order of its plan, with the repetitions.
class Extension {
 public:
  Extension(const RepeatedPlan& p, Span<const Repeat> repeats, Arena* arena)
      : p_(p), g_(p.graph), repeats_(repeats), arena_(arena) {}

  Status Make(Span<const int64_t> again, RepeatedPlan* out) {
    SLUICE_TRY(Allocate(out));
    out->repeat_bytes = p_.repeat_bytes;
    std::copy(g_.tensors.begin(), g_.tensors.end(), tensors_.begin());
    std::copy(p_.tensor_of.begin(), p_.tensor_of.end(), out->tensor_of.begin());
    const uint32_t known = static_cast<uint32_t>(g_.tensors.size());
    for (uint32_t r = 0; r < repeats_.size(); ++r) {
      const uint32_t a = repeats_[r].tensor;
      tensors_[known + r] = {g_.tensors[a].bytes, TensorRole::kIntermediate};
      out->tensor_of[known + r] = p_.tensor_of[a];
    }
    Span<uint32_t> number;  // new ones of the plan's operators
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &number));
    for (uint32_t step = 0; step < p_.plan.order.size(); ++step) {
      for (uint32_t r = 0; r < repeats_.size(); ++r) {
        if (repeats_[r].from != step) continue;
        const uint32_t o = WriterOf(repeats_[r].tensor);
        out->repeat_bytes += again[p_.operator_of[o]];
        Append(o, kNoStep, known + r, out);
      }
      number[p_.plan.order[step]] = operators_count_;
      Append(p_.plan.order[step], step, kNoOperand, out);
    }
    for (size_t e = 0; e < g_.edges.size(); ++e) {
      edges_[e] = {number[g_.edges[e].before], number[g_.edges[e].after]};
    }
    out->graph = {tensors_, operators_, operands_.Slice(0, operands_count_), edges_};
    return Status::kOk;
  }

 private:
  static constexpr uint32_t kNoStep = 0xffffffffu;

  Status Allocate(RepeatedPlan* out) {
    const size_t more = repeats_.size();
    size_t operands = g_.operands.size();
    for (const Repeat& r : repeats_) {
      operands += g_.operators[WriterOf(r.tensor)].input_count + 1;
    }
    SLUICE_TRY(arena_->Allocate(g_.tensors.size() + more, &tensors_));
    SLUICE_TRY(arena_->Allocate(g_.operators.size() + more, &operators_));
    SLUICE_TRY(arena_->Allocate(operands, &operands_));
    SLUICE_TRY(arena_->Allocate(g_.edges.size(), &edges_));
    SLUICE_TRY(arena_->Allocate(operators_.size(), &out->operator_of));
    return arena_->Allocate(tensors_.size(), &out->tensor_of);
  }

  uint32_t WriterOf(uint32_t tensor) const {
    for (uint32_t o = 0; o < g_.operators.size(); ++o) {
      for (uint32_t a : g_.OutputsOf(g_.operators[o])) {
        if (a == tensor) return o;
      }
    }
    return kNoOperand;
  }

  // Appends an operator; `result`: what it writes instead. step: kNoStep or that of the plan.
  void Append(uint32_t o, uint32_t step, uint32_t result, RepeatedPlan* out) {
    const Operator& from = g_.operators[o];
    Operator& to = operators_[operators_count_];
    to = from;
    to.first_input = operands_count_;
    for (uint32_t a : g_.InputsOf(from)) operands_[operands_count_++] = Read(a, step);
    to.first_output = operands_count_;
    for (uint32_t a : g_.OutputsOf(from)) {
      operands_[operands_count_++] = result == kNoOperand ? a : result;
    }
    out->operator_of[operators_count_++] = p_.operator_of[o];
  }

  // What is read in place of a tensor at a step.
  uint32_t Read(uint32_t tensor, uint32_t step) const {
    for (uint32_t r = 0; r < repeats_.size() && step != kNoStep; ++r) {
      if (repeats_[r].tensor == tensor && repeats_[r].from <= step &&
          step < repeats_[r].to) {
        return static_cast<uint32_t>(g_.tensors.size()) + r;
      }
    }
    return tensor;
  }

  const RepeatedPlan& p_;
  const OperatorGraph& g_;
  const Span<const Repeat> repeats_;
  Arena* const arena_;
  Span<OperatorTensor> tensors_;
  Span<Operator> operators_;
  Span<uint32_t> operands_;
  Span<OperatorEdge> edges_;
  uint32_t operators_count_ = 0, operands_count_ = 0;
};

// Finds repetitions that may pay for themselves in a plan.
class Candidates {
 public:
  Candidates(const Repeats& self, const RepeatedPlan& p, Arena* arena)
      : self_(self), p_(p), g_(p.graph), arena_(arena), found_(arena) {}

  // The best first.
  Status Find(Span<Repeat>* out) {
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &writer_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &reads_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &last_));
    for (uint32_t& w : writer_) w = kNoOperand;
    for (uint32_t& l : last_) l = kNoOperand;
    for (uint32_t o = 0; o < g_.operators.size(); ++o) {
      for (uint32_t a : g_.OutputsOf(g_.operators[o])) writer_[a] = o;
    }
    for (uint32_t step = 0; step < p_.plan.order.size(); ++step) {
      const Operator& op = g_.operators[p_.plan.order[step]];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const Span<const uint32_t> inputs = g_.InputsOf(op);
        if (std::find(inputs.begin(), inputs.begin() + k, inputs[k]) ==
            inputs.begin() + k) {
          ++reads_[inputs[k]];
        }
      }
    }
    const Span<Residence> stays = p_.plan.residences;
    for (uint32_t r = 0; r < stays.size(); ++r) {
      const Residence& stay = stays[r];
      const uint32_t before = last_[stay.tensor];
      last_[stay.tensor] = r;
      if (!MayRepeat(stay.tensor)) continue;
      if (stay.retrieved)
        SLUICE_TRY(
            Consider(stay.tensor, stays[before].end, stay.begin, stay.end, true));
      SLUICE_TRY(Gaps(stay));
    }
    Sort(found_.begin(), found_.end(), [](const Repeat& x, const Repeat& y) {
      return x.gain != y.gain   ? x.gain > y.gain
             : x.from != y.from ? x.from < y.from
                                : x.tensor < y.tensor;
    });
    *out = found_.span();
    return Status::kOk;
  }

 private:
  bool MayRepeat(uint32_t tensor) const {
    const uint32_t w = writer_[tensor];
    if (w == kNoOperand) return false;
    const uint32_t given = p_.operator_of[w];
    return self_.again[given] >= 0 && self_.again[given] < p_.cost() &&
           self_.bound_by_edge[given] == 0 && g_.operators[w].output_count == 1;
  }

  bool Reads(uint32_t step, uint32_t tensor) const {
    const Span<const uint32_t> inputs = g_.InputsOf(g_.operators[p_.plan.order[step]]);
    return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
  }

  // The gaps between two uses of one stay.
  Status Gaps(const Residence& stay) {
    uint32_t use = stay.begin;
    for (uint32_t step = stay.begin; step < stay.end; ++step) {
      if (!Reads(step, stay.tensor)) continue;
      if (step > use + 1)
        SLUICE_TRY(Consider(stay.tensor, use + 1, step, stay.end, false));
      use = step;
    }
    return Status::kOk;
  }

  // The tensor could be away during the steps [away, from).
  Status Consider(uint32_t tensor, uint32_t away, uint32_t from, uint32_t to,
                  bool retrieved) {
    uint32_t reads = 0;
    for (uint32_t step = from; step < to; ++step) reads += Reads(step, tensor);
    if (reads == reads_[tensor])
      return Status::kOk;  // nothing would read the first result
    const Operator& maker = g_.operators[writer_[tensor]];
    const int64_t bytes = g_.tensors[tensor].bytes;
    int64_t gain = retrieved ? bytes + WriteShare(tensor)
                             : Min(2 * bytes, TransfersDuring(away, from));
    gain -= self_.again[p_.operator_of[writer_[tensor]]];
    for (uint32_t a : g_.InputsOf(maker)) {
      if (!Resident(a, from)) gain -= g_.tensors[a].bytes;
    }
    if (gain <= 0 && g_.operators.size() > kExactUpTo) return Status::kOk;
    return found_.Push(Repeat{tensor, from, to, gain, retrieved});
  }

  // The tensor's write, shared by its reads.
  int64_t WriteShare(uint32_t tensor) const {
    int64_t reads = 0, writes = 0;
    for (const Residence& stay : p_.plan.residences) {
      if (stay.tensor != tensor) continue;
      reads += stay.retrieved;
      writes += stay.spilled;
    }
    return writes * g_.tensors[tensor].bytes / reads;
  }

  // Bytes of tensors that are away during these steps and come back.
  int64_t TransfersDuring(uint32_t from, uint32_t to) const {
    int64_t bytes = 0;
    for (const Residence& stay : p_.plan.residences) {
      if (stay.retrieved && stay.begin > from && stay.begin <= to)
        bytes += 2 * g_.tensors[stay.tensor].bytes;
      if (stay.spilled && stay.end >= from && stay.end < to)
        bytes += 2 * g_.tensors[stay.tensor].bytes;
    }
    return bytes;
  }

  bool Resident(uint32_t tensor, uint32_t step) const {
    for (const Residence& stay : p_.plan.residences) {
      if (stay.tensor == tensor && stay.begin <= step && step < stay.end) return true;
    }
    return false;
  }

  const Repeats& self_;
  const RepeatedPlan& p_;
  const OperatorGraph& g_;
  Arena* const arena_;
  Vector<Repeat> found_;
  Span<uint32_t> writer_;  // per tensor
  Span<uint32_t> reads_;   // per tensor: operators that read it
  Span<uint32_t> last_;    // per tensor: its latest residence
};

// Plans with the repetitions; keeps a cheaper plan.
Status Try(Repeats* self, Span<const Repeat> repeats, bool* better) {
  *better = false;
  if (repeats.empty() || self->budget->Exhausted()) return Status::kOk;
  Arena arena(self->arena->memory());
  RepeatedPlan next;
  SLUICE_TRY(Extension(*self->best, repeats, &arena).Make(self->again, &next));
  if (next.repeat_bytes >= self->best->cost()) return Status::kOk;
  Diagnostic ignored;
  const bool exact = self->options.exact && next.graph.operators.size() <= kExactUpTo;
  const Status status = Solve(*self, exact, self->budget, &arena, &next, &ignored);
  if (status == Status::kOutOfMemory) return status;
  if (status != Status::kOk || next.cost() >= self->best->cost()) return Status::kOk;
  *better = true;
  *self->best = next;
  self->arena->Swap(&arena);
  return Status::kOk;
}

// One round of repetitions over the best plan.
Status Round(Repeats* self, bool* better) {
  Arena arena(self->arena->memory());
  Span<Repeat> all;
  SLUICE_TRY(Candidates(*self, *self->best, &arena).Find(&all));
  Vector<Repeat> retrieved(&arena);
  for (const Repeat& r : all) {
    if (r.retrieved) SLUICE_TRY(retrieved.Push(r));
  }
  SLUICE_TRY(Try(self, retrieved.span(), better));
  for (size_t i = 0; i < Min(all.size(), kTries) && !*better; ++i) {
    SLUICE_TRY(Try(self, all.Slice(i, i + 1), better));
  }
  return Status::kOk;
}

template <typename T>
Status Copy(Span<const T> from, Arena* arena, Span<T>* to) {
  SLUICE_TRY(arena->Allocate(from.size(), to));
  std::copy(from.begin(), from.end(), to->begin());
  return Status::kOk;
}

// Copies the plan to an arena that outlives its own.
Status CopyTo(const RepeatedPlan& from, Arena* arena, RepeatedPlan* to) {
  *to = from;
  Span<OperatorTensor> tensors;
  Span<Operator> operators;
  Span<uint32_t> operands;
  Span<OperatorEdge> edges;
  SLUICE_TRY(Copy(from.graph.tensors, arena, &tensors));
  SLUICE_TRY(Copy(from.graph.operators, arena, &operators));
  SLUICE_TRY(Copy(from.graph.operands, arena, &operands));
  SLUICE_TRY(Copy(from.graph.edges, arena, &edges));
  to->graph = {tensors, operators, operands, edges};
  SLUICE_TRY(Copy<uint32_t>(from.operator_of, arena, &to->operator_of));
  SLUICE_TRY(Copy<uint32_t>(from.tensor_of, arena, &to->tensor_of));
  SLUICE_TRY(Copy<uint32_t>(from.plan.order, arena, &to->plan.order));
  return Copy<Residence>(from.plan.residences, arena, &to->plan.residences);
}

// The given graph, and its plan without repetitions.
Status Begin(const Repeats& self, Arena* arena, Diagnostic* diagnostic) {
  RepeatedPlan* p = self.best;
  p->graph = self.graph;
  SLUICE_TRY(arena->Allocate(p->graph.operators.size(), &p->operator_of));
  SLUICE_TRY(arena->Allocate(p->graph.tensors.size(), &p->tensor_of));
  for (uint32_t o = 0; o < p->operator_of.size(); ++o) p->operator_of[o] = o;
  for (uint32_t a = 0; a < p->tensor_of.size(); ++a) p->tensor_of[a] = a;
  Budget part = self.budget->Part(kBasePercent);
  Budget* budget = self.again.empty() ? self.budget : &part;
  const Status status =
      self.options.fixed_order.empty()
          ? PlanJoint(p->graph, self.options, budget, arena, &p->plan, diagnostic)
          : PlanReplacement(p->graph, self.options, budget, arena, &p->plan,
                            diagnostic);
  if (budget == &part) self.budget->Join(part);
  return status;
}

// Operators that an edge names; they run once.
Status MarkEdges(const OperatorGraph& graph, Arena* arena, Span<uint8_t>* marked) {
  SLUICE_TRY(arena->Allocate(graph.operators.size(), marked));
  for (const OperatorEdge& edge : graph.edges) {
    (*marked)[edge.before] = (*marked)[edge.after] = 1;
  }
  return Status::kOk;
}

// What any repetition costs at least: a plan without one has at least the bytes of its own
// bound.
int64_t CheapestRepeat(Span<const int64_t> again) {
  int64_t least = INT64_MAX;
  for (int64_t cost : again) {
    if (cost >= 0) least = Min(least, cost);
  }
  return least;
}

}  // namespace

Status PlanRepeats(const OperatorGraph& graph, Span<const int64_t> again,
                   const JointOptions& options, const Workspace& work,
                   RepeatedPlan* out) {
  RepeatedPlan best;
  Arena own(work.arena->memory());
  Repeats self = {graph, again, options, work.budget, &own, &best, {}};
  SLUICE_TRY(Begin(self, &own, work.diagnostic));
  const int64_t bound = Min(best.plan.lower_bound, CheapestRepeat(again));
  SLUICE_TRY(MarkEdges(graph, work.arena, &self.bound_by_edge));
  bool better = !again.empty();
  while (better && best.cost() > bound) SLUICE_TRY(Round(&self, &better));
  best.plan.lower_bound = Min(bound, best.cost());
  best.plan.proved = best.cost() == best.plan.lower_bound;
  return CopyTo(best, work.arena, out);
}

}  // namespace sluice
