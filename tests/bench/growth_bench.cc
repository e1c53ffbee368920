// SPDX-License-Identifier: Apache-2.0
// How time and memory of a call grow with the network's layers.
//
// Input    chains of 1x1 convolutions of 16 channels on 8x8 pixels, on soma-edge.
//          Environment: SLUICE_BENCH_LAYERS the lengths, by commas (default: 2031, 2033,
//          10000, 40000, 100000), SLUICE_BENCH_SOLVER the number of a solver (0).
// Output   per length: CPU seconds, bytes beyond graph and machine at the most, groups, DRAM
//          bytes per layer, the cost over its bound and why the search ended. Exit code 1
//          if a call fails.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "support/network_plan.h"
#include "support/wire_builder.h"

namespace {

using Json = nlohmann::json;
using sluice_test::NetworkPlan;

sluice_test::Bytes Chain(int layers) {
  constexpr int kChannels = 16, kSide = 8;
  sluice_test::GraphSpec graph;
  std::vector<int32_t> scales;
  for (int k = 0; k < kChannels; ++k) {
    for (const int32_t value : {k, 1 << 30, -6}) scales.push_back(value);
  }
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  graph.tensors.push_back({{1, kSide, kSide, kChannels}, i8, 1, 0, 0});
  graph.tensors.push_back(graph.Inline({kChannels, 3}, SLUICE_DTYPE_INT32, scales));
  uint32_t last = 0;
  for (int i = 0; i < layers; ++i) {
    const uint32_t weight = static_cast<uint32_t>(graph.tensors.size());
    graph.tensors.push_back(
        {{kChannels, 1, 1, kChannels}, i8, 3, 3, static_cast<uint64_t>(i)});
    const uint8_t kind = i + 1 == layers ? 2 : 0;
    graph.tensors.push_back({{1, kSide, kSide, kChannels}, i8, kind, 0, 0});
    graph.layers.push_back({SLUICE_OP_CONV,
                            {last, weight, 1},
                            {weight + 1},
                            {1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, -128, 127}});
    last = weight + 1;
  }
  return GraphBytes(graph);
}

std::vector<int> Lengths() {
  const char* text = std::getenv("SLUICE_BENCH_LAYERS");
  const std::string list = text != nullptr ? text : "2031,2033,10000,40000,100000";
  std::vector<int> lengths;
  for (size_t at = 0; at < list.size(); at = list.find(',', at) + 1) {
    lengths.push_back(std::atoi(list.c_str() + at));
    if (list.find(',', at) == std::string::npos) break;
  }
  return lengths;
}

const char* NameOf(uint32_t stop_reason) {
  const char* const names[] = {"complete", "deadline", "iterations", "cancelled",
                               "proved"};
  return stop_reason < 5 ? names[stop_reason] : "unknown";
}

}  // namespace

int RunGrowthBench(bool json) {
  const char* solver = std::getenv("SLUICE_BENCH_SOLVER");
  Json rows = Json::array();
  int failed = 0;
  for (const int layers : Lengths()) {
    NetworkPlan n(Chain(layers), "soma-edge");
    const uint64_t live = n.memory().live;
    n.ForgetPeak();
    const uint32_t number =
        solver == nullptr ? 0 : static_cast<uint32_t>(std::atoi(solver));
    if (!n.ok || n.Schedule(number, 0) != SLUICE_OK) {
      std::printf("%7d layers: %s\n", layers, n.diagnostic.message);
      ++failed;
      continue;
    }
    const sluice_report_t& r = n.report;
    const Json row = {
        {"layers", layers},
        {"cpu_seconds", n.plan_ms / 1e3},
        {"bytes", n.memory().peak - live},
        {"groups", r.groups},
        {"dram_bytes_per_layer",
         static_cast<double>(r.dram_read_bytes + r.dram_write_bytes) / layers},
        {"over_bound", static_cast<double>(r.latency_cycles) /
                           static_cast<double>(r.bound_latency_cycles)},
        {"stop", NameOf(r.stop_reason)}};
    rows.push_back(row);
    if (json) continue;
    std::printf(
        "%7d layers: %8.3f s, %7.1f MB, %6u groups, %7.1f B/layer, %.3f of the "
        "bound, %s\n",
        layers, n.plan_ms / 1e3, row["bytes"].get<double>() / 1e6, r.groups,
        row["dram_bytes_per_layer"].get<double>(), row["over_bound"].get<double>(),
        NameOf(r.stop_reason));
    std::fflush(stdout);
  }
  if (json) std::printf("%s\n", Json{{"chains", rows}}.dump(2).c_str());
  return failed == 0 ? 0 : 1;
}
