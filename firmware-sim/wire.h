// SPDX-License-Identifier: Apache-2.0
// Graph, hardware and plan, read from untrusted flatbuffers.
//
// Input    bytes; the generated verifier runs first
// Output   plain structs; Graph::data and Plan::image point into the input
// Errors   a sentence; empty = none
// Cost     linear in the bytes
#ifndef SLUICE_FIRMWARE_SIM_WIRE_H_
#define SLUICE_FIRMWARE_SIM_WIRE_H_

#include <string>
#include <vector>

#include "box.h"
#include "engines.h"
#include "sim.h"

namespace sluice_sim {

constexpr uint32_t kAbsent = 0xffffffffu;
enum : int { kInput = 1, kOutput = 2, kConstant = 3, kState = 4 };  // tensor kinds
enum : int { kInline = 1, kExternal = 2, kSeeded = 3 };             // sources

struct Tensor {
  Extent extent{};  // normalised to four axes
  int dtype = 0;
  int kind = 0;
  int source = 0;
  uint64_t source_offset = 0;
  std::string file;
  int64_t bytes = 0;
  uint64_t encoded = 0;  // bytes off chip; 0: as many as `bytes`
};

struct Layer {
  int op = 0;
  std::vector<uint32_t> inputs, outputs;
  std::vector<int32_t> attributes;
  uint32_t input(size_t i) const { return i < inputs.size() ? inputs[i] : kAbsent; }
};

struct Graph {
  std::vector<std::string> names;
  const std::map<std::string, HostFunction>* host_functions = nullptr;  // the caller's
  const uint32_t* cancel = nullptr;  // of the run: SimulateOptions
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  std::vector<int32_t> parameter_min, parameter_max;
  const uint8_t* data = nullptr;
  size_t data_size = 0;
  uint64_t hash = 0;
};

// Granules of the MAC array that tiles must keep to; 1: none.
struct Granules {
  uint32_t k = 1, c = 1, p = 1;
  bool crosses_rows = true;
};

// What the compute engines support of one operator: OpSupport in hardware.fbs.
struct OpRow {
  int op = 0;
  uint32_t dtypes = 0, requantise = 0, arithmetic = 0, zero_points = 0;
  int64_t max_kernel[2] = {0, 0}, max_stride = 0, max_dilation = 0;  // 0 = any
};

// Who executes HOST calls: Host in hardware.fbs.
struct HostRates {
  bool there = false;
  uint64_t call_cycles = 0;
  uint64_t bytes_numerator = 0, bytes_denominator = 1;  // per cycle
  uint64_t ops_numerator = 0, ops_denominator = 1;
  bool uses_port = false;  // of DRAM, for its bytes
};

// Where a region lies off chip.
struct Home {
  std::string name;
  uint64_t numerator = 0, denominator = 1;  // bytes per cycle
  uint64_t latency_cycles = 0;              // beside the queue's
  uint64_t capacity = 0;                    // 0: unbounded
  uint32_t memory = 0;                      // regions of one number share the capacity
};

struct Hardware {
  Granules granules;
  uint64_t scratchpad_bytes = 0, scratchpad_alignment = 1;
  uint64_t dram_numerator = 0, dram_denominator = 1;
  Home home[SLUICE_REGION_COUNT];  // by region; the scratchpad's is not used
  std::vector<Engine> engines;
  uint32_t node_cols = 1, node_rows = 1;
  uint64_t hop_latency_cycles = 0;
  uint64_t link_numerator = 0, link_denominator = 1;
  uint64_t macs_per_cycle = 1, vector_ops_per_cycle = 1;
  bool limited = false;  // to `ops`
  std::vector<OpRow> ops;
  HostRates host;
  uint64_t hash = 0;
};

struct Place {
  int region = 255;
  uint64_t offset = 0;
  Extent stride{};
};

struct Plan {
  const uint8_t* image = nullptr;
  size_t image_size = 0;
  std::vector<Place> places;
  std::vector<uint32_t> debug_layer;
  uint64_t predicted_cycles = 0;
  // Fields of the plan's report, with their names there.
  uint64_t dram_read_bytes = 0, dram_write_bytes = 0, peak_buffer_bytes = 0;
  uint64_t macs = 0, vector_ops = 0, tiles = 0, instructions = 0, host_bytes = 0;
  uint64_t graph_hash = 0, hardware_hash = 0;
};

std::string ReadGraph(const void* bytes, size_t size, Graph* graph);
std::string ReadHardware(const void* bytes, size_t size, Hardware* hardware);
// `tensors`: number of places that the plan must have.
std::string ReadPlan(const void* bytes, size_t size, size_t tensors, Plan* plan);

uint64_t Fnv1a64(const void* bytes, size_t size, uint64_t hash = 0xcbf29ce484222325u);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_WIRE_H_
