// SPDX-License-Identifier: Apache-2.0
// First legal plans: CPU time, memory and stream size per network; both judges'
// throughput; size of the stripped library.
//
// Input    the TFLite models beside the tree; ResNet-50 and GPT-2 XL of the zoo; also
//          every .slg file in the folder that SLUICE_BENCH_GRAPHS names
// Output   a table or one JSON object; times are CPU, least of three runs or more
//          (functional simulation: of one; networks that take minutes there: none,
//          printed as 0)
// Errors   5 when a plan fails a judge, when verify is not ten times as fast as a
//          functional simulation of 0.1 ms or more (below, the cost of the calls is
//          compared, not the judges), or the library is too big or needs libstdc++
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/error.h"
#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "sluice/sluice.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "support/simulation.h"
#include "zoo/zoo.h"

namespace {

namespace fs = std::filesystem;
using sluice::import::Bytes;

constexpr int kRuns = 3;
constexpr int kMostRuns = 100;
constexpr double kEnoughMs = 5;
constexpr uint64_t kLibraryLimit = 512 * 1024;
constexpr double kFunctionalPerVerify = 10;  // at least
constexpr double kComparableMs = 0.1;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

// The least time of at least `runs` runs. Work of microseconds runs more often, since a
// single run is too short to measure.
double LeastMs(int runs, const std::function<void()>& work) {
  double least = 1e300, sum = 0;
  for (int run = 0; run < runs || (sum < kEnoughMs && run < kMostRuns); ++run) {
    const double start = CpuMs();
    work();
    const double took = CpuMs() - start;
    least = std::min(least, took);
    sum += took;
  }
  return least;
}

struct Network {
  std::string name, folder;  // of external constants
  Bytes graph;
};

struct Setting {
  std::string hardware;
  uint64_t scratchpad_bytes;  // 0 = all
  bool functional;
};

struct Row {
  std::string network, hardware, error;
  double plan_ms = 0, verify_ms = 0, simulate_ms = 0, functional_ms = 0;
  uint64_t stream_bytes = 0, peak_memory_bytes = 0;
  sluice_report_t report = {};
};

std::vector<Network> Networks() {
  std::vector<Network> networks;
  const auto files = [](const std::string& folder, const char* extension) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == extension) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  };
  const std::string models = sluice_test::SharedPath("models/tflite");
  for (const std::string& path : files(models, ".tflite")) {
    const std::string name = sluice_test::FileStem(path);
    try {
      const Bytes file = sluice_test::ReadFile(path);
      sluice::import::TfliteImportOptions options;
      options.name = name;
      networks.push_back(
          {name, models,
           WriteRows(
               sluice::import::ImportTflite(file.data(), file.size(), options).rows)});
    } catch (const sluice::import::Error& failure) {
      std::fprintf(stderr, "left out: %s: %s\n", name.c_str(), failure.what());
    }
  }
  if (const char* folder = std::getenv("SLUICE_BENCH_GRAPHS")) {
    for (const std::string& path : files(folder, ".slg")) {
      networks.push_back(
          {sluice_test::FileStem(path), folder, sluice_test::ReadFile(path)});
    }
  }
  return networks;
}

// The library's objects for one network on one chip.
struct Objects {
  sluice_context_t* context = nullptr;
  sluice_graph_t* graph = nullptr;
  sluice_hardware_t* hardware = nullptr;
  sluice_plan_t* plan = nullptr;
  sluice_diagnostic_t diagnostic = {};

  bool Create(const Bytes& graph_bytes, const Bytes& hardware_bytes) {
    sluice_context_options_t options = {};
    options.struct_size = sizeof options;
    diagnostic.struct_size = sizeof diagnostic;
    return sluice_context_create(&options, &context, &diagnostic) == SLUICE_OK &&
           sluice_graph_create(context, graph_bytes.data(), graph_bytes.size(), &graph,
                               &diagnostic) == SLUICE_OK &&
           sluice_hardware_create(context, hardware_bytes.data(), hardware_bytes.size(),
                                  &hardware, &diagnostic) == SLUICE_OK;
  }
  bool Schedule(uint64_t scratchpad_bytes) {
    sluice_plan_destroy(plan);
    plan = nullptr;
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = SLUICE_SOLVER_BASELINE;
    options.scratchpad_bytes = scratchpad_bytes;
    return sluice_schedule(context, graph, hardware, &options, &plan, &diagnostic) ==
           SLUICE_OK;
  }
  bool Verify() {
    return sluice_verify(context, graph, hardware, plan, &diagnostic) == SLUICE_OK;
  }
  ~Objects() {
    sluice_plan_destroy(plan);
    sluice_hardware_destroy(hardware);
    sluice_graph_destroy(graph);
    sluice_context_destroy(context);
  }
};

