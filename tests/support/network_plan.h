// SPDX-License-Identifier: Apache-2.0
// A graph on a preset, scheduled any number of times with different options; what the
// report and both judges say of each plan.
#ifndef SLUICE_TESTS_SUPPORT_NETWORK_PLAN_H_
#define SLUICE_TESTS_SUPPORT_NETWORK_PLAN_H_

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "sluice/sluice.h"
#include "support/bytes.h"
#include "support/files.h"

namespace sluice_test {

inline Bytes ImportedGraph(const std::string& path) {
  const Bytes file = sluice_test::ReadFile(path);
  sluice::import::TfliteImportOptions options;
  options.name = sluice_test::FileStem(path);
  return WriteRows(
      sluice::import::ImportTflite(file.data(), file.size(), options).rows);
}

class NetworkPlan {
 public:
  // max_bytes caps the memory. `block`: the context works inside it; NULL: it uses
  // malloc.
  NetworkPlan(const Bytes& graph, const std::string& preset, uint64_t max_bytes = 0,
              void* block = nullptr, uint64_t block_bytes = 0)
      : NetworkPlan(graph, sluice::presets::LoadPreset(preset), max_bytes, block,
                    block_bytes) {}
  NetworkPlan(const Bytes& graph, const Bytes& hardware, uint64_t max_bytes = 0,
              void* block = nullptr, uint64_t block_bytes = 0)
      : graph_bytes_(graph), hardware_bytes_(hardware) {
    sluice_context_options_t options = {};
    options.max_bytes = max_bytes;
    options.block = block;
    options.block_bytes = block_bytes;
    Create(options);
  }
  // now_ns(clock_user) is the clock of deadlines and of progress.
  NetworkPlan(const Bytes& graph, const std::string& preset, uint64_t (*now_ns)(void*),
              void* clock_user)
      : graph_bytes_(graph), hardware_bytes_(sluice::presets::LoadPreset(preset)) {
    sluice_context_options_t options = {};
    options.now_ns = now_ns;
    options.clock_user = clock_user;
    Create(options);
  }
  ~NetworkPlan() {
    sluice_plan_destroy(resumed_);
    sluice_plan_destroy(plan_);
    sluice_hardware_destroy(hardware_);
    sluice_graph_destroy(graph_);
    sluice_context_destroy(context_);
  }
  NetworkPlan(const NetworkPlan&) = delete;

  // Bytes that are allocated, and the most that were, counted by the allocator.
  struct Recorded {
    uint64_t live = 0, peak = 0;
    void (*seen)() = nullptr;  // called on each allocation
    static void* Allocate(void* user, size_t bytes, size_t alignment) {
      Recorded* r = static_cast<Recorded*>(user);
      if (r->seen != nullptr) r->seen();
      if (alignment < sizeof(void*)) alignment = sizeof(void*);
      r->live += bytes;
      r->peak = std::max(r->peak, r->live);
      return std::aligned_alloc(alignment,
                                (bytes + alignment - 1) / alignment * alignment);
    }
    static void Release(void* user, void* p, size_t bytes, size_t) {
      static_cast<Recorded*>(user)->live -= bytes;
      std::free(p);
    }
  };
  const Recorded& memory() const { return memory_; }
  void ForgetPeak() { memory_.peak = memory_.live; }
  void OnAllocation(void (*seen)()) { memory_.seen = seen; }
  // The memory bound of the next Schedule with its options; 0 if there is none.
  uint64_t MemoryBound(uint32_t solver = SLUICE_SOLVER_DEFAULT) {
    const sluice_schedule_options_t options = Options(solver, 0, 0);
    uint64_t bytes = 0;
    return sluice_schedule_memory_bound(context_, graph_, hardware_, &options, &bytes,
                                        &diagnostic) == SLUICE_OK
               ? bytes
               : 0;
  }
  // Makes `bytes` the plan, from which the next Schedule goes on.
  sluice_status_t Adopt(const Bytes& bytes) {
    sluice_plan_destroy(plan_);
    plan_ = nullptr;
    const sluice_status_t status =
        sluice_plan_create(context_, bytes.data(), bytes.size(), &plan_, &diagnostic);
    resume_next_ = status == SLUICE_OK;
    if (status != SLUICE_OK) return status;
    report = {};
    report.struct_size = sizeof report;
    return sluice_plan_report(plan_, &report);
  }

