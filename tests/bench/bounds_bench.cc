// SPDX-License-Identifier: Apache-2.0
// How far plans are above the bounds that their reports give.
//
// Input    the TFLite models beside the tree, every network of the zoo at batches 1 and 8, and
//          heads of a detector (yolo_head.h) of 160, 320 and 640 pixels, each on soma-edge,
//          mcu-256k and gemmini-vector. SLUICE_BENCH_ONLY: a part of the names;
//          SLUICE_BENCH_HARDWARE: one machine; SLUICE_BENCH_BATCH: one batch.
//          To find what a ratio comes from, SLUICE_BENCH_RELAX: "port", DRAM moves 64 times as
//          much per cycle; "room", the scratchpad is 64 times as large; "latency", transfers
//          have none. SLUICE_BENCH_ITERATIONS: the fusing search, for so many iterations.
// Output   per row: cycles and pJ of the plan over those of the bound, the cycles of DRAM's
//          port for the plan's bytes, milliseconds of CPU, and the share of these that one
//          search of the bound takes; of all rows the median, the 90th percentile, and how
//          many ratios are above 1.3 and above 2. Networks of one clip have no batch 8.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/memory.h"
#include "import/error.h"
#include "io/read.h"
#include "model/bounds.h"
#include "presets/hardware_json.h"
#include "support/malloc_allocator.h"
#include "support/network_plan.h"
#include "support/shared_data.h"
#include "tests/bench/yolo_head.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::NetworkPlan;

struct Row {
  std::string network;
  int batch;
  std::string machine;
  double latency, energy;  // of the plan over the bound
  double bound_ms;         // CPU that finds the bound once
};

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) +
         1e-6 * static_cast<double>(now.tv_nsec);
}

// Milliseconds that the bound takes, of as many searches as take one.
double BoundMs(const sluice_test::Bytes& graph_bytes,
               const sluice_test::Bytes& machine) {
  sluice::Memory memory(sluice_test::Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph graph = {};
  sluice::Hardware hardware = {};
  sluice::Diagnostic diagnostic = {};
  if (ReadGraph(graph_bytes.data(), graph_bytes.size(), &arena, &graph, &diagnostic) !=
          sluice::Status::kOk ||
      ReadHardware(machine.data(), machine.size(), &arena, &hardware, &diagnostic) !=
          sluice::Status::kOk) {
    return 0;
  }
  sluice::PlanBound bound;
  const double begin = CpuMs();
  int times = 0;
  do {
    if (FindBound(graph, hardware, sluice::PricedBy::kMachine, &arena, &bound) !=
        sluice::Status::kOk) {
      return 0;
    }
    ++times;
  } while (CpuMs() - begin < 1);
  return (CpuMs() - begin) / times;
}

bool Chosen(const char* variable, const std::string& name, bool part) {
  const char* only = std::getenv(variable);
  if (only == nullptr) return true;
  return part ? name.find(only) != std::string::npos : name == only;
}

// A preset, with what SLUICE_BENCH_RELAX names relaxed.
sluice_test::Bytes MachineOf(const char* preset) {
  const sluice_test::Bytes bytes = sluice::presets::LoadPreset(preset);
  const char* relax = std::getenv("SLUICE_BENCH_RELAX");
  if (relax == nullptr) return bytes;
  const std::string what = relax;
  Json json = Json::parse(sluice::presets::HardwareAsJson(bytes));
  const auto more = [](Json* field) { *field = field->get<uint64_t>() * 64; };
  if (what == "port") more(&json["levels"].back()["bytes_per_cycle_numerator"]);
  if (what == "room") {
    more(&json["levels"][json["scratchpad_level"].get<size_t>()]["capacity_bytes"]);
  }
  if (what == "latency") json["dma_latency_cycles"] = 0;
  std::string error;
  const sluice_test::Bytes relaxed =
      sluice::presets::HardwareFromJson(json.dump(), &error);
  if (!error.empty()) std::fprintf(stderr, "%s\n", error.c_str());
  return relaxed;
}

sluice_status_t Plan(NetworkPlan* n) {
  const char* iterations = std::getenv("SLUICE_BENCH_ITERATIONS");
  if (iterations == nullptr) return n->Schedule(SLUICE_SOLVER_DEFAULT, 0);
  n->max_iterations = std::strtoull(iterations, nullptr, 10);
  return n->Schedule(SLUICE_SOLVER_FUSION, 0);
}

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(place + 0.5)];
}

class Table {
 public:
  explicit Table(bool json) : json_(json) {
    if (json) return;
    std::printf("%-40s %2s %-14s %13s %8s %8s %8s %8s %8s\n", "network", "b", "machine",
                "cycles", "/ bound", "energy", "limits", "ms", "bound %");
  }

  void Measure(const std::string& network, int batch, const sluice_test::Bytes& graph) {
    for (const char* machine : {"soma-edge", "mcu-256k", "gemmini-vector"}) {
      if (!Chosen("SLUICE_BENCH_HARDWARE", machine, false)) continue;
      const sluice_test::Bytes descriptor = MachineOf(machine);
      NetworkPlan n(graph, descriptor);
      if (!n.ok || Plan(&n) != SLUICE_OK) {
        if (!json_) {
          std::printf("%-40s %2d %-14s no plan: %s\n", network.c_str(), batch, machine,
                      n.diagnostic.message);
        }
        continue;
      }
      Add({network, batch, machine, 0, 0, BoundMs(graph, descriptor)}, n);
    }
  }

