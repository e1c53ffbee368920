// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/import_tflite.h"

#include <algorithm>

#include "import/error.h"
#include "import/tflite/detection.h"
#include "import/tflite/float_borders.h"
#include "import/tflite/float_quantisation.h"
#include "import/tflite/float_shapes.h"
#include "import/tflite/float_weights.h"
#include "import/tflite/fold_constants.h"
#include "import/tflite/sparse_constants.h"
#include "import/tflite/tflite_lowering.h"
#include "import/tflite/tflite_model.h"
#include "import/tflite/variables.h"
#include "import/tflite/while_loops.h"
#include "import/unread_pixels.h"
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
    {Op::DEQUANTIZE, LowerDequantise},
    {Op::LOGISTIC, LowerActivation},
    {Op::TANH, LowerActivation},
    {Op::RELU, LowerActivation},
    {Op::RELU6, LowerActivation},
    {Op::RELU_N1_TO_1, LowerActivation},
    {Op::LEAKY_RELU, LowerActivation},
    {Op::HARD_SWISH, LowerHardSwish},
    {Op::PRELU, LowerPrelu},
    {Op::SOFTMAX, LowerSoftmax},
    {Op::SVDF, LowerSvdf},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, LowerLstm},
    {Op::MEAN, LowerReduce},
    {Op::SUM, LowerReduce},
    {Op::REDUCE_MAX, LowerReduce},
    {Op::ARG_MAX, LowerArgmax},
    {Op::ARG_MIN, LowerArgmax},
    {Op::CONCATENATION, LowerConcat},
    {Op::PACK, LowerPack},
    {Op::UNPACK, LowerUnpack},
    {Op::DEPTH_TO_SPACE, LowerDepthToSpace},
    {Op::SPACE_TO_DEPTH, LowerDepthToSpace},
    {Op::SPACE_TO_BATCH_ND, LowerSpaceToBatch},
    {Op::BATCH_TO_SPACE_ND, LowerBatchToSpace},
    {Op::TILE, LowerTile},
    {Op::BROADCAST_TO, LowerBroadcast},
    {Op::MIRROR_PAD, LowerMirrorPad},
    {Op::REVERSE_V2, LowerReverse},
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
    {Op::RESIZE_NEAREST_NEIGHBOR, LowerNearest},
    {Op::WHILE, LowerLoop},
};

// nullptr for operators the importer does not know.
LowerFunction FunctionFor(int code) {
  for (const LowerRow& row : kRows) {
    if (row.op == static_cast<Op>(code)) return row.lower;
  }
  return nullptr;
}

// Lets a function of the host compute the operator. False: there is none, and `reason`
// says why unless the units have said something.
bool LowersOnHost(Lowering* to, const TfliteOperator& op, std::string* reason) {
  if (!HasKernel(op)) return false;
  const LoweringMark mark = Now(*to);
  try {
    LowerKernel(to, op);
    return true;
  } catch (const Unsupported& unsupported) {
    if (reason->empty()) *reason = unsupported.what();
    Rewind(to, mark);
  }
  return false;
}

// What to do about operators that no table has. "": nothing is known of it.
std::string WhyUnknown(const std::string& op) {
  static const char* const kReasons[][2] = {
      {"WHERE", kDependingExtents},
      {"UNIQUE", kDependingExtents},
      {"NON_MAX_SUPPRESSION_V4", "operands of other types than float32"},
      {"IF", "a condition that only the run tells: convert each branch by itself"},
      {"CALL", "a function: let the converter inline it"},
      {"RANDOM_UNIFORM", kRandomNumbers},
      {"RANDOM_STANDARD_NORMAL", kRandomNumbers},
      {"MULTINOMIAL", kRandomNumbers},
      {"HASHTABLE", kText},
      {"HASHTABLE_FIND", kText},
      {"HASHTABLE_LOOKUP", kText},
      {"LSH_PROJECTION", kText},
      {"SKIP_GRAM", kText}};
  for (const auto& row : kReasons) {
    if (op == row[0]) return row[1];
  }
  return op.compare(0, 7, "CUSTOM:") == 0 ? kCustom : "";
}

struct LowerChoices {
  bool kernels;  // operators without a unit run as functions of the host
  bool opaque;   // what is left runs on the host under its own name
};

// Lowers one operator. One that cannot be expressed is added to `refused` and, if
// `choices.opaque`, becomes an OPAQUE layer for the host.
void LowerOperator(Lowering* to, const TfliteOperator& op, const LowerChoices& choices,
                   std::vector<UnsupportedOperator>* refused,
                   std::vector<UnsupportedOperator>* hosted) {
  const LowerFunction lower = IsDetection(op) ? LowerDetection : FunctionFor(op.code);
  const LoweringMark mark = Now(*to);
  std::string reason;
  if (lower != nullptr) {
    try {
      lower(to, op);
      if (to->graph.HasOpaque(mark.graph.layers)) {
        CountOperator(hosted, op.name, kByHostFunction);
      }
      return;
    } catch (const Unsupported& unsupported) {
      reason = unsupported.what();
      Rewind(to, mark);
    }
  }
  if (choices.kernels && LowersOnHost(to, op, &reason)) {
    return CountOperator(hosted, op.name, kByHostFunction);
  }
  if (reason.empty()) reason = WhyUnknown(op.name);
  const std::string where =
      op.outputs.empty() || op.outputs[0] < 0 ? "" : OutputOf(*to, op).name;
  CountOperator(choices.opaque ? hosted : refused, op.name, reason, where);
  if (!choices.opaque) return;
  try {
    LowerOpaque(to, op);
  } catch (const Unsupported& unsupported) {
    throw Error(Fault::kUnsupported,
                op.name + " cannot run on the host either: " + unsupported.what());
  }
}

