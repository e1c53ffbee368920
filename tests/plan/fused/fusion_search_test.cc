// SPDX-License-Identifier: Apache-2.0
// Both stages of the fused search, in networks of many layers.
#include "plan/fused/fusion_search.h"

#include <doctest/doctest.h>

#include "model/dma_bound.h"
#include "support/malloc_allocator.h"
#include "tests/bench/growing_network.h"

namespace sluice {
namespace {

TEST_CASE("fusion: thousands of layers, legal, never past the bound, better annealed") {
  for (const char* kind : {"chain", "dag", "transformer", "residual"}) {
    const auto network = MakeGrowingNetwork(kind, 700);
    Memory memory(sluice_test::Malloc(), 0);
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
