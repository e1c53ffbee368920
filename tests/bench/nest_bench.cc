// SPDX-License-Identifier: Apache-2.0
// KAPLA's networks layer by layer, batch 1, on the edge machine: the default mapper,
// the published greedy and the whole space, in one cost model; CPU time of one thread.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "solve/mapping/kapla/kapla.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/scratch.h"

int RunNestBench(bool json);

namespace sluice {
namespace {

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Mapped {
  std::vector<double> layer_pj;
  double pj = 0;
  double cycles = 0;
  double ms = 0;  // fastest of the repetitions
  size_t entries = 0;
};

Mapped MapNetwork(const std::vector<NetworkLayer>& layers, const Hardware& hardware,
                  const KaplaOptions& options, int repetitions) {
  std::vector<MappingProblem> problems;
  for (const NetworkLayer& layer : layers) problems.push_back(layer.problem);
  Mapped result;
  for (int i = 0; i < repetitions; ++i) {
    Scratch scratch;
    Budget budget;
    MappingTable table;
    const double start = CpuMs();
    const Status status =
        MapLayers({Span<const MappingProblem>(problems.data(), problems.size()),
                   hardware, options},
                  &budget, &scratch.arena, &table, &scratch.diagnostic);
    const double ms = CpuMs() - start;
    if (status != Status::kOk) {
      std::printf("layer %u: %s\n", scratch.diagnostic.layer,
                  scratch.diagnostic.message);
      return Mapped{};
    }
    result =
        Mapped{{}, 0, 0, i == 0 ? ms : std::min(result.ms, ms), table.nests.size()};
    for (uint32_t entry : table.entry) {
      const LayerCost& cost = table.nests[entry].cost;
      result.layer_pj.push_back(cost.energy_pj);
      result.pj += cost.energy_pj;
      result.cycles += static_cast<double>(cost.cycles);
    }
  }
  return result;
}

double Worst(const Mapped& mapped, const Mapped& best, size_t* layer) {
  double worst = 0;
  for (size_t i = 0; i < best.layer_pj.size(); ++i) {
    const double over = mapped.layer_pj[i] / best.layer_pj[i] - 1;
    if (over <= worst) continue;
    worst = over;
    *layer = i;
  }
  return worst;
}

}  // namespace
}  // namespace sluice

int RunNestBench(bool json) {
  using namespace sluice;
  Machine edge;
  MakeKaplaEdge(&edge);
  nlohmann::json out = nlohmann::json::array();
  if (!json) {
    std::printf("%-10s %7s | %10s %8s %7s %7s | %10s %7s %7s %7s | %10s %8s\n",
                "network", "entries", "exact pJ", "ms", "over %", "worst %",
                "greedy pJ", "ms", "over %", "worst %", "all pJ", "ms");
  }
  for (const char* name : {"alex_net", "mobilenet", "vgg_net", "googlenet", "resnet50",
                           "mlp_l", "lstm_gnmt"}) {
    const std::vector<NetworkLayer> layers = ReadNetwork(name, 1);
    if (layers.empty()) {
      std::printf("skipped: no %s.json\n", name);
      continue;
    }
    KaplaOptions options;
    const Mapped exact = MapNetwork(layers, edge.hardware, options, 5);
    options.greedy = true;
    const Mapped greedy = MapNetwork(layers, edge.hardware, options, 2);
    options.greedy = false;
    options.constraints.wide = true;
    const Mapped all = MapNetwork(layers, edge.hardware, options, 1);
    size_t worst_layer = 0, greedy_layer = 0;
    const double worst = Worst(exact, all, &worst_layer);
    const double greedy_worst = Worst(greedy, all, &greedy_layer);
    if (json) {
      out.push_back({{"network", name},
                     {"entries", exact.entries},
                     {"energy_pj", exact.pj},
                     {"cycles", exact.cycles},
                     {"solve_us", exact.ms * 1e3},
                     {"greedy_energy_pj", greedy.pj},
                     {"greedy_solve_us", greedy.ms * 1e3},
                     {"all_energy_pj", all.pj},
                     {"all_solve_us", all.ms * 1e3},
                     {"worst_layer_over", worst},
                     {"greedy_worst_layer_over", greedy_worst}});
      continue;
    }
    std::printf(
        "%-10s %7zu | %10.4e %8.2f %7.3f %7.3f | %10.4e %7.2f %7.2f %7.2f | %10.4e "
        "%8.1f  (%s, %s)\n",
        name, exact.entries, exact.pj, exact.ms, 100 * (exact.pj / all.pj - 1),
        100 * worst, greedy.pj, greedy.ms, 100 * (greedy.pj / all.pj - 1),
        100 * greedy_worst, all.pj, all.ms, layers[worst_layer].name.c_str(),
        layers[greedy_layer].name.c_str());
  }
  if (json) std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
