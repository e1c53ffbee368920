// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/layer_order.h"

#include "base/checked.h"
#include "solve/placement/spill/operator_order.h"

namespace sluice {
namespace {

// Another order takes another search of plans: it is worth that where it has less excess by
// this part.
constexpr int64_t kLessBy = 8;

// Layers as operators on whole tensors. A view of one tensor is that tensor; a view of
// several, such as a CONCAT, is an operator.
class OperatorsOfLayers {
 public:
  OperatorsOfLayers(const LayerOrderCall& call, Arena* arena)
      : call_(call), arena_(arena) {}

  // *some: there is a graph.
  Status Make(bool* some) {
    const Graph& g = call_.graph;
    *some = false;
    size_t operands = 0;
    for (const Layer& layer : call_.lowering.executed) {
      operands += layer.inputs.size() + layer.outputs.size();
    }
    SLUICE_TRY(arena_->Allocate(g.tensors.size(), &name_));
    SLUICE_TRY(arena_->Allocate(g.tensors.size(), &index_));
    SLUICE_TRY(arena_->Allocate(g.tensors.size(), &tensors_));
    SLUICE_TRY(arena_->Allocate(g.layers.size(), &operators_));
    SLUICE_TRY(arena_->Allocate(g.layers.size(), &layer_of));
    SLUICE_TRY(arena_->Allocate(operands, &operands_));
    for (uint32_t t = 0; t < name_.size(); ++t) {
      name_[t] = t;
      if (g.tensors[t].kind == TensorKind::kState) return Status::kOk;
    }
    for (uint32_t l = 0; l < g.layers.size(); ++l) Add(l);
    for (uint32_t t = 0; t < name_.size(); ++t) {
      const uint32_t known = index_[name_[t]];
      if (known != 0 && g.tensors[t].kind == TensorKind::kOutput)
        tensors_[known - 1].role = TensorRole::kOutput;
    }
    *some = count_ != 0;
    graph = {tensors_.Slice(0, known_),
             operators_.Slice(0, count_),
             operands_.Slice(0, used_),
             {}};
    return Status::kOk;
  }

  OperatorGraph graph;
  Span<uint32_t> layer_of;  // by operator

 private:
  bool IsData(uint32_t t) const {
    return t != kNone && call_.graph.tensors[t].kind != TensorKind::kConstant;
  }

  void Add(uint32_t l) {
    const Layer& layer = call_.lowering.executed[l];
    uint32_t inputs = 0, only = kNone;
    for (const uint32_t t : layer.inputs) {
      if (!IsData(t)) continue;
      ++inputs;
      only = name_[t];
    }
    if (call_.lowering.is_view[l] != 0 && inputs <= 1) {
      for (const uint32_t t : layer.outputs) name_[t] = only == kNone ? t : only;
      return;
    }
    Operator& op = operators_[count_];
    layer_of[count_++] = l;
    op.in_place = kNoOperand;
    op.first_input = used_;
    for (const uint32_t t : layer.inputs) {
      if (IsData(t)) Operand(t, TensorRole::kInput);
    }
    op.input_count = used_ - op.first_input;
    op.first_output = used_;
    for (const uint32_t t : layer.outputs) Operand(t, TensorRole::kIntermediate);
    op.output_count = used_ - op.first_output;
  }

  // role: of a tensor that no operator before has touched.
  void Operand(uint32_t tensor, TensorRole role) {
    const uint32_t t = name_[tensor];
    if (index_[t] == 0) {
      tensors_[known_] = {call_.graph.tensors[t].bytes, role};
      index_[t] = ++known_;
    }
    operands_[used_++] = index_[t] - 1;
  }

  const LayerOrderCall& call_;
  Arena* const arena_;
  Span<uint32_t> name_;   // by tensor: whose bytes it is
  Span<uint32_t> index_;  // by tensor: the operators' number, plus one
  Span<OperatorTensor> tensors_;
  Span<Operator> operators_;
  Span<uint32_t> operands_;
  uint32_t known_ = 0, used_ = 0, count_ = 0;
};

// Bytes that do not fit the scratchpad, over all steps of an order, if whole tensors stay
// there from their first use to their last.
Status ExcessOf(const OperatorGraph& graph, Span<const uint32_t> order,
                int64_t scratchpad, Arena* arena, int64_t* excess) {
  ArenaScope scope(arena);
  Span<int64_t> change;  // of the bytes that are there, by step
  Span<uint32_t> last;   // by tensor: the step after it, 0: none yet
  SLUICE_TRY(arena->Allocate(order.size() + 1, &change));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &last));
  for (uint32_t step = 0; step < order.size(); ++step) {
    const Operator& op = graph.operators[order[step]];
    const auto touch = [&](uint32_t a) {
      change[last[a] == 0 ? step : last[a]] += graph.tensors[a].bytes;
      last[a] = step + 1;
      change[step + 1] -= graph.tensors[a].bytes;
    };
    for (const uint32_t a : graph.InputsOf(op)) touch(a);
    for (const uint32_t a : graph.OutputsOf(op)) touch(a);
  }
  int64_t there = 0;
  *excess = 0;
  for (const int64_t by : change) {
    there += by;
    *excess += Max<int64_t>(0, there - scratchpad);
  }
  return Status::kOk;
}

// An order with less excess than the given one, if there is any. It is chosen with room for
// the largest operator: with less, what must leave decides, and tiles need not leave.
Status Choose(const OperatorGraph& graph, int64_t scratchpad, const Workspace& work,
              SpillDecisions* found) {
  Span<uint32_t> given;
  SLUICE_TRY(work.arena->Allocate(graph.operators.size(), &given));
  for (uint32_t o = 0; o < given.size(); ++o) given[o] = o;
  int64_t before = 0, after = 0;
  SLUICE_TRY(ExcessOf(graph, given, scratchpad, work.arena, &before));
  if (before == 0) return Status::kOk;
  OrderOptions order;
  order.capacity = Max(scratchpad, LargestOperator(graph));
  SLUICE_TRY(ChooseOrder(graph, order, work, found));
  if (!found->found) return Status::kOk;
  SLUICE_TRY(ExcessOf(graph, found->order, scratchpad, work.arena, &after));
  found->found = after < before - before / kLessBy;
  return Status::kOk;
}

}  // namespace

Status OrderLayers(const LayerOrderCall& call, Arena* arena, Span<uint32_t>* order) {
  *order = {};
  Arena scratch(arena->memory());
  OperatorsOfLayers operators(call, &scratch);
  bool some = false;
  SLUICE_TRY(operators.Make(&some));
  if (!some) return Status::kOk;
  SpillDecisions found;
  const Status status =
      Choose(operators.graph, call.capacity, {call.budget, &scratch, nullptr}, &found);
  if (status == Status::kUnsupported) return Status::kOk;
  SLUICE_TRY(status);
  if (!found.found) return Status::kOk;
  size_t count = 0;
  for (const uint8_t view : call.lowering.is_view) count += view == 0;
  SLUICE_TRY(arena->Allocate(count, order));
  count = 0;
  for (const uint32_t o : found.order) {
    const uint32_t l = operators.layer_of[o];
    if (call.lowering.is_view[l] == 0) (*order)[count++] = l;
  }
  return Status::kOk;
}

}  // namespace sluice
