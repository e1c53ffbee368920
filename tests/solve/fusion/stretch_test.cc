// SPDX-License-Identifier: Apache-2.0
// Stretches of a scheme as problems of their own; networks that have thousands of
// layers.
#include "solve/fusion/stretch.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "model/dma_bound.h"
#include "plan/fused/fusion_search.h"
#include "tests/bench/growing_network.h"
#include "tests/bench/soma_peer.h"

namespace sluice {
namespace {

struct Opened {
  explicit Opened(const GrowingNetwork& network)
      : memory(HostAllocator(), 0), arena(&memory) {
    const uint32_t n = static_cast<uint32_t>(network.layers.size());
    REQUIRE(memo.Init(&arena, network.model, 64 * n) == Status::kOk);
    REQUIRE(scheme.Init(&arena, &network.problem, &memo, Objective(), 64 * n,
                        256 * n) == Status::kOk);
    REQUIRE(index.Init(&arena, network.problem) == Status::kOk);
  }
  Memory memory;
  Arena arena;
  TileMemo memo;
  Scheme scheme;
  WindowIndex index;
};

void RandomCuts(Scheme* s, uint32_t dram, Rng* rng) {
  for (uint32_t i = 0; i < s->layers(); ++i) {
    const uint32_t draw = rng->Below(100);
    if (i != 0) s->SetCut(i, draw < dram ? kCutDram : draw < 50 ? kCutFine : kCutNone);
    s->SetTiles(i, 1 << rng->Below(3));
    s->Keep();
  }
}

TEST_CASE("stretch: what it changes costs the whole what it says") {
  for (const char* kind : {"chain", "dag", "transformer", "residual"}) {
    const auto network = MakeGrowingNetwork(kind, 60);
    Opened o(*network);
    Rng rng(5);
    int compared = 0;
    for (int round = 0; round < 300; ++round) {
      RandomCuts(&o.scheme, round % 3 * 5, &rng);
      const SchemeScore before = o.scheme.Bound();
      if (before.parsed != ParseResult::kOk) continue;
      uint32_t first = rng.Below(50);
      uint32_t last = first + 1 + rng.Below(20);
      last = std::min(last, static_cast<uint32_t>(o.scheme.layers()));
      AlignToGroups(o.scheme, &first, &last);
      ArenaScope scope(&o.arena);
      Stretch part;
      REQUIRE(OpenStretch(o.scheme, first, last, &o.index, &o.arena, &part) ==
              Status::kOk);
      const SchemeScore alone = part.scheme.Bound();
      REQUIRE(alone.parsed == ParseResult::kOk);
      part.scheme.rest = RestOf(o.scheme, before, part.scheme, alone);
      int64_t highest = 0;  // in the stretch, seen from the whole
      for (uint32_t p = 0; p < o.scheme.list().tiles; ++p) {
        const uint32_t at = o.index.position[o.scheme.list().layer[p]];
        if (at >= first && at < last) highest = std::max(highest, o.scheme.Use(p));
      }
      const int64_t passing =
          network->problem.buffer_bytes - part.window.problem.buffer_bytes;
      // Before its first tile the stretch counts what is on chip by then.
      CHECK(alone.minimum_bytes + passing >= highest);
      // Fine cuts and tiling numbers inside: exact.
      Scheme* s = &part.scheme;
      for (uint32_t i = 0; i < s->layers(); ++i) {
        if (i != 0 && s->notation().cut[i] != kCutDram) {
          s->SetCut(i, rng.Below(2) != 0 ? kCutFine : kCutNone);
        }
        s->SetTiles(i, 1 << rng.Below(3));
      }
      s->Keep();
      const SchemeScore changed = s->Bound();
      if (changed.parsed != ParseResult::kOk) continue;
      WriteBack(part, &o.scheme);
      const SchemeScore after = o.scheme.Bound();
      REQUIRE(after.parsed == ParseResult::kOk);
      INFO(kind << " " << round << " " << first << " " << last);
      CHECK(after.cost == doctest::Approx(changed.cost).epsilon(1e-9));
      ++compared;
      o.scheme.Keep();
    }
    CHECK(compared > 50);
  }
}

TEST_CASE(
    "repeats: like blocks are found by content, stamped, and the stamp is legal") {
  struct Expect {
    const char* kind;
    size_t layers;
    uint32_t period;
  };
  for (const Expect& e : {Expect{"chain", 200, 2}, Expect{"transformer", 14 * 48, 14},
                          Expect{"residual", 3 + 4 * 40, 4}}) {
    const auto network = MakeGrowingNetwork(e.kind, e.layers);
    Memory memory(HostAllocator(), 0);
    Arena arena(&memory);
    Repeats repeats;
    REQUIRE(FindRepeats(network->problem, &arena, &repeats) == Status::kOk);
    INFO(std::string(e.kind));
    REQUIRE(repeats.runs == 1);
    CHECK(repeats.run[0].period == e.period);
    CHECK(repeats.spared + 5 * e.period >= network->layers.size());
    // With room for it, the search uses them.
    network->problem.buffer_bytes = int64_t{16} << 20;
    FusionSearch search;
    Budget budget;
    Diagnostic diagnostic = {};
    FusionResult r;
    REQUIRE(SearchFusion(network->problem, network->model, search,
                         Workspace{&budget, &arena, &diagnostic}, &r) == Status::kOk);
    REQUIRE(r.repeats.runs == 1);
    const Repeat& run = r.repeats.run[0];
    for (uint32_t block = 2; block + 1 < run.count; ++block) {
      for (uint32_t k = 0; k < run.period; ++k) {
        const uint32_t i = run.first + run.period + k;
        const uint32_t j = run.first + block * run.period + k;
        REQUIRE(r.notation.order[j] == r.notation.order[i] + (block - 1) * run.period);
        REQUIRE(r.notation.cut[j] == r.notation.cut[i]);
        REQUIRE(r.notation.tiles[j] == r.notation.tiles[i]);
      }
    }
    Span<int32_t> scratch;
    REQUIRE(arena.Allocate(r.list.tiles + r.list.transfers + 2, &scratch) ==
            Status::kOk);
    CHECK(CheckDma(r.list, r.dma, scratch) == DmaFault::kLegal);
    // One layer that differs: no run reaches over it.
    network->layers[e.layers / 2].signature += 100;
    REQUIRE(FindRepeats(network->problem, &arena, &repeats) == Status::kOk);
    for (int i = 0; i < repeats.runs; ++i) {
      const uint32_t first = repeats.run[i].first;
      const uint32_t end = first + repeats.run[i].period * repeats.run[i].count;
      CHECK((e.layers / 2 < first || e.layers / 2 >= end));
    }
  }
}

TEST_CASE("fusion: thousands of layers, legal, never past the bound, better annealed") {
  for (const char* kind : {"chain", "dag", "transformer", "residual"}) {
    const auto network = MakeGrowingNetwork(kind, 700);
    Memory memory(HostAllocator(), 0);
    Arena arena(&memory);
    double constructed = 0;
    for (uint64_t rounds : {0, 6000}) {
      FusionSearch search;
      search.rounds = rounds;
      Budget budget;
      Diagnostic diagnostic = {};
      FusionResult r;
      REQUIRE(SearchFusion(network->problem, network->model, search,
                           Workspace{&budget, &arena, &diagnostic}, &r) == Status::kOk);
      Span<int32_t> scratch;
      Span<int64_t> profile;
      const size_t size = r.list.tiles + r.list.transfers + 2;
      REQUIRE(arena.Allocate(size, &scratch) == Status::kOk);
      REQUIRE(arena.Allocate(size, &profile) == Status::kOk);
      CHECK(CheckDma(r.list, r.dma, scratch) == DmaFault::kLegal);
      CHECK(ProfileBuffer(r.list, r.dma, profile) <= network->problem.buffer_bytes);
      CHECK(Latency(r.list, r.dma, scratch) == r.score.latency_cycles);
      int64_t bound = 0;
      REQUIRE(BoundDma(network->problem, r.list, network->problem.buffer_bytes, &arena,
                       &bound) == Status::kOk);
      CHECK(r.score.latency_cycles >= bound);
      if (rounds == 0) constructed = r.score.cost;
      CHECK(r.score.cost <= constructed);
    }
  }
}

}  // namespace
}  // namespace sluice