  void Close() const {
    Json all = Json::object();
    for (const char* machine : {"soma-edge", "mcu-256k", "gemmini-vector", ""}) {
      std::vector<double> latency, energy;
      for (const Row& row : rows_) {
        if (*machine != 0 && row.machine != machine) continue;
        latency.push_back(row.latency);
        energy.push_back(row.energy);
      }
      const auto above = [&latency](double limit) {
        return static_cast<int>(
            std::count_if(latency.begin(), latency.end(),
                          [limit](double ratio) { return ratio > limit; }));
      };
      const char* name = *machine != 0 ? machine : "all";
      all[name] = {{"rows", latency.size()},
                   {"latency_median", Quantile(latency, 0.5)},
                   {"latency_90", Quantile(latency, 0.9)},
                   {"above_1.3", above(1.3)},
                   {"above_2", above(2)},
                   {"energy_median", Quantile(energy, 0.5)},
                   {"energy_90", Quantile(energy, 0.9)}};
      if (json_) continue;
      std::printf(
          "%-14s %4zu rows: cycles median %.3f, nine of ten %.3f, above 1.3: %d, above "
          "2: %d; energy median %.3f, nine of ten %.3f\n",
          name, latency.size(), Quantile(latency, 0.5), Quantile(latency, 0.9),
          above(1.3), above(2), Quantile(energy, 0.5), Quantile(energy, 0.9));
    }
    const double share = bound_ms_ / std::max(plan_ms_, 1e-9);
    if (json_) {
      std::printf(
          "%s\n",
          Json{{"rows", table_}, {"all", all}, {"bound_share", share}}.dump(2).c_str());
    } else {
      std::printf(
          "bounds take %.2f %% of the CPU of all calls, at most %.2f %% of one\n",
          100 * share, 100 * largest_share_);
    }
  }

 private:
  void Add(Row row, const NetworkPlan& n) {
    const sluice_report_t& r = n.report;
    row.latency = static_cast<double>(r.latency_cycles) /
                  static_cast<double>(std::max<uint64_t>(r.bound_latency_cycles, 1));
    row.energy = r.energy_pj / r.bound_energy_pj;
    const double bandwidth = row.machine == "mcu-256k" ? 1 : 16;
    const double port = static_cast<double>(r.dram_read_bytes + r.dram_write_bytes) /
                        bandwidth / static_cast<double>(r.latency_cycles);
    rows_.push_back(row);
    const double share = row.bound_ms / std::max(n.plan_ms, 1e-3);
    bound_ms_ += row.bound_ms;
    plan_ms_ += n.plan_ms;
    largest_share_ = std::max(largest_share_, share);
    if (json_) {
      table_.push_back({{"network", row.network},
                        {"batch", row.batch},
                        {"machine", row.machine},
                        {"cycles", r.latency_cycles},
                        {"bound_cycles", r.bound_latency_cycles},
                        {"energy_pj", r.energy_pj},
                        {"bound_energy_pj", r.bound_energy_pj},
                        {"port_busy", port},
                        {"ms", n.plan_ms},
                        {"bound_share", share}});
      return;
    }
    std::printf("%-40s %2d %-14s %13llu %8.3f %8.3f %8.3f %8.1f %8.2f\n",
                row.network.c_str(), row.batch, row.machine.c_str(),
                static_cast<unsigned long long>(r.latency_cycles), row.latency,
                row.energy, port, n.plan_ms, 100 * share);
    std::fflush(stdout);
  }

  bool json_;
  std::vector<Row> rows_;
  double plan_ms_ = 0, bound_ms_ = 0, largest_share_ = 0;
  Json table_ = Json::array();
};

}  // namespace

int RunBoundsBench(bool json) {
  Table table(json);
  if (Chosen("SLUICE_BENCH_BATCH", "1", false)) {
    for (const std::string& path : sluice_test::TfliteModels()) {
      const std::string name = sluice_test::FileStem(path);
      if (!Chosen("SLUICE_BENCH_ONLY", name, true)) continue;
      table.Measure(name, 1, sluice_test::ImportedGraph(path));
    }
  }
  for (const sluice::zoo::ZooEntry& network : sluice::zoo::ZooEntries()) {
    const std::string name = network.name;
    if (!Chosen("SLUICE_BENCH_ONLY", name, true)) continue;
    for (const int batch : {1, 8}) {
      if (!Chosen("SLUICE_BENCH_BATCH", std::to_string(batch), false)) continue;
      sluice::zoo::ZooOptions options;
      options.batch = batch;
      sluice_test::Bytes graph;
      try {
        graph = sluice::zoo::MakeZooGraph(name, options);
      } catch (const sluice::import::Error&) {
        continue;  // a size that the network cannot have
      }
      table.Measure(name, batch, graph);
    }
  }
  for (const int pixels : {160, 320, 640}) {
    const std::string name = "yolo_head_" + std::to_string(pixels);
    if (!Chosen("SLUICE_BENCH_ONLY", name, true)) continue;
    for (const int batch : {1, 8}) {
      if (!Chosen("SLUICE_BENCH_BATCH", std::to_string(batch), false)) continue;
      table.Measure(name, batch,
                    GraphBytes(sluice_test::YoloHead(pixels, batch).spec()));
    }
  }
  table.Close();
  return 0;
}
