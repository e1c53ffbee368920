// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "model/dma_bound.h"
#include "plan/fused/fusion_search.h"
#include "solve/fusion/construct.h"
#include "solve/fusion/fusion.h"
#include "solve/prefetch/prefetch.h"
#include "tests/solve/fusion/evaluation.h"

namespace sluice {
namespace {

void Judge(const PeerNetwork& network, Evaluation* b, const FusionResult& r) {
  // A new parser and timeline must reproduce the list and the score of the search.
  REQUIRE(ParseNotation(&b->parser, r.notation, &b->list) == ParseResult::kOk);
  REQUIRE(b->list.transfers == r.list.transfers);
  CHECK(CheckDma(b->list, r.dma, b->seen) == DmaFault::kLegal);
  CHECK(ProfileBuffer(b->list, r.dma, b->profile) <= network.platform.buffer_bytes);
  CHECK(Latency(b->list, r.dma, b->due) == r.score.latency_cycles);
  CHECK(Energy(network.problem, b->list) == r.score.energy_pj);
}

Status Run(const PeerNetwork& network, Arena* arena, const FusionOptions& options,
           FusionResult* out) {
  Budget budget;
  Diagnostic diagnostic = {};
  return SolveFusion(network.problem, network.model, options,
                     Workspace{&budget, arena, &diagnostic}, out);
}

bool SameNotation(const GroupNotation& a, const GroupNotation& b) {
  for (size_t i = 0; i < a.order.size(); ++i) {
    if (a.order[i] != b.order[i] || a.cut[i] != b.cut[i]) return false;
    if (a.cut[i] != kCutNone && a.tiles[i] != b.tiles[i]) return false;
  }
  return true;
}

TEST_CASE("fusion: an incremental parse is the parse of a fresh parser") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  for (const char* name : {"resnet50", "gpt2_small_prefill"}) {
    const auto network = ReadPeerNetwork(folder, name, 4, "edge");
    for (uint32_t flags : {uint32_t{kTileUniform}, uint32_t{kTileShareLoads}}) {
      network->model.flags = flags;
      Evaluation b(network.get());
      Memory memory(HostAllocator(), 0);
      Arena arena(&memory);
      TileMemo memo;
      REQUIRE(memo.Init(&arena, network->model, 4096) == Status::kOk);
      Scheme scheme;
      REQUIRE(scheme.Init(&arena, &network->problem, &memo, Objective(), 4096, 8192) ==
              Status::kOk);
      Rng rng(7);
      int parsed = 0;
      for (int round = 0; round < 3000; ++round) {
        if (!RandomMove(kMovesOurs, &scheme, &rng)) {
          UndoChanges(&scheme.draft);
          continue;
        }
        const SchemeScore s = scheme.Bound();
        Parser fresh;
        TileList list;
        ArenaScope scope(&b.arena);
        REQUIRE(InitParser(&fresh, &b.arena, &network->problem, &b.memo, {4096, 8192},
                           &list) == Status::kOk);
        REQUIRE(ParseNotation(&fresh, scheme.notation(), &list) == s.parsed);
        if (s.parsed == ParseResult::kOk) {
          ++parsed;
          REQUIRE(scheme.list().compute_cycles == list.compute_cycles);
          REQUIRE(scheme.list().dram_cycles == list.dram_cycles);
          REQUIRE(scheme.list().core_pj == list.core_pj);
          REQUIRE(s.minimum_bytes == ProfileMinimum(list, b.profile));
        }
        if (s.parsed == ParseResult::kOk && rng.Below(2) == 0) {
          KeepChanges(&scheme.draft);
        } else {
          UndoChanges(&scheme.draft);
        }
      }
      CHECK(parsed > 500);
    }
  }
}

TEST_CASE("fusion: undo brings back order, cuts, tiles and policy") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "inception_resnet_v1", 1, "edge");
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  TileMemo memo;
  REQUIRE(memo.Init(&arena, network->model, 4096) == Status::kOk);
  Scheme scheme;
  REQUIRE(scheme.Init(&arena, &network->problem, &memo, Objective(), 4096, 8192) ==
          Status::kOk);
  for (MoveSet set : {kMovesOurs, kMovesSoma, kMovesCocco}) {
    Rng rng(set);
    int changed = 0;
    for (int round = 0; round < 2000; ++round) {
      const auto copy = [](const auto& span) {
        return std::vector<int64_t>(span.begin(), span.end());
      };
      const auto order = copy(scheme.notation().order);
      const auto cut = copy(scheme.notation().cut);
      const auto tiles = copy(scheme.notation().tiles);
      changed += RandomMove(set, &scheme, &rng);
      if (rng.Below(3) == 0) {
        KeepChanges(&scheme.draft);
        std::set<int64_t> layers(order.begin(), order.end());
        REQUIRE(layers.size() == order.size());
        REQUIRE(scheme.notation().cut[0] == kCutDram);
        continue;
      }
      UndoChanges(&scheme.draft);
      REQUIRE(order == copy(scheme.notation().order));
      REQUIRE(cut == copy(scheme.notation().cut));
      REQUIRE(tiles == copy(scheme.notation().tiles));
    }
    CHECK(changed > 200);
  }
}

