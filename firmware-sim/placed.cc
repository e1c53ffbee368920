// SPDX-License-Identifier: Apache-2.0
#include "placed.h"

#include <algorithm>

namespace sluice_sim {
namespace {

int RegionOf(int kind) {
  switch (kind) {
    case kInput:
      return SLUICE_REGION_INPUT;
    case kOutput:
      return SLUICE_REGION_OUTPUT;
    case kConstant:
      return SLUICE_REGION_CONST;
    default:
      return SLUICE_REGION_STATE;
  }
}

// The place of tensor i as a checked access.
Trap Locate(const Graph& graph, const Plan& plan, const Memory& memory, uint32_t i,
            Access* access) {
  const Tensor& t = graph.tensors[i];
  const Place& p = plan.places[i];
  const std::string who = "place of tensor " + std::to_string(i);
  if (p.region != RegionOf(t.kind)) return {"plan", who + ": wrong region"};
  access->role = "tensor";
  access->space = memory.Space(static_cast<uint32_t>(p.region), 0);
  sluice_walk_operand_t& o = access->operand;
  o.region = static_cast<uint32_t>(p.region);
  o.dtype = static_cast<uint32_t>(t.dtype);
  o.offset = p.offset;
  o.bytes = static_cast<uint64_t>(t.bytes);
  o.span = static_cast<uint64_t>(DtypeBytes(t.dtype));
  for (int a = 0; a < 4; ++a) {
    o.extent[a] = static_cast<uint32_t>(t.extent[a]);
    o.stride[a] = static_cast<uint32_t>(p.stride[a]);
    // Each term is below 2^31 * 2^32, so checking after each addition prevents
    // overflow.
    o.span +=
        static_cast<uint64_t>(t.extent[a] - 1) * static_cast<uint64_t>(o.stride[a]);
    if (o.span > uint64_t{1} << 62) return {"plan", who + ": strides"};
  }
  const Trap trap = memory.Check(*access);
  if (trap) return {"plan", who + ": " + trap.text};
  return {};
}

Trap FillState(const SimulateOptions& options, Memory* memory) {
  const uint32_t space = memory->Space(SLUICE_REGION_STATE, 0);
  Bytes* state = memory->storage(space);
  if (options.state != nullptr && !options.state->empty()) {
    if (options.state->size() != state->size()) {
      return {"input", "the given state differs in size from the plan's"};
    }
    *state = *options.state;
  } else {
    std::fill(state->begin(), state->end(), uint8_t{0});
  }
  return {};
}

Trap ReadOutputs(const Graph& graph, const Plan& plan, Memory* memory,
                 Values* streamed) {
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const int kind = graph.tensors[i].kind;
    if (kind != kOutput && (kind != kState || plan.places[i].region == 255)) continue;
    Access access;
    if (Trap trap = Locate(graph, plan, *memory, i, &access)) return trap;
    if (const Trap trap = memory->CheckDefined(access)) {
      return {"output", "tensor " + std::to_string(i) + ": " + trap.text};
    }
    const Box place = memory->At(access);
    Bytes& value = (*streamed)[i];
    value.resize(static_cast<size_t>(graph.tensors[i].bytes));
    CopyBox(place, DenseBox(value.data(), place.dtype, place.extent));
  }
  return {};
}

}  // namespace

std::string ParameterValues(const Graph& graph, const SimulateOptions& options,
                            std::vector<int32_t>* values) {
  *values = graph.parameter_min;
  for (size_t i = 0; i < values->size() && i < options.parameters.size(); ++i) {
    const int32_t value = options.parameters[i];
    if (value < graph.parameter_min[i] || value > graph.parameter_max[i]) {
      return "parameter " + std::to_string(i) + " is " + std::to_string(value) +
             ", outside " + std::to_string(graph.parameter_min[i]) + " to " +
             std::to_string(graph.parameter_max[i]);
    }
    (*values)[i] = value;
  }
  return "";
}

void CollectOutputs(const Graph& graph, const Values& values, SimulateResult* result) {
  result->output_fnv1a = Fnv1a64(nullptr, 0);
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].kind != kOutput) continue;
    const Bytes& v = values[i];
    result->output_tensors.push_back(i);
    result->output_hashes.push_back(Fnv1a64(v.data(), v.size()));
    result->output_fnv1a = Fnv1a64(v.data(), v.size(), result->output_fnv1a);
    result->outputs.push_back(v);
  }
}

Trap CheckPlaces(const PlacedRun& run) {
  const Graph& graph = run.graph;
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const int kind = graph.tensors[i].kind;
    const bool given = kind == kInput || kind == kConstant;
    if (!given && kind != kOutput && kind != kState) continue;
    if (run.plan.places[i].region == 255) continue;  // never in DRAM
    Access access;
    if (Trap trap = Locate(graph, run.plan, *run.memory, i, &access)) return trap;
  }
  return {};
}

Trap FillMemory(const PlacedRun& run, Values* values) {
  const Graph& graph = run.graph;
  Memory* const memory = run.memory;
  std::string error = FillConstants(graph, run.options.data_dir, values);
  if (!error.empty()) return {"graph", error};
  error = FillInputs(graph, run.options.seed, run.options.inputs, values);
  if (!error.empty()) return {"input", error};
  if (Trap trap = FillState(run.options, memory)) return trap;
  const bool given = run.options.state != nullptr && !run.options.state->empty();
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const int kind = graph.tensors[i].kind;
    if (kind != kInput && kind != kConstant && kind != kState) continue;
    Poll(graph.cancel);
    Bytes& value = (*values)[i];
    if (kind == kState) {
      error = FillFromSource(graph, i, run.options.data_dir, &value);
      if (!error.empty()) return {"graph", error};
    }
    if (run.plan.places[i].region == 255) continue;  // never in DRAM
    Access access;
    if (Trap trap = Locate(graph, run.plan, *memory, i, &access)) return trap;
    const Box place = memory->At(access);
    const Box dense = DenseBox(value.data(), place.dtype, place.extent);
    if (kind == kState && given) {
      CopyBox(place, dense);
    } else {
      CopyBox(dense, place);
    }
    memory->Define(access);
  }
  return {};
}

Trap JudgeOutputs(const PlacedRun& run, Values* values, SimulateResult* result) {
  const Graph& graph = run.graph;
  Memory* const memory = run.memory;
  Values streamed(graph.tensors.size());
  if (Trap trap = ReadOutputs(graph, run.plan, memory, &streamed)) return trap;
  CollectOutputs(graph, streamed, result);
  if (run.options.state != nullptr) {
    *run.options.state = *memory->storage(memory->Space(SLUICE_REGION_STATE, 0));
  }
  const std::string error = RunLayers(graph, run.parameters, values);
  if (!error.empty()) return {"graph", error};
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const int kind = graph.tensors[i].kind;
    if (kind != kOutput && (kind != kState || run.plan.places[i].region == 255))
      continue;
    const Bytes& want = (*values)[i];
    if (want.size() != streamed[i].size()) {
      return {"graph", "output " + std::to_string(i) + " is never written"};
    }
    for (size_t b = 0; b < want.size(); ++b) {
      result->mismatches += streamed[i][b] != want[b];
    }
    result->compared_bytes += want.size();
    if (kind == kOutput) result->expected.push_back(want);
  }
  if (result->mismatches == 0) return {};
  return {"mismatch", std::to_string(result->mismatches) + " of " +
                          std::to_string(result->compared_bytes) +
                          " output and state bytes differ from the untiled run"};
}

}  // namespace sluice_sim
