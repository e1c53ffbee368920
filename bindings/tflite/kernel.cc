// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

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

// Whether the runtime has computed the shapes that the part was lowered for; -1 stands for
// what is left over.
bool HasShapes(const TfLiteContext* context, const std::vector<ExpectedShape>& shapes) {
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

constexpr char kOtherSize[] =
    "a tensor has another size than planned; delegates with dynamic=1 keep the sizes "
    "that they were made with";

}  // namespace

std::unique_ptr<Kernel> LoadKernel(const std::vector<int>& nodes, LoweredPart lowered,
                                   const std::shared_ptr<State>& state,
                                   uint64_t deadline_ns, std::string* reason) {
  auto kernel = std::make_unique<Kernel>();
  kernel->state = state;
  kernel->inputs = std::move(lowered.inputs);
  kernel->outputs = std::move(lowered.outputs);
  kernel->shapes = std::move(lowered.shapes);
  kernel->model.graph = std::move(lowered.graph);
  kernel->model.constants = std::move(lowered.constants);
  {
    const std::lock_guard<std::mutex> lock(state->mutex);
    const auto before = state->before.find(nodes);
    if (before != state->before.end()) kernel->model.plan = before->second;
  }
  Loaded loaded;
  if (!state->device->Load(state->options, deadline_ns, &kernel->model, &loaded,
                           reason)) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(state->mutex);
  Figures& f = state->figures;
  ++(loaded.source == PlanSource::kMade     ? f.made
     : loaded.source == PlanSource::kCached ? f.cached
                                            : f.rescheduled);
  f.planning_ns += loaded.planning_ns;
  state->before[nodes] = std::move(loaded.plan);
  return kernel;
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(kTfLiteError, [&] {
    const auto* kernel = static_cast<const Kernel*>(node->user_data);
    if (kernel == nullptr) return kTfLiteError;
    for (const Border& input : kernel->inputs) {
      // What a dynamic tensor holds is known when it is invoked.
      const TfLiteTensor& tensor = TensorAt(context, input.tensor);
      if (tensor.allocation_type != kTfLiteDynamic && tensor.bytes != input.bytes) {
        return Refuse(context, kOtherSize);
      }
    }
    for (const Border& output : kernel->outputs) {
      const TfLiteTensor& tensor = TensorAt(context, output.tensor);
      if (tensor.allocation_type != kTfLiteDynamic && tensor.bytes == output.bytes) {
        continue;
      }
      if (context->ResizeTensor(context, const_cast<TfLiteTensor*>(&tensor),
                                NewArray(output.dims)) != kTfLiteOk) {
        return kTfLiteError;
      }
    }
    return kTfLiteOk;
  });
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(kTfLiteError, [&] {
    auto* kernel = static_cast<Kernel*>(node->user_data);
    if (kernel == nullptr) return kTfLiteError;
    std::vector<npu_buffer_t> inputs, outputs;
    if (!Gather(context, kernel->inputs, &inputs) ||
        !Gather(context, kernel->outputs, &outputs) ||
        !HasShapes(context, kernel->shapes)) {
      return Refuse(context, kOtherSize);
    }
    npu_run_t run = {};
    run.inputs = inputs.data();
    run.input_count = static_cast<uint32_t>(inputs.size());
    run.outputs = outputs.data();
    run.output_count = static_cast<uint32_t>(outputs.size());
    std::string error;
    const bool done = kernel->state->device->Run(kernel->model, &run, &error);
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
