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

Constant ConstantOf(const TfLiteTensor& tensor) {
  Constant constant = {tensor.data.uint8, tensor.bytes, nullptr};
  if (tensor.allocation_type != kTfLiteMmapRo) {
    constant.copy =
        std::make_shared<const Bytes>(constant.data, constant.data + constant.bytes);
    constant.data = constant.copy->data();
  }
  return constant;
}

bool Lower(const RuntimeModel& model, bool host, Bytes* graph, std::string* reason) {
  import::ImportResult lowered = import::LowerTflite(model.model(), {});
  if (!host && !lowered.opaque.empty()) {
    *reason = "only the machine's host computes it";
    return false;
  }
  *graph = std::move(lowered.graph);
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

// Requires of RESHAPE, EXPAND_DIMS and SQUEEZE, which lowering takes as they are
// declared, that they have the shapes that their operands give.
void CheckGivenShapes(const import::TfliteModel& model) {
  for (const import::TfliteOperator& op : model.operators) {
    const std::vector<int> given = GivenShape(model, op);
    if (!given.empty() &&
        given != model.tensors[static_cast<size_t>(op.outputs[0])].shape) {
      throw NodeRefused{op.name + " to another shape than the tensors behind it have"};
    }
  }
}

// An output that had the shape of an input is guessed to have it again.
void FollowInput(const RuntimeNode& node, const Shapes& before, Shapes* guessed) {
  for (const int output : node.outputs) {
    const auto was = before.find(output);
    if (was == before.end()) continue;
    for (const int input : node.inputs) {
      const auto had = before.find(input);
      const auto has = guessed->find(input);
      if (had == before.end() || has == guessed->end()) continue;
      if (had->second != was->second || has->second == had->second) continue;
      (*guessed)[output] = has->second;
    }
  }
}

bool LowerSource(TfLiteContext* context, PartSource source, bool late,
                 const Shapes& guessed, LoweredPart* out, std::string* reason) {
  RuntimeModel model(context, late, guessed, source.folded);
  for (const RuntimeNode& node : source.nodes) model.Add(node);
  model.SetBorder(source.inputs, source.outputs);
  if (!source.folded.empty()) model.Fold();
  // Otherwise the runtime has already checked this.
  if (late || !source.folded.empty()) CheckGivenShapes(model.model());
  if (!Lower(model, source.host, &out->graph, reason)) return false;
  for (const auto& [from, to] : {std::pair(&model.inputs(), &out->inputs),
                                 std::pair(&model.outputs(), &out->outputs)}) {
    for (const int index : *from) {
      to->push_back({index, model.ShapeOf(index), model.BytesOf(index)});
    }
  }
  out->shapes = model.shapes();
  for (const auto& [shape, output] : model.told_shapes()) {
    if (model.IsFolded(shape)) continue;
    out->told.push_back({shape, model.ShapeOf(output)});
  }
  for (const int index : model.constants()) {
    out->constants[index] = ConstantOf(TensorAt(context, index));
  }
  out->source = std::move(source);
  return true;
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
  if (registration->builtin_code ==
          static_cast<int>(tflite::BuiltinOperator::RESHAPE) &&
      known.reshapes.count(index) == 0 &&
      HasComputedShape(context, ReadNode(context, index))) {
    // The runtime's kernel updates the shapes that depend on this one when a size
    // changes.
    *reason = "its shape is computed at run time";
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

bool LowerNode(TfLiteContext* context, int node, bool host, Bytes* graph,
               std::string* reason) {
  return WithReason(reason, [&] {
    const Shapes none;
    RuntimeModel model(context, false, none, {});
    model.Add(ReadNode(context, node));
    model.SetOwnBorder();
    return Lower(model, host, graph, reason);
  });
}

bool LowerPart(TfLiteContext* context, const Part& part, const KnownShapes& known,
               bool host, LoweredPart* out, std::string* reason) {
  return WithReason(reason, [&] {
    PartSource source = {{}, part.inputs, part.outputs, host, {}};
    for (const int node : part.nodes) {
      source.nodes.push_back(ReadNode(context, node));
      if (known.folded.count(node) == 0) continue;
      for (const int output : source.nodes.back().outputs) {
        // A layer must write each output of the part.
        if (std::find(part.outputs.begin(), part.outputs.end(), output) ==
            part.outputs.end()) {
          source.folded.push_back(output);
        }
      }
    }
    return LowerSource(context, std::move(source), false, {}, out, reason);
  });
}

bool LowerAgain(TfLiteContext* context, const PartSource& source, const Shapes& guessed,
                LoweredPart* out, std::string* reason) {
  return WithReason(reason, [&] {
    *out = {};
    return LowerSource(context, source, true, guessed, out, reason);
  });
}

Shapes GuessShapes(TfLiteContext* context, const PartSource& source,
                   const Shapes& before) {
  Shapes guessed;
  int now = 1, was = 1;
  for (const int input : source.inputs) {
    const auto found = before.find(input);
    if (found == before.end() || found->second.empty()) continue;
    const std::vector<int> dims = ToVector(TensorAt(context, input).dims);
    guessed[input] = dims;
    if (dims.size() != found->second.size() || dims[0] == found->second[0]) continue;
    now = dims[0];
    was = found->second[0];
  }
  for (const auto& [tensor, dims] : before) {
    if (guessed.count(tensor) != 0 || dims.empty() || was <= 0) continue;
    const int64_t extent = int64_t{dims[0]} * now / was;
    if (int64_t{dims[0]} * now % was != 0 || extent > 0x7fffffff) continue;
    guessed[tensor] = dims;
    guessed[tensor][0] = static_cast<int>(extent);
  }
  for (const RuntimeNode& node : source.nodes) FollowInput(node, before, &guessed);
  return guessed;
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