// A functional run computes the reference outputs too, as it does for users.
bool Simulate(const Network& network, const Bytes& hardware, const Bytes& plan,
              bool functional, Row* row) {
  sluice_sim::SimulateOptions options =
      sluice_test::SimulationOf(network.graph, hardware, plan);
  options.functional = functional;
  options.data_dir = network.folder;
  const sluice_sim::SimulateResult result = sluice_sim::Simulate(options);
  if (!result.ok) row->error = "simulate: " + result.error;
  return result.ok;
}

Row Measure(const Network& network, const Setting& setting) {
  Row row;
  row.network = network.name;
  row.hardware = setting.hardware;
  if (setting.scratchpad_bytes != 0) {
    row.hardware += " " + std::to_string(setting.scratchpad_bytes);
  }
  row.report.struct_size = sizeof row.report;
  const Bytes hardware = sluice::presets::LoadPreset(setting.hardware);
  Objects objects;
  bool good = objects.Create(network.graph, hardware);
  if (good) {
    row.plan_ms = LeastMs(
        kRuns, [&] { good = good && objects.Schedule(setting.scratchpad_bytes); });
  }
  if (good) row.verify_ms = LeastMs(kRuns, [&] { good = good && objects.Verify(); });
  if (!good) {
    row.error = objects.diagnostic.message;
    return row;
  }
  sluice_memory_stats_t memory = {};
  memory.struct_size = sizeof memory;
  const void* bytes = nullptr;
  size_t size = 0;
  const void* stream = nullptr;
  size_t stream_size = 0;
  if (sluice_context_memory(objects.context, &memory) != SLUICE_OK ||
      sluice_plan_report(objects.plan, &row.report) != SLUICE_OK ||
      sluice_plan_bytes(objects.plan, &bytes, &size) != SLUICE_OK ||
      sluice_plan_stream(objects.plan, &stream, &stream_size) != SLUICE_OK) {
    row.error = "a plan without bytes";
    return row;
  }
  row.stream_bytes = stream_size;
  row.peak_memory_bytes = memory.peak_bytes;
  const Bytes plan(static_cast<const uint8_t*>(bytes),
                   static_cast<const uint8_t*>(bytes) + size);
  row.simulate_ms =
      LeastMs(kRuns, [&] { Simulate(network, hardware, plan, false, &row); });
  if (!setting.functional) return row;
  row.functional_ms =
      LeastMs(1, [&] { Simulate(network, hardware, plan, true, &row); });
  return row;
}

struct Library {
  uint64_t bytes = 0;  // stripped; 0 = could not be measured
  bool needs_libstdcxx = false;
};

Library MeasureLibrary() {
  Library library;
  const std::string copy =
      (fs::temp_directory_path() / "sluice_bench_stripped.so").string();
  const std::string command = std::string("\"") + SLUICE_STRIP + "\" -o \"" + copy +
                              "\" \"" + SLUICE_LIBRARY + "\"";
  if (std::system(command.c_str()) != 0) return library;
  const Bytes bytes = sluice_test::ReadFile(copy);
  fs::remove(copy);
  library.bytes = bytes.size();
  const std::string needed = "libstdc++.so";  // in its table of needed libraries
  library.needs_libstdcxx = std::search(bytes.begin(), bytes.end(), needed.begin(),
                                        needed.end()) != bytes.end();
  return library;
}

double PerSecond(uint32_t instructions, double ms) {
  return ms > 0 ? static_cast<double>(instructions) / ms * 1e3 : 0;
}

