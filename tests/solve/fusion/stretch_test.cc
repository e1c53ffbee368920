// SPDX-License-Identifier: Apache-2.0
// Stretches of a scheme as problems of their own.
#include "solve/fusion/stretch.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "support/malloc_allocator.h"
#include "tests/bench/growing_network.h"

namespace sluice {
namespace {

struct Opened {
  explicit Opened(const GrowingNetwork& network)
      : memory(sluice_test::Malloc(), 0), arena(&memory) {
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
    if (i != 0)
      SetCut(&s->draft, i, draw < dram ? kCutDram : draw < 50 ? kCutFine : kCutNone);
    SetTiles(&s->draft, i, 1 << rng->Below(3));
    KeepChanges(&s->draft);
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
      int64_t highest = 0;  // buffer use during the stretch, in the whole scheme
      for (uint32_t p = 0; p < o.scheme.list().tiles; ++p) {
        const uint32_t at = o.index.position[o.scheme.list().layer[p]];
        if (at >= first && at < last) highest = std::max(highest, o.scheme.Use(p));
      }
      const int64_t passing =
          network->problem.buffer_bytes - part.window.problem.buffer_bytes;
      // The stretch counts the bytes that are on chip before its first tile, so its use
      // is at least that of the whole scheme.
      CHECK(alone.minimum_bytes + passing >= highest);
      // Changes of fine cuts and tiling numbers inside are predicted exactly.
      Scheme* s = &part.scheme;
      for (uint32_t i = 0; i < s->layers(); ++i) {
        if (i != 0 && s->notation().cut[i] != kCutDram) {
          SetCut(&s->draft, i, rng.Below(2) != 0 ? kCutFine : kCutNone);
        }
        SetTiles(&s->draft, i, 1 << rng.Below(3));
      }
      KeepChanges(&s->draft);
      const SchemeScore changed = s->Bound();
      if (changed.parsed != ParseResult::kOk) continue;
      WriteBack(part, &o.scheme);
      const SchemeScore after = o.scheme.Bound();
      REQUIRE(after.parsed == ParseResult::kOk);
      INFO(kind << " " << round << " " << first << " " << last);
      CHECK(after.cost == doctest::Approx(changed.cost).epsilon(1e-9));
      ++compared;
      KeepChanges(&o.scheme.draft);
    }
    CHECK(compared > 50);
  }
}

}  // namespace
}  // namespace sluice
