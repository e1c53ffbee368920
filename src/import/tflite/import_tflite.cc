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

// nullptr for operators the importer does not know.
LowerFunction FunctionFor(int code) {
  using tflite::BuiltinOperator;
  switch (static_cast<BuiltinOperator>(code)) {
    case BuiltinOperator::CONV_2D:
    case BuiltinOperator::DEPTHWISE_CONV_2D:
      return LowerConvolution;
    case BuiltinOperator::TRANSPOSE_CONV:
      return LowerTransposedConvolution;
    case BuiltinOperator::FULLY_CONNECTED:
      return LowerFullyConnected;
    case BuiltinOperator::BATCH_MATMUL:
      return LowerMatmul;
    case BuiltinOperator::AVERAGE_POOL_2D:
    case BuiltinOperator::MAX_POOL_2D:
      return LowerPool;
    case BuiltinOperator::ADD:
    case BuiltinOperator::SUB:
    case BuiltinOperator::MUL:
    case BuiltinOperator::MINIMUM:
    case BuiltinOperator::MAXIMUM:
      return LowerBinary;
    case BuiltinOperator::QUANTIZE:
      return LowerQuantise;
    case BuiltinOperator::LOGISTIC:
    case BuiltinOperator::TANH:
    case BuiltinOperator::RELU:
    case BuiltinOperator::RELU6:
    case BuiltinOperator::RELU_N1_TO_1:
    case BuiltinOperator::LEAKY_RELU:
      return LowerActivation;
    case BuiltinOperator::SOFTMAX:
      return LowerSoftmax;
    case BuiltinOperator::MEAN:
    case BuiltinOperator::SUM:
    case BuiltinOperator::REDUCE_MAX:
      return LowerReduce;
    case BuiltinOperator::ARG_MAX:
      return LowerArgmax;
    case BuiltinOperator::CONCATENATION:
      return LowerConcat;
    case BuiltinOperator::PACK:
      return LowerPack;
    case BuiltinOperator::SPLIT:
    case BuiltinOperator::SPLIT_V:
      return LowerSplit;
    case BuiltinOperator::SLICE:
    case BuiltinOperator::STRIDED_SLICE:
      return LowerSlice;
    case BuiltinOperator::PAD:
    case BuiltinOperator::PADV2:
      return LowerPad;
    case BuiltinOperator::RESHAPE:
    case BuiltinOperator::SQUEEZE:
    case BuiltinOperator::EXPAND_DIMS:
      return LowerReshape;
    case BuiltinOperator::TRANSPOSE:
      return LowerTranspose;
    case BuiltinOperator::GATHER:
    case BuiltinOperator::EMBEDDING_LOOKUP:
      return LowerGather;
    case BuiltinOperator::RESIZE_BILINEAR:
    case BuiltinOperator::RESIZE_NEAREST_NEIGHBOR:
      return LowerResize;
    default:
      return nullptr;
  }
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
    throw Error(Fault::kBadInput,
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
