// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/import_tflite.h"

#include <algorithm>

#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "import/tflite/tflite_model.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using LowerFunction = void (*)(Lowering*, const TfliteOperator&);

struct LowerRow {
  tflite::BuiltinOperator op;
  LowerFunction lower;
};
using Op = tflite::BuiltinOperator;
constexpr LowerRow kRows[] = {
    {Op::CONV_2D, LowerConvolution},
    {Op::DEPTHWISE_CONV_2D, LowerConvolution},
    {Op::TRANSPOSE_CONV, LowerTransposedConvolution},
    {Op::FULLY_CONNECTED, LowerFullyConnected},
    {Op::BATCH_MATMUL, LowerMatmul},
    {Op::AVERAGE_POOL_2D, LowerPool},
    {Op::MAX_POOL_2D, LowerPool},
    {Op::ADD, LowerBinary},
    {Op::SUB, LowerBinary},
    {Op::MUL, LowerBinary},
    {Op::MINIMUM, LowerBinary},
    {Op::MAXIMUM, LowerBinary},
    {Op::QUANTIZE, LowerQuantise},
    {Op::LOGISTIC, LowerActivation},
    {Op::TANH, LowerActivation},
    {Op::RELU, LowerActivation},
    {Op::RELU6, LowerActivation},
    {Op::RELU_N1_TO_1, LowerActivation},
    {Op::LEAKY_RELU, LowerActivation},
    {Op::HARD_SWISH, LowerHardSwish},
    {Op::PRELU, LowerPrelu},
    {Op::SOFTMAX, LowerSoftmax},
    {Op::MEAN, LowerReduce},
    {Op::SUM, LowerReduce},
    {Op::REDUCE_MAX, LowerReduce},
    {Op::ARG_MAX, LowerArgmax},
    {Op::CONCATENATION, LowerConcat},
    {Op::PACK, LowerPack},
    {Op::SPLIT, LowerSplit},
    {Op::SPLIT_V, LowerSplit},
    {Op::SLICE, LowerSlice},
    {Op::STRIDED_SLICE, LowerSlice},
    {Op::PAD, LowerPad},
    {Op::PADV2, LowerPad},
    {Op::RESHAPE, LowerReshape},
    {Op::SQUEEZE, LowerReshape},
    {Op::EXPAND_DIMS, LowerReshape},
    {Op::TRANSPOSE, LowerTranspose},
    {Op::GATHER, LowerGather},
    {Op::EMBEDDING_LOOKUP, LowerGather},
    {Op::RESIZE_BILINEAR, LowerResize},
    {Op::RESIZE_NEAREST_NEIGHBOR, LowerResize},
};

// nullptr for operators the importer does not know.
LowerFunction FunctionFor(int code) {
  for (const LowerRow& row : kRows) {
    if (row.op == static_cast<Op>(code)) return row.lower;
  }
  return nullptr;
}

// Lowers one operator; when it cannot be expressed, says so in `list` and, if allowed,
// leaves it to the host.
void LowerOperator(Lowering* to, const TfliteOperator& op,
                   const TfliteImportOptions& options,
                   std::vector<UnsupportedOperator>* list) {
  const LowerFunction lower = FunctionFor(op.code);
  const Lowering::Mark mark = to->Now();
  std::string reason;
  if (lower != nullptr) {
    try {
      return lower(to, op);
    } catch (const Unsupported& unsupported) {
      reason = unsupported.what();
      to->Rewind(mark);
    }
  }
  CountOperator(list, op.name, reason);
  if (!options.allow_opaque) return;
  try {
    LowerOpaque(to, op, options.opaque_cycles);
  } catch (const Unsupported& unsupported) {
    throw Error(Fault::kUnsupported,
                op.name + " cannot run on the host either: " + unsupported.what());
  }
}

}  // namespace

ImportResult ImportTflite(const uint8_t* bytes, size_t size,
                          const TfliteImportOptions& options) {
  const TfliteModel model = ReadTfliteModel(bytes, size);
  GraphWriter graph(options.name);
  graph.LimitConstants(options.max_constant_bytes);
  Lowering lowering(model, &graph);
  ImportResult result = {};
  for (const TfliteOperator& op : model.operators) {
    const size_t before = graph.layers().size();
    LowerOperator(&lowering, op, options, &result.opaque);
    if (graph.layers().size() == before) {
      CountOperator(&result.folded, op.name, kPartOfNeighbour);
    }
  }
  if (!result.opaque.empty() && !options.allow_opaque) FailUnsupported(result.opaque);
  result.graph = graph.Finish();
  result.operators = static_cast<uint32_t>(model.operators.size());
  result.layers = static_cast<uint32_t>(graph.layers().size());
  result.tensors = static_cast<uint32_t>(graph.tensors().size());
  result.inputs = static_cast<uint32_t>(model.inputs.size());
  result.outputs = static_cast<uint32_t>(model.outputs.size());
  result.constant_bytes = graph.constant_bytes();
  return result;
}

}  // namespace sluice::import