TEST_CASE("fusion: same seed and rounds, same scheme, and other seeds stay legal") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "gpt2_small_prefill", 1, "edge");
  for (FusionSolver solver : {kFusionOurs, kFusionSoma, kFusionCocco}) {
    Evaluation b(network.get());
    FusionOptions options;
    options.solver = solver;
    options.rounds = 4000;
    options.seed = 3;
    FusionResult first, second;
    REQUIRE(Run(*network, &b.arena, options, &first) == Status::kOk);
    REQUIRE(Run(*network, &b.arena, options, &second) == Status::kOk);
    CHECK(SameNotation(first.notation, second.notation));
    CHECK(first.score.cost == second.score.cost);
    CHECK(first.rounds == 4000);
    Judge(*network, &b, first);
    options.seed = 4;
    REQUIRE(Run(*network, &b.arena, options, &second) == Status::kOk);
    Judge(*network, &b, second);
  }
}

TEST_CASE(
    "fusion: on every row of the peer's results at least as good, 2 % on average") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  double log_constructed = 0;
  double log_annealed = 0;
  int rows = 0;
  for (const PeerResult& peer : ReadPeerResults(folder)) {
    const auto network =
        ReadPeerNetwork(folder, peer.network, peer.batch, peer.platform);
    INFO(peer.network << " " << peer.batch << " " << peer.platform);
    Evaluation b(network.get());
    FusionOptions options;
    FusionResult r;
    options.anneal = false;
    REQUIRE(Run(*network, &b.arena, options, &r) == Status::kOk);
    Judge(*network, &b, r);
    log_constructed += std::log(r.score.cost / peer.edp);
    options.anneal = true;
    options.rounds = 8000;  // a fifth of a second or less
    const double constructed = r.score.cost;
    REQUIRE(Run(*network, &b.arena, options, &r) == Status::kOk);
    Judge(*network, &b, r);
    CHECK(r.score.cost <= constructed);
    // The reference table gives the peer's energy x delay with five digits.
    CHECK(r.score.cost <= peer.edp * (1 + 1e-5));
    CHECK(r.score.latency_cycles >=
          std::max(r.list.compute_cycles, r.list.dram_cycles));
    log_annealed += std::log(r.score.cost / peer.edp);
    ++rows;
  }
  REQUIRE(rows == 16);
  CHECK(std::exp(log_constructed / rows) <= 1.0);
  CHECK(std::exp(log_annealed / rows) <= 0.98);
}

TEST_CASE("fusion: less buffer is solved or refused with numbers, never exceeded") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "resnet50", 1, "edge");
  int solved = 0;
  int refused = 0;
  for (int64_t buffer = int64_t{8} << 20; buffer >= 1 << 16; buffer /= 2) {
    network->problem.buffer_bytes = buffer;
    network->platform.buffer_bytes = buffer;
    Evaluation b(network.get());
    FusionOptions options;
    options.rounds = 200;
    FusionResult r;
    Budget budget;
    Diagnostic diagnostic = {};
    const Status status = SolveFusion(network->problem, network->model, options,
                                      Workspace{&budget, &b.arena, &diagnostic}, &r);
    if (status == Status::kOk) {
      ++solved;
      Judge(*network, &b, r);
    } else {
      ++refused;
      CHECK(status == Status::kInfeasible);
      CHECK(diagnostic.required_bytes > diagnostic.available_bytes);
      CHECK(diagnostic.available_bytes == static_cast<uint64_t>(buffer));
    }
  }
  CHECK(solved >= 2);  // the largest layer's weights are 2.36 MB
  CHECK(refused >= 4);
}

TEST_CASE(
    "fusion: a cancelled search still returns the constructed scheme or says so") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "resnet50", 4, "edge");
  Evaluation b(network.get());
  const uint32_t cancel = 1;
  Budget budget({}, 0, 0, &cancel);
  Diagnostic diagnostic = {};
  FusionResult r;
  const Status status = SolveFusion(network->problem, network->model, FusionOptions(),
                                    Workspace{&budget, &b.arena, &diagnostic}, &r);
  CHECK((status == Status::kOk || status == Status::kStopped));
  if (status == Status::kOk) Judge(*network, &b, r);
}

