// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/soma_bench.h"

#include <sys/time.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "model/dma_bound.h"
#include "plan/fused/fusion_search.h"
#include "solve/prefetch/prefetch.h"
#include "tests/bench/soma_networks.h"
#include "tests/bench/soma_peer.h"

namespace sluice {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The limit is CPU time, so that a busy machine gives the same results. 0 = none.
uint32_t stop_word = 0;
void StopAfter(double seconds) {
  stop_word = 0;
  std::signal(SIGPROF, [](int) { __atomic_store_n(&stop_word, 1, __ATOMIC_RELAXED); });
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

struct Outcome {
  double edp = 0;
  double energy_pj = 0;
  int64_t latency_cycles = 0;
  int64_t ideal_cycles = 0;  // the larger of all compute and all DRAM cycles
  int64_t bound_cycles = 0;  // no DRAM schedule of these tiles is faster
  int64_t peak_bytes = 0;
  double cpu_s = 0;
  uint64_t rounds = 0;
  uint32_t groups = 0, fine_groups = 0, tiles = 0;
};

// Checks the result by itself: legality, buffer use, timeline, energy.
bool Judge(const PeerNetwork& network, Arena* arena, const FusionResult& result,
           Outcome* out) {
  Span<int32_t> scratch;
  Span<int64_t> profile;
  const size_t size = std::max(result.list.tiles + 2, result.list.transfers + 1);
  if (arena->Allocate(size, &scratch) != Status::kOk ||
      arena->Allocate(size, &profile) != Status::kOk) {
    return false;
  }
  out->peak_bytes = ProfileBuffer(result.list, result.dma, profile);
  out->latency_cycles = Latency(result.list, result.dma, scratch);
  out->ideal_cycles = std::max(result.list.compute_cycles, result.list.dram_cycles);
  if (BoundDma(network.problem, result.list, network.platform.buffer_bytes, arena,
               &out->bound_cycles) != Status::kOk) {
    return false;
  }
  out->energy_pj = Energy(network.problem, result.list);
  out->edp = out->energy_pj * static_cast<double>(out->latency_cycles);
  out->groups = result.list.groups;
  out->fine_groups = result.list.fine_groups;
  out->tiles = result.list.tiles;
  out->rounds = result.rounds;
  return out->peak_bytes <= network.platform.buffer_bytes &&
         CheckDma(result.list, result.dma, scratch) == DmaFault::kLegal;
}

Outcome Solve(const PeerNetwork& network, uint32_t solver, uint64_t rounds,
              double seconds) {
  Outcome out;
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  StopAfter(seconds);
  Budget budget({}, 0, 0, &stop_word);
  Diagnostic diagnostic = {};
  FusionSearch search;
  search.solver = solver;
  search.rounds = rounds;
  FusionResult result;
  const double begin = CpuSeconds();
  if (SearchFusion(network.problem, network.model, search,
                   sluice::Workspace{&budget, &arena, &diagnostic},
                   &result) != Status::kOk ||
      !Judge(network, &arena, result, &out)) {
    out.edp = NAN;
  }
  out.cpu_s = CpuSeconds() - begin;
  return out;
}

// Spends nine tenths of the time on fusion and the rest on refining the DRAM schedule found.
Outcome Ours(const PeerNetwork& network, double seconds) {
  Outcome out;
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  const double begin = CpuSeconds();
  StopAfter(0.9 * seconds);
  Budget first({}, 0, 0, &stop_word);
  Diagnostic diagnostic = {};
  FusionResult result;
  bool ok = SolveFusion(network.problem, network.model, FusionOptions(),
                        sluice::Workspace{&first, &arena, &diagnostic},
                        &result) == Status::kOk;
  StopAfter(0.1 * seconds);
  Budget rest({}, 0, 0, &stop_word);
  PrefetchResult refined;
  ok = ok && RefineDma(result.list, network.problem.buffer_bytes, PrefetchOptions(),
                       sluice::Workspace{&rest, &arena, nullptr}, &result.dma,
                       &refined) == Status::kOk;
  if (!ok || !Judge(network, &arena, result, &out)) out.edp = NAN;
  out.cpu_s = CpuSeconds() - begin;
  return out;
}

// Evaluations per second of the timeline and of both searches on one network.
struct Speeds {
  double timelines, with_profile, fusion_moves, dram_moves;
};

double PerSecond(uint64_t count, double begin) {
  return static_cast<double>(count) / (CpuSeconds() - begin);
}

Speeds MeasureSpeeds(const PeerNetwork& network) {
  Speeds speeds = {};
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  Budget budget;
  Diagnostic diagnostic = {};
  TileMemo memo;
  Scheme scheme;
  Span<int32_t> due;
  Span<int64_t> profile;
  if (memo.Init(&arena, network.model, 4096) != Status::kOk ||
      scheme.Init(&arena, &network.problem, &memo, Objective(), 4096, 8192) !=
          Status::kOk ||
      arena.Allocate(4096, &due) != Status::kOk ||
      arena.Allocate(4096, &profile) != Status::kOk) {
    return speeds;
  }
  scheme.Score(kAnnealRejected);  // 72 tiles, one by one
  constexpr uint64_t kCount = 400000;
  int64_t sum = 0;
  double begin = CpuSeconds();
  for (uint64_t i = 0; i < kCount; ++i)
    sum += Latency(scheme.list(), scheme.dma(), due);
  speeds.timelines = PerSecond(kCount, begin);
  begin = CpuSeconds();
  for (uint64_t i = 0; i < kCount; ++i) {
    sum += Latency(scheme.list(), scheme.dma(), due) +
           ProfileBuffer(scheme.list(), scheme.dma(), profile);
  }
  speeds.with_profile = sum == 0 ? 0 : PerSecond(kCount, begin);
  FusionOptions options;
  options.rounds = 60000;
  FusionResult result;
  begin = CpuSeconds();
  if (SolveFusion(network.problem, network.model, options,
                  sluice::Workspace{&budget, &arena, &diagnostic},
                  &result) != Status::kOk) {
    return speeds;
  }
  speeds.fusion_moves = PerSecond(result.rounds, begin);
  PrefetchOptions prefetch;
  prefetch.rounds = 600000;
  PrefetchResult refined;
  begin = CpuSeconds();
  if (RefineDma(result.list, network.problem.buffer_bytes, prefetch,
                sluice::Workspace{&budget, &arena, nullptr}, &result.dma,
                &refined) != Status::kOk) {
    return speeds;
  }
  speeds.dram_moves = PerSecond(refined.rounds, begin);
  return speeds;
}

struct Row {
  PeerResult peer;
  double bound_edp = 0;  // no scheme of this network is below
  Outcome constructed, ours, soma, cocco;
};

void PrintRow(const Row& r) {
  std::printf(
      "%-20s %2d %-5s %11.5g %7.1f | %7.4f %6.2f | %11.5g %7.4f %5.2f %8lld %8lld "
      "%6.2f%% %6.2f%% %2u/%3u/%4u | %7.4f %5.2f | %7.3f\n",
      r.peer.network.c_str(), r.peer.batch, r.peer.platform.c_str(), r.peer.edp,
      r.peer.cpu_s, r.constructed.edp / r.peer.edp, r.constructed.cpu_s * 1e3,
      r.ours.edp, r.ours.edp / r.peer.edp, r.ours.cpu_s,
      static_cast<long long>(r.ours.latency_cycles),
      static_cast<long long>(r.peer.latency_cycles),
      100.0 * static_cast<double>(r.ours.latency_cycles - r.ours.bound_cycles) /
          static_cast<double>(r.ours.bound_cycles),
      100 * (r.ours.edp / r.bound_edp - 1), r.ours.groups, r.ours.fine_groups,
      r.ours.tiles, r.soma.edp / r.peer.edp, r.soma.cpu_s, r.cocco.edp / r.peer.edp);
  std::fflush(stdout);
}

nlohmann::json ToJson(const Row& r) {
  return {{"model", "soma"},
          {"network", r.peer.network},
          {"batch", r.peer.batch},
          {"platform", r.peer.platform},
          {"edp", r.ours.edp},
          {"latency_cycles", r.ours.latency_cycles},
          {"energy_pj", r.ours.energy_pj},
          {"ideal_cycles", r.ours.ideal_cycles},
          {"bound_cycles", r.ours.bound_cycles},
          {"bound", r.bound_edp},
          {"cpu_s", r.ours.cpu_s},
          {"constructed_edp", r.constructed.edp},
          {"constructed_s", r.constructed.cpu_s},
          {"soma_edp", r.peer.edp},
          {"soma_latency_cycles", r.peer.latency_cycles},
          {"soma_cpu_s", r.peer.cpu_s},
          {"soma_algorithm_edp", r.soma.edp},
          {"soma_algorithm_s", r.soma.cpu_s},
          {"cocco_edp", r.cocco.edp}};
}

struct Means {
  double constructed = 0, ours = 0, soma = 0, cocco = 0;
  int rows = 0;
  void Add(const Row& r) {
    constructed += std::log(r.constructed.edp / r.peer.edp);
    ours += std::log(r.ours.edp / r.peer.edp);
    soma += std::log(r.soma.edp / r.peer.edp);
    cocco += std::log(r.cocco.edp / r.peer.edp);
    ++rows;
  }
  double Of(double sum) const { return std::exp(sum / rows); }
};

// SoMa's own model: table 8.1 of the reference.
void RunParity(const std::string& folder, nlohmann::json* json_out) {
  const bool json = json_out != nullptr;
  const char* limit = std::getenv("SLUICE_BENCH_SECONDS");
  const double seconds = limit != nullptr ? std::atof(limit) : 0.9;
  nlohmann::json unused;
  nlohmann::json& out = json ? *json_out : unused;
  Means means;
  if (!json) {
    std::printf(
        "%-20s %2s %-5s %11s %7s | %7s %6s | %11s %7s %5s %8s %8s %7s %7s %s | %7s "
        "%5s | %7s\n",
        "network", "b", "plat", "SoMa EDP", "cpu s", "constr.", "ms", "our EDP",
        "ratio", "cpu s", "our T", "SoMa T", "T gap", "gap", "LG/FLG/tiles", "SoMa's",
        "cpu s", "Cocco");
  }
  for (const PeerResult& peer : ReadPeerResults(folder)) {
    const auto network =
        ReadPeerNetwork(folder, peer.network, peer.batch, peer.platform);
    Row row;
    row.peer = peer;
    row.bound_edp = PeerBound(*network);
    row.constructed = Solve(*network, SLUICE_SOLVER_FUSION, 0, 0);
    row.ours = Ours(*network, seconds);
    row.soma = Solve(*network, SLUICE_SOLVER_SOMA, 0, 0);
    row.cocco = Solve(*network, SLUICE_SOLVER_COCCO, 0, 0);
    means.Add(row);
    if (json) {
      out["rows"].push_back(ToJson(row));
    } else {
      PrintRow(row);
    }
  }
  const auto network = ReadPeerNetwork(folder, "resnet50", 1, "edge");
  const Speeds s = MeasureSpeeds(*network);
  if (json) {
    out["timelines_per_s"] = s.timelines;
    out["timelines_with_profile_per_s"] = s.with_profile;
    out["fusion_moves_per_s"] = s.fusion_moves;
    out["dram_moves_per_s"] = s.dram_moves;
    out["geomean"] = {{"constructed", means.Of(means.constructed)},
                      {"ours", means.Of(means.ours)},
                      {"soma_algorithm", means.Of(means.soma)},
                      {"cocco", means.Of(means.cocco)}};
    return;
  }
  std::printf(
      "geometric means over %d rows, SoMa's published results = 1: constructed "
      "%.4f, ours %.4f, SoMa's algorithm here %.4f, Cocco %.4f\n",
      means.rows, means.Of(means.constructed), means.Of(means.ours),
      means.Of(means.soma), means.Of(means.cocco));
  std::printf(
      "resnet50 b1 edge, per second: timelines %.3g, with buffer profile %.3g, "
      "fusion moves %.3g, DRAM moves %.3g\n",
      s.timelines, s.with_profile, s.fusion_moves, s.dram_moves);
}

}  // namespace
}  // namespace sluice

int RunSomaBench(bool json) {
  // SLUICE_BENCH_MODEL: "soma" or "exact" alone; both when it is not set.
  const char* chosen = std::getenv("SLUICE_BENCH_MODEL");
  const std::string model = chosen != nullptr ? chosen : "";
  nlohmann::json out;
  out["rows"] = nlohmann::json::array();
  const std::string folder = sluice::PeerFolder();
  if (model != "exact") {
    if (!folder.empty()) {
      sluice::RunParity(folder, json ? &out : nullptr);
    } else if (json) {
      out["skipped"] = "no reference folder";
    } else {
      std::printf("skipped: no reference folder\n");
    }
  }
  bool judged = true;
  if (model != "soma") judged = sluice::RunSomaNetworks(json ? &out["rows"] : nullptr);
  if (json) {
    out["judged"] = judged;
    std::printf("%s\n", out.dump(1).c_str());
  }
  return judged ? 0 : 1;
}
