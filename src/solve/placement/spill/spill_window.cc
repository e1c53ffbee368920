// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_window.h"

#include <algorithm>

#include "base/checked.h"

namespace sluice {
namespace {

// Of a tensor, beside what spill_window.h names.
enum : uint8_t { kSeenBefore = 16, kReadAfter = 32, kSettled = 64 };

class Cutter {
 public:
  Cutter(const OperatorGraph& graph, SpillCharge charge, const SpillWindow& window,
         Arena* arena)
      : g_(graph), charge_(charge), window_(window), arena_(arena) {}

  Status Run(WindowPart* part) {
    const uint32_t steps = part->steps = window_.end - window_.begin;
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &index_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &state_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &last_use_));
    part->bytes = -StateAt(window_.begin, kHeldBefore, kCopiedBefore);
    part->bytes += StateAt(window_.end, kHeldAfter, kCopiedAfter);
    size_t operands = g_.tensors.size();
    for (uint32_t t = window_.begin; t < window_.end; ++t)
      operands += At(t).input_count + At(t).output_count;
    SLUICE_TRY(arena_->Allocate(operands, &operands_));
    SLUICE_TRY(arena_->Allocate(operands, &part->slots));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &tensors_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &part->tensor_of));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &part->state));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &part->held));
    SLUICE_TRY(arena_->Allocate(size_t{steps} + 1, &operators_));
    for (uint32_t t = 0; t < steps; ++t) AddOperator(At(window_.begin + t), t, part);
    AddLater(part);
    part->graph = {
        tensors_.Slice(0, count_), operators_, operands_.Slice(0, used_), {}};
    return AddEdges(part);
  }

 private:
  const Operator& At(uint32_t t) const { return g_.operators[window_.base->order[t]]; }

  int64_t Price(uint32_t a, bool copied) const {
    const bool is_free = copied || (charge_ == SpillCharge::kHost &&
                                    g_.tensors[a].role != TensorRole::kIntermediate);
    return is_free ? g_.tensors[a].bytes : 2 * g_.tensors[a].bytes;
  }

  // The plan before its step `step`: what it has moved. A tensor used in the step before is
  // still held; others only if their next use does not fetch them.
  int64_t StateAt(uint32_t step, uint8_t held, uint8_t copied) {
    int64_t bytes = 0;
    for (uint32_t a = 0; a < last_use_.size(); ++a) {
      last_use_[a] = 0;
      state_[a] &= static_cast<uint8_t>(~kSettled);
    }
    for (uint32_t t = 0; t < g_.operators.size(); ++t) {
      const Operator& op = At(t);
      for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
        const uint32_t a = g_.operands[k], last = last_use_[a];
        uint8_t* const state = &state_[a];
        last_use_[a] = t + 1;
        if (t < window_.begin) *state |= kSeenBefore;
        if (t >= window_.end) *state |= kReadAfter;
        if (last == 0 || last > step || (*state & kSettled) != 0) continue;
        const bool drop = last != t + 1 && window_.base->fetch[k] != 0;
        if (drop && last < step) {
          bytes += Price(a, (*state & copied) != 0);
          *state |= copied;
        }
        if (t < step) continue;
        *state |= kSettled;
        if (!drop || last == step) *state |= held;
      }
      for (uint32_t a : g_.OutputsOf(op)) last_use_[a] = t + 1;
    }
    return bytes;
  }

  // The part's number of a tensor. An input of the network that the plan has read before
  // may be held or not: it is none that comes and goes with its reader.
  uint32_t IndexOf(uint32_t a, WindowPart* part) {
    if (index_[a] != 0) return index_[a] - 1;
    tensors_[count_] = g_.tensors[a];
    if ((state_[a] & kSeenBefore) != 0 && g_.tensors[a].role == TensorRole::kInput)
      tensors_[count_].role = TensorRole::kOutput;
    part->tensor_of[count_] = a;
    part->state[count_] = state_[a];
    index_[a] = ++count_;
    return count_ - 1;
  }

  void AddOperator(const Operator& op, uint32_t at, WindowPart* part) {
    operators_[at] = op;
    operators_[at].first_input = used_;
    for (uint32_t k = 0; k < op.input_count + op.output_count; ++k) {
      const uint32_t slot = k < op.input_count ? op.first_input + k
                                               : op.first_output + k - op.input_count;
      part->slots[used_] = slot;
      operands_[used_++] = IndexOf(g_.operands[slot], part);
    }
    operators_[at].first_output = operators_[at].first_input + op.input_count;
  }

  // All that is read behind the window and can be held there.
  void AddLater(WindowPart* part) {
    Operator* const later = &operators_[part->steps];
    *later = {used_, 0, used_, 0, kNoOperand};
    for (uint32_t a = 0; a < g_.tensors.size(); ++a) {
      if ((state_[a] & (kHeldBefore | kHeldAfter)) != 0) IndexOf(a, part);
      if (index_[a] == 0 || (state_[a] & kReadAfter) == 0) continue;
      operands_[used_++] = index_[a] - 1;
      ++later->input_count;
    }
    later->first_output = used_;
  }

  Status AddEdges(WindowPart* part) {
    if (g_.edges.empty()) return Status::kOk;
    Span<uint32_t> step_of;  // plus one
    Span<OperatorEdge> edges;
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &step_of));
    SLUICE_TRY(arena_->Allocate(g_.edges.size(), &edges));
    for (uint32_t t = 0; t < part->steps; ++t)
      step_of[window_.base->order[window_.begin + t]] = t + 1;
    size_t count = 0;
    for (const OperatorEdge& edge : g_.edges) {
      const uint32_t before = step_of[edge.before], after = step_of[edge.after];
      if (before != 0 && after != 0) edges[count++] = {before - 1, after - 1};
    }
    part->graph.edges = edges.Slice(0, count);
    return Status::kOk;
  }

  const OperatorGraph& g_;
  const SpillCharge charge_;
  const SpillWindow& window_;
  Arena* const arena_;
  Span<uint32_t> index_;  // by tensor of the whole graph: plus one
  Span<uint8_t> state_;
  Span<uint32_t> last_use_;  // plus one; 0 = none
  Span<OperatorTensor> tensors_;
  Span<Operator> operators_;
  Span<uint32_t> operands_;
  uint32_t count_ = 0, used_ = 0;
};

}  // namespace

