// SPDX-License-Identifier: Apache-2.0
// Every model with the smallest feasible scratchpad, on both chips.
//
// Input    the TFLite models beside the tree
// Output   a table or one JSON object: bytes, instructions, CPU times, memory; bytes of
//          the outputs compared with an untiled run (1 input, seed 1)
// Errors   5 when a plan fails a judge or one byte less is feasible too. If the library
//          refuses a plan as too long, the row has the next power of two that gives a plan
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "support/files.h"
#include "support/library.h"
#include "support/shared_data.h"
#include "support/simulation.h"

namespace {

namespace fs = std::filesystem;
using sluice::import::Bytes;
using sluice_test::Library;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Row {
  std::string model, hardware, error;
  uint64_t smallest = 0, bytes = 0;  // least feasible, proved; size planned with
  uint64_t instructions = 0, peak_memory_bytes = 0, compared_bytes = 0;
  double plan_ms = 0, functional_ms = 0;
};

// Runs both judges; an empty error means that both accept.
void Judge(const Bytes& graph, const Bytes& machine, const Bytes& plan, Row* row) {
  sluice_sim::SimulateOptions options = sluice_test::SimulationOf(graph, machine, plan);
  options.functional = true;
  options.seed = 1;
  const double start = CpuMs();
  const sluice_sim::SimulateResult result = sluice_sim::Simulate(options);
  row->functional_ms = CpuMs() - start;
  row->compared_bytes = result.compared_bytes;
  if (!result.ok) row->error = result.error;
  if (result.ok && result.cycles != result.predicted_cycles) row->error = "cycles";
}

Row Measure(const std::string& model, const Bytes& graph_bytes,
            const std::string& chip) {
  Row row;
  row.model = model;
  row.hardware = chip;
  const Bytes machine = sluice::presets::LoadPreset(chip);
  Library library;
  const auto graph = library.Graph(graph_bytes);
  const auto hardware = library.Hardware(machine);
  (void)library.Schedule(graph, hardware, 1);
  row.smallest = library.diagnostic.smallest_scratchpad_bytes;
  (void)library.Schedule(graph, hardware, row.smallest - 1);
  if (library.status != SLUICE_INFEASIBLE) row.error = "one byte less does too";
  sluice_test::PlanPtr plan;
  for (row.bytes = row.smallest; row.error.empty(); row.bytes *= 2) {
    const double start = CpuMs();
    plan = library.Schedule(graph, hardware, row.bytes);
    row.plan_ms = CpuMs() - start;
    if (library.status != SLUICE_UNSUPPORTED) break;
  }
  if (plan == nullptr) {
    if (row.error.empty()) row.error = library.diagnostic.message;
    return row;
  }
  const sluice_report_t report = sluice_test::ReportOf(plan);
  row.instructions = report.instructions;
  for (uint64_t bytes : report.phase_peak_bytes) {
    row.peak_memory_bytes = std::max(row.peak_memory_bytes, bytes);
  }
  Judge(graph_bytes, machine, sluice_test::BytesOf(plan), &row);
  return row;
}

void Print(const Row& r) {
  std::printf("%-30s %-10s %8llu %8llu %12llu %9.0f %9.1f %9.0f %9llu  %s\n",
              r.model.c_str(), r.hardware.c_str(),
              static_cast<unsigned long long>(r.smallest),
              static_cast<unsigned long long>(r.bytes),
              static_cast<unsigned long long>(r.instructions), r.plan_ms,
              static_cast<double>(r.peak_memory_bytes) / 1e6, r.functional_ms,
              static_cast<unsigned long long>(r.compared_bytes),
              r.error.empty() ? "equal" : r.error.c_str());
  std::fflush(stdout);
}

}  // namespace

int RunShrinkBench(bool json) {
  const std::string folder = sluice_test::SharedPath("models/tflite");
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  if (!json) {
    if (paths.empty()) std::printf("skipped: no models in %s\n", folder.c_str());
    std::printf("%-30s %-10s %8s %8s %12s %9s %9s %9s %9s\n", "model", "chip",
                "smallest", "bytes", "instructions", "plan ms", "MB", "run ms",
                "compared");
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool good = true;
  for (const std::string& path : paths) {
    const Bytes bytes = sluice_test::ReadFile(path);
    const std::string model = fs::path(path).stem().string();
    sluice::import::TfliteImportOptions options;
    options.name = model;
    const Bytes graph = WriteRows(
        sluice::import::ImportTflite(bytes.data(), bytes.size(), options).rows);
    for (const char* chip : {"mcu-256k", "soma-edge"}) {
      const Row r = Measure(model, graph, chip);
      good = good && r.error.empty();
      if (!json) Print(r);
      rows.push_back({{"model", r.model},
                      {"hardware", r.hardware},
                      {"smallest_scratchpad_bytes", r.smallest},
                      {"scratchpad_bytes", r.bytes},
                      {"instructions", r.instructions},
                      {"plan_ms", r.plan_ms},
                      {"peak_memory_bytes", r.peak_memory_bytes},
                      {"functional_ms", r.functional_ms},
                      {"compared_bytes", r.compared_bytes},
                      {"error", r.error}});
    }
  }
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json({{"shrink", rows}}).dump(1).c_str());
  }
  return good ? 0 : 5;
}
