// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "plan_cache.h"
#include "runtime_model.h"
#include "sluice/graph_generated.h"
#include "sluice/hardware_generated.h"

namespace sluice::delegate {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 20;  // pages are mapped when used
constexpr size_t kLargePage = size_t{2} << 20;

// The driver's memory, in huge pages where possible. The pages of the first model are
// touched while the device is opened, since page faults would take a fifth of the time
// of loading a model.
uint8_t* TakeBlock() {
  auto* block = static_cast<uint8_t*>(std::aligned_alloc(kLargePage, kBlockBytes));
  if (block == nullptr) throw std::bad_alloc();
  (void)madvise(block, kBlockBytes, MADV_HUGEPAGE);
  // Copies of graphs and streams are in the first third of the block.
  for (const size_t part : {size_t{0}, kBlockBytes / 3}) {
    for (size_t at = 0; at < kLargePage; at += 4096) block[part + at] = 0;
  }
  return block;
}

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

sluice_diagnostic_t NoDiagnostic() {
  sluice_diagnostic_t d = {};
  d.struct_size = sizeof d;
  return d;
}

// Deleters for objects of the library.
struct Destroy {
  void operator()(sluice_graph_t* graph) const { sluice_graph_destroy(graph); }
  void operator()(sluice_plan_t* plan) const { sluice_plan_destroy(plan); }
  void operator()(sluice_cohort_t* cohort) const { sluice_cohort_destroy(cohort); }
};
using OwnGraph = std::unique_ptr<sluice_graph_t, Destroy>;
using OwnPlan = std::unique_ptr<sluice_plan_t, Destroy>;

bool CopyPlan(const sluice_plan_t* plan, Model* model) {
  const void* bytes = nullptr;
  size_t size = 0;
  if (sluice_plan_bytes(plan, &bytes, &size) != SLUICE_OK) return false;
  const auto* first = static_cast<const uint8_t*>(bytes);
  model->plan.assign(first, first + size);
  return true;
}

// Hash of a lowered graph without its constants' values, on which plans do not depend.
// Unlike sluice_graph_hash it does not check the graph, which the driver does anyway.
uint64_t HashWithoutData(const Bytes& graph) {
  const auto* data = wire::GetGraph(graph.data())->data();
  const uint8_t* first = graph.data();
  const uint8_t* last = first + graph.size();
  const uint8_t* begin = data != nullptr ? data->Data() : last;
  const uint8_t* end = data != nullptr ? begin + data->size() : last;
  const uint64_t hash =
      plan_cache_hash(PLAN_CACHE_FIRST_HASH, first, static_cast<size_t>(begin - first));
  return plan_cache_hash(hash, end, static_cast<size_t>(last - end));
}

bool UsesHost(const sluice_plan_t* plan) {
  sluice_report_t report = {};
  report.struct_size = sizeof report;
  return sluice_plan_report(plan, &report) != SLUICE_OK || report.host_layers != 0;
}

const void* MapConstant(void* user, const char* file, uint32_t file_size,
                        uint64_t offset, uint64_t bytes) {
  const Constants& constants = static_cast<const Model*>(user)->constants;
  const auto found = constants.find(TensorOfFile(file, file_size));
  if (found == constants.end() || offset > found->second.bytes ||
      bytes > found->second.bytes - offset) {
    return nullptr;
  }
  return found->second.data + offset;
}

// Devices by name, for delegates that share one. A device lives as long as any of its
// delegates or their kernels.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Device>> devices;
};

Registry& TheRegistry() {
  static Registry* const registry =
      new Registry;  // outlives delegates of other threads
  return *registry;
}

const npu_device_table_t* TableOf(void* library, const std::string& path,
                                  std::string* error) {
  const auto table_of =
      reinterpret_cast<npu_device_table_fn>(dlsym(library, NPU_DEVICE_TABLE_SYMBOL));
  const npu_device_table_t* table = table_of != nullptr ? table_of() : nullptr;
  if (table == nullptr || table->version != NPU_DEVICE_VERSION) {
    *error = "option device_library: " + path +
             " has no " NPU_DEVICE_TABLE_SYMBOL " of version " +
             std::to_string(NPU_DEVICE_VERSION);
    return nullptr;
  }
  return table;
}

}  // namespace

