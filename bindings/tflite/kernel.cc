// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime_model.h"

namespace sluice::delegate {
namespace {

// A list that the runtime takes over and frees.
TfLiteIntArray* NewArray(const std::vector<int>& values) {
  auto* words = static_cast<int*>(std::malloc((values.size() + 1) * sizeof(int)));
  if (words == nullptr) throw std::bad_alloc();
  words[0] = static_cast<int>(values.size());
  if (!values.empty())
    std::memcpy(words + 1, values.data(), values.size() * sizeof(int));
  return reinterpret_cast<TfLiteIntArray*>(words);
}

bool Gather(const TfLiteContext* context, const std::vector<Border>& border,
            std::vector<npu_buffer_t>* buffers) {
  for (const Border& b : border) {
    const TfLiteTensor& tensor = TensorAt(context, b.tensor);
    if (tensor.data.raw == nullptr || tensor.bytes != b.bytes) return false;
    buffers->push_back({tensor.data.raw, tensor.bytes});
  }
  return true;
}

// Whether the runtime has computed the shapes that the part was lowered for; -1 is an
// extent that follows from the number of elements.
bool HasValues(const TfLiteContext* context, const std::vector<ExpectedShape>& shapes) {
  for (const ExpectedShape& expected : shapes) {
    const TfLiteTensor& tensor = TensorAt(context, expected.tensor);
    if (tensor.type != kTfLiteInt32 || tensor.data.raw == nullptr ||
        tensor.bytes != expected.dims.size() * sizeof(int32_t)) {
      return false;
    }
    for (size_t i = 0; i < expected.dims.size(); ++i) {
      const int32_t extent = tensor.data.i32[i];
      if (extent != expected.dims[i] && extent != -1) return false;
    }
  }
  return true;
}

TfLiteStatus Refuse(TfLiteContext* context, const char* text) {
  context->ReportError(context, "sluice: %s", text);
  return kTfLiteError;
}

bool HasDims(const TfLiteTensor& tensor, const std::vector<int>& dims) {
  return tensor.dims != nullptr &&
         std::equal(tensor.dims->data, tensor.dims->data + tensor.dims->size,
                    dims.begin(), dims.end());
}

// Whether the runtime's tensors have these shapes.
bool HasShapes(const TfLiteContext* context, const Shapes& shapes) {
  for (const auto& [tensor, expected] : shapes) {
    if (!HasDims(TensorAt(context, tensor), expected)) return false;
  }
  return true;
}

// Reloads the part if its tensors' shapes have changed. Unloads the old part first,
// since the device may have no room for both. Shapes inside of the part that depend on
// a shape computed at run time are unknown to the runtime, so they are guessed.
bool Follow(TfLiteContext* context, Kernel* kernel, std::string* reason) {
  if (kernel->part != nullptr && HasShapes(context, kernel->shapes)) return true;
  const Shapes guessed = GuessShapes(context, kernel->source, kernel->shapes);
  if (kernel->part != nullptr && guessed == kernel->shapes) return true;
  kernel->part.reset();
  const Shapes before = kernel->shapes;
  std::string reasons;
  for (const Shapes& shapes : {Shapes(), guessed}) {
    LoweredPart lowered;
    if (LowerAgain(context, kernel->source, shapes, &lowered, reason) &&
        LoadPart(std::move(lowered), kernel, reason)) {
      return true;
    }
    kernel->shapes = before;
    reasons += (reasons.empty() ? "" : ", and with guessed sizes: ") + *reason;
  }
  *reason = "there is no plan for the tensors' new sizes: " + reasons;
  return false;
}

// Also prepares the runtime's kernels that the part replaces, as far as shapes are
// known before a run: tensors inside of the part need shapes, but no memory.
TfLiteStatus TellShapes(TfLiteContext* context, const Kernel& kernel) {
  for (const auto& [index, dims] : kernel.shapes) {
    auto& tensor = const_cast<TfLiteTensor&>(TensorAt(context, index));
    if (HasDims(tensor, dims)) continue;
    if (tensor.allocation_type == kTfLiteDynamic && tensor.data.raw == nullptr) {
      tensor.allocation_type = kTfLiteArenaRw;
    }
    if (context->ResizeTensor(context, &tensor, NewArray(dims)) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

constexpr char kOtherSize[] = "a tensor has another size than planned";

}  // namespace

bool LoadPart(LoweredPart lowered, Kernel* kernel, std::string* reason) {
  const std::shared_ptr<State>& state = kernel->state;
  auto part = std::make_unique<LoadedPart>();
  part->state = state;
  part->inputs = std::move(lowered.inputs);
  part->outputs = std::move(lowered.outputs);
  part->told = std::move(lowered.told);
  part->model.graph = std::move(lowered.graph);
  part->model.constants = std::move(lowered.constants);
  kernel->source = std::move(lowered.source);
  kernel->shapes = std::move(lowered.shapes);
  {
    const std::lock_guard<std::mutex> lock(state->mutex);
    const auto before = state->before.find(kernel->nodes);
    if (before != state->before.end()) part->model.plan = before->second;
  }
  Options options = state->options;
  options.host = kernel->source.host;
  Loaded loaded;
  if (!state->device->Load(options, kernel->deadline_ns, &part->model, &loaded,
                           reason)) {
    return false;
  }
  kernel->part = std::move(part);
  const std::lock_guard<std::mutex> lock(state->mutex);
  Figures& f = state->figures;
  ++(loaded.source == PlanSource::kMade     ? f.made
     : loaded.source == PlanSource::kCached ? f.cached
                                            : f.rescheduled);
  f.planning_ns += loaded.planning_ns;
  state->before[kernel->nodes] = std::move(loaded.plan);
  return true;
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(kTfLiteError, [&] {
    auto* kernel = static_cast<Kernel*>(node->user_data);
    if (kernel == nullptr) return kTfLiteError;
    std::string reason;
    if (!Follow(context, kernel, &reason)) return Refuse(context, reason.c_str());
    for (const Border& output : kernel->part->outputs) {
      const TfLiteTensor& tensor = TensorAt(context, output.tensor);
      if (tensor.allocation_type != kTfLiteDynamic && HasDims(tensor, output.dims)) {
        continue;
      }
      if (context->ResizeTensor(context, const_cast<TfLiteTensor*>(&tensor),
                                NewArray(output.dims)) != kTfLiteOk) {
        return kTfLiteError;
      }
    }
    return TellShapes(context, *kernel);
  });
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(kTfLiteError, [&] {
    auto* kernel = static_cast<Kernel*>(node->user_data);
    if (kernel == nullptr) return kTfLiteError;
    std::vector<npu_buffer_t> inputs, outputs;
    if (kernel->part == nullptr || !Gather(context, kernel->part->inputs, &inputs) ||
        !Gather(context, kernel->part->outputs, &outputs) ||
        !HasValues(context, kernel->part->told)) {
      return Refuse(context, kOtherSize);
    }
    npu_run_t run = {};
    run.inputs = inputs.data();
    run.input_count = static_cast<uint32_t>(inputs.size());
    run.outputs = outputs.data();
    run.output_count = static_cast<uint32_t>(outputs.size());
    std::string error;
    const bool done = kernel->state->device->Run(kernel->part->model, &run, &error);
    const std::lock_guard<std::mutex> lock(kernel->state->mutex);
    Figures& f = kernel->state->figures;
    ++f.invocations;
    f.cycles += run.cycles;
    if (done) return kTfLiteOk;
    ++f.faults;
    return Refuse(context, error.c_str());
  });
}

}  // namespace sluice::delegate