  // Destroys the plans of earlier calls. Schedule does so too, but counts it as its own work.
  void Forget() {
    sluice_plan_destroy(resumed_);
    sluice_plan_destroy(plan_);
    resumed_ = plan_ = nullptr;
    resume_next_ = false;
  }
  sluice_status_t Schedule(uint32_t solver, uint64_t scratchpad_bytes,
                           uint64_t deadline_ns = 0) {
    sluice_plan_destroy(resumed_);
    resumed_ = resume_next_ ? plan_ : nullptr;
    if (!resume_next_) sluice_plan_destroy(plan_);
    plan_ = nullptr;
    resume_next_ = false;
    const sluice_schedule_options_t options =
        Options(solver, scratchpad_bytes, deadline_ns);
    const clock_t start = clock();
    const sluice_status_t status =
        sluice_schedule(context_, graph_, hardware_, &options, &plan_, &diagnostic);
    plan_ms = 1e3 * static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
    if (status != SLUICE_OK) return status;
    report = {};
    report.struct_size = sizeof report;
    return sluice_plan_report(plan_, &report);
  }
  sluice_schedule_options_t Options(uint32_t solver, uint64_t scratchpad_bytes,
                                    uint64_t deadline_ns) const {
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = solver;
    options.granularity = granularity;
    options.scratchpad_bytes = scratchpad_bytes;
    options.deadline_ns = deadline_ns;
    options.progress = progress;
    options.progress_user = progress_user;
    options.cancel = cancel;
    options.tile_cost = tile_cost;
    options.max_iterations = max_iterations;
    options.seed = seed;
    options.resume = resumed_;
    options.runner = runner;
    options.energy_exponent = energy_exponent;
    options.delay_exponent = delay_exponent;
    return options;
  }
  sluice_status_t Verify() {
    return sluice_verify(context_, graph_, hardware_, plan_, &diagnostic);
  }
  sluice_sim::SimulateResult Simulate(bool functional) const {
    const void* bytes = nullptr;
    size_t size = 0;
    sluice_sim::SimulateOptions o;
    if (sluice_plan_bytes(plan_, &bytes, &size) != SLUICE_OK) return {};
    o.graph = graph_bytes_.data();
    o.graph_size = graph_bytes_.size();
    o.hardware = hardware_bytes_.data();
    o.hardware_size = hardware_bytes_.size();
    o.plan = static_cast<const uint8_t*>(bytes);
    o.plan_size = size;
    o.functional = functional;
    return sluice_sim::Simulate(o);
  }
  Bytes PlanBytes() const {
    const void* bytes = nullptr;
    size_t size = 0;
    if (sluice_plan_bytes(plan_, &bytes, &size) != SLUICE_OK) return {};
    const uint8_t* data = static_cast<const uint8_t*>(bytes);
    return Bytes(data, data + size);
  }
  double Product() const {
    return report.energy_pj * static_cast<double>(report.latency_cycles);
  }

  bool ok = false;
  int32_t (*progress)(void* user, uint64_t iterations, double cost) = nullptr;
  void* progress_user = nullptr;
  const uint32_t* cancel = nullptr;
  sluice_tile_cost_fn tile_cost = nullptr;
  uint64_t max_iterations = 0;
  uint32_t granularity = SLUICE_GRANULARITY_TILE;
  uint64_t seed = 0;
  uint32_t energy_exponent = 0, delay_exponent = 0;  // both 0: 1 and 1
  const sluice_runner_t* runner = nullptr;
  sluice_diagnostic_t diagnostic = {};
  sluice_report_t report = {};
  double plan_ms = 0;  // CPU

 private:
  void Create(sluice_context_options_t options) {
    diagnostic.struct_size = sizeof diagnostic;
    options.struct_size = sizeof options;
    sluice_allocator_t recording = {};
    recording.struct_size = sizeof recording;
    recording.user = &memory_;
    recording.allocate = Recorded::Allocate;
    recording.release = Recorded::Release;
    if (options.block == nullptr) options.allocator = &recording;
    ok =
        sluice_context_create(&options, &context_, &diagnostic) == SLUICE_OK &&
        sluice_graph_create(context_, graph_bytes_.data(), graph_bytes_.size(), &graph_,
                            &diagnostic) == SLUICE_OK &&
        sluice_hardware_create(context_, hardware_bytes_.data(), hardware_bytes_.size(),
                               &hardware_, &diagnostic) == SLUICE_OK;
  }

  Bytes graph_bytes_, hardware_bytes_;
  sluice_context_t* context_ = nullptr;
  sluice_graph_t* graph_ = nullptr;
  sluice_hardware_t* hardware_ = nullptr;
  sluice_plan_t* plan_ = nullptr;
  sluice_plan_t* resumed_ = nullptr;
  bool resume_next_ = false;
  Recorded memory_;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_NETWORK_PLAN_H_
