// SPDX-License-Identifier: Apache-2.0
// CPU time of the first plan, the plain one, phase by phase.
//
// Input    all networks of the zoo on soma-edge (GPT-2 XL: soma-cloud). Environment:
//          SLUICE_BENCH_RUNS (9), SLUICE_BENCH_ONLY a part of the names.
// Output   per network: steps; CPU microseconds of each phase, the least of all runs; ns
//          per step of writing and of judging. The bench makes the calls of pipeline.cc.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "io/read.h"
#include "io/write.h"
#include "model/report.h"
#include "plan/candidate.h"
#include "plan/tile_costs.h"
#include "presets/presets.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/mapping/scratch.h"
#include "solve/repair/layer_hash.h"
#include "support/network_plan.h"
#include "verify/verify.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice::Arena;
using sluice::Memory;
using sluice::Status;

constexpr const char* kPhases[] = {"lower", "tile",  "waits", "predict", "report",
                                   "emit",  "write", "read",  "verify"};
constexpr size_t kPhaseCount = sizeof kPhases / sizeof kPhases[0];

double CpuUs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) +
         1e-3 * static_cast<double>(now.tv_nsec);
}

// One plain plan; fills in the time at which each phase ended.
class PlainRun {
 public:
  PlainRun(const sluice::Graph& graph, const sluice::Hardware& hardware, Memory* memory)
      : graph_(graph),
        hardware_(hardware),
        capacity_(hardware.scratchpad().capacity_bytes),
        scratch_(memory),
        c_(memory, hardware) {}

  Status Run(std::vector<double>* at) {
    at->assign(1, CpuUs());
    const auto end = [at] { at->push_back(CpuUs()); };
    SLUICE_TRY(Lower(graph_, hardware_, &scratch_, &c_.lowering, &diagnostic_));
    end();
    SLUICE_TRY(Tile());
    end();
    SLUICE_TRY(DeriveWaits({graph_, hardware_, c_.program}, c_.lowering.places,
                           &scratch_, &c_.waits));
    end();
    int64_t cycles = 0;
    SLUICE_TRY(
        PredictCycles({graph_, hardware_, c_.program}, c_.waits, &scratch_, &cycles));
    end();
    sluice::PlanBound bound;
    SLUICE_TRY(
        FindBound(graph_, hardware_, sluice::PricedBy::kMachine, &scratch_, &bound));
    SLUICE_TRY(FillReport({graph_, hardware_, c_.program}, cycles, bound, &scratch_,
                          &c_.report));
    end();
    Arena written(scratch_.memory());
    sluice::PlanBytes image = {};
    SLUICE_TRY(Write(&written, &image, end));
    sluice::Plan plan = {};
    SLUICE_TRY(
        ReadPlan(image.all.data(), image.all.size(), &scratch_, &plan, &diagnostic_));
    end();
    sluice::VerifiedCounts counts;
    SLUICE_TRY(Verify(graph_, hardware_, plan, &scratch_, &counts, &diagnostic_));
    end();
    return Status::kOk;
  }
  size_t steps() const { return c_.program.size(); }

 private:
  Status Tile() {
    const sluice_schedule_options_t options = {};
    Arena memory(scratch_.memory());
    sluice::TileCosts costs(graph_, hardware_, c_.lowering, options, &memory);
    SLUICE_TRY(costs.Init(&diagnostic_));
    sluice::Budget unlimited;
    return ScheduleLayerByLayer(
        {graph_, hardware_, c_.lowering, capacity_, costs.coster(), &unlimited},
        &scratch_, &c_.program, &diagnostic_);
  }

