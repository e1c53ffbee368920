// SPDX-License-Identifier: Apache-2.0
#include "model/dma_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "tests/bench/soma_peer.h"
#include "tests/model/hand_list.h"

namespace sluice {
namespace {

// A random chain of layers without halos, small enough to try every schedule.
struct Tiny {
  explicit Tiny(Rng* rng) : memory(HostAllocator(), 0), arena(&memory) {
    const uint32_t n = 1 + rng->Below(3);
    for (uint32_t i = 0; i < n; ++i) {
      FusionLayer l = {};
      const int32_t extent[4] = {1, 4, 1, 1 + static_cast<int32_t>(rng->Below(8))};
      std::copy(extent, extent + 4, l.extent);
      l.element_bytes = 1;
      l.weight_bytes = rng->Below(3) == 0 ? 0 : 1 + rng->Below(60);
      l.first_input = i;
      l.inputs = 1;
      l.axes = 2;
      l.output = rng->Below(4) == 0;
      layers.push_back(l);
      inputs.push_back({i == 0 ? n : i - 1, 15});
      cycles.push_back(1 + static_cast<int64_t>(rng->Below(12)));
    }
    consumers.resize(n);
    problem.inputs = {inputs.data(), inputs.size()};
    LinkConsumers({layers.data(), n}, problem.inputs, {consumers.data(), n});
    problem.layers = {layers.data(), n};
    problem.consumers = {consumers.data(), n};
    problem.externals = {&external, 1};
    problem.dram_bandwidth = {1 + static_cast<int64_t>(rng->Below(5)), 1};
    problem.dram_latency_cycles = rng->Below(3);
    problem.dram_pj_per_byte = 1;
    model = {this, CutGrid, Need, Cost, kTileShareLoads};
    order.resize(n);
    cut.resize(n);
    tiles.resize(n);
    std::iota(order.begin(), order.end(), 0u);
    for (uint32_t i = 0; i < n; ++i) {
      cut[i] = i == 0 ? uint8_t{kCutDram} : static_cast<uint8_t>(rng->Below(3));
      tiles[i] = 1 + static_cast<int32_t>(rng->Below(2));
    }
    notation = {{order.data(), n}, {cut.data(), n}, {tiles.data(), n}};
    REQUIRE(memo.Init(&arena, model, 64) == Status::kOk);
    REQUIRE(InitParser(&parser, &arena, &problem, &memo, {16, 32}, &list) ==
            Status::kOk);
    REQUIRE(arena.Allocate(32, &dma.order) == Status::kOk);
    REQUIRE(arena.Allocate(32, &dma.start) == Status::kOk);
    REQUIRE(arena.Allocate(32, &dma.end) == Status::kOk);
    REQUIRE(arena.Allocate(64, &seen) == Status::kOk);
    REQUIRE(arena.Allocate(64, &profile) == Status::kOk);
  }
  static void Need(void* user, uint32_t layer, uint32_t, const CutBox& box,
                   CutBox* out) {
    const Tiny& t = *static_cast<Tiny*>(user);
    *out = box;
    out->end[3] = layer == 0 ? t.external.extent[3] : t.layers[layer - 1].extent[3];
  }
  static bool Cost(void* user, uint32_t layer, const int32_t extent[4], TileCost* out) {
    *out = {static_cast<Tiny*>(user)->cycles[layer] * extent[1], 1.0};
    return true;
  }

  // The fastest legal schedule of the parsed tiles: tries every order and every
  // duration.
  int64_t Fastest() {
    best = INT64_MAX;
    const uint32_t m = list.transfers;
    for (uint32_t i = 0; i < m; ++i) {
      dma.start[i] = list.transfer[i].use;
      dma.end[i] = list.transfer[i].end;
    }
    Durations(0);
    return best;
  }
  void Durations(uint32_t i) {
    if (i == list.transfers) {
      if (ProfileBuffer(list, dma, profile) > problem.buffer_bytes) return;
      std::iota(dma.order.begin(), dma.order.begin() + i, 0u);
      do {
        if (CheckDma(list, dma, seen) != DmaFault::kLegal) continue;
        best = std::min(best, Latency(list, dma, seen));
      } while (std::next_permutation(dma.order.begin(), dma.order.begin() + i));
      return;
    }
    const DramTensor& t = list.transfer[i];
    if (t.kind == kStore) {
      for (int32_t e = t.end; e <= static_cast<int32_t>(list.tiles); ++e) {
        dma.end[i] = e;
        Durations(i + 1);
      }
      return;
    }
    for (int32_t s = -1; s <= t.use; ++s) {
      dma.start[i] = s;
      Durations(i + 1);
    }
  }

