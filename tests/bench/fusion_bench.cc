// SPDX-License-Identifier: Apache-2.0
// The time to find a fusion scheme: for the TFLite models on each preset, and for networks
// of 50 to 5,000 layers.
//
// Input    the TFLite models beside the tree; the growing networks are made here.
// Output   tables or one JSON object, CPU times; SLUICE_BENCH_SVG names a file for the
//          plot of growth.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/rng.h"
#include "import/tflite/import_tflite.h"
#include "io/read.h"
#include "model/dma_bound.h"
#include "plan/fused/fusion_search.h"
#include "presets/presets.h"
#include "solve/fusion/problem.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "tests/bench/growing_network.h"
#include "tests/bench/soma_peer.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Found {
  bool ok = false;
  double ms = 0;
  double cost = 0;
  double gap = 0;  // of the latency, to the bound for these tiles
  uint64_t rounds = 0, memory_bytes = 0;
  uint32_t groups = 0, tiles = 0;
};

Found Search(const FusionProblem& problem, const TileModel& model, uint64_t rounds) {
  Found found;
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  Budget budget;
  Diagnostic diagnostic = {};
  FusionSearch search;
  search.rounds = rounds;
  FusionResult result;
  const double begin = CpuMs();
  const Status status = SearchFusion(
      problem, model, search, sluice::Workspace{&budget, &arena, &diagnostic}, &result);
  found.ms = CpuMs() - begin;
  found.memory_bytes = memory.peak_bytes();
  found.ok = status == Status::kOk && result.score.cost < kAnnealRejected;
  if (!found.ok) return found;
  int64_t bound = 1;
  if (BoundDma(problem, result.list, problem.buffer_bytes, &arena, &bound) !=
      Status::kOk) {
    return found;
  }
  found.gap =
      static_cast<double>(result.score.latency_cycles) / static_cast<double>(bound) - 1;
  found.cost = result.score.cost;
  found.rounds = result.rounds;
  found.groups = result.list.groups;
  found.tiles = result.list.tiles;
  return found;
}

struct Growth {
  std::string kind;
  size_t layers = 0;
  Found constructed;
  double rounds_per_s = 0;  // of annealing
};

Growth Grow(const std::string& kind, size_t layers) {
  Growth g;
  g.kind = kind;
  const auto network = MakeGrowingNetwork(kind, layers);
  g.layers = network->layers.size();
  g.constructed = Search(network->problem, network->model, 0);
  for (int again = 0; again < 2 && g.constructed.ok; ++again) {
    const Found f = Search(network->problem, network->model, 0);
    g.constructed.ms = std::min(g.constructed.ms, f.ms);
  }
  constexpr uint64_t kRounds = 6000;
  const Found annealed = Search(network->problem, network->model, kRounds);
  g.rounds_per_s = static_cast<double>(annealed.rounds) /
                   std::max(annealed.ms - g.constructed.ms, 1e-3) * 1e3;
  return g;
}

// Log-log, one line per kind.
void WritePlot(const std::vector<Growth>& rows, const char* path) {
  const auto x_of = [](size_t layers) {
    return 60 + 260 * std::log10(static_cast<double>(layers) / 40);
  };
  const auto y_of = [](double ms) { return 330 - 70 * std::log10(ms / 0.1); };
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"380\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n";
  for (size_t layers : {50, 100, 500, 1000, 5000}) {
    out << "<text x=\"" << x_of(layers) << "\" y=\"350\">" << layers << "</text>\n";
  }
  for (double ms : {0.1, 1.0, 10.0, 100.0, 1000.0}) {
    out << "<text x=\"4\" y=\"" << y_of(ms) << "\">" << ms << " ms</text>\n";
  }
  const char* const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};
  size_t kind = 0;
  for (size_t i = 0; i < rows.size(); ++kind) {
    const size_t first = i;
    out << "<polyline fill=\"none\" stroke=\"" << colours[kind % 4] << "\" points=\"";
    for (; i < rows.size() && rows[i].kind == rows[first].kind; ++i) {
      out << x_of(rows[i].layers) << ',' << y_of(rows[i].constructed.ms) << ' ';
    }
    out << "\"/>\n<text x=\"" << x_of(rows[i - 1].layers) + 4 << "\" y=\""
        << y_of(rows[i - 1].constructed.ms) << "\" fill=\"" << colours[kind % 4]
        << "\">" << rows[first].kind << "</text>\n";
  }
  out << "<text x=\"250\" y=\"372\">layers; CPU time of the constructed scheme</text>\n"
         "</svg>\n";
}

struct ModelRow {
  std::string model, preset;
  size_t layers = 0;
  Found constructed, annealed;
};