std::shared_ptr<Device> Device::Open(const Options& options, std::string* error) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::shared_ptr<Device> device;
  Bytes hardware;
  if (!ReadMachine(options.machine, &hardware, error)) return nullptr;
  if (!options.device.empty()) device = registry.devices[options.device].lock();
  if (device != nullptr) {
    if (device->hardware_bytes_ == hardware &&
        device->library_ == options.device_library) {
      return device->HasShare(options, error) ? device : nullptr;
    }
    *error = "device \"" + options.device +
             "\" is in use with another machine or device library";
    return nullptr;
  }
  device.reset(new Device);
  device->hardware_bytes_ = std::move(hardware);
  device->library_ = options.device_library;
  npu_options_t o = {};
  if (!options.device_library.empty()) {
    device->loaded_library_ = dlopen(options.device_library.c_str(), RTLD_NOW);
    if (device->loaded_library_ == nullptr) {
      *error = std::string("option device_library: ") + dlerror();
      return nullptr;
    }
    o.device = TableOf(device->loaded_library_, options.device_library, error);
    if (o.device == nullptr) return nullptr;
  }
  device->block_.reset(TakeBlock());
  o.hardware = device->hardware_bytes_.data();
  o.hardware_bytes = device->hardware_bytes_.size();
  o.device_dram_bytes = options.device_memory;
  o.block = device->block_.get();
  o.block_bytes = kBlockBytes;
  o.device_options = options.device_options.c_str();
  o.timeout_ns = options.timeout_ns;
  if (!device->OpenMachine(options.machine, error)) return nullptr;
  if (npu_open(&o, &device->npu_) != NPU_OK) {
    *error =
        "the device does not open with this machine, device_memory and device_options";
    return nullptr;
  }
  if (!device->HasShare(options, error)) return nullptr;
  if (!options.device.empty()) registry.devices[options.device] = device;
  return device;
}

bool Device::OpenMachine(const std::string& name, std::string* error) {
  sluice_diagnostic_t d = NoDiagnostic();
  if (sluice_context_create(nullptr, &context_, &d) != SLUICE_OK ||
      sluice_hardware_create(context_, hardware_bytes_.data(), hardware_bytes_.size(),
                             &hardware_, &d) != SLUICE_OK) {
    *error = "option machine: " + name + ": " + d.message;
    return false;
  }
  const auto* hardware = wire::GetHardware(hardware_bytes_.data());
  if (hardware->levels()->Get(hardware->scratchpad_level())->may_hold() == 7)
    return true;
  *error = "option machine: the scratchpad of " + name +
           " may not hold each operand: such a machine can be mapped on, not scheduled";
  return false;
}

bool Device::HasShare(const Options& options, std::string* error) const {
  const uint64_t bytes = npu_scratchpad(npu_);
  if (options.share != Share::kPartition ||
      (options.share_begin < bytes && options.budget <= bytes - options.share_begin)) {
    return true;
  }
  *error = "share_begin and budget reach beyond the scratchpad, which has " +
           std::to_string(bytes) + " bytes";
  return false;
}

Device::~Device() {
  npu_close(npu_);
  sluice_hardware_destroy(hardware_);
  sluice_context_destroy(context_);
  if (loaded_library_ != nullptr) dlclose(loaded_library_);
}

sluice_schedule_options_t Device::ScheduleOptions(const Options& options,
                                                  uint64_t deadline_ns) const {
  sluice_schedule_options_t s = {};
  s.struct_size = sizeof s;
  s.scratchpad_bytes = options.budget;
  s.deadline_ns = deadline_ns;
  s.energy_exponent = options.energy_exponent;
  s.delay_exponent = options.delay_exponent;
  return s;
}

bool Device::CanRun(const Options& options, const Bytes& bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sluice_graph_t* graph = nullptr;
  if (sluice_graph_create(context_, bytes.data(), bytes.size(), &graph, nullptr) !=
      SLUICE_OK) {
    return false;
  }
  const OwnGraph keep(graph);
  sluice_schedule_options_t s = ScheduleOptions(options, 0);
  s.solver = SLUICE_SOLVER_BASELINE;
  sluice_plan_t* plan = nullptr;
  const bool made =
      sluice_schedule(context_, graph, hardware_, &s, &plan, nullptr) == SLUICE_OK;
  const OwnPlan keep_plan(plan);
  return made && (options.host || !UsesHost(plan));
}

