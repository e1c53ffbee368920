// SPDX-License-Identifier: Apache-2.0
// A device with its driver: schedules graphs and runs their plans.
//
// Input    options; graphs whose constants are named by the runtime's tensors
// Output   models on the device; outputs and cycles of their runs
// Errors   false and a sentence; a device that stops a run takes the next one
// Cost     planning: at most the deadline, if a plan is found in that time
//
// Delegates that name the same device share it, and its scratchpad. All functions may be
// called from several threads; one of them works at a time.
#ifndef SLUICE_BINDINGS_TFLITE_DEVICE_H_
#define SLUICE_BINDINGS_TFLITE_DEVICE_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "npu.h"
#include "options.h"
#include "sluice/experimental.h"

namespace sluice::delegate {

using Bytes = std::vector<uint8_t>;

// Constants that the runtime has in memory, by the index of its tensor. They stay there
// until the model is unloaded.
struct Constant {
  const uint8_t* data;
  size_t bytes;
};
using Constants = std::unordered_map<int, Constant>;

enum class PlanSource { kMade, kRescheduled, kCached };

// A model on a device. From Load to Unload only the device's functions may access it,
// since loading another model may change its place.
struct Model {
  npu_model_t handle = 0;
  Bytes graph, plan;
  Constants constants;
  PlanSource source = PlanSource::kMade;
};

// The result of Load.
struct Loaded {
  Bytes plan;  // of the model by itself
  PlanSource source = PlanSource::kMade;
  uint64_t planning_ns = 0;  // includes the cache's work and the driver's
};

class Device {
 public:
  // nullptr: *error says why.
  static std::shared_ptr<Device> Open(const Options& options, std::string* error);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // `model` has a graph, constants and perhaps a previous plan (for other extents of
  // the graph). Its address must not change until it is unloaded.
  bool Load(const Options& options, uint64_t deadline_ns, Model* model, Loaded* loaded,
            std::string* error);
  void Unload(Model* model);
  bool Run(const Model& model, npu_run_t* run, std::string* error);
  // Whether the graph has a plan; without options.host, a plan without HOST calls.
  bool CanRun(const Options& options, const Bytes& graph);

 private:
  Device() = default;
  bool OpenMachine(const std::string& name, std::string* error);
  bool HasShare(const Options& options, std::string* error) const;
  bool Plan(const Options& options, uint64_t deadline_ns, Model* model,
            std::string* error);
  bool Make(const Options& options, uint64_t deadline_ns, Model* model,
            std::string* error);
  bool Place(const Options& options, Model* model, std::string* error);
  bool PlanTogether(const Options& options, uint64_t deadline_ns, std::string* error);
  bool Replace(const sluice_member_t& member, Model* model, std::string* error);
  sluice_schedule_options_t ScheduleOptions(const Options& options,
                                            uint64_t deadline_ns) const;

  std::mutex mutex_;
  Bytes hardware_bytes_;
  std::string library_;  // that the device was opened with
  void* loaded_library_ = nullptr;
  struct Free {
    void operator()(uint8_t* block) const { std::free(block); }
  };
  std::unique_ptr<uint8_t, Free> block_;
  npu_t* npu_ = nullptr;
  sluice_context_t* context_ = nullptr;
  sluice_hardware_t* hardware_ = nullptr;
  std::vector<Model*> together_;
};

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_DEVICE_H_
