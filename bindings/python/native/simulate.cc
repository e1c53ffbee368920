// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "firmware-sim/sim.h"
#include "native.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes Copied(const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  return size == 0 ? Bytes() : Bytes(begin, begin + size);
}

// The result, and the owner of everything that it points to.
struct Run : sluice_native_result_t {
  sluice_sim::SimulateResult result;
  std::vector<sluice_native_event_t> events;
  std::vector<const char*> engines;
  std::vector<const void*> outputs;
  std::vector<size_t> output_sizes;
  Bytes state;
};

sluice_native_event_t EventOf(const sluice_sim::TraceEvent& e) {
  return {e.engine, e.node,  e.instance, e.visit, e.instruction, e.opcode,
          e.op,     e.layer, e.start,    e.end,   e.bytes};
}

sluice_sim::SimulateOptions OptionsOf(const sluice_native_run_t& asked, Run* run,
                                      std::vector<Bytes>* inputs) {
  sluice_sim::SimulateOptions options;
  options.graph = asked.graph;
  options.graph_size = asked.graph_size;
  options.hardware = asked.hardware;
  options.hardware_size = asked.hardware_size;
  options.plan = asked.plan;
  options.plan_size = asked.plan_size;
  options.functional = asked.functional != 0;
  options.contention = asked.contention != 0;
  options.interleaving = asked.interleaving;
  options.seed = asked.seed;
  options.cancel = asked.cancel;
  options.parameters.assign(asked.parameters, asked.parameters + asked.parameter_count);
  if (asked.data_dir != nullptr) options.data_dir = asked.data_dir;
  for (uint32_t i = 0; i < asked.input_count; ++i) {
    inputs->push_back(Copied(asked.inputs[i], asked.input_sizes[i]));
  }
  if (asked.inputs != nullptr) options.inputs = inputs;
  run->state = Copied(asked.state, asked.state_size);
  options.state = &run->state;
  if (asked.trace != 0) {
    options.trace = [run](const sluice_sim::TraceEvent& e) {
      run->events.push_back(EventOf(e));
    };
  }
  return options;
}

void Lend(Run* run) {
  const sluice_sim::SimulateResult& r = run->result;
  for (const std::string& name : r.engine_names) run->engines.push_back(name.c_str());
  for (const Bytes& output : r.outputs) {
    run->outputs.push_back(output.data());
    run->output_sizes.push_back(output.size());
  }
  static_cast<sluice_native_result_t&>(*run) = {
      r.ok ? 1 : 0,
      static_cast<uint32_t>(r.outputs.size()),
      static_cast<uint32_t>(run->events.size()),
      static_cast<uint32_t>(run->engines.size()),
      r.error_code.c_str(),
      r.error.c_str(),
      r.cycles,
      r.predicted_cycles,
      r.contended_cycles,
      r.dram_read_bytes,
      r.dram_write_bytes,
      r.instructions,
      r.tiles,
      r.macs,
      r.compared_bytes,
      r.mismatches,
      r.output_fnv1a,
      run->events.data(),
      run->engines.data(),
      r.output_tensors.data(),
      run->outputs.data(),
      run->output_sizes.data(),
      run->state.data(),
      run->state.size()};
}

}  // namespace

sluice_native_result_t* sluice_native_simulate(const sluice_native_run_t* asked) try {
  auto run = std::make_unique<Run>();
  std::vector<Bytes> inputs;
  const sluice_sim::SimulateOptions options = OptionsOf(*asked, run.get(), &inputs);
  run->result = asked->plan == nullptr ? sluice_sim::RunReference(options)
                                       : sluice_sim::Simulate(options);
  Lend(run.get());
  return run.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void sluice_native_simulate_destroy(sluice_native_result_t* result) {
  delete static_cast<Run*>(result);
}