// Removes operators on which no output of the model depends.
void DropUnneeded(TfliteModel* model, std::vector<UnsupportedOperator>* folded) {
  std::vector<bool> needed(model->tensors.size());
  for (int32_t output : model->outputs) needed[static_cast<size_t>(output)] = true;
  for (const TfliteState& state : model->states) {
    if (state.next >= 0) needed[static_cast<size_t>(state.next)] = true;
  }
  std::vector<TfliteOperator> kept;
  for (size_t i = model->operators.size(); i-- > 0;) {
    TfliteOperator& op = model->operators[i];
    const bool used = std::any_of(op.outputs.begin(), op.outputs.end(), [&](int32_t t) {
      return needed[static_cast<size_t>(t)];
    });
    if (!used) {
      CountOperator(folded, op.name, kNotNeeded);
      continue;
    }
    for (int32_t input : op.inputs) {
      if (input >= 0) needed[static_cast<size_t>(input)] = true;
    }
    kept.push_back(std::move(op));
  }
  std::reverse(kept.begin(), kept.end());
  model->operators = std::move(kept);
}

// Folded constants are addressed with 32 bits, as those of the file are.
constexpr uint64_t kMostFoldedBytes = uint64_t{1} << 31;

void Lower(const TfliteModel& model, const TfliteImportOptions& options, bool kernels,
           ImportResult* result) {
  GraphWriter graph(options.name);
  graph.LimitConstants(options.max_constant_bytes);
  Lowering lowering(model, &graph);
  lowering.opaque_cycles = options.opaque_cycles;
  std::vector<UnsupportedOperator> refused;
  for (const TfliteOperator& op : model.operators) {
    const size_t before = graph.layers().size();
    LowerOperator(&lowering, op, {kernels, options.allow_opaque}, &refused,
                  &result->opaque);
    if (graph.layers().size() == before) {
      CountOperator(&result->folded, op.name, kPartOfNeighbour);
    }
  }
  if (!refused.empty()) FailUnsupported(refused);
  result->rounded = std::move(lowering.rounded);
  WriteStates(&lowering);
  if (options.skip_unread) result->skipped = SkipUnreadPixels(&graph);
  result->layers = static_cast<uint32_t>(graph.layers().size());
  result->tensors = static_cast<uint32_t>(graph.tensors().size());
  result->inputs = static_cast<uint32_t>(model.inputs.size());
  result->outputs = static_cast<uint32_t>(model.outputs.size());
  result->constant_bytes = graph.constant_bytes();
  result->rows = graph.Take();
}

// Constants that stay in the model's file: those which are more than a few bytes there.
void ReferToFile(const uint8_t* bytes, size_t size, const std::string& file,
                 TfliteModel* model) {
  constexpr size_t kFew = 1024;
  for (TfliteTensor& tensor : model->tensors) {
    const bool inside = tensor.data >= bytes && tensor.data < bytes + size;
    if (tensor.data == nullptr || !inside || tensor.data_bytes < kFew) continue;
    tensor.file = file;
    tensor.file_offset = static_cast<uint64_t>(tensor.data - bytes);
  }
}

}  // namespace

ImportResult ImportTflite(const uint8_t* bytes, size_t size,
                          const TfliteImportOptions& options) {
  TfliteModel model = ReadTfliteModel(bytes, size);
  ImportResult result = {};
  result.operators = static_cast<uint32_t>(model.operators.size());
  uint64_t most_bytes = std::min(options.max_constant_bytes, kMostFoldedBytes);
  FillSparseConstants(&model, &most_bytes);
  UnpackConstants(&model, &most_bytes);
  TakeFloatWeights(&model, &most_bytes, &result.folded);
  FoldConstants(&model, most_bytes, &result.folded);
  if (UnrollLoops(bytes, size, most_bytes, &model, &result.folded)) {
    FillSparseConstants(&model, &most_bytes);
    UnpackConstants(&model, &most_bytes);
    TakeFloatWeights(&model, &most_bytes, &result.folded);
    FoldConstants(&model, most_bytes, &result.folded);
  }
  try {
    ResolveVariables(bytes, size, most_bytes, &model, &result.folded);
  } catch (const Unsupported& reason) {
    throw Error(Fault::kUnsupported,
                std::string("resource variables: ") + reason.what());
  }
  SetDetectionShapes(&model);
  TakeFloatBorders(most_bytes, &model, &result.folded);
  DropUnneeded(&model, &result.folded);
  if (options.ranges.empty()) {
    KeepShapesOfFloats(&model, &result.shapes_only);
  } else {
    QuantiseFloats(options.ranges, most_bytes, &model);
    result.quantised = true;
  }
  try {
    JoinStates(options.states, most_bytes, &model, &result.interface);
  } catch (const Unsupported& reason) {
    throw Error(Fault::kUnsupported, std::string("a state: ") + reason.what());
  }
  if (!options.model_file.empty()) ReferToFile(bytes, size, options.model_file, &model);
  Lower(model, options, true, &result);
  result.kept = std::move(model.made);
  return result;
}

ImportResult LowerTflite(const TfliteModel& model, const TfliteImportOptions& options) {
  ImportResult result = {};
  result.operators = static_cast<uint32_t>(model.operators.size());
  Lower(model, options, false, &result);
  return result;
}

}  // namespace sluice::import
