// SPDX-License-Identifier: Apache-2.0
// How good the plans are that users get without any option: beside what the planner found
// before it had a space of plans, and beside what a prototype of it found.
//
// Input    networks of the zoo. SLUICE_BENCH_QUALITY=all: also every row of
//          quality_today.csv; SLUICE_BENCH_ONLY a part of the names.
// Output   per row: before, now, to reach (energy x delay, or cycles), CPU milliseconds,
//          and that the plan has been verified; the geometric mean of now / before.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;

struct Row {
  std::string network;
  int batch;
  std::string machine;
  uint64_t scratchpad_bytes;  // 0: all
  bool cycles;                // else energy x delay
  double before;
  double reach;  // 0: none given
};

const std::vector<Row>& Goals() {
  static const std::vector<Row> rows = {
      {"densenet121", 1, "soma-edge", 0, false, 9.69e15, 7.3e14},
      {"densenet121", 32, "soma-edge", 0, false, 6.04e18, 2.85e17},
      {"googlenet", 1, "soma-edge", 0, false, 9.79e14, 4.2e14},
      {"googlenet", 16, "soma-edge", 0, false, 6.03e16, 2.3e16},
      {"inception_resnet_v1", 1, "soma-edge", 0, false, 9.82e15, 4.55e15},
      {"nasnet_a", 1, "soma-edge", 0, false, 23.3e14, 4.3e14},
      {"pnasnet5", 1, "soma-edge", 0, false, 23.1e14, 4.35e14},
      {"amoebanet_d", 1, "soma-edge", 0, false, 8.24e14, 1.12e14},
      {"darts", 1, "soma-edge", 0, false, 10.7e14, 2.3e14},
      {"resnet50", 16, "soma-edge", 0, false, 1.23e17, 1.15e17},
      {"vit_b_16", 8, "soma-edge", 0, true, 66.7e6, 19.2e6},
      {"vit_b_16", 32, "soma-edge", 0, true, 242e6, 76.5e6},
      {"gpt2_small_prefill", 32, "soma-edge", 0, false, 2.93e20, 7.8e19},
      {"vit_b_16", 1, "mcu-256k", 65536, true, 1471e6, 405e6},
      {"resnet50", 1, "mcu-256k", 65536, true, 125.7e6, 79e6},
      {"vit_b_16", 1, "mcu-256k", 0, true, 400e6, 196e6},
      {"resnet50", 1, "mcu-256k", 0, true, 59.2e6, 52.5e6},
  };
  return rows;
}

// network,batch,hardware,status,latency_cycles,energy_pj,edp
std::vector<Row> AllBefore() {
  std::vector<Row> rows;
  std::ifstream file(SLUICE_QUALITY_TODAY);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string field[7];
    for (std::string& f : field) std::getline(fields, f, ',');
    if (field[3] != "ok") continue;
    rows.push_back({field[0], std::atoi(field[1].c_str()), field[2], 0, false,
                    std::atof(field[6].c_str()), 0});
  }
  return rows;
}

Json Measure(const Row& row) {
  sluice::zoo::ZooOptions options;
  options.batch = row.batch;
  sluice_test::NetworkPlan n(sluice::zoo::MakeZooGraph(row.network, options),
                             row.machine);
  if (!n.ok || n.Schedule(SLUICE_SOLVER_DEFAULT, row.scratchpad_bytes) != SLUICE_OK) {
    return {};
  }
  const double now =
      row.cycles ? static_cast<double>(n.report.latency_cycles) : n.Product();
  return {{"network", row.network},
          {"batch", row.batch},
          {"machine", row.machine},
          {"scratchpad_bytes", row.scratchpad_bytes},
          {"unit", row.cycles ? "cycles" : "pJ x cycles"},
          {"before", row.before},
          {"now", now},
          {"reach", row.reach},
          {"ms", n.plan_ms},
          {"verified", n.Verify() == SLUICE_OK}};
}

}  // namespace

int RunQualityBench(bool json) {
  const char* which = std::getenv("SLUICE_BENCH_QUALITY");
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  std::vector<Row> rows = Goals();
  if (which != nullptr && std::string(which) == "all") rows = AllBefore();
  Json table = Json::array();
  double log_sum = 0;
  if (!json) {
    std::printf("%-20s %3s %-10s %9s %9s %9s %6s %8s\n", "network", "b", "machine",
                "before", "now", "to reach", "ratio", "ms");
  }
  for (const Row& row : rows) {
    if (only != nullptr && row.network.find(only) == std::string::npos) continue;
    const Json found = Measure(row);
    if (found.empty() || !found["verified"].get<bool>()) {
      std::fprintf(stderr, "%s: no verified plan\n", row.network.c_str());
      return 1;
    }
    const double now = found["now"].get<double>();
    log_sum += std::log(now / row.before);
    table.push_back(found);
    if (json) continue;
    std::printf("%-20s %3d %-10s %9.3g %9.3g %9.3g %6.3f %8.1f\n", row.network.c_str(),
                row.batch, row.machine.c_str(), row.before, now, row.reach,
                now / row.before, found["ms"].get<double>());
    std::fflush(stdout);
  }
  const double mean = std::exp(log_sum / static_cast<double>(table.size()));
  if (json) {
    std::printf("%s\n",
                Json{{"rows", table}, {"geometric_mean", mean}}.dump(2).c_str());
  } else {
    std::printf("now / before, geometric mean of %zu: %.3f\n", table.size(), mean);
  }
  return 0;
}
