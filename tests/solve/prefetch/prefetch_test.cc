// SPDX-License-Identifier: Apache-2.0
#include "solve/prefetch/prefetch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "tests/model/hand_list.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// A DRAM notation of a list with room for its evaluation.
struct Durations {
  const TileList& list;
  std::vector<uint32_t> order;
  std::vector<int32_t> start, end, seen, due;
  std::vector<int64_t> use;
  DmaNotation dma;

  explicit Durations(const TileList& l)
      : list(l),
        order(l.transfers),
        start(l.transfers),
        end(l.transfers),
        seen(l.transfers),
        due(l.tiles + 1),
        use(l.tiles + 2) {
    dma = {{order.data(), order.size()},
           {start.data(), start.size()},
           {end.data(), end.size()}};
    DoubleBuffer(list, &dma);
  }
  bool Legal(int64_t buffer) {
    return CheckDma(list, dma, {seen.data(), seen.size()}) == DmaFault::kLegal &&
           Peak() <= buffer;
  }
  int64_t Peak() { return ProfileBuffer(list, dma, {use.data(), use.size()}); }
  int64_t Cycles() { return Latency(list, dma, {due.data(), due.size()}); }
  // Bytes in use, weighted by the tiles' cycles.
  double Average() {
    Peak();
    double sum = 0;
    for (uint32_t p = 0; p < list.tiles; ++p) {
      sum += static_cast<double>(use[p + 1]) * static_cast<double>(list.cycles[p]);
    }
    return sum / static_cast<double>(list.compute_cycles);
  }

  // Tries every order, start and end. Keeps the least cycles and, among plans with these,
  // the least average of bytes in use.
  int64_t best = INT64_MAX;
  double best_average = 0;
  void TryAll(int64_t buffer, uint32_t i = 0) {
    if (i < list.transfers) {
      const DramTensor& t = list.transfer[i];
      const int32_t tiles = static_cast<int32_t>(list.tiles);
      int32_t* moved = t.kind == kStore ? &end[i] : &start[i];
      const int32_t last = t.kind == kStore ? tiles : t.use;
      for (*moved = t.kind == kStore ? t.end : -1; *moved <= last; ++*moved) {
        TryAll(buffer, i + 1);
      }
      return;
    }
    std::sort(order.begin(), order.end());
    do {
      if (!Legal(buffer)) continue;
      const int64_t cycles = Cycles();
      if (cycles > best || (cycles == best && Average() >= best_average)) continue;
      best = cycles;
      best_average = Average();
    } while (std::next_permutation(order.begin(), order.end()));
  }
};

// Four tiles; a load for each, that of the first for two tiles, and a store.
HandList RandomList(Rng* rng) {
  HandList h;
  for (int p = 0; p < 4; ++p) h.AddTile(1 + rng->Below(20), rng->Below(4), 4);
  for (int32_t p = 0; p < 4; ++p) {
    h.AddTransfer(kLoadInput, 1 + rng->Below(9), 1 + rng->Below(25), p,
                  p == 0 ? 2 : p + 1);
    if (p == 1) h.AddTransfer(kStore, 1 + rng->Below(9), 1 + rng->Below(25), p, p + 1);
  }
  h.Finish();
  return h;
}

Status Refine(const HandList& h, int64_t buffer, const PrefetchOptions& options,
              Durations* d, PrefetchResult* result) {
  Scratch scratch;
  Budget budget;
  return RefineDma(h.list, buffer, options, Workspace{&budget, &scratch.arena, nullptr},
                   &d->dma, result);
}

TEST_CASE("prefetch: four tiles, every order and duration: the fastest is found") {
  Rng rng(5);
  int gains = 0, leaner = 0, leanest = 0, tight = 0, missed = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const HandList h = RandomList(&rng);
    Durations d(h.list), all(h.list);
    const int64_t buffer = d.Peak() + rng.Below(3);
    const int64_t before = d.Cycles();
    all.TryAll(buffer);
    Durations unlimited(h.list);
    unlimited.TryAll(INT64_MAX);
    tight += unlimited.best < all.best;
    PrefetchOptions options;
    PrefetchResult result;
    REQUIRE(Refine(h, buffer, options, &d, &result) == Status::kOk);
    CHECK(d.Legal(buffer));
    CHECK(d.Cycles() == result.latency_cycles);
    CHECK(result.latency_cycles >= all.best);
    CHECK(result.average_bytes == doctest::Approx(d.Average()));
    missed += result.latency_cycles > all.best;
    gains += all.best < before;
    const int64_t cycles = d.Cycles();
    const double unbalanced = d.Average();
    options.rounds = 1;
    options.balance_rounds = 5000;
    REQUIRE(Refine(h, buffer, options, &d, &result) == Status::kOk);
    CHECK(d.Legal(buffer));
    CHECK(d.Cycles() == result.latency_cycles);
    CHECK(result.latency_cycles <= cycles);
    CHECK(result.average_bytes == doctest::Approx(d.Average()));
    if (cycles == all.best) CHECK(d.Average() >= all.best_average - 1e-9);
    leaner += d.Average() < unbalanced;
    leanest += d.Average() <= all.best_average + 1e-9;
  }
  CHECK(gains > 20);
  CHECK(tight > 10);   // the buffer matters
  CHECK(missed <= 1);  // a random walk that misses the fastest at most once
  CHECK(leaner > 5);
  CHECK(leanest > 45);  // the walk keeps only better averages, so it misses some
}

TEST_CASE("prefetch: an illegal or too large notation is refused and left as it was") {
  const HandList h = TwoTiles();
  PrefetchResult result;
  Durations d(h.list);
  CHECK(Refine(h, d.Peak() - 1, PrefetchOptions(), &d, &result) == Status::kBadInput);
  std::swap(d.order[0], d.order[2]);  // the store before the loads of its tile
  CHECK(Refine(h, 1000, PrefetchOptions(), &d, &result) == Status::kBadInput);
  CHECK(d.order[0] == 2);
}

}  // namespace
}  // namespace sluice
