// SPDX-License-Identifier: Apache-2.0
// How good default plans are, beside two recorded references: plans without the search over
// segments ("before", also in quality_today.csv), and goals ("to reach").
//
// Input    networks of the zoo and the cases of quality_cases.h. SLUICE_BENCH_QUALITY=all:
//          every row of quality_today.csv instead; SLUICE_BENCH_ONLY a part of the names;
//          SLUICE_BENCH_CASES a folder that cases and their machine are written to as
//          files.
// Output   per row: before, now, to reach (energy x delay, cycles, or bytes to and from
//          DRAM), CPU milliseconds, whether the plan is verified; the geometric mean of
//          now / before.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "import/graph_writer.h"
#include "import/unread_pixels.h"
#include "quality_cases.h"
#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;

enum class Unit { kProduct, kCycles, kBytes };
constexpr const char* kUnits[] = {"pJ x cycles", "cycles", "DRAM bytes"};
constexpr const char* kTraffic = "traffic";  // a machine with costs of DRAM only

struct Row {
  std::string network;
  int batch;  // 0: a case of quality_cases.h
  std::string machine;
  uint64_t scratchpad_bytes;  // 0: all
  Unit unit;
  double before;
  double reach;  // 0: none given
};

const std::vector<Row>& Goals() {
  static const std::vector<Row> rows = {
      {"densenet121", 1, "soma-edge", 0, Unit::kProduct, 9.69e15, 7.3e14},
      {"densenet121", 32, "soma-edge", 0, Unit::kProduct, 6.04e18, 2.85e17},
      {"googlenet", 1, "soma-edge", 0, Unit::kProduct, 9.79e14, 4.2e14},
      {"googlenet", 16, "soma-edge", 0, Unit::kProduct, 6.03e16, 2.3e16},
      {"inception_resnet_v1", 1, "soma-edge", 0, Unit::kProduct, 9.82e15, 4.55e15},
      {"nasnet_a", 1, "soma-edge", 0, Unit::kProduct, 23.3e14, 4.3e14},
      {"pnasnet5", 1, "soma-edge", 0, Unit::kProduct, 23.1e14, 4.35e14},
      {"amoebanet_d", 1, "soma-edge", 0, Unit::kProduct, 8.24e14, 1.12e14},
      {"darts", 1, "soma-edge", 0, Unit::kProduct, 10.7e14, 2.3e14},
      {"squeezenet", 1, "soma-edge", 0, Unit::kCycles, 273273, 103e3},
      {"resnet50", 16, "soma-edge", 0, Unit::kProduct, 1.23e17, 1.15e17},
      {"resnet50 --skip-unread", 16, "soma-edge", 0, Unit::kProduct, 1.23e17, 1.15e17},
      {"resnet50 --skip-unread", 1, "soma-edge", 0, Unit::kProduct, 4.63e15, 0},
      {"vit_b_16", 8, "soma-edge", 0, Unit::kCycles, 66.7e6, 19.2e6},
      {"vit_b_16", 32, "soma-edge", 0, Unit::kCycles, 242e6, 76.5e6},
      {"gpt2_small_prefill", 32, "soma-edge", 0, Unit::kProduct, 2.93e20, 7.8e19},
      {"vit_b_16", 1, "mcu-256k", 65536, Unit::kCycles, 1471e6, 405e6},
      {"resnet50", 1, "mcu-256k", 65536, Unit::kCycles, 125.7e6, 79e6},
      {"vit_b_16", 1, "mcu-256k", 0, Unit::kCycles, 400e6, 196e6},
      {"resnet50", 1, "mcu-256k", 0, Unit::kCycles, 59.2e6, 52.5e6},
      {"resnet50 --skip-unread", 1, "mcu-256k", 0, Unit::kCycles, 59.2e6, 52.5e6},
      {"gpt2_small_prefill", 1, "mcu-256k", 0, Unit::kCycles, 1105e6, 640e6},
      {"down_projection", 0, "mcu-256k", 0, Unit::kCycles, 37.0e6, 12e6},
      {"down_projection", 0, "mcu-256k", 65536, Unit::kCycles, 205e6, 22e6},
      {"down_projection", 0, "mcu-256k", 32768, Unit::kCycles, 410e6, 32.5e6},
      {"qk_av", 0, kTraffic, 32768, Unit::kBytes, 18.5e6, 5.4e6},
      {"qk_av", 0, kTraffic, 65536, Unit::kBytes, 12.2e6, 3.0e6},
      {"qk_av", 0, kTraffic, 131072, Unit::kBytes, 7.86e6, 1.6e6},
      {"qk_av", 0, kTraffic, 262144, Unit::kBytes, 7.86e6, 1.6e6},
      {"ffn", 0, kTraffic, 65536, Unit::kBytes, 258e6, 38.5e6},
      {"ffn", 0, kTraffic, 131072, Unit::kBytes, 118e6, 26.7e6},
      {"ffn", 0, kTraffic, 262144, Unit::kBytes, 37e6, 18.1e6},
      {"ffn", 0, kTraffic, 524288, Unit::kBytes, 18.2e6, 12.6e6},
      {"ffn", 0, kTraffic, 1048576, Unit::kBytes, 13.4e6, 10.2e6},
      {"ffn", 0, kTraffic, 2097152, Unit::kBytes, 8.7e6, 5.55e6},
      {"inverted_residual", 0, kTraffic, 4096, Unit::kBytes, 1198e3, 610e3},
      {"inverted_residual", 0, kTraffic, 8192, Unit::kBytes, 672e3, 295e3},
      {"inverted_residual", 0, kTraffic, 32768, Unit::kBytes, 81e3, 57.5e3},
      {"inverted_residual", 0, kTraffic, 65536, Unit::kBytes, 62e3, 57e3},
  };
  return rows;
}

