// SPDX-License-Identifier: Apache-2.0
#include "partition.h"

#include <algorithm>
#include <utility>

#include "import/error.h"
#include "import/tflite/import_tflite.h"
#include "runtime_model.h"
#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

std::vector<int> ToVector(const TfLiteIntArray* list) {
  return std::vector<int>(list->data, list->data + list->size);
}

bool IsFloat(TfLiteType type) {
  return type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteFloat64;
}

bool HasNoElements(const Border& border) {
  return std::find(border.dims.begin(), border.dims.end(), 0) != border.dims.end();
}

bool Lower(const RuntimeModel& model, bool host, Bytes* graph, std::string* reason) {
  import::ImportResult lowered = import::LowerTflite(model.model(), {});
  if (!host && !lowered.opaque.empty()) {
    *reason = "only the machine's host computes it";
    return false;
  }
  *graph = import::WriteRows(lowered.rows);
  return true;
}

// Turns what lowering throws into a reason.
template <typename F>
bool WithReason(std::string* reason, F&& f) {
  try {
    return f();
  } catch (const NodeRefused& refused) {
    *reason = refused.reason;
  } catch (const import::Error& error) {
    *reason = error.what();
  }
  return false;
}

}  // namespace

std::vector<int> ExecutionPlan(TfLiteContext* context) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk || plan == nullptr) {
    return {};
  }
  return ToVector(plan);
}

// Operators that only move elements could be lowered for floats and shapes, too. They
// stay with the runtime, which often need not touch the bytes that the machine would
// copy to the device and back.
bool MayLower(TfLiteContext* context, int index, const KnownShapes& known,
              std::string* reason) {
  if (known.folded.count(index) != 0) return true;
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) !=
      kTfLiteOk) {
    *reason = "the runtime does not know it";
    return false;
  }
  bool quantised = false;
  for (const TfLiteIntArray* list : {node->inputs, node->outputs}) {
    for (int i = 0; i < list->size; ++i) {
      if (list->data[i] < 0) continue;
      const TfLiteTensor& tensor = TensorAt(context, list->data[i]);
      if (IsConstant(tensor)) continue;
      if (IsFloat(tensor.type)) {
        *reason = "floats";
        return false;
      }
      quantised = quantised || IsSmallInteger(tensor.type);
    }
  }
  if (!quantised) *reason = "nothing quantised";
  return quantised;
}

bool LowerNode(TfLiteContext* context, int node, const KnownShapes& known, bool host,
               Bytes* graph, std::string* reason) {
  return WithReason(reason, [&] {
    RuntimeModel model(context);
    if (known.readers.count(node) != 0) {
      for (auto [index, folded] : known.folded) {
        folded.folds = true;
        model.Add(folded);
      }
    }
    model.Add(ReadNode(context, node));
    model.SetOwnBorder();
    return Lower(model, host, graph, reason);
  });
}

PartSource SourceOf(TfLiteContext* context, const Part& part, const KnownShapes& known,
                    bool host) {
  PartSource source = {{}, part.inputs, part.outputs, host};
  for (const int node : part.nodes) {
    source.nodes.push_back(ReadNode(context, node));
    const std::vector<int>& outputs = source.nodes.back().outputs;
    // A layer must write each output of the part.
    source.nodes.back().folds =
        known.folded.count(node) != 0 &&
        std::none_of(outputs.begin(), outputs.end(), [&](int output) {
          return std::find(part.outputs.begin(), part.outputs.end(), output) !=
                 part.outputs.end();
        });
  }
  return source;
}

bool LowerPart(TfLiteContext* context, const PartSource& source, LoweredPart* out,
               std::string* reason) {
  if (!LowerAgain(context, source, {}, out, reason)) return false;
  if (out->IsEmpty()) *reason = "tensors without elements";
  return !out->IsEmpty();
}

bool LowerAgain(TfLiteContext* context, const PartSource& source, ToldShapes told,
                LoweredPart* out, std::string* reason) {
  *out = {};
  return WithReason(reason, [&] {
    RuntimeModel model(context, std::move(told));
    for (const RuntimeNode& node : source.nodes) model.Add(node);
    model.SetBorder(source.inputs, source.outputs);
    for (const auto& [from, to] : {std::pair(&model.inputs(), &out->inputs),
                                   std::pair(&model.outputs(), &out->outputs)}) {
      for (const int index : *from) {
        to->push_back({index, model.ShapeOf(index), model.BytesOf(index)});
      }
    }
    const bool nothing =
        std::all_of(out->outputs.begin(), out->outputs.end(), HasNoElements);
    if (!nothing && !Lower(model, source.host, &out->graph, reason)) return false;
    for (const int index : source.inputs) {
      const TfLiteTensor& tensor = TensorAt(context, index);
      if (!IsConstant(tensor)) out->read.push_back({index, ToVector(tensor.dims), 0});
    }
    for (const int index : model.constants()) {
      const TfLiteTensor& tensor = TensorAt(context, index);
      out->constants[index] = {tensor.data.uint8, tensor.bytes};
    }
    out->told = model.told();
    out->source = source;
    return true;
  });
}

std::string NameOf(TfLiteContext* context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) !=
      kTfLiteOk) {
    return "?";
  }
  if (registration->custom_name != nullptr) return registration->custom_name;
  return tflite::EnumNameBuiltinOperator(
      static_cast<tflite::BuiltinOperator>(registration->builtin_code));
}

bool Preview(TfLiteContext* context, const std::vector<int>& nodes,
             std::vector<Part>* parts) {
  parts->clear();
  if (nodes.empty()) return true;
  const IntArray list(nodes);
  TfLiteDelegateParams* previewed = nullptr;
  int count = 0;
  if (context->PreviewDelegatePartitioning == nullptr) return false;
  if (context->PreviewDelegatePartitioning(context, list.get(), &previewed, &count) !=
      kTfLiteOk) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    parts->push_back({ToVector(previewed[i].nodes_to_replace),
                      ToVector(previewed[i].input_tensors),
                      ToVector(previewed[i].output_tensors)});
  }
  return true;
}

bool PreviewWhole(TfLiteContext* context, const KnownShapes& known,
                  std::vector<int>* nodes, std::vector<Part>* parts) {
  for (bool torn = true; torn;) {
    torn = false;
    if (!Preview(context, *nodes, parts)) return false;
    if (known.tensors.empty()) return true;
    std::unordered_set<int> inputs, outputs;
    for (const Part& part : *parts) {
      inputs.insert(part.inputs.begin(), part.inputs.end());
      outputs.insert(part.outputs.begin(), part.outputs.end());
    }
    torn = DropTorn(inputs, outputs, known, nodes);
  }
  return true;
}

IntArray::IntArray(const std::vector<int>& values) {
  words_.push_back(static_cast<int>(values.size()));
  words_.insert(words_.end(), values.begin(), values.end());
}

}  // namespace sluice::delegate
