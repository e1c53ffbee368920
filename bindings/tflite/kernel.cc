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

// The runtime appends its own sentence without a separator.
TfLiteStatus Refuse(TfLiteContext* context, const char* text) {
  context->ReportError(context, "sluice: %s. ", text);
  return kTfLiteError;
}

bool HasDims(const TfLiteTensor& tensor, const std::vector<int>& dims) {
  return tensor.dims != nullptr &&
         std::equal(tensor.dims->data, tensor.dims->data + tensor.dims->size,
                    dims.begin(), dims.end());
}

// Reloads the part if tensors that it reads have changed their shapes, or the program gives
// others. Unloads the old part first, since the device may have no room for both.
bool Follow(TfLiteContext* context, Kernel* kernel, ToldShapes told,
            std::string* reason) {
  const auto same = [&](const Border& border) {
    return HasDims(TensorAt(context, border.tensor), border.dims);
  };
  if (kernel->part != nullptr && kernel->told == told &&
      std::all_of(kernel->part->read.begin(), kernel->part->read.end(), same)) {
    return true;
  }
  kernel->part.reset();
  {
    const std::lock_guard<std::mutex> lock(kernel->state->mutex);
    ++kernel->state->figures.lowered;
  }
  LoweredPart lowered;
  if (LowerAgain(context, kernel->source, std::move(told), &lowered, reason) &&
      LoadPart(std::move(lowered), kernel, reason)) {
    return true;
  }
  *reason = "there is no plan for the tensors' new sizes: " + *reason;
  return false;
}

TfLiteStatus SizeOutputs(TfLiteContext* context, const LoadedPart& part) {
  for (const Border& output : part.outputs) {
    const TfLiteTensor& tensor = TensorAt(context, output.tensor);
    if (tensor.allocation_type != kTfLiteDynamic && HasDims(tensor, output.dims)) {
      continue;
    }
    if (context->ResizeTensor(context, const_cast<TfLiteTensor*>(&tensor),
                              NewArray(output.dims)) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

// Tells the runtime that the outputs' shapes are known only when the part runs.
void LeaveOpen(TfLiteContext* context, const PartSource& source) {
  for (const int output : source.outputs) {
    auto& tensor = const_cast<TfLiteTensor&>(TensorAt(context, output));
    if (tensor.allocation_type == kTfLiteDynamic) continue;
    tensor.allocation_type = kTfLiteDynamic;
    tensor.data.raw = nullptr;
  }
}

// Follows the shapes that the program gives. false: *reason says why not.
bool FollowTold(TfLiteContext* context, Kernel* kernel, std::string* reason) {
  ToldShapes told;
  for (const auto& [index, before] : kernel->told) {
    const TfLiteTensor& tensor = TensorAt(context, index);
    if (tensor.type != kTfLiteInt32 || tensor.data.raw == nullptr) {
      *reason = "a shape that the program gives is not there";
      return false;
    }
    const int32_t* first = tensor.data.i32;
    told[index].assign(first, first + tensor.bytes / sizeof(int32_t));
  }
  return Follow(context, kernel, std::move(told), reason);
}

constexpr char kOtherSize[] = "a tensor has another size than planned";

}  // namespace

bool LoadPart(LoweredPart lowered, Kernel* kernel, std::string* reason) {
  const std::shared_ptr<State>& state = kernel->state;
  auto part = std::make_unique<LoadedPart>();
  part->state = state;
  part->inputs = std::move(lowered.inputs);
  part->outputs = std::move(lowered.outputs);
  part->read = std::move(lowered.read);
  part->is_empty = lowered.IsEmpty();
  part->model.graph = std::move(lowered.graph);
  part->model.constants = std::move(lowered.constants);
  kernel->source = std::move(lowered.source);
  kernel->told = std::move(lowered.told);
  if (part->is_empty) {
    kernel->part = std::move(part);
    return true;
  }
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
    if (!kernel->told.empty()) {
      LeaveOpen(context, kernel->source);
      return kTfLiteOk;
    }
    std::string reason;
    if (!Follow(context, kernel, {}, &reason)) return Refuse(context, reason.c_str());
    return SizeOutputs(context, *kernel->part);
  });
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(kTfLiteError, [&] {
    auto* kernel = static_cast<Kernel*>(node->user_data);
    if (kernel == nullptr) return kTfLiteError;
    if (!kernel->told.empty()) {
      std::string reason;
      if (!FollowTold(context, kernel, &reason)) return Refuse(context, reason.c_str());
      if (SizeOutputs(context, *kernel->part) != kTfLiteOk) return kTfLiteError;
    }
    if (kernel->part != nullptr && kernel->part->is_empty) return kTfLiteOk;
    std::vector<npu_buffer_t> inputs, outputs;
    if (kernel->part == nullptr || !Gather(context, kernel->part->inputs, &inputs) ||
        !Gather(context, kernel->part->outputs, &outputs)) {
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
