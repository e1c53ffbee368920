// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/graph_operators.h"

#include "model/ops/traits.h"

namespace sluice {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, const GraphOperatorOptions& options, Arena* arena,
          GraphOperators* out)
      : graph_(graph), options_(options), out_(out), edges_(arena) {
    size_t operands = 0;
    for (const Layer& layer : graph.layers) {
      operands += layer.inputs.size() + layer.outputs.size();
    }
    operand_count_ = operands;
  }

  Status Run(Arena* arena) {
    SLUICE_TRY(arena->Allocate(graph_.layers.size(), &operators_));
    SLUICE_TRY(arena->Allocate(operand_count_, &operands_));
    SLUICE_TRY(arena->Allocate(graph_.tensors.size(), &tensors_));
    SLUICE_TRY(arena->Allocate(graph_.tensors.size(), &out_->tensor_of));
    SLUICE_TRY(arena->Allocate(graph_.tensors.size(), &out_->operand_of));
    for (uint32_t& operand : out_->operand_of) operand = kNoOperand;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) Add(l);
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (KindOf(graph_.layers[l].op) == LayerKind::kAppend) SLUICE_TRY(OrderAppend(l));
    }
    out_->tensor_of = out_->tensor_of.Slice(0, tensor_count_);
    out_->operators.tensors = tensors_.Slice(0, tensor_count_);
    out_->operators.operators = operators_;
    out_->operators.operands = operands_.Slice(0, used_);
    out_->operators.edges = edges_.span();
    return Status::kOk;
  }

 private:
  void Add(uint32_t l) {
    const Layer& layer = graph_.layers[l];
    Operator& op = operators_[l];
    op.in_place = kNoOperand;
    const uint32_t reused =
        options_.in_place ? InPlaceInput(graph_, layer) : kNoOperand;
    op.first_input = static_cast<uint32_t>(used_);
    for (uint32_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t t = layer.inputs[i];
      if (t == kNone || !Counts(t)) continue;
      if (KindOf(layer.op) == LayerKind::kAppend && t == layer.outputs[0]) continue;
      if (i == reused) op.in_place = static_cast<uint32_t>(used_) - op.first_input;
      operands_[used_++] = OperandOf(t);
    }
    op.input_count = static_cast<uint32_t>(used_) - op.first_input;
    op.first_output = static_cast<uint32_t>(used_);
    // Appended rows go into the state in DRAM: nothing appears in the scratchpad.
    if (KindOf(layer.op) == LayerKind::kAppend) return;
    for (uint32_t t : layer.outputs) operands_[used_++] = OperandOf(t);
    op.output_count = static_cast<uint32_t>(used_) - op.first_output;
  }

  bool Counts(uint32_t t) const {
    return options_.parameters || graph_.tensors[t].kind != TensorKind::kConstant;
  }

  uint32_t OperandOf(uint32_t t) {
    uint32_t& operand = out_->operand_of[t];
    if (operand != kNoOperand) return operand;
    const Tensor& tensor = graph_.tensors[t];
    TensorRole role = TensorRole::kIntermediate;
    switch (tensor.kind) {
      case TensorKind::kIntermediate:
        break;
      case TensorKind::kOutput:
        role = TensorRole::kOutput;
        break;
      default:  // a state may be written by an append only, and that is in DRAM
        role = TensorRole::kInput;
        break;
    }
    operand = tensor_count_;
    tensors_[tensor_count_] = OperatorTensor{tensor.bytes, role};
    out_->tensor_of[tensor_count_++] = t;
    return operand;
  }

  // Readers of the state stay on their side of the append.
  Status OrderAppend(uint32_t append) {
    const uint32_t state = graph_.layers[append].outputs[0];
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (l == append) continue;
      for (uint32_t t : graph_.layers[l].inputs) {
        if (t != state) continue;
        SLUICE_TRY(edges_.Push(l < append ? OperatorEdge{l, append}
                                          : OperatorEdge{append, l}));
        break;
      }
    }
    return Status::kOk;
  }

  const Graph& graph_;
  const GraphOperatorOptions& options_;
  GraphOperators* const out_;
  Span<Operator> operators_;
  Span<uint32_t> operands_;
  Span<OperatorTensor> tensors_;
  Vector<OperatorEdge> edges_;
  size_t operand_count_ = 0, used_ = 0;
  uint32_t tensor_count_ = 0;
};

}  // namespace

uint32_t InPlaceInput(const Graph& graph, const Layer& layer) {
  if (!TraitsOf(layer).in_place || layer.outputs.size() != 1) return kNoOperand;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  for (uint32_t i = 0; i < layer.inputs.size() && i < 2; ++i) {
    const uint32_t t = layer.inputs[i];
    if (t == kNone || graph.tensors[t].bytes != out.bytes) continue;
    if (graph.tensors[t].kind != TensorKind::kIntermediate &&
        graph.tensors[t].kind != TensorKind::kInput) {
      continue;
    }
    bool same = TraitsOf(layer).view == ViewRule::kReshape;
    if (!same) {
      same = graph.tensors[t].element_bytes == out.element_bytes;
      for (int a = 0; a < kAxes; ++a) {
        same = same && graph.tensors[t].extent[a] == out.extent[a];
      }
    }
    if (same) return i;
  }
  return kNoOperand;
}

Status OperatorsOf(const Graph& graph, const GraphOperatorOptions& options,
                   Arena* arena, GraphOperators* out) {
  *out = GraphOperators();
  Builder builder(graph, options, arena, out);
  return builder.Run(arena);
}

}  // namespace sluice