// The layers that may fuse, as one run where that is possible.
ModelRow RunModel(const std::string& name, const import::Bytes& bytes,
                  const std::string& preset) {
  ModelRow row;
  row.model = name;
  row.preset = preset;
  const import::Bytes machine = presets::LoadPreset(preset);
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  Diagnostic diagnostic = {};
  Graph graph = {};
  Hardware hardware = {};
  Lowering lowering = {};
  Span<uint32_t> layers;
  if (ReadGraph(bytes.data(), bytes.size(), &arena, &graph, &diagnostic) !=
          Status::kOk ||
      ReadHardware(machine.data(), machine.size(), &arena, &hardware, &diagnostic) !=
          Status::kOk ||
      Lower(graph, hardware, &arena, &lowering, &diagnostic) != Status::kOk ||
      arena.Allocate(graph.layers.size(), &layers) != Status::kOk) {
    return row;
  }
  const int64_t capacity = hardware.scratchpad().capacity_bytes;
  size_t n = 0;
  size_t best = 0, best_end = 0, first = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (lowering.is_view[l] != 0) continue;
    const bool may = MayFuse(graph, hardware, lowering, l, capacity) &&
                     !ReadsAlias(graph, lowering, layers.Slice(first, n), l);
    if (!may) first = n + 1;
    layers[n++] = l;
    if (may && n - first > best) {
      best = n - first;
      best_end = n;
    }
  }
  FusionRun run;
  if (best == 0 || MakeFusionRun({graph, hardware, lowering, capacity},
                                 layers.Slice(best_end - best, best_end), &arena,
                                 &run) != Status::kOk) {
    return row;
  }
  row.layers = best;
  row.constructed = Search(run.problem, ModelOf(&run), 0);
  for (int again = 0; again < 2 && row.constructed.ok; ++again) {
    const Found f = Search(run.problem, ModelOf(&run), 0);
    row.constructed.ms = std::min(row.constructed.ms, f.ms);
  }
  row.annealed = Search(run.problem, ModelOf(&run), 100 * best);
  return row;
}

std::vector<ModelRow> RunModels() {
  std::vector<ModelRow> rows;
  const std::string folder = sluice_test::SharedPath("models/tflite");
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const import::Bytes file = sluice_test::ReadFile(path);
    const std::string name = std::filesystem::path(path).stem().string();
    import::TfliteImportOptions options;
    options.name = name;
    const auto import = import::ImportTflite(file.data(), file.size(), options);
    for (const char* preset : {"mcu-256k", "gemmini-like", "soma-edge", "soma-cloud"}) {
      rows.push_back(RunModel(name, WriteRows(import.rows), preset));
    }
  }
  return rows;
}

void PrintTables(const std::vector<ModelRow>& models, const std::vector<Growth>& rows) {
  if (models.empty()) std::printf("skipped: no TFLite models\n");
  for (const ModelRow& r : models) {
    if (&r == models.data()) {
      std::printf("%-34s %-12s %6s | %9s %6s %6s %8s %7s | %9s %8s\n", "model",
                  "hardware", "layers", "constr.ms", "groups", "tiles", "KiB", "gap",
                  "anneal ms", "cost");
    }
    std::printf("%-34s %-12s %6zu | %9.2f %6u %6u %8.0f %6.2f%% | %9.1f %8.4f%s\n",
                r.model.c_str(), r.preset.c_str(), r.layers, r.constructed.ms,
                r.constructed.groups, r.constructed.tiles,
                static_cast<double>(r.constructed.memory_bytes) / 1024,
                100 * r.constructed.gap, r.annealed.ms,
                r.annealed.cost / r.constructed.cost,
                r.constructed.ok ? "" : "  no scheme");
  }
  std::printf("%-14s %6s | %9s %9s %6s %6s %8s %7s | %10s\n", "network", "layers",
              "constr.ms", "us/layer", "groups", "tiles", "KiB", "gap", "rounds/s");
  for (const Growth& r : rows) {
    std::printf(
        "%-14s %6zu | %9.2f %9.2f %6u %6u %8.0f %6.2f%% | %10.0f%s\n", r.kind.c_str(),
        r.layers, r.constructed.ms,
        1e3 * r.constructed.ms / static_cast<double>(r.layers), r.constructed.groups,
        r.constructed.tiles, static_cast<double>(r.constructed.memory_bytes) / 1024,
        100 * r.constructed.gap, r.rounds_per_s, r.constructed.ok ? "" : "  no scheme");
  }
}

Json ToJson(const Found& f) {
  return {{"ok", f.ok},         {"ms", f.ms},
          {"groups", f.groups}, {"tiles", f.tiles},
          {"cost", f.cost},     {"gap", f.gap},
          {"rounds", f.rounds}, {"memory_bytes", f.memory_bytes}};
}

}  // namespace
}  // namespace sluice

int RunFusionBench(bool json) {
  using namespace sluice;
  std::vector<Growth> rows;
  for (const char* kind : {"chain", "dag", "transformer", "residual"}) {
    for (size_t layers : {50, 160, 500, 1600, 5000}) {
      rows.push_back(Grow(kind, layers));
    }
  }
  const std::vector<ModelRow> models = RunModels();
  if (const char* path = std::getenv("SLUICE_BENCH_SVG")) WritePlot(rows, path);
  if (!json) {
    PrintTables(models, rows);
    return 0;
  }
  Json out;
  for (const ModelRow& r : models) {
    out["models"].push_back({{"model", r.model},
                             {"hardware", r.preset},
                             {"layers", r.layers},
                             {"constructed", ToJson(r.constructed)},
                             {"annealed", ToJson(r.annealed)}});
  }
  for (const Growth& r : rows) {
    out["growth"].push_back({{"network", r.kind},
                             {"layers", r.layers},
                             {"constructed", ToJson(r.constructed)},
                             {"rounds_per_s", r.rounds_per_s}});
  }
  std::printf("%s\n", out.dump(1).c_str());
  return 0;
}