Status CutWindow(const OperatorGraph& graph, SpillCharge charge,
                 const SpillWindow& window, Arena* arena, WindowPart* part) {
  return Cutter(graph, charge, window, arena).Run(part);
}

Status PasteWindow(const OperatorGraph& graph, const SpillWindow& window,
                   const WindowPart& part, const SpillDecisions& decisions,
                   Arena* arena, SpillDecisions* out) {
  const Span<const uint32_t> order = window.base->order;
  Span<uint8_t> missing;  // behind the window, until a use
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &missing));
  std::copy(order.begin(), order.end(), out->order.begin());
  std::copy(window.base->fetch.begin(), window.base->fetch.end(), out->fetch.begin());
  for (uint32_t t = 0; t < part.steps; ++t) {
    const uint32_t o = decisions.order[t];
    const Operator& op = part.graph.operators[o];
    out->order[window.begin + t] = order[window.begin + o];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k)
      out->fetch[part.slots[k]] = decisions.fetch[k];
  }
  for (uint32_t a = 0; a < part.graph.tensors.size(); ++a)
    missing[part.tensor_of[a]] = (part.state[a] & kHeldAfter) != 0 && part.held[a] == 0;
  for (uint32_t t = window.end; t < order.size(); ++t) {
    const Operator& op = graph.operators[order[t]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k)
      out->fetch[k] |= missing[graph.operands[k]];
    for (const uint32_t a : graph.InputsOf(op)) missing[a] = 0;
  }
  return Status::kOk;
}

}  // namespace sluice
