// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/soma_bench.h"

#include <sys/time.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "solve/fusion/fusion.h"
#include "tests/bench/soma_peer.h"

namespace sluice {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The limit is processor time, so that a busy machine measures the same.
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

struct Row {
  PeerResult peer;
  double construct_edp, construct_s;
  double edp, cpu_s;
  SchemeScore score;
  uint32_t groups, fine_groups, tiles;
  uint64_t rounds;
  double bound;
  int64_t compute, dram;
};

void Solve(const PeerNetwork& network, double seconds, bool anneal, FusionResult* out,
           Arena* arena) {
  FusionOptions options;
  options.anneal = anneal;
  StopAfter(anneal ? seconds : 0);
  Budget budget(0, 0, &stop_word);
  Diagnostic diagnostic = {};
  const Status status = SolveFusion(arena, network.problem, network.model, options,
                                    &budget, &diagnostic, out);
  if (status != Status::kOk) {
    std::fprintf(stderr, "%s: %s\n", network.name.c_str(), diagnostic.message);
  }
}

Row Measure(const std::string& folder, const PeerResult& peer, double seconds) {
  const auto network = ReadPeerNetwork(folder, peer.network, peer.batch, peer.platform);
  Row row = {};
  row.peer = peer;
  {
    Memory memory(HostAllocator(), 0);
    Arena arena(&memory);
    FusionResult result;
    const double begin = CpuSeconds();
    Solve(*network, 0, false, &result, &arena);
    row.construct_s = CpuSeconds() - begin;
    row.construct_edp = result.score.cost;
  }
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  FusionResult result;
  const double begin = CpuSeconds();
  Solve(*network, seconds, true, &result, &arena);
  row.cpu_s = CpuSeconds() - begin;
  row.score = result.score;
  row.edp = result.score.cost;
  row.groups = result.list.groups;
  row.fine_groups = result.list.fine_groups;
  row.tiles = result.list.tiles;
  row.rounds = result.rounds;
  row.compute = result.list.compute_cycles;
  row.dram = result.list.dram_cycles;
  return row;
}

}  // namespace
}  // namespace sluice

int RunSomaBench(bool) {
  using namespace sluice;
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    std::printf("skipped: no reference folder\n");
    return 0;
  }
  const char* limit = std::getenv("SLUICE_BENCH_SECONDS");
  const double seconds = limit != nullptr ? std::atof(limit) : 0.95;
  double log_construct = 0;
  double log_final = 0;
  int rows = 0;
  std::printf("%-20s %2s %-5s %11s | %11s %6s %7s | %11s %6s %6s %8s %8s %s\n",
              "network", "b", "plat", "SoMa EDP", "construct", "ratio", "ms", "ours",
              "ratio", "cpu s", "rounds", "latency", "LG/FLG/tiles");
  for (const PeerResult& peer : ReadPeerResults(folder)) {
    const Row r = Measure(folder, peer, seconds);
    std::printf(
        "%-20s %2d %-5s %11.5g | %11.5g %6.4f %7.2f | %11.5g %6.4f %6.2f %8llu %8lld "
        "%u/%u/%u C %lld D %lld E %.5g\n",
        peer.network.c_str(), peer.batch, peer.platform.c_str(), peer.edp,
        r.construct_edp, r.construct_edp / peer.edp, r.construct_s * 1e3, r.edp,
        r.edp / peer.edp, r.cpu_s, static_cast<unsigned long long>(r.rounds),
        static_cast<long long>(r.score.latency_cycles), r.groups, r.fine_groups,
        r.tiles, static_cast<long long>(r.compute), static_cast<long long>(r.dram), r.score.energy_pj);
    std::fflush(stdout);
    log_construct += std::log(r.construct_edp / peer.edp);
    log_final += std::log(r.edp / peer.edp);
    ++rows;
  }
  std::printf("geometric mean: constructed %.4f, final %.4f over %d rows\n",
              std::exp(log_construct / rows), std::exp(log_final / rows), rows);
  return 0;
}
