// SPDX-License-Identifier: Apache-2.0
// The graph's tensors in the machine's DRAM: filled before a run, read back after it
// and compared with the untiled run.
//
// Input    the plan's places, untrusted; options: seed, inputs, state, data directory
// Output   memory contents; values of the untiled run; outputs in the result
// Errors   Trap
// Cost     linear in the bytes; JudgeOutputs also runs the graph
#ifndef SLUICE_FIRMWARE_SIM_PLACED_H_
#define SLUICE_FIRMWARE_SIM_PLACED_H_

#include "memory.h"
#include "reference.h"
#include "sim.h"
#include "wire.h"

namespace sluice_sim {

// A plan and the machine it runs on.
struct PlacedRun {
  const SimulateOptions& options;
  const Graph& graph;
  const Plan& plan;
  const std::vector<int32_t>& parameters;  // values of the graph's parameters
  Memory* memory;
};

// Checks that the places of constants, inputs, outputs and states lie inside their
// regions.
Trap CheckPlaces(const PlacedRun& run);

// `values`: one per tensor; sets those of constants, inputs and states.
Trap FillMemory(const PlacedRun& run, Values* values);

// Compares outputs and states, as the stream left them, with the untiled run.
Trap JudgeOutputs(const PlacedRun& run, Values* values, SimulateResult* result);

// Sets each parameter to the given value, else to its minimum. Returns a sentence if a
// value is outside its range.
std::string ParameterValues(const Graph& graph, const SimulateOptions& options,
                            std::vector<int32_t>* values);

// Copies output tensors, their bytes and hashes to the result.
void CollectOutputs(const Graph& graph, const Values& values, SimulateResult* result);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_PLACED_H_