bool Device::Make(const Options& options, uint64_t deadline_ns, Model* model,
                  std::string* error) {
  sluice_diagnostic_t d = NoDiagnostic();
  sluice_graph_t* graph = nullptr;
  if (sluice_graph_create(context_, model->graph.data(), model->graph.size(), &graph,
                          &d) != SLUICE_OK) {
    *error = d.message;
    return false;
  }
  const OwnGraph keep_graph(graph);
  sluice_schedule_options_t s = ScheduleOptions(options, deadline_ns);
  sluice_plan_t* plan = nullptr;
  sluice_plan_t* before = nullptr;
  if (!model->plan.empty()) {
    (void)sluice_plan_create(context_, model->plan.data(), model->plan.size(), &before,
                             nullptr);
  }
  const OwnPlan keep_before(before);
  sluice_status_t status = SLUICE_STOPPED;
  model->source = PlanSource::kMade;
  if (before != nullptr) {
    sluice_reschedule_options_t again = {};
    again.struct_size = sizeof again;
    again.previous = before;
    again.schedule = &s;
    status = sluice_reschedule(context_, graph, hardware_, &again, &plan, &d);
    if (status == SLUICE_OK) model->source = PlanSource::kRescheduled;
  } else {
    status = sluice_schedule(context_, graph, hardware_, &s, &plan, &d);
  }
  if (status == SLUICE_STOPPED) {  // out of time: the baseline plan, without a deadline
    s.solver = SLUICE_SOLVER_BASELINE;
    s.deadline_ns = 0;
    status = sluice_schedule(context_, graph, hardware_, &s, &plan, &d);
  }
  const OwnPlan keep(plan);
  if (status != SLUICE_OK) {
    *error = d.message;
    return false;
  }
  if (!options.host && UsesHost(plan)) {
    *error = "the machine leaves layers to its host";
    return false;
  }
  return CopyPlan(plan, model);
}

bool Device::Plan(const Options& options, uint64_t deadline_ns, Model* model,
                  std::string* error) {
  const uint64_t decides[] = {options.budget, options.deadline_ns,
                              options.energy_exponent, options.delay_exponent,
                              options.host ? 1u : 0u};
  const char* folder = options.cache.empty() ? nullptr : options.cache.c_str();
  plan_cache_key_t key = {};
  if (folder != nullptr) {
    key = {HashWithoutData(model->graph), sluice_hardware_hash(hardware_),
           plan_cache_hash(PLAN_CACHE_FIRST_HASH, decides, sizeof decides)};
  }
  void* cached = nullptr;
  size_t size = 0;
  if (plan_cache_get(folder, &key, &cached, &size) != 0) {
    // The driver verifies the cached plan before use.
    const std::unique_ptr<void, void (*)(void*)> owned(cached, std::free);
    Bytes before = std::move(model->plan);
    const auto* first = static_cast<const uint8_t*>(cached);
    model->plan.assign(first, first + size);
    model->source = PlanSource::kCached;
    if (Place(options, model, error)) return true;
    model->plan = std::move(before);
  }
  if (!Make(options, deadline_ns, model, error)) return false;
  if (folder != nullptr) {
    (void)plan_cache_put(folder, &key, model->plan.data(), model->plan.size());
  }
  return Place(options, model, error);
}

bool Device::Place(const Options& options, Model* model, std::string* error) {
  npu_planned_t p = {};
  p.graph = model->graph.data();
  p.graph_bytes = model->graph.size();
  p.plan = model->plan.data();
  p.plan_bytes = model->plan.size();
  p.map = MapConstant;
  p.user = model;
  if (options.share == Share::kPartition) {
    p.share_begin = options.share_begin;
    p.share_end = options.share_begin + options.budget;
  }
  if (npu_load_planned(npu_, &p, &model->handle) == NPU_OK) return true;
  *error = npu_last_error(npu_);
  return false;
}