TEST_CASE(
    "prefetch: from double buffering to the list schedule's latency, always legal") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  for (const char* name : {"resnet50", "gpt2_small_prefill"}) {
    const auto network = ReadPeerNetwork(folder, name, 1, "edge");
    Evaluation b(network.get());
    FusionOptions options;
    options.rounds = 500;
    FusionResult r;
    REQUIRE(Run(*network, &b.arena, options, &r) == Status::kOk);
    DoubleBuffer(r.list, &r.dma);
    const int64_t buffer = network->problem.buffer_bytes;
    REQUIRE(ProfileBuffer(r.list, r.dma, b.profile) <= buffer);
    const int64_t before = Latency(r.list, r.dma, b.due);
    Budget budget;
    PrefetchResult refined;
    PrefetchOptions prefetch;
    REQUIRE(RefineDma(r.list, buffer, prefetch, Workspace{&budget, &b.arena, nullptr},
                      &r.dma, &refined) == Status::kOk);
    CHECK(CheckDma(r.list, r.dma, b.seen) == DmaFault::kLegal);
    CHECK(ProfileBuffer(r.list, r.dma, b.profile) <= buffer);
    CHECK(Latency(r.list, r.dma, b.due) == refined.latency_cycles);
    CHECK(refined.latency_cycles < before);
    MESSAGE(network->name << ": double buffer " << before << ", refined "
                          << refined.latency_cycles << ", list "
                          << r.score.latency_cycles);
    CHECK(refined.latency_cycles <=
          r.score.latency_cycles + r.score.latency_cycles / 50);
    // A schedule that overfills the buffer is refused.
    CHECK(RefineDma(r.list, 1 << 20, prefetch, Workspace{&budget, &b.arena, nullptr},
                    &r.dma, &refined) == Status::kBadInput);
  }
}

TEST_CASE(
    "solvers: both stages, each published one by its name, never past the bound") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "gpt2_small_prefill", 1, "edge");
  Evaluation b(network.get());
  double cost[5] = {};
  for (uint32_t solver :
       {SLUICE_SOLVER_FUSION, SLUICE_SOLVER_COCCO, SLUICE_SOLVER_SOMA}) {
    FusionSearch search;
    search.solver = solver;
    search.rounds = 6000;
    Budget budget;
    Diagnostic diagnostic = {};
    FusionResult r;
    REQUIRE(SearchFusion(network->problem, network->model, search,
                         Workspace{&budget, &b.arena, &diagnostic}, &r) == Status::kOk);
    Judge(*network, &b, r);
    int64_t bound = 0;
    REQUIRE(BoundDma(network->problem, r.list, network->problem.buffer_bytes, &b.arena,
                     &bound) == Status::kOk);
    CHECK(r.score.latency_cycles >= bound);
    CHECK(r.rounds >= 6000);
    cost[solver] = r.score.cost;
    search.rounds = 0;
    if (solver != SLUICE_SOLVER_FUSION) continue;
    REQUIRE(SearchFusion(network->problem, network->model, search,
                         Workspace{&budget, &b.arena, &diagnostic}, &r) == Status::kOk);
    CHECK(r.rounds == 0);
    CHECK(r.score.cost >= cost[solver]);
  }
  CHECK(cost[SLUICE_SOLVER_FUSION] <= cost[SLUICE_SOLVER_SOMA]);
  CHECK(cost[SLUICE_SOLVER_SOMA] < cost[SLUICE_SOLVER_COCCO]);
}

TEST_CASE("prefetch: balancing keeps the latency and lowers the average buffer use") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  const auto network = ReadPeerNetwork(folder, "resnet50", 1, "edge");
  Evaluation b(network.get());
  FusionOptions options;
  options.anneal = false;
  FusionResult r;
  REQUIRE(Run(*network, &b.arena, options, &r) == Status::kOk);
  PrefetchOptions prefetch;
  prefetch.rounds = 2000;
  PrefetchResult fast, balanced;
  Budget budget;
  const int64_t buffer = network->problem.buffer_bytes;
  REQUIRE(RefineDma(r.list, buffer, prefetch, Workspace{&budget, &b.arena, nullptr},
                    &r.dma, &fast) == Status::kOk);
  prefetch.rounds = 1;
  prefetch.balance_rounds = 20000;
  REQUIRE(RefineDma(r.list, buffer, prefetch, Workspace{&budget, &b.arena, nullptr},
                    &r.dma, &balanced) == Status::kOk);
  CHECK(balanced.latency_cycles <= fast.latency_cycles);
  CHECK(balanced.average_bytes < fast.average_bytes);
  CHECK(CheckDma(r.list, r.dma, b.seen) == DmaFault::kLegal);
  MESSAGE("average use " << fast.average_bytes << " -> " << balanced.average_bytes);
}

}  // namespace
}  // namespace sluice
