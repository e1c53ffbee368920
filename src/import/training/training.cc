// SPDX-License-Identifier: Apache-2.0
#include "import/training/training.h"

#include <string>

#include "import/error.h"
#include "import/training/training_step.h"

namespace sluice::import {
namespace {

using PassRule = void (*)(TrainingStep*, const LayerRow&);
// Whether an operator's output depends on trained weights.
enum class Trained : uint8_t {
  kByInputs,   // if an input depends on them
  kByWeights,  // always: the operator has weights
  kNever,      // no error passes through the operator
};
struct Row {
  uint16_t op;
  PassRule pass;
  Trained trained = Trained::kByInputs;
};

// The rule of each operator, in the order of codes.
constexpr Row kRows[] = {
    {0, PassOnHost},
    {SLUICE_OP_CONV, PassConvolution, Trained::kByWeights},
    {SLUICE_OP_DEPTHWISE_CONV, PassConvolution, Trained::kByWeights},
    {SLUICE_OP_TRANSPOSED_CONV, PassOnHost},
    {SLUICE_OP_FULLY_CONNECTED, PassFullyConnected, Trained::kByWeights},
    {SLUICE_OP_BATCH_MATMUL, PassMatmul},
    {SLUICE_OP_MAX_POOL, PassMaxPool},
    {SLUICE_OP_AVERAGE_POOL, PassAveragePool},
    {SLUICE_OP_ADD, PassBinary},
    {SLUICE_OP_SUB, PassOnHost},
    {SLUICE_OP_MUL, PassBinary},
    {SLUICE_OP_MINIMUM, PassOnHost},
    {SLUICE_OP_MAXIMUM, PassOnHost},
    {SLUICE_OP_REQUANTIZE, PassRequantise},
    {SLUICE_OP_LOOKUP, PassLookup},
    {SLUICE_OP_SOFTMAX, PassOnHost},
    {SLUICE_OP_LAYER_NORM, PassOnHost},
    {SLUICE_OP_RMS_NORM, PassOnHost},
    {SLUICE_OP_REDUCE, PassOnHost},
    {SLUICE_OP_ARGMAX, PassOnHost, Trained::kNever},
    {SLUICE_OP_CONCAT, PassConcat},
    {SLUICE_OP_SLICE, PassSliceOrPad},
    {SLUICE_OP_PAD, PassSliceOrPad},
    {SLUICE_OP_RESHAPE, PassReshape},
    {SLUICE_OP_TRANSPOSE, PassTranspose},
    {SLUICE_OP_GATHER, PassOnHost},
    {SLUICE_OP_RESIZE_BILINEAR, PassOnHost},
    {SLUICE_OP_RESIZE_NEAREST, PassOnHost},
    {SLUICE_OP_STATE_APPEND, PassOnHost, Trained::kNever},
    {SLUICE_OP_OPAQUE, PassOnHost},
    {SLUICE_OP_WEIGHT_GRADIENT, PassOnHost},
    {SLUICE_OP_RELU_GRADIENT, PassOnHost},
    {SLUICE_OP_MAX_POOL_GRADIENT, PassOnHost},
    {SLUICE_OP_HARD_SWISH, PassOnHost},
    {SLUICE_OP_PRELU, PassOnHost},
};

constexpr bool RowsStandAtTheirCodes() {
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; ++i) {
    if (kRows[i].op != i) return false;
  }
  return true;
}
static_assert(sizeof kRows / sizeof *kRows == SLUICE_OP_COUNT,
              "each operator of ops.h has one row");
static_assert(RowsStandAtTheirCodes(), "rows stand in the order of codes");

const Row& RowOf(const LayerRow& l) {
  if (l.op == 0 || l.op >= SLUICE_OP_COUNT) {
    throw Error(Fault::kBadInput, "there is no operator " + std::to_string(l.op));
  }
  return kRows[l.op];
}

bool IsEightBit(const TensorRow& t) {
  return t.dtype == SLUICE_DTYPE_INT8 || t.dtype == SLUICE_DTYPE_UINT8;
}

// Marks tensors that depend on a weight: only their errors are needed.
void FindTrained(TrainingStep* step) {
  const std::vector<TensorRow>& tensors = step->graph.tensors();
  step->trained.assign(tensors.size(), false);
  for (const LayerRow& l : step->graph.layers()) {
    const Trained rule = RowOf(l).trained;
    bool any = rule == Trained::kByWeights;
    for (const uint32_t t : l.inputs) any = any || IsTrained(*step, t);
    any = any && rule != Trained::kNever;
    for (const uint32_t t : l.outputs) {
      step->trained[t] = step->trained[t] || (any && IsEightBit(tensors[t]));
    }
  }
}

// The tensor whose error is output - target: the output `t`, or the input of its
// softmax (with cross entropy as the loss).
uint32_t LossAt(const GraphWriter& graph, uint32_t t) {
  for (size_t l = graph.layers().size(); l-- > 0;) {
    const LayerRow& layer = graph.layers()[l];
    if (layer.outputs[0] != t) continue;
    if (layer.op == SLUICE_OP_SOFTMAX) return layer.inputs[0];
    if (layer.op != SLUICE_OP_RESHAPE) return t;
    const uint32_t seen_through = LossAt(graph, layer.inputs[0]);
    return seen_through != layer.inputs[0] ? seen_through : t;
  }
  return t;
}

void AddLoss(TrainingStep* step, uint32_t t) {
  const TensorRow row = step->graph.tensors()[t];
  const std::string name = step->graph.name(row.name);
  const uint32_t target = step->graph.AddTensor(name + ".target", row.dtype,
                                                Kind::kInput, row.dims, row.zero_point);
  const Affine in = {1, row.zero_point};
  const uint32_t loss = AddLayer(step, {name + ".loss",
                                        SLUICE_OP_SUB,
                                        {t, target},
                                        SumAttributes(in, in, {2, 0}, kErrorRange),
                                        ShapeIn(*step, t)});
  PassError(step, LossAt(step->graph, t), loss);
}

}  // namespace

Bytes MakeTrainingGraph(const Bytes& inference, uint64_t max_constant_bytes) {
  TrainingStep step(inference);
  step.graph.LimitConstants(max_constant_bytes);
  FindTrained(&step);
  const size_t layers = step.graph.layers().size();
  const uint32_t tensors = static_cast<uint32_t>(step.graph.tensors().size());
  step.errors.resize(tensors);
  bool has_loss = false;
  for (uint32_t t = 0; t < tensors; ++t) {
    if (step.graph.tensors()[t].kind == Kind::kOutput && IsTrained(step, t)) {
      AddLoss(&step, t);
      has_loss = true;
    }
  }
  if (!has_loss) {
    throw Error(Fault::kBadInput,
                "no 8-bit output depends on a weight: nothing to train");
  }
  for (size_t l = layers; l-- > 0;) {
    const LayerRow layer = step.graph.layers()[l];  // a copy: the list of layers grows
    if (layer.outputs.size() != 1 || !IsTrained(step, layer.outputs[0])) continue;
    RowOf(layer).pass(&step, layer);
  }
  return step.graph.Finish();
}

}  // namespace sluice::import
