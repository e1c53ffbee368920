// SPDX-License-Identifier: Apache-2.0
#include "cli/targets.h"

#include <cmath>

namespace sluice::cli {
namespace {

constexpr Target kTargets[] = {
    {"gemmini", LowerToGemmini},
    {"vta", LowerToVta},
};

double Percent(uint64_t host, uint64_t rest) {
  const uint64_t all = host + rest;
  return all == 0 ? 0
                  : std::round(1000.0 * static_cast<double>(host) /
                               static_cast<double>(all)) /
                        10;
}

}  // namespace

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

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return names;
}

}  // namespace sluice::cli