bool Device::Load(const Options& options, uint64_t deadline_ns, Model* model,
                  Loaded* loaded, std::string* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t start = NowNs();
  if (!Plan(options, deadline_ns, model, error)) return false;
  loaded->plan = model->plan;
  loaded->source = model->source;
  if (options.share == Share::kTogether) {
    together_.push_back(model);
    if (!PlanTogether(options, deadline_ns, error)) {
      together_.pop_back();
      npu_unload(npu_, model->handle);
      model->handle = 0;
      return false;
    }
  }
  loaded->planning_ns = NowNs() - start;
  return true;
}

// Plans all loaded models together; either all get new places or none does.
bool Device::PlanTogether(const Options& options, uint64_t deadline_ns,
                          std::string* error) {
  const size_t count = together_.size();
  if (count < 2) return true;
  if (count > SLUICE_MODELS_MAX) {
    *error = "share=together takes " + std::to_string(SLUICE_MODELS_MAX) +
             " parts of models at most";
    return false;
  }
  std::vector<OwnGraph> graphs;
  std::vector<sluice_model_t> models(count);
  for (size_t i = 0; i < count; ++i) {
    sluice_graph_t* graph = nullptr;
    if (sluice_graph_create(context_, together_[i]->graph.data(),
                            together_[i]->graph.size(), &graph, nullptr) != SLUICE_OK) {
      return false;
    }
    graphs.emplace_back(graph);
    models[i].graph = graph;
  }
  sluice_coschedule_options_t o = {};
  o.struct_size = sizeof o;
  o.share = SLUICE_SHARE_PARTITION;
  o.scratchpad_bytes = options.budget;
  o.deadline_ns = deadline_ns * count;
  o.models = models.data();
  o.model_count = static_cast<uint32_t>(count);
  sluice_diagnostic_t d = NoDiagnostic();
  sluice_cohort_t* made = nullptr;
  const auto plan_all = [&] {
    return sluice_coschedule(context_, hardware_, &o, &made, &d);
  };
  sluice_status_t status = plan_all();
  if (status == SLUICE_STOPPED) {  // out of time: equal shares, without a deadline
    o.deadline_ns = 0;
    o.max_iterations = 1;
    o.points = 2;
    status = plan_all();
  }
  if (status != SLUICE_OK) {
    *error = std::string("together: ") + d.message;
    return false;
  }
  const std::unique_ptr<sluice_cohort_t, Destroy> cohort(made);
  for (size_t i = 0; i < count; ++i) {
    sluice_member_t member = {};
    member.struct_size = sizeof member;
    if (sluice_cohort_member(made, static_cast<uint32_t>(i), &member) != SLUICE_OK ||
        !Replace(member, together_[i], error)) {
      return false;
    }
  }
  return true;
}

bool Device::Replace(const sluice_member_t& member, Model* model, std::string* error) {
  Model moved = *model;
  if (!CopyPlan(member.plan, &moved)) return false;
  npu_planned_t p = {};
  p.graph = moved.graph.data();
  p.graph_bytes = moved.graph.size();
  p.plan = moved.plan.data();
  p.plan_bytes = moved.plan.size();
  // The plan's addresses already include the offset of its range, so they count from
  // the scratchpad's start. Verification of all plans together has checked that each
  // stays inside its range.
  p.share_end = member.offset + member.bytes;
  p.map = MapConstant;
  p.user = &moved;
  if (npu_load_planned(npu_, &p, &moved.handle) != NPU_OK) {
    *error = npu_last_error(npu_);
    return false;
  }
  npu_unload(npu_, model->handle);
  *model = std::move(moved);
  return true;
}

void Device::Unload(Model* model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  together_.erase(std::remove(together_.begin(), together_.end(), model),
                  together_.end());
  if (model->handle != 0) npu_unload(npu_, model->handle);
  model->handle = 0;
}

bool Device::Run(const Model& model, npu_run_t* run, std::string* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (npu_run(npu_, model.handle, run) == NPU_OK) return true;
  *error = npu_last_error(npu_);
  return false;
}

}  // namespace sluice::delegate
