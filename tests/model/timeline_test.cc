// SPDX-License-Identifier: Apache-2.0
// Two tiles and their transfers, timed and counted by hand.
#include "model/timeline.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/model/hand_list.h"

namespace sluice {
namespace {

// Tiles with an order and durations of their transfers.
struct Timed {
  HandList tiles = TwoTiles();
  std::vector<uint32_t> order = {0, 1, 2};
  std::vector<int32_t> start = {-1, 1, 1}, end = {1, 2, 2};
  DmaNotation Dma() {
    return {{order.data(), order.size()},
            {start.data(), start.size()},
            {end.data(), end.size()}};
  }
  int64_t Cycles() {
    std::vector<int32_t> due(tiles.list.tiles + 1);
    return Latency(tiles.list, Dma(), {due.data(), due.size()});
  }
  DmaFault Fault(uint32_t* at = nullptr) {
    std::vector<int32_t> seen(tiles.list.transfers);
    return CheckDma(tiles.list, Dma(), {seen.data(), seen.size()}, at);
  }
};

TEST_CASE("timeline: a load that may start earlier hides behind the tile before") {
  Timed t;
  // Load 4, tile 10, load 6, tile 20, store 5.
  CHECK(t.Cycles() == 45);
  t.start[1] = 0;
  CHECK(t.Cycles() == 39);
  // A load of 17 is longer than the tile that hides it: 4 + 17, then tile and store.
  t.tiles.transfer[1].cycles = 17;
  CHECK(t.Cycles() == 4 + 17 + 20 + 5);
  // A store that is due before the next tile delays this tile; any other store is
  // hidden.
  Timed s;
  s.order = {0, 2, 1};
  s.tiles.transfer[2].use = s.start[2] = 0;
  s.start[1] = 0;
  s.tiles.transfer[2].end = s.end[2] = 1;
  CHECK(s.Cycles() == 4 + 10 + 5 + 6 + 20);
  s.order = {0, 1, 2};
  s.end[2] = 2;
  CHECK(s.Cycles() == 4 + 10 + 20);
}

TEST_CASE("timeline: bytes in use before, during and after each tile") {
  Timed t;
  t.start[1] = 0;
  std::vector<int64_t> bytes(4);
  const Span<int64_t> profile(bytes.data(), bytes.size());
  CHECK(ProfileBuffer(t.tiles.list, t.Dma(), profile) == 25);
  CHECK(bytes[0] == 8);
  CHECK(bytes[1] == 8 + 12 + 3);
  CHECK(bytes[2] == 12 + 10 + 3);
  CHECK(ProfileMinimum(t.tiles.list, profile) == 25);
  CHECK(bytes[0] == 0);
  CHECK(bytes[1] == 8 + 3);
  // Bytes already on chip, and bytes that must stay free while a tile runs.
  t.tiles.resident.push_back({100, 1});
  t.tiles.reserve = {0, 1000};
  t.tiles.Finish();
  CHECK(ProfileMinimum(t.tiles.list, profile) == 1025);
  CHECK(bytes[0] == 100);
  CHECK(bytes[1] == 100 + 8 + 3);
  CHECK(bytes[2] == 1000 + 25);
}

TEST_CASE("timeline: energy is the core's and that of all DRAM bytes") {
  Timed t;
  FusionProblem problem = {};
  problem.dram_pj_per_byte = 0.5;
  t.tiles.list.core_pj = 100;
  CHECK(Energy(problem, t.tiles.list) == 100 + 0.5 * (8 + 12 + 10));
}

TEST_CASE("timeline: double buffers start a tile ahead, weights and loads go first") {
  HandList h;
  h.AddTile(1, 0, 1);
  h.AddTile(1, 0, 2);
  h.AddTile(1, 0, 3);
  h.AddTransfer(kStore, 1, 1, 0, 1);
  h.AddTransfer(kLoadInput, 1, 1, 1, 2);
  h.AddTransfer(kLoadWeight, 1, 1, 1, 3);
  h.AddTransfer(kStore, 1, 1, 2, 3);
  h.AddTransfer(kLoadInput, 1, 1, 0, 2);
  h.Finish();
  Timed t;
  t.order.assign(5, 0);
  t.start.assign(5, 0);
  t.end.assign(5, 0);
  DmaNotation dma = t.Dma();
  DoubleBuffer(h.list, &dma);
  CHECK(t.start == std::vector<int32_t>{0, 0, 0, 2, -1});
  CHECK(t.end == std::vector<int32_t>{2, 2, 3, 3, 2});
  // At start 0 the weight comes first although it ends last, then a load, then the
  // store.
  CHECK(t.order == std::vector<uint32_t>{4, 2, 1, 0, 3});
  // A store does not outlast its group.
  h.transfer[0].group_end = 1;
  DoubleBuffer(h.list, &dma);
  CHECK(t.end[0] == 1);
}

TEST_CASE("timeline: what breaks a rule is named with its place in the order") {
  uint32_t at = 9;
  CHECK(Timed().Fault(&at) == DmaFault::kLegal);
  CHECK(at == 9);
  const auto with = [&at](void (*spoil)(Timed*)) {
    Timed t;
    spoil(&t);
    return t.Fault(&at);
  };
  CHECK(with([](Timed* t) { t->order[2] = 0; }) == DmaFault::kOrder);
  CHECK(at == 2);
  CHECK(with([](Timed* t) { t->order[1] = 3; }) == DmaFault::kOrder);
  CHECK(at == 1);
  CHECK(with([](Timed* t) {
          t->tiles.transfer[1].previous = 0;
          t->order = {1, 0, 2};
        }) == DmaFault::kOrder);
  CHECK(at == 0);
  const DmaFault duration = DmaFault::kDuration;
  CHECK(with([](Timed* t) { t->start[1] = 2; }) == duration);
  CHECK(at == 1);
  CHECK(with([](Timed* t) { t->start[0] = -2; }) == duration);
  CHECK(with([](Timed* t) { t->end[1] = 1; }) == duration);
  CHECK(with([](Timed* t) { t->start[2] = 0; }) == duration);
  CHECK(with([](Timed* t) { t->end[2] = 3; }) == duration);
  CHECK(at == 2);
  CHECK(with([](Timed* t) {
          t->tiles.transfer[1].previous = 0;
          t->start = {0, -1, 1};
        }) == duration);
  // Tile 1 reads what tile 0 stores: after the store, and not before tile 0 has run.
  const auto again = [](Timed* t) {
    t->tiles.transfer[2].use = t->start[2] = 0;
    t->tiles.transfer[1].after = 2;
    t->order = {0, 2, 1};
  };
  CHECK(with(again) == DmaFault::kLegal);
  Timed early;
  again(&early);
  early.start[1] = -1;
  CHECK(early.Fault(&at) == DmaFault::kSource);
  CHECK(at == 2);
  early.order = {0, 1, 2};
  CHECK(early.Fault(&at) == DmaFault::kSource);
  CHECK(at == 1);
  // A deadlock: the store waits for tile 1, tile 1 for the load, the load for the
  // store.
  CHECK(with([](Timed* t) { t->order = {0, 2, 1}; }) == DmaFault::kBlocked);
  CHECK(at == 2);
}

}  // namespace
}  // namespace sluice