  template <typename End>
  Status Write(Arena* written, sluice::PlanBytes* image, End end) {
    Arena memory(scratch_.memory());
    sluice::StreamParts parts(&memory);
    SLUICE_TRY(
        EmitStream({graph_, hardware_, c_.lowering, c_.program, c_.waits, capacity_},
                   &scratch_, &parts, &diagnostic_));
    end();
    sluice::Plan plan = {};
    plan.graph_hash = graph_.hash;
    plan.hardware_hash = hardware_.hash;
    plan.tensors = c_.lowering.places;
    sluice::Span<sluice::PlanLayerHash> hashes;
    SLUICE_TRY(HashLayers(graph_, &scratch_, &hashes));
    plan.layer_hash = hashes;
    plan.report = c_.report;
    SLUICE_TRY(WritePlan(plan, parts.header.size_bytes, parts.debug_layer.size(),
                         written, image, &diagnostic_));
    SLUICE_TRY(WriteStream(parts, image->stream.data()));
    for (size_t i = 0; i < image->debug_layer.size(); ++i) {
      image->debug_layer[i] = parts.debug_layer[i];
    }
    end();
    return Status::kOk;
  }

  const sluice::Graph& graph_;
  const sluice::Hardware& hardware_;
  int64_t capacity_;
  Arena scratch_;
  sluice::Candidate c_;
  sluice::Diagnostic diagnostic_ = {};
};

Json Measure(const std::string& name, const sluice::Graph& graph,
             const sluice::Hardware& hardware, int runs) {
  double least[kPhaseCount];
  size_t steps = 0;
  for (int i = 0; i < runs; ++i) {
    Memory memory(sluice_test::Malloc(), 0);
    PlainRun run(graph, hardware, &memory);
    std::vector<double> at;
    if (run.Run(&at) != Status::kOk) return {};
    for (size_t p = 0; p < kPhaseCount; ++p) {
      const double us = at[p + 1] - at[p];
      least[p] = i == 0 ? us : std::min(least[p], us);
    }
    steps = run.steps();
  }
  Json row = {{"network", name}, {"steps", steps}};
  double all = 0;
  for (size_t p = 0; p < kPhaseCount; ++p) {
    row["us"][kPhases[p]] = least[p];
    all += least[p];
  }
  const double per_step = 1e3 / static_cast<double>(steps);
  row["us"]["all"] = all;
  row["write_ns_per_step"] = per_step * (least[5] + least[6]);
  row["verify_ns_per_step"] = per_step * least[8];
  return row;
}

void Print(const Json& row) {
  std::printf("%-20s %6d", row["network"].get<std::string>().c_str(),
              row["steps"].get<int>());
  for (const char* phase : kPhases) {
    std::printf(" %7.0f", row["us"][phase].get<double>());
  }
  std::printf(" %7.0f   %5.0f %5.0f\n", row["us"]["all"].get<double>(),
              row["write_ns_per_step"].get<double>(),
              row["verify_ns_per_step"].get<double>());
  std::fflush(stdout);
}

}  // namespace

int RunPlainBench(bool json) {
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  const char* runs = std::getenv("SLUICE_BENCH_RUNS");
  if (!json) {
    std::printf("%-20s %6s", "CPU us", "steps");
    for (const char* phase : kPhases) std::printf(" %7s", phase);
    std::printf(" %7s   ns per step: write verify\n", "all");
  }
  Json rows = Json::array();
  for (const sluice::zoo::ZooEntry& network : sluice::zoo::ZooEntries()) {
    const std::string name = network.name;
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    const bool huge = name.find("gpt2_xl") == 0;
    const sluice_test::Bytes g = sluice::zoo::MakeZooGraph(name, {});
    const sluice_test::Bytes h =
        sluice::presets::LoadPreset(huge ? "soma-cloud" : "soma-edge");
    Memory memory(sluice_test::Malloc(), 0);
    Arena arena(&memory);
    sluice::Graph graph = {};
    sluice::Hardware hardware = {};
    sluice::Diagnostic diagnostic = {};
    if (ReadGraph(g.data(), g.size(), &arena, &graph, &diagnostic) != Status::kOk ||
        ReadHardware(h.data(), h.size(), &arena, &hardware, &diagnostic) !=
            Status::kOk) {
      return 1;
    }
    const Json row =
        Measure(name, graph, hardware, runs == nullptr ? 9 : std::atoi(runs));
    if (row.empty()) return 1;
    if (!json) Print(row);
    rows.push_back(row);
  }
  if (json) std::printf("%s\n", Json{{"rows", rows}}.dump(2).c_str());
  return 0;
}
