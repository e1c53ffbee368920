// SPDX-License-Identifier: Apache-2.0
// Layers and matrix products on every preset, for energy, latency and their product: how
// many nests are proved in the exact mapper's space, how many meet the bound on all nests
// (tiles that do not divide, too), how far the others may be from the best, for how many the
// judge accepts what is claimed of all nests that divide (and where a limit ends its check),
// CPU time of one thread. SLUICE_BENCH_ONLY: a part of the presets' names.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "io/read.h"
#include "presets/presets.h"
#include "solve/mapping/nest/nest_best.h"
#include "solve/mapping/nest/nest_limits.h"
#include "solve/mapping/nest_search.h"
#include "tests/solve/mapping/gemm/reference.h"
#include "tests/solve/mapping/nest_claim.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/scratch.h"

int RunGapsBench(bool json);

namespace sluice {
namespace {

constexpr const char* kGoals[] = {"energy", "latency", "edp"};
constexpr uint32_t kExponents[][2] = {{1, 0}, {0, 1}, {1, 1}};
constexpr double kEqual = 1e-9;  // a gap below it is rounding
constexpr double kFar = 0.02;    // what a gap should stay below

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Suite {
  std::string name;
  std::vector<MappingProblem> problems;
};

// The layers of one graph of CoSA's file.
Suite CosaSuite(const char* name, const char* graph) {
  Suite suite = {name, {}};
  const nlohmann::json file = sluice_tests::ReadJson("reference/cosa/layers.json");
  if (!file.is_object()) return suite;
  for (const nlohmann::json& l : file.at(graph).at("layers")) {
    suite.problems.push_back(
        ConvProblem({l["N"], l["K"], l["C"], l["P"], l["Q"], l["R"], l["S"],
                     l["Hstride"].get<int32_t>(), 1}));
  }
  return suite;
}

// 3 x 3 layers of ResNeXt-50, of 32 groups, as they are executed.
Suite GroupedSuite() {
  Suite suite = {"grouped", {}};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t channels = 4 << stage, side = 56 >> stage;
    for (int32_t stride = 1; stride <= (stage == 0 ? 1 : 2); ++stride) {
      suite.problems.push_back(
          ConvProblem({1, channels, channels, side, side, 3, 3, stride, 1}));
      suite.problems.back().extent[kDimG] = 32;
    }
  }
  return suite;
}

Suite DepthwiseSuite() {
  Suite suite = {"depthwise", {}};
  for (const NetworkLayer& layer : ReadNetwork("mobilenet", 1)) {
    if (layer.type == "dwconv") suite.problems.push_back(layer.problem);
  }
  return suite;
}

// BERT base at 384 tokens.
Suite BertSuite() {
  Suite suite = {"bert", {}};
  const auto add = [&](int64_t g, int64_t m, int64_t k, int64_t c) {
    suite.problems.push_back(GemmProblem(g, m, k, c, 1));
  };
  add(1, 384, 768, 768);
  add(12, 384, 384, 64);
  add(12, 384, 64, 384);
  add(1, 384, 3072, 768);
  add(1, 384, 768, 3072);
  return suite;
}

Suite LlamaSuite() {
  Suite suite = {"llama", {}};
  for (const sluice_tests::LlmGemm& gemm : sluice_tests::LlmGemms()) {
    if (gemm.workload.rfind("Llama", 0) != 0) continue;
    const int64_t* e = gemm.shape.extent;
    suite.problems.push_back(GemmProblem(1, e[0], e[1], e[2], 1));
  }
  return suite;
}

// Extents with few divisors.
Suite RaggedSuite() {
  return {"ragged",
          {GemmProblem(1, 127, 8191, 2053, 1), GemmProblem(1, 1, 50257, 768, 1),
           GemmProblem(1, 101, 103, 107, 1), GemmProblem(1, 197, 769, 3079, 1)}};
}

struct Row {
  std::string suite;
  std::string preset;
  std::string goal;
  size_t problems = 0;
  size_t proved = 0;
  size_t refused = 0;
  size_t met = 0;            // the bound on all nests
  std::vector<double> gaps;  // to that bound
  double ms = 0;
  double worst_ms = 0;
  size_t accepted = 0,
         rejected = 0;  // by the judge; of the others a limit ended the check
  double check_ms = 0;
  size_t far() const {
    return static_cast<size_t>(
        std::count_if(gaps.begin(), gaps.end(), [](double gap) { return gap > kFar; }));
  }
  double median() {
    if (gaps.empty()) return 0;
    std::sort(gaps.begin(), gaps.end());
    return gaps[gaps.size() / 2];
  }
  double worst() const {
    return gaps.empty() ? 0 : *std::max_element(gaps.begin(), gaps.end());
  }
};

// How far the nest is from a bound on all nests, as free as it is.
double GapToEvery(const NestRequest& request, const MappedNest& mapped) {
  MapConstraints constraints = request.constraints;
  const LoopNest empty = EmptyNest(request.hardware, request.problem);
  for (uint32_t l = 0; l < mapped.nest.levels; ++l) {
    const uint32_t differs = mapped.nest.hold[l] ^ empty.hold[l];
    constraints.bypass |= (differs & request.problem.operands) != 0;
  }
  Scratch scratch;
  NestLimits limits = {};
  if (LimitNests({request.problem, request.hardware, constraints}, &scratch.arena,
                 &limits) != Status::kOk) {
    return 1;
  }
  const double bound =
      std::max(NestBound(request.problem, request.hardware, constraints),
               MapObjective(constraints, limits.energy_pj, limits.cycles));
  return std::max(0.0, 1 - bound / mapped.objective);
}

// Has the judge check what the mapper knows of all nests whose factors divide.
void Judge(const NestRequest& request, const BestNest& mapped, Row* row) {
  MapConstraints constraints = request.constraints;
  constraints.bypass = mapped.bypasses;
  ClaimedNest claim = sluice_tests::ClaimOf(
      {request.problem, request.hardware, constraints}, mapped.uneven, mapped);
  claim.bound = mapped.level_bound;
  Scratch scratch;
  Budget budget;
  const double start = CpuMs();
  const Status status = CheckNestClaim(claim, request.hardware, &scratch.arena, &budget,
                                       &scratch.diagnostic);
  row->check_ms += CpuMs() - start;
  row->accepted += status == Status::kOk ? 1 : 0;
  row->rejected += status == Status::kOk || status == Status::kStopped ? 0 : 1;
}

Row MapSuite(const Suite& suite, const Hardware& hardware, int goal) {
  Row row = {};
  row.suite = suite.name;
  row.goal = kGoals[goal];
  for (MappingProblem problem : suite.problems) {
    for (uint32_t& bytes : problem.element_bytes) bytes = 1;
    problem.partial_bytes = hardware.accumulator_bytes;
    MapConstraints constraints;
    constraints.energy_exponent = kExponents[goal][0];
    constraints.delay_exponent = kExponents[goal][1];
    Scratch scratch;
    Budget budget;
    BestNest mapped = {};
    const double start = CpuMs();
    const Status status =
        MapBestNest({problem, hardware, constraints}, FactorObjective{}, &budget,
                    &scratch.arena, &mapped, &scratch.diagnostic);
    const double ms = CpuMs() - start;
    ++row.problems;
    row.ms += ms;
    row.worst_ms = std::max(row.worst_ms, ms);
    if (status != Status::kOk) {
      ++row.refused;
      continue;
    }
    const double gap = GapToEvery({problem, hardware, constraints}, mapped);
    row.proved += mapped.proved ? 1 : 0;
    row.met += gap < kEqual ? 1 : 0;
    row.gaps.push_back(gap);
    Judge({problem, hardware, constraints}, mapped, &row);
  }
  row.check_ms /= static_cast<double>(std::max<size_t>(1, row.problems));
  row.ms /= static_cast<double>(std::max<size_t>(1, row.problems));
  return row;
}

nlohmann::json AsJson(Row row) {
  return {{"suite", row.suite},         {"preset", row.preset},
          {"goal", row.goal},           {"problems", row.problems},
          {"proved", row.proved},       {"met", row.met},
          {"refused", row.refused},     {"far", row.far()},
          {"gap_median", row.median()}, {"gap_worst", row.worst()},
          {"ms_mean", row.ms},          {"ms_worst", row.worst_ms},
          {"accepted", row.accepted},   {"rejected", row.rejected},
          {"check_ms", row.check_ms}};
}

void Print(Row row) {
  std::printf(
      "%-16s %-10s %-8s %5zu %7zu %5zu %8zu %7zu %8.2f %8.2f %8.1f %8.1f %8zu %8zu "
      "%8.1f\n",
      row.preset.c_str(), row.suite.c_str(), row.goal.c_str(), row.problems, row.proved,
      row.met, row.refused, row.far(), 100 * row.median(), 100 * row.worst(), row.ms,
      row.worst_ms, row.accepted, row.rejected, row.check_ms);
  std::fflush(stdout);
}

}  // namespace
}  // namespace sluice

