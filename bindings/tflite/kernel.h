// SPDX-License-Identifier: Apache-2.0
// The runtime's callbacks that prepare and run a part of its graph on a device.
//
// Input    a part, lowered and planned; at each run the runtime's tensors
// Output   the runtime's output tensors
// Errors   an error of the runtime, with a sentence; the next run is not affected
// Cost     a run: the device's, and each input and output moved once
#ifndef SLUICE_BINDINGS_TFLITE_KERNEL_H_
#define SLUICE_BINDINGS_TFLITE_KERNEL_H_

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"
#include "partition.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {

// Figures of one graph of the runtime; a model may have several.
struct GraphFigures {
  size_t nodes = 0, supported = 0, delegated = 0, partitions = 0;
};

struct Figures {
  std::map<const TfLiteContext*, GraphFigures> graphs;
  size_t made = 0, rescheduled = 0, cached = 0;  // plans
  size_t lowered = 0;                            // parts, each time
  uint64_t prepare_ns = 0, prepare_cpu_ns = 0;   // of the last graph
  uint64_t planning_ns = 0;
  uint64_t invocations = 0, faults = 0, cycles = 0;
};

// State shared by the delegate and its kernels; lives as long as any of them.
struct State {
  Options options;
  std::shared_ptr<Device> device;
  std::mutex mutex;  // guards the members below
  Figures figures;
  // The last plan of each part, from which to reschedule when inputs change their size.
  std::map<std::vector<int>, Bytes> before;
};

// A part loaded on the device for particular shapes of its tensors.
struct LoadedPart {
  std::shared_ptr<State> state;
  Model model;
  std::vector<Border> inputs, outputs, read;  // of the lowered part
  bool is_empty = false;                      // there is nothing to compute

  LoadedPart() = default;
  LoadedPart(const LoadedPart&) = delete;
  LoadedPart& operator=(const LoadedPart&) = delete;
  ~LoadedPart() { state->device->Unload(&model); }
};

// State of the runtime's node for a part. When shapes change, the part is lowered and
// loaded again.
struct Kernel {
  std::shared_ptr<State> state;
  std::vector<int> nodes;
  PartSource source;
  ToldShapes told;                   // by the program, for which the part is loaded
  uint64_t deadline_ns = 0;          // of planning the part
  std::unique_ptr<LoadedPart> part;  // nullptr: there is none for the shapes
};

// Turns exceptions (out of memory) into the runtime's error value.
template <typename T, typename F>
T Guarded(T failed, F&& f) {
  try {
    return f();
  } catch (const std::exception&) {
    return failed;
  }
}

// Plans and loads a part. false: *reason says why not.
bool LoadPart(LoweredPart lowered, Kernel* kernel, std::string* reason);

// The runtime's callbacks; node->user_data is a Kernel, or NULL.
TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_KERNEL_H_
