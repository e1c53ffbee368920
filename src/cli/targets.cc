// SPDX-License-Identifier: Apache-2.0
#include "cli/targets.h"

#include <cmath>

#include "bindings/targets/gemmini/sluice_gemmini_cost.h"
#include "bindings/targets/vta/sluice_vta_cost.h"

namespace sluice::cli {
namespace {

constexpr Target kTargets[] = {
    {"gemmini", LowerToGemmini, sluice_gemmini_tile_cost, true},
    {"vta", LowerToVta, sluice_vta_tile_cost, false},
};

double Percent(uint64_t host, uint64_t rest) {
  const uint64_t all = host + rest;
  return all == 0 ? 0
                  : std::round(1000.0 * static_cast<double>(host) /
                               static_cast<double>(all)) /
                        10;
}

}  // namespace

std::vector<LayerChannels> ChannelsOf(const sluice_graph_t* graph) {
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  (void)sluice_graph_count(graph, &counts);
  std::vector<LayerChannels> layers(counts.layers);
  const auto channels = [&](const uint32_t* tensors, uint32_t count) -> uint32_t {
    sluice_tensor_info_t tensor = {};
    tensor.struct_size = sizeof tensor;
    if (count == 0 || tensors[0] == SLUICE_NO_INDEX ||
        sluice_graph_tensor(graph, tensors[0], &tensor) != SLUICE_OK) {
      return 0;
    }
    return static_cast<uint32_t>(tensor.extent[3]);
  };
  for (uint32_t l = 0; l < counts.layers; ++l) {
    sluice_layer_info_t layer = {};
    layer.struct_size = sizeof layer;
    (void)sluice_graph_layer(graph, l, &layer);
    layers[l] = {channels(layer.inputs, layer.input_count),
                 channels(layer.outputs, layer.output_count)};
  }
  return layers;
}

Json HostShare(const HostWork& w, const sluice_graph_t* graph) {
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  (void)sluice_graph_count(graph, &counts);
  return {{"host_macs_percent", Percent(w.host_macs, w.array_macs)},
          {"host_bytes_percent", Percent(w.host_bytes, w.machine_bytes)},
          {"host_layers_percent", Percent(w.layers, counts.layers - w.layers)}};
}

const Target* FindTarget(const std::string& name) {
  for (const Target& target : kTargets) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

const Target& TargetNamed(const std::string& name) {
  const Target* const target = FindTarget(name);
  if (target != nullptr) return *target;
  std::string names;
  for (const std::string& known : TargetNames()) names += " " + known;
  throw Failure(kUsage, "no target " + name + "; there are:" + names);
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return names;
}

}  // namespace sluice::cli