int RunGapsBench(bool json) {
  using namespace sluice;
  const Suite suites[] = {CosaSuite("resnet50", "resnet50_graph"),
                          CosaSuite("resnext50", "resnext50_32x4d_graph"),
                          GroupedSuite(),
                          DepthwiseSuite(),
                          BertSuite(),
                          LlamaSuite(),
                          RaggedSuite()};
  nlohmann::json out = nlohmann::json::array();
  if (!json) {
    std::printf("%-16s %-10s %-8s %5s %7s %5s %8s %7s %8s %8s %8s %8s %8s %8s %8s\n",
                "preset", "suite", "goal", "nests", "proved", "met", "refused", "> 2 %",
                "median %", "worst %", "ms", "worst ms", "accepted", "rejected",
                "check ms");
  }
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  for (const presets::EmbeddedFile& preset : presets::HardwarePresets()) {
    if (only != nullptr && std::strstr(preset.name, only) == nullptr) continue;
    Scratch scratch;
    Hardware hardware = {};
    if (ReadHardware(preset.data, preset.size, &scratch.arena, &hardware,
                     &scratch.diagnostic) != Status::kOk) {
      return 5;
    }
    for (const Suite& suite : suites) {
      for (int goal = 0; goal < 3 && !suite.problems.empty(); ++goal) {
        Row row = MapSuite(suite, hardware, goal);
        row.preset = preset.name;
        if (json) {
          out.push_back(AsJson(row));
        } else {
          Print(row);
        }
      }
    }
  }
  if (json) std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
