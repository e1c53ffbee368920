// SPDX-License-Identifier: Apache-2.0
// A single queue orders its transfers by itself; several queues need waits for that order.
// Counts these waits and their cost.
//
// Input    networks of the zoo on soma-edge with one queue, with a queue that loads and one
//          that stores, and with queues for activations, weights and stores; baseline and
//          default plans. Environment: SLUICE_BENCH_ONLY, a part of the names.
// Output   per plan: instructions, waits per instruction and the most of one instruction,
//          bytes of the stream, cycles, CPU milliseconds of verify. Each plan is verified,
//          and its cycles are those that the simulator counts.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "presets/hardware_json.h"
#include "sluice/plan_generated.h"
#include "sluice/stream.h"
#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::Bytes;

struct Kind {
  const char* name;
  const char* queues;  // as in a descriptor; empty: the preset's one
};
constexpr Kind kKinds[] = {
    {"one", ""},
    {"load, store", R"([{"operations": 1, "latency_cycles": L},
                        {"operations": 2, "latency_cycles": L}])"},
    {"inputs, weights, store",
     R"([{"operations": 1, "roles": 9, "latency_cycles": L},
         {"operations": 1, "roles": 18, "latency_cycles": L},
         {"operations": 2, "latency_cycles": L}])"},
};

Bytes MachineOf(const Kind& kind) {
  const Bytes preset = sluice::presets::LoadPreset("soma-edge");
  if (kind.queues[0] == 0) return preset;
  Json machine = Json::parse(sluice::presets::HardwareToJson(preset.data()));
  const std::string latency = std::to_string(machine.value("dma_latency_cycles", 0));
  machine.erase("dma_latency_cycles");
  std::string queues = kind.queues;
  for (size_t at = 0; (at = queues.find('L', at)) != std::string::npos;) {
    queues.replace(at, 1, latency);
  }
  machine["queues"] = Json::parse(queues);
  std::string error;
  return sluice::presets::HardwareFromJson(machine.dump(), &error);
}

// Instructions and waits of every instance.
template <typename Words>
Json CountsOf(const Words& stream) {
  const uint8_t* image = reinterpret_cast<const uint8_t*>(stream.Data());
  const auto at = [&](uint64_t offset, void* to, size_t bytes) {
    std::memcpy(to, image + offset, bytes);
  };
  sluice_stream_header_t h;
  at(0, &h, sizeof h);
  uint64_t instructions = 0, waits = 0;
  uint32_t most = 0;
  for (uint32_t i = 0; i < h.instance_count; ++i) {
    sluice_instance_t use;
    sluice_block_t b;
    at(h.instance_offset + uint64_t{i} * sizeof use, &use, sizeof use);
    at(h.block_offset + uint64_t{use.block} * sizeof b, &b, sizeof b);
    for (uint32_t k = 0; k < b.instruction_count; ++k) {
      sluice_instruction_t n;
      at(b.instruction_offset + uint64_t{k} * sizeof n, &n, sizeof n);
      ++instructions;
      waits += n.wait_count;
      most = std::max<uint32_t>(most, n.wait_count);
    }
  }
  return {{"instructions", instructions},
          {"waits_per_instruction",
           static_cast<double>(waits) / static_cast<double>(instructions)},
          {"most_waits", most},
          {"stream_bytes", size_t{stream.size()} * 16}};
}

double CpuMs() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int RunQueuesBench(bool json) {
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  Json rows = Json::array();
  if (!json) {
    std::printf("%-20s %-8s %-24s %9s %7s %5s %10s %13s %9s\n", "network", "solver",
                "queues", "instr.", "waits/i", "most", "bytes", "cycles", "verify ms");
  }
  for (const char* network : {"resnet50", "mobilenet_v1", "googlenet", "vit_b_16"}) {
    if (only != nullptr && std::strstr(network, only) == nullptr) continue;
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    for (const uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_DEFAULT}) {
      for (const Kind& kind : kKinds) {
        sluice_test::NetworkPlan plan(graph, MachineOf(kind));
        const bool planned = plan.Schedule(solver, 0) == SLUICE_OK;
        if (!planned) {
          std::fprintf(stderr, "%s: %s\n", network, plan.diagnostic.message);
          return 1;
        }
        const Bytes bytes = plan.PlanBytes();
        Json row = CountsOf(*sluice::wire::GetPlan(bytes.data())->stream());
        const double before = CpuMs();
        const bool verified = plan.Verify() == SLUICE_OK;
        row["verify_ms"] = CpuMs() - before;
        const auto simulated = plan.Simulate(false);
        if (!verified || !simulated.ok ||
            simulated.cycles != simulated.predicted_cycles) {
          std::fprintf(stderr, "%s: a judge says no: %s\n", network,
                       simulated.error.c_str());
          return 1;
        }
        row["network"] = network;
        row["solver"] = solver == SLUICE_SOLVER_BASELINE ? "baseline" : "default";
        row["queues"] = kind.name;
        row["cycles"] = simulated.cycles;
        rows.push_back(row);
        if (json) continue;
        std::printf("%-20s %-8s %-24s %9llu %7.2f %5u %10llu %13llu %9.2f\n", network,
                    row["solver"].get<std::string>().c_str(), kind.name,
                    row["instructions"].get<unsigned long long>(),
                    row["waits_per_instruction"].get<double>(),
                    row["most_waits"].get<unsigned>(),
                    row["stream_bytes"].get<unsigned long long>(),
                    row["cycles"].get<unsigned long long>(),
                    row["verify_ms"].get<double>());
      }
    }
  }
  if (json) std::printf("%s\n", rows.dump(2).c_str());
  return 0;
}
