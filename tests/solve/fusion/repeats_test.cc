// SPDX-License-Identifier: Apache-2.0
// Repeated blocks: found by the signatures of their layers, scheduled once, and that
// schedule copied to every block.
#include "solve/fusion/repeats.h"

#include <doctest/doctest.h>

#include "plan/fused/fusion_search.h"
#include "support/malloc_allocator.h"
#include "tests/bench/growing_network.h"

namespace sluice {
namespace {

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
    Memory memory(sluice_test::Malloc(), 0);
    Arena arena(&memory);
    Repeats repeats;
    REQUIRE(FindRepeats(network->problem, &arena, &repeats) == Status::kOk);
    INFO(std::string(e.kind));
    REQUIRE(repeats.runs == 1);
    CHECK(repeats.run[0].period == e.period);
    CHECK(repeats.spared + 5 * e.period >= network->layers.size());
    // With a buffer that is large enough, the search uses the repeats.
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
    // After one layer's signature changes, no run of repeats contains that layer.
    network->layers[e.layers / 2].signature += 100;
    REQUIRE(FindRepeats(network->problem, &arena, &repeats) == Status::kOk);
    for (int i = 0; i < repeats.runs; ++i) {
      const uint32_t first = repeats.run[i].first;
      const uint32_t end = first + repeats.run[i].period * repeats.run[i].count;
      CHECK((e.layers / 2 < first || e.layers / 2 >= end));
    }
  }
}

}  // namespace
}  // namespace sluice