// Reads rows of network,batch,hardware,status,latency_cycles,energy_pj,edp.
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
    rows.push_back({field[0], std::atoi(field[1].c_str()), field[2], 0, Unit::kProduct,
                    std::atof(field[6].c_str()), 0});
  }
  return rows;
}

void Keep(const std::string& name, const sluice::import::Bytes& bytes) {
  const char* folder = std::getenv("SLUICE_BENCH_CASES");
  if (folder == nullptr) return;
  std::ofstream file(std::string(folder) + "/" + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// A network of the zoo; with " --skip-unread" behind its name, without pixels that no layer reads.
sluice::import::Bytes NetworkOf(const Row& row) {
  sluice::zoo::ZooOptions options;
  options.batch = row.batch;
  const size_t flag = row.network.find(" --skip-unread");
  const auto graph = sluice::zoo::MakeZooGraph(row.network.substr(0, flag), options);
  if (flag == std::string::npos) return graph;
  sluice::import::GraphWriter writer(graph);
  sluice::import::SkipUnreadPixels(&writer);
  return writer.Finish();
}

sluice_test::NetworkPlan PlanOf(const Row& row) {
  const auto graph =
      row.batch == 0 ? sluice_bench::MakeCase(row.network) : NetworkOf(row);
  const auto machine = row.machine == kTraffic
                           ? sluice_bench::OnlyTraffic()
                           : sluice::presets::LoadPreset(row.machine);
  if (row.batch == 0) Keep(row.network + ".slg", graph);
  if (row.machine == kTraffic) Keep("traffic.slh", machine);
  return {graph, machine};
}

double FigureOf(const Row& row, const sluice_test::NetworkPlan& n) {
  switch (row.unit) {
    case Unit::kProduct:
      return n.Product();
    case Unit::kCycles:
      return static_cast<double>(n.report.latency_cycles);
    case Unit::kBytes:
      return static_cast<double>(n.report.dram_read_bytes + n.report.dram_write_bytes);
  }
  return 0;
}

Json Measure(const Row& row) {
  sluice_test::NetworkPlan n = PlanOf(row);
  if (row.machine == kTraffic) n.energy_exponent = 1;
  if (row.network == "down_projection") n.delay_exponent = 1;
  if (!n.ok || n.Schedule(SLUICE_SOLVER_DEFAULT, row.scratchpad_bytes) != SLUICE_OK) {
    return {};
  }
  return {{"network", row.network},
          {"batch", row.batch},
          {"machine", row.machine},
          {"scratchpad_bytes", row.scratchpad_bytes},
          {"unit", kUnits[static_cast<int>(row.unit)]},
          {"before", row.before},
          {"now", FigureOf(row, n)},
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
    std::printf("%-20s %3s %-10s %6s %9s %9s %9s %6s %8s\n", "network", "b", "machine",
                "KiB", "before", "now", "to reach", "ratio", "ms");
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
    std::printf("%-20s %3d %-10s %6llu %9.3g %9.3g %9.3g %6.3f %8.1f\n",
                row.network.c_str(), row.batch, row.machine.c_str(),
                static_cast<unsigned long long>(row.scratchpad_bytes / 1024),
                row.before, now, row.reach, now / row.before,
                found["ms"].get<double>());
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
