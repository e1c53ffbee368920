// SPDX-License-Identifier: Apache-2.0
// What is done with untrusted bytes, by libFuzzer and by the tests alike.
//
// Input    any bytes
// Output   the status of reading them; what was read is used as far as it goes: graphs
//          and machines are scheduled, plans go before the static judge and the walker
// Errors   aborts when an answer is none of the documented ones, or a plan fails verify
// Cost     bounded: 64 MiB of memory, small graphs only are scheduled
#ifndef SLUICE_TESTS_FUZZ_TARGETS_H_
#define SLUICE_TESTS_FUZZ_TARGETS_H_

#include <cstdio>
#include <cstdlib>

#include "firmware-sim/sim.h"
#include "sluice/import.h"
#include "sluice/presets.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/simulation.h"

namespace sluice_test {

constexpr uint64_t kFuzzMemory = uint64_t{64} << 20;

inline sluice_context_options_t FuzzOptions() {
  sluice_context_options_t o;
  std::memset(&o, 0, sizeof o);
  o.struct_size = sizeof o;
  o.max_bytes = kFuzzMemory;
  return o;
}

// Aborts unless untrusted bytes may lead to this status; an internal error is never
// right.
inline void RequireAnswer(sluice_status_t status, const char* message = "") {
  switch (status) {
    case SLUICE_OK:
    case SLUICE_INFEASIBLE:
    case SLUICE_STOPPED:
    case SLUICE_BAD_INPUT:
    case SLUICE_UNSUPPORTED:
    case SLUICE_OUT_OF_MEMORY:
      return;
    default:
      std::fprintf(stderr, "%s: %s\n", sluice_status_name(status), message);
      std::abort();
  }
}

// One input in sixteen, chosen by its bytes, is searched for up to 20 ms; the others get their
// plain plan. A search takes a hundred times longer than reading, and finds little by the same
// graph with another byte.
inline PlanPtr ScheduleBriefly(Library* library, const GraphPtr& graph,
                               const HardwarePtr& hardware, uint64_t hash) {
  sluice_schedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.deadline_ns = 20000000;
  if (hash % 16 != 0) options.solver = SLUICE_SOLVER_BASELINE;
  sluice_plan_t* plan = nullptr;
  library->status = sluice_schedule(library->context.get(), graph.get(), hardware.get(),
                                    &options, &plan, &library->diagnostic);
  RequireAnswer(library->status, library->diagnostic.message);
  return PlanPtr(plan);
}

// A graph, a machine and the plan of the graph on that machine.
struct Trio {
  Bytes graph, machine, plan;
};

inline Trio MakeTrio(uint64_t seed) {
  RandomGraphLimits limits;
  limits.layers = 2;
  limits.elements = 100;
  MachineSpec machine = MakeRandomMachine(seed);
  machine.base.scratchpad_bytes = 8192;
  Trio trio = {GraphBytes(MakeRandomGraph(seed, limits)), MachineBytes(machine), {}};
  Library library;
  const PlanPtr plan =
      library.Schedule(library.Graph(trio.graph), library.Hardware(trio.machine));
  if (plan == nullptr) std::abort();
  trio.plan = BytesOf(plan);
  return trio;
}

inline const std::vector<Trio>& Trios() {
  static const std::vector<Trio> trios = [] {
    std::vector<Trio> made;
    for (uint64_t seed = 17; seed < 33; ++seed) made.push_back(MakeTrio(seed));
    return made;
  }();
  return trios;
}
inline const Bytes& FixedGraph() { return Trios()[0].graph; }
inline const Bytes& FixedMachine() { return Trios()[0].machine; }

inline sluice_status_t FuzzGraph(const uint8_t* data, size_t size) {
  if (size == 0) return SLUICE_BAD_INPUT;
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  const GraphPtr graph = library.Graph(Bytes(data, data + size));
  const sluice_status_t status = library.status;
  RequireAnswer(status);
  sluice_sim::SimulateOptions o;
  o.graph = data;
  o.graph_size = size;
  o.data_dir = "/nonexistent";
  o.max_memory_bytes = 1 << 15;
  (void)sluice_sim::RunReference(o);  // the simulator has its own reader
  if (graph == nullptr) return status;
  const HardwarePtr hardware = library.Hardware(FixedMachine());
  (void)ScheduleBriefly(&library, graph, hardware, StreamHash(data, size));
  return status;
}

inline sluice_status_t FuzzHardware(const uint8_t* data, size_t size) {
  if (size == 0) return SLUICE_BAD_INPUT;
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  const HardwarePtr hardware = library.Hardware(Bytes(data, data + size));
  const sluice_status_t status = library.status;
  RequireAnswer(status);
  if (hardware == nullptr) return status;
  const GraphPtr graph = library.Graph(FixedGraph());
  (void)ScheduleBriefly(&library, graph, hardware, StreamHash(data, size));
  return status;
}

// Makes the hashes inside a plan right again, as far as the directory can be read.
inline void RehashStream(uint8_t* image, size_t size) {
  sluice_stream_header_t h;
  if (size < sizeof h) return;
  std::memcpy(&h, image, sizeof h);
  for (uint64_t b = 0; b < h.block_count; ++b) {
    const uint64_t at = h.block_offset + b * sizeof(sluice_block_t);
    if (at + sizeof(sluice_block_t) > size) break;
    sluice_block_t entry;
    std::memcpy(&entry, image + at, sizeof entry);
    if (uint64_t{entry.body_offset} + entry.body_bytes > size) continue;
    const uint64_t hash = StreamHash(image + entry.body_offset, entry.body_bytes);
    entry.hash_lo = static_cast<uint32_t>(hash);
    entry.hash_hi = static_cast<uint32_t>(hash >> 32);
    std::memcpy(image + at, &entry, sizeof entry);
  }
  const uint64_t hash = StreamHash(image + sizeof h, size - sizeof h);
  h.hash_lo = static_cast<uint32_t>(hash);
  h.hash_hi = static_cast<uint32_t>(hash >> 32);
  std::memcpy(image, &h, sizeof h);
}

inline void SimulateBytes(const Trio& trio, const Bytes& plan) {
  sluice_sim::SimulateOptions o = SimulationOf(trio.graph, trio.machine, plan);
  o.functional = true;
  o.max_memory_bytes = 1 << 18;
  (void)sluice_sim::Simulate(o);
}

// The graph and machine that a readable plan was made for, found by the graph's hash.
inline const Trio& TrioOf(const Bytes& plan) {
  const uint64_t hash = sluice::wire::GetPlan(plan.data())->graph_hash();
  for (const Trio& trio : Trios()) {
    if (hash == GraphHash(trio.graph)) return trio;
  }
  return Trios()[0];
}

inline sluice_status_t FuzzPlan(const uint8_t* data, size_t size) {
  if (size == 0) return SLUICE_BAD_INPUT;
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  Bytes bytes(data, data + size);
  PlanPtr plan = library.Plan(bytes);
  const sluice_status_t status = library.status;
  RequireAnswer(status);
  const Trio& trio = plan == nullptr ? Trios()[0] : TrioOf(bytes);
  SimulateBytes(trio, bytes);  // the simulator has its own reader
  if (plan == nullptr) return status;
  const void *whole = nullptr, *stream = nullptr;
  size_t whole_size = 0, stream_size = 0;
  sluice_plan_bytes(plan.get(), &whole, &whole_size);
  sluice_plan_stream(plan.get(), &stream, &stream_size);
  const size_t at = static_cast<size_t>(static_cast<const uint8_t*>(stream) -
                                        static_cast<const uint8_t*>(whole));
  if (stream_size != 0) RehashStream(bytes.data() + at, stream_size);
  plan = library.Plan(bytes);
  if (plan == nullptr) return status;
  const GraphPtr graph = library.Graph(trio.graph);
  const HardwarePtr hardware = library.Hardware(trio.machine);
  const sluice_status_t verdict = library.Verify(graph, hardware, plan);
  if (verdict != SLUICE_REJECTED) RequireAnswer(verdict);
  SimulateBytes(trio, bytes);
  return status;
}

// Imports by the C function; unknown operators become the host's, constants are
// limited.
inline sluice_status_t FuzzModel(uint32_t format, const uint8_t* data, size_t size) {
  if (size == 0) return SLUICE_BAD_INPUT;
  sluice_import_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.format = format;
  options.allow_opaque = 1;
  options.max_constant_bytes = kFuzzMemory;
  sluice_bytes_t graph = {nullptr, 0};
  sluice_diagnostic_t why;
  std::memset(&why, 0, sizeof why);
  why.struct_size = sizeof why;
  const sluice_status_t status =
      sluice_import_model(data, size, &options, &graph, nullptr, &why);
  RequireAnswer(status, why.message);
  if (status != SLUICE_OK) return status;
  const sluice_status_t answer =
      FuzzGraph(static_cast<const uint8_t*>(graph.data), graph.size);
  sluice_bytes_release(nullptr, &graph);
  return answer;
}

inline sluice_status_t FuzzTflite(const uint8_t* data, size_t size) {
  return FuzzModel(SLUICE_MODEL_TFLITE, data, size);
}

inline sluice_status_t FuzzOnnx(const uint8_t* data, size_t size) {
  return FuzzModel(SLUICE_MODEL_ONNX, data, size);
}

// Reads a descriptor from JSON; the machine that results goes on to FuzzHardware.
inline sluice_status_t FuzzJson(const uint8_t* data, size_t size) {
  sluice_bytes_t hardware = {nullptr, 0};
  const char* text = size == 0 ? "" : reinterpret_cast<const char*>(data);
  const sluice_status_t status =
      sluice_hardware_from_json(text, size, nullptr, &hardware, nullptr);
  RequireAnswer(status);
  if (status != SLUICE_OK) return status;
  const sluice_status_t answer =
      FuzzHardware(static_cast<const uint8_t*>(hardware.data), hardware.size);
  sluice_bytes_release(nullptr, &hardware);
  return answer;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_FUZZ_TARGETS_H_