  FusionExternal external = {{1, 4, 1, 3}, 1};
  std::vector<FusionLayer> layers;
  std::vector<FusionInput> inputs;
  std::vector<uint32_t> consumers;
  std::vector<int64_t> cycles;
  FusionProblem problem = {};
  TileModel model = {};
  std::vector<uint32_t> order;
  std::vector<uint8_t> cut;
  std::vector<int32_t> tiles;
  GroupNotation notation;
  Memory memory;
  Arena arena;
  TileMemo memo;
  Parser parser;
  TileList list;
  DmaNotation dma;
  Span<int32_t> seen;
  Span<int64_t> profile;
  int64_t best = 0;
};

TEST_CASE("bound: never above the fastest of all DRAM orders and durations") {
  Rng rng(11);
  int tried = 0, tight = 0, above_sums = 0;
  double ratio = 0;
  while (tried < 250) {
    Tiny t(&rng);
    if (ParseNotation(&t.parser, t.notation, &t.list) != ParseResult::kOk) continue;
    if (t.list.transfers > 5 || t.list.tiles > 5) continue;
    const int64_t least = ProfileMinimum(t.list, t.profile);
    t.problem.buffer_bytes = least + rng.Below(static_cast<uint32_t>(least));
    const int64_t fastest = t.Fastest();
    int64_t bound = 0;
    REQUIRE(BoundDma(t.problem, t.list, t.problem.buffer_bytes, &t.arena, &bound) ==
            Status::kOk);
    REQUIRE(bound <= fastest);
    REQUIRE(bound >= std::max(t.list.compute_cycles, t.list.dram_cycles));
    ++tried;
    tight += bound == fastest;
    above_sums += bound > std::max(t.list.compute_cycles, t.list.dram_cycles);
    ratio += static_cast<double>(fastest) / static_cast<double>(bound);
  }
  MESSAGE("bound equals the optimum in " << tight << " of " << tried << ", mean ratio "
                                         << ratio / tried);
  CHECK(above_sums > tried / 2);
  CHECK(tight > tried / 4);
}

int64_t BoundOf(HandList* h, int64_t buffer_bytes) {
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  FusionProblem problem = {};
  problem.dram_bandwidth = {2, 1};
  int64_t bound = 0;
  REQUIRE(BoundDma(problem, h->list, buffer_bytes, &arena, &bound) == Status::kOk);
  CHECK(arena.mark().chunk == nullptr);  // scratch is given back
  return bound;
}

TEST_CASE("bound: where all fits, the first load, all tiles and the last store") {
  HandList h = TwoTiles();
  // The first load takes 4, the tiles 10 and 20, the store 5; the load of 6 is hidden.
  CHECK(BoundOf(&h, 1000) == 39);
  CHECK(BoundOf(&h, 25) == 39);  // what the tiles need at least
}

TEST_CASE("bound: what cannot be loaded ahead delays the tile that needs it") {
  HandList h = TwoTiles();
  h.ofmap_bytes[0] = 16;
  h.transfer[0].bytes = h.transfer[0].held = 20;
  h.transfer[0].cycles = 10;
  h.Finish();
  CHECK(BoundOf(&h, 1000) == 10 + 10 + 20 + 5);
  // While tile 0 runs, 2 of 38 bytes are free: the load of 12 waits for its end.
  CHECK(BoundOf(&h, 38) == 10 + 10 + 6 + 20 + 5);
}

TEST_CASE("bound: what is read again has been stored before") {
  HandList h = TwoTiles();
  // Tile 0 stores 10 bytes in 5 cycles; tile 1 loads them again in 6.
  h.transfer[2].use = 0;
  h.transfer[2].end = 1;
  h.transfer[1].after = 2;
  h.Finish();
  CHECK(BoundOf(&h, 1000) == 4 + 10 + 5 + 6 + 20);
}

TEST_CASE("bound: without tiles nothing takes time") {
  HandList h;
  h.Finish();
  CHECK(BoundOf(&h, 1) == 0);
}

}  // namespace
}  // namespace sluice