void PrintTable(const std::vector<Row>& rows, const Library& library) {
  std::printf("%-36s %-14s %8s %8s %9s %9s %9s %10s %9s %8s %8s\n", "network",
              "hardware", "plan ms", "instr", "stream B", "memory B", "verify ms",
              "simulate ms", "funct. ms", "sim:ver", "fun:ver");
  for (const Row& r : rows) {
    if (!r.error.empty()) {
      std::printf("%-36s %-14s %s\n", r.network.c_str(), r.hardware.c_str(),
                  r.error.c_str());
      continue;
    }
    std::printf("%-36s %-14s %8.3f %8u %9llu %9llu %9.3f %10.3f %9.1f %8.2f %8.1f\n",
                r.network.c_str(), r.hardware.c_str(), r.plan_ms, r.report.instructions,
                static_cast<unsigned long long>(r.stream_bytes),
                static_cast<unsigned long long>(r.peak_memory_bytes), r.verify_ms,
                r.simulate_ms, r.functional_ms, r.simulate_ms / r.verify_ms,
                r.functional_ms / r.verify_ms);
  }
  std::printf("library, stripped: %llu bytes of at most %llu, %s libstdc++\n",
              static_cast<unsigned long long>(library.bytes),
              static_cast<unsigned long long>(kLibraryLimit),
              library.needs_libstdcxx ? "needs" : "without");
}

void PrintJson(const std::vector<Row>& rows, const Library& library) {
  nlohmann::ordered_json out;
  out["networks"] = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    nlohmann::ordered_json row = {{"network", r.network}, {"hardware", r.hardware}};
    if (!r.error.empty()) {
      row["error"] = r.error;
    } else {
      const uint32_t instructions = r.report.instructions;
      row.update(
          {{"plan_ms", r.plan_ms},
           {"latency_cycles", r.report.latency_cycles},
           {"tiles", r.report.tiles},
           {"instructions", instructions},
           {"stream_bytes", r.stream_bytes},
           {"peak_memory_bytes", r.peak_memory_bytes},
           {"verify_ms", r.verify_ms},
           {"simulate_ms", r.simulate_ms},
           {"functional_ms", r.functional_ms},
           {"verify_instructions_per_s", PerSecond(instructions, r.verify_ms)},
           {"simulate_instructions_per_s", PerSecond(instructions, r.simulate_ms)},
           {"functional_instructions_per_s", PerSecond(instructions, r.functional_ms)},
           {"simulate_per_verify", r.simulate_ms / r.verify_ms},
           {"functional_per_verify", r.functional_ms / r.verify_ms}});
    }
    out["networks"].push_back(row);
  }
  out["library"] = {{"stripped_bytes", library.bytes},
                    {"limit_bytes", kLibraryLimit},
                    {"needs_libstdcxx", library.needs_libstdcxx}};
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

int RunBaseBench(bool json) {
  const std::vector<Network> networks = Networks();
  if (networks.empty()) std::fprintf(stderr, "skipped: no models (SLUICE_SHARED)\n");
  std::vector<Row> rows;
  for (const Network& network : networks) {
    rows.push_back(Measure(network, {"mcu-256k", 0, true}));
    rows.push_back(Measure(network, {"soma-edge", 0, true}));
  }
  const auto zoo = [](const char* name) {
    return Network{name, "", sluice::zoo::MakeZooGraph(name, {})};
  };
  const Network resnet = zoo("resnet50");
  rows.push_back(Measure(resnet, {"soma-edge", 0, true}));
  rows.push_back(Measure(resnet, {"soma-edge", 20000, false}));
  rows.push_back(Measure(zoo("gpt2_xl_prefill"), {"soma-cloud", 0, false}));
  rows.push_back(Measure(zoo("gpt2_xl_decode"), {"soma-cloud", 0, false}));
  const Library library = MeasureLibrary();
  json ? PrintJson(rows, library) : PrintTable(rows, library);
  bool good =
      library.bytes > 0 && library.bytes <= kLibraryLimit && !library.needs_libstdcxx;
  for (const Row& row : rows) {
    good = good && row.error.empty() &&
           (row.functional_ms < kComparableMs ||
            row.functional_ms >= kFunctionalPerVerify * row.verify_ms);
  }
  return good ? 0 : 5;
}
