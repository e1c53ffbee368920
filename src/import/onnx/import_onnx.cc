// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/import_onnx.h"

#include <algorithm>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_rewrites.h"
#include "import/unread_pixels.h"

namespace sluice::import {
namespace {

using LowerFunction = void (*)(OnnxLowering*, const OnnxNode&);

struct Entry {
  LowerFunction lower;
  std::vector<const char*> ops;
};

std::vector<Entry> Entries() {
  return {
      {LowerOnnxConv, {"Conv", "QLinearConv"}},
      {LowerOnnxTransposedConv, {"ConvTranspose"}},
      {LowerOnnxMatmul, {"Gemm", "MatMul", "QLinearMatMul", "com.microsoft.QGemm"}},
      {LowerOnnxPool, {"MaxPool", "AveragePool", "com.microsoft.QLinearAveragePool"}},
      {LowerOnnxBinary,
       {"Add", "Sub", "Mul", "Div", "Sum", "Min", "Max", "Pow",
        "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"}},
      {LowerOnnxClamp, {"Relu", "Clip"}},
      {LowerOnnxCurve,
       {"Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Elu"}},
      {LowerOnnxCurve,
       {"Selu", "Softplus", "Softsign", "Mish", "Gelu", "com.microsoft.Gelu"}},
      {LowerOnnxCurve, {"Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Neg"}},
      {LowerOnnxCurve, {"Abs", "Floor", "Ceil", "Round", "Sign", "Sin"}},
      {LowerOnnxCurve, {"Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh"}},
      {LowerOnnxCurve,
       {"Celu", "ThresholdedRelu", "Swish", "Shrink", "com.microsoft.QuickGelu",
        "com.microsoft.FastGelu"}},
      {LowerOnnxCurve,
       {"com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu"}},
      {LowerOnnxPrelu, {"PRelu"}},
      {LowerOnnxBatchNorm, {"BatchNormalization"}},
      {LowerOnnxLayerNorm,
       {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
        "com.microsoft.SimplifiedLayerNormalization"}},
      {LowerOnnxSoftmax, {"Softmax", "com.microsoft.QLinearSoftmax"}},
      {LowerOnnxReduce,
       {"ReduceMean", "ReduceSum", "ReduceMax", "GlobalAveragePool", "GlobalMaxPool",
        "com.microsoft.QLinearGlobalAveragePool", "com.microsoft.QLinearReduceMean"}},
      {LowerOnnxArgmax, {"ArgMax"}},
      {LowerOnnxQuantise, {"QuantizeLinear"}},
      {LowerOnnxDequantise, {"DequantizeLinear"}},
      {LowerOnnxSame, {"Identity", "Dropout"}},
      {LowerOnnxCast, {"Cast"}},
      {LowerOnnxExpand, {"Expand"}},
      {LowerOnnxDepth, {"DepthToSpace", "SpaceToDepth"}},
      {LowerOnnxReshape, {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}},
      {LowerOnnxTranspose, {"Transpose"}},
      {LowerOnnxConcat, {"Concat", "com.microsoft.QLinearConcat"}},
      {LowerOnnxSplit, {"Split"}},
      {LowerOnnxSlice, {"Slice"}},
      {LowerOnnxPad, {"Pad"}},
      {LowerOnnxGather, {"Gather"}},
      {LowerOnnxResize, {"Resize", "Upsample"}},
  };
}

const std::map<std::string, LowerFunction>& Functions() {
  static const std::map<std::string, LowerFunction> functions = [] {
    std::map<std::string, LowerFunction> map;
    for (const Entry& entry : Entries()) {
      for (const char* op : entry.ops) map[op] = entry.lower;
    }
    return map;
  }();
  return functions;
}

// Nodes on which an output depends. A node that works on shapes or constants alone is
// computed at import and leaves no layer.
std::vector<bool> NeededNodes(const OnnxModel& model) {
  std::vector<bool> needed(model.nodes.size(), false);
  std::vector<int> values = model.outputs;
  for (const auto& [state, next] : model.states) values.push_back(next);
  while (!values.empty()) {
    const OnnxValue& value = model.values[static_cast<size_t>(values.back())];
    values.pop_back();
    if (value.constant || value.producer < 0) continue;
    const size_t node = static_cast<size_t>(value.producer);
    if (needed[node]) continue;
    needed[node] = true;
    for (const int input : model.nodes[node].inputs) {
      if (input >= 0) values.push_back(input);
    }
  }
  return needed;
}

// The reason why a node leaves no layer.
const char* WhyNotNeeded(const OnnxModel& model, const OnnxNode& node) {
  for (const int output : node.outputs) {
    if (output >= 0 && model.values[static_cast<size_t>(output)].constant) {
      return kComputedAtImport;
    }
  }
  return kNotNeeded;
}

uint32_t CountOf(const std::vector<UnsupportedOperator>& list) {
  uint32_t count = 0;
  for (const UnsupportedOperator& entry : list) count += entry.count;
  return count;
}

// Whether an operand holds floats that the host computes: compute units cannot read it.
bool ReadsFloats(OnnxLowering* to, const OnnxNode& node) {
  for (const int input : node.inputs) {
    if (input < 0 || ValueOf(*to, input).constant) continue;
    try {
      if (PlaceOf(to, input).numbers.floats) return true;
    } catch (const Unsupported&) {
      continue;  // the node that writes it was refused
    }
  }
  return false;
}

// Lets the host compute the node in floats, where layers would only reproduce its
// shapes. False: `reason` says why the host cannot.
bool LowersOnHost(OnnxLowering* to, const OnnxNode& node, std::string* reason) {
  const OnnxMark mark = MarkOf(*to);
  try {
    LowerOnnxFloats(to, node);
    if (!to->computes_floats) StorePlaceholders(to, node);
    return true;
  } catch (const Unsupported& unsupported) {
    const bool better = HasOnnxFloats(node.op) && ReadsFloats(to, node);
    if (reason->empty() || better) *reason = unsupported.what();
    Rewind(to, mark);
  }
  return false;
}

// Lowers the node to layers, or else to a host function. False: neither is possible,
// and `reason` says why.
bool LowersNode(OnnxLowering* to, const OnnxNode& node, ImportResult* result,
                std::string* reason) {
  const auto known = Functions().find(node.op);
  const OnnxMark mark = MarkOf(*to);
  if (known != Functions().end()) {
    try {
      known->second(to, node);
      const bool exact = CountOf(result->shapes_only) == CountOf(mark.shapes_only);
      if (exact && to->graph.HasOpaque(mark.graph.layers)) {
        CountOperator(&result->hosted, node.op, kByHostFunction);
      }
      if (exact || !to->computes_floats) return true;
    } catch (const Unsupported& unsupported) {
      *reason = unsupported.what();
    }
    Rewind(to, mark);
  }
  const bool on_host = to->computes_floats && HasOnnxFloats(node.op);
  if (on_host && LowersOnHost(to, node, reason)) {
    if (to->graph.HasOpaque(mark.graph.layers))
      CountOperator(&result->hosted, node.op, kByHostFunction);
    return true;
  }
  if (known != Functions().end() && !(to->computes_floats && ReadsFloats(to, node))) {
    try {
      known->second(to, node);
      return true;
    } catch (const Unsupported& unsupported) {
      *reason = unsupported.what();
      Rewind(to, mark);
    }
  }
  const bool among_placeholders = !to->computes_floats && HasOnnxFloats(node.op);
  if (!among_placeholders || !LowersOnHost(to, node, reason)) return false;
  CountOperator(&result->hosted, node.op, kByHostFunction);
  return true;
}

// What to do about operators that no table has, or that could not be taken apart. "": nothing
// is known of it.
std::string WhyUnknown(const std::string& op) {
  if (const char* stays = WhyOnnxStays(op)) return stays;
  static const char* const kReasons[][2] = {
      {"NonMaxSuppression", kDependingExtents},
      {"NonZero", kDependingExtents},
      {"Unique", kDependingExtents},
      {"Compress", kDependingExtents},
      {"RandomNormal", kRandomNumbers},
      {"RandomNormalLike", kRandomNumbers},
      {"RandomUniform", kRandomNumbers},
      {"RandomUniformLike", kRandomNumbers},
      {"Bernoulli", kRandomNumbers},
      {"Multinomial", kRandomNumbers},
      {"StringNormalizer", kText},
      {"StringConcat", kText},
      {"StringSplit", kText},
      {"TfIdfVectorizer", kText},
      {"ImageDecoder", "a file of a picture: decode it in front of the model"}};
  for (const auto& row : kReasons) {
    if (op == row[0]) return row[1];
  }
  if (op.compare(0, 8, "Sequence") == 0 || op.compare(0, 8, "Optional") == 0)
    return "sequences of tensors: let the model keep tensors of known extents";
  const bool own =
      op.find('.') != std::string::npos && op.compare(0, 14, "com.microsoft.") != 0;
  return own ? kCustom : "";
}

void LowerNode(OnnxLowering* to, const OnnxNode& node, const OnnxImportOptions& options,
               ImportResult* result) {
  std::string reason;
  if (LowersNode(to, node, result, &reason)) return;
  if (reason.empty()) reason = WhyUnknown(node.op);
  CountOperator(&result->opaque, node.op, reason, node.name);
  try {
    // Also without allow_opaque, so that later nodes can be checked and listed.
    LowerOnnxOpaque(to, node, options.opaque_cycles);
  } catch (const Unsupported& unsupported) {
    if (!options.allow_opaque) return;
    throw Error(Fault::kUnsupported,
                "node " + node.name + " (" + node.op +
                    ") cannot run on the host either: " + unsupported.what());
  }
}

// Behind an operator that cannot be expressed the shapes of further values may not be known.
// Lists also the operators behind it that no table has.
[[noreturn]] void FailWhereShapesEnd(const OnnxModel& model,
                                     const std::vector<bool>& needed, size_t next,
                                     std::vector<UnsupportedOperator> list) {
  for (; next < model.nodes.size(); ++next) {
    const std::string& op = model.nodes[next].op;
    if (!needed[next] || Functions().count(op) != 0 || HasOnnxFloats(op)) continue;
    CountOperator(&list, op, WhyUnknown(op), model.nodes[next].name);
  }
  FailUnsupported(list);
}

// Makes the graph's inputs or its outputs by `place`. If the graph cannot have one of
// them, the model is unsupported.
void PlaceBorder(OnnxLowering* lowering, void (*place)(OnnxLowering*)) {
  try {
    place(lowering);
  } catch (const Unsupported& unsupported) {
    throw Error(Fault::kUnsupported,
                std::string("an input or output of the model: ") + unsupported.what());
  }
}

OnnxModel PreparedModel(const uint8_t* bytes, size_t size,
                        const OnnxImportOptions& options) {
  const bool quantises = !options.ranges.empty();
  OnnxModel model =
      ReadOnnxModel(bytes, size, options.dims, options.external, quantises);
  if (quantises) QuantiseOnnxFloats(options.ranges, &model);
  try {
    JoinOnnxStates(options.states, &model);
  } catch (const Unsupported& reason) {
    throw Error(Fault::kUnsupported, std::string("a state: ") + reason.what());
  }
  UseSignedNumbers(&model);
  return model;
}

// A graph has at most 2 GiB, so no sum of these overflows.
uint64_t LimitOf(const OnnxImportOptions& options, const OnnxModel& model) {
  const uint64_t given = options.max_constant_bytes;
  if (options.for_external_byte == 0) return given;
  const uint64_t bytes = std::min(model.external_bytes, kMostConstantBytes);
  return std::min(given + options.for_external_byte * bytes, kMostConstantBytes);
}

}  // namespace

bool HasOnnx() { return true; }

ImportResult ImportOnnx(const uint8_t* bytes, size_t size,
                        const OnnxImportOptions& options) {
  OnnxModel model = PreparedModel(bytes, size, options);
  GraphWriter graph(options.name);
  graph.LimitConstants(LimitOf(options, model));
  ImportResult result = {};
  OnnxLowering lowering(model, &graph, &result);
  lowering.opaque_cycles = options.opaque_cycles;
  PlaceBorder(&lowering, PlaceInputs);
  const std::vector<bool> needed = NeededNodes(model);
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    const OnnxNode& node = model.nodes[n];
    if (!needed[n]) {
      CountOperator(&result.folded, node.op, WhyNotNeeded(model, node));
      continue;
    }
    ++result.operators;
    const size_t before = graph.layers().size();
    try {
      LowerNode(&lowering, node, options, &result);
    } catch (const Error& error) {
      const bool listed = !result.opaque.empty() && !options.allow_opaque;
      if (!listed || error.fault() == Fault::kTooLarge) throw;
      FailWhereShapesEnd(model, needed, n + 1, result.opaque);
    }
    if (graph.layers().size() == before) {
      CountOperator(&result.folded, node.op, kPartOfNeighbour);
    }
  }
  if (!result.opaque.empty() && !options.allow_opaque) FailUnsupported(result.opaque);
  PlaceBorder(&lowering, WriteOnnxStates);
  PlaceBorder(&lowering, PlaceOutputs);
  result.quantised = !options.ranges.empty();
  for (const UnsupportedOperator& entry : result.hosted) {
    result.opaque.push_back(entry);
  }
  if (options.skip_unread) result.skipped = SkipUnreadPixels(&graph);
  result.layers = static_cast<uint32_t>(graph.layers().size());
  result.tensors = static_cast<uint32_t>(graph.tensors().size());
  result.inputs = static_cast<uint32_t>(model.inputs.size());
  result.outputs = static_cast<uint32_t>(model.outputs.size());
  result.constant_bytes = graph.constant_bytes();
  result.rows = graph.Take();
  return result;
}

}  // namespace sluice::import
