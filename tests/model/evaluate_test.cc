// SPDX-License-Identifier: Apache-2.0
// A given schedule: two ways to its numbers.
#include "model/evaluate.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/rng.h"
#include "model/dma_bound.h"
#include "tests/solve/fusion/evaluation.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

sluice_timed_schedule_t Resolve(const FusionProblem& problem, const TileList& list,
                                const DmaNotation& dma,
                                std::vector<sluice_timed_tile_t>* tiles,
                                std::vector<sluice_timed_transfer_t>* transfers) {
  std::vector<uint32_t> place(list.transfers);
  for (uint32_t i = 0; i < list.transfers; ++i) place[dma.order[i]] = i;
  for (uint32_t p = 0; p < list.tiles; ++p) {
    tiles->push_back({list.cycles[p], p == 0 ? list.core_pj : 0, list.ofmap_bytes[p],
                      list.ofmap_end[p],
                      list.store[p] == kNone ? kNone : place[list.store[p]]});
  }
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = dma.order[i];
    const DramTensor& t = list.transfer[id];
    transfers->push_back({t.bytes, t.held, 0, static_cast<uint32_t>(t.kind),
                          t.after == kNone ? kNone : place[t.after], t.use,
                          dma.start[id], dma.end[id], 0});
  }
  sluice_timed_schedule_t s = {};
  s.struct_size = sizeof s;
  s.tiles = list.tiles;
  s.transfers = list.transfers;
  s.tile = tiles->data();
  s.transfer = transfers->data();
  s.bandwidth_bytes = problem.dram_bandwidth.numerator;
  s.bandwidth_cycles = problem.dram_bandwidth.denominator;
  s.latency_cycles = problem.dram_latency_cycles;
  s.dram_pj_per_byte = problem.dram_pj_per_byte;
  s.buffer_bytes = problem.buffer_bytes;
  return s;
}

void CheckSame(const sluice_evaluation_t& a, const sluice_evaluation_t& b) {
  CHECK(a.fault == b.fault);
  CHECK(a.latency_cycles == b.latency_cycles);
  CHECK(a.bound_cycles == b.bound_cycles);
  CHECK(a.peak_buffer_bytes == b.peak_buffer_bytes);
  CHECK(a.average_buffer_bytes == b.average_buffer_bytes);
  CHECK(a.energy_pj == b.energy_pj);
  CHECK(a.load_bytes == b.load_bytes);
  CHECK(a.store_bytes == b.store_bytes);
}

TEST_CASE("evaluate: notation, resolved tiles and the search's timeline agree") {
  Small s;
  Rng rng(3);
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  TileMemo memo;
  Parser parser;
  DmaLister lister;
  TileList list;
  DmaNotation dma;
  Span<int32_t> due;
  REQUIRE(memo.Init(&arena, s.model, 256) == Status::kOk);
  REQUIRE(InitParser(&parser, &arena, &s.problem, &memo, {512, 1024}, &list) ==
          Status::kOk);
  REQUIRE(InitDmaLister(&arena, 512, 1024, &lister) == Status::kOk);
  REQUIRE(arena.Allocate(1024, &dma.order) == Status::kOk);
  REQUIRE(arena.Allocate(1024, &dma.start) == Status::kOk);
  REQUIRE(arena.Allocate(1024, &dma.end) == Status::kOk);
  REQUIRE(arena.Allocate(1024, &due) == Status::kOk);
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  std::vector<uint8_t> cut(5, kCutDram);
  std::vector<int32_t> tiles(5);
  int legal = 0;
  for (int round = 0; round < 1000; ++round) {
    for (size_t i = 0; i < 5; ++i) {
      if (i != 0) cut[i] = static_cast<uint8_t>(rng.Below(3));
      tiles[i] = 1 + static_cast<int32_t>(rng.Below(6));
    }
    const GroupNotation g = {{order.data(), 5}, {cut.data(), 5}, {tiles.data(), 5}};
    sluice_notation_t given = {};
    given.layers = 5;
    given.order = order.data();
    given.cuts = cut.data();
    given.tiles = tiles.data();
    sluice_evaluation_t e = {};
    Diagnostic diagnostic = {};
    REQUIRE(EvaluateNotation(s.problem, s.model, given, &arena, &e, &diagnostic) ==
            Status::kOk);
    if (ParseNotation(&parser, g, &list) != ParseResult::kOk) {
      REQUIRE(e.fault == SLUICE_SCHEDULE_TILES);
      continue;
    }
    REQUIRE(e.fault == SLUICE_SCHEDULE_LEGAL);
    const uint32_t policy = rng.Below(kDmaPolicies);
    const int64_t latency =
        ListTransfers(&lister, list, s.problem.buffer_bytes, policy, &dma);
    REQUIRE(e.latency_cycles <= latency);  // the best policy of all
    sluice_notation_t exported;
    ArenaScope scope(&arena);
    REQUIRE(ExportNotation(g, list, dma, &arena, &exported) == Status::kOk);
    std::vector<int64_t> tile_begin(list.tiles), transfer_begin(list.transfers);
    std::vector<int64_t> buffer(list.tiles + 1);
    e.tile_begin = tile_begin.data();
    e.transfer_begin = transfer_begin.data();
    e.buffer_bytes = buffer.data();
    REQUIRE(EvaluateNotation(s.problem, s.model, exported, &arena, &e, &diagnostic) ==
            Status::kOk);
    REQUIRE(e.fault == SLUICE_SCHEDULE_LEGAL);
    REQUIRE(e.latency_cycles == latency);
    REQUIRE(e.bound_cycles <= latency);
    REQUIRE(*std::max_element(buffer.begin(), buffer.end()) == e.peak_buffer_bytes);
    for (uint32_t p = 1; p < list.tiles; ++p) {
      REQUIRE(tile_begin[p] >= tile_begin[p - 1] + list.cycles[p - 1]);
    }
    for (uint32_t i = 0; i < list.transfers; ++i) {
      const DramTensor& t = list.transfer[dma.order[i]];
      if (t.kind == kStore) continue;
      REQUIRE(transfer_begin[i] + t.cycles <= tile_begin[static_cast<size_t>(t.use)]);
    }
    std::vector<sluice_timed_tile_t> timed_tiles;
    std::vector<sluice_timed_transfer_t> timed_transfers;
    const auto timed = Resolve(s.problem, list, dma, &timed_tiles, &timed_transfers);
    sluice_evaluation_t f = {};
    REQUIRE(EvaluateTimed(timed, &arena, &f, &diagnostic) == Status::kOk);
    CheckSame(e, f);
    ++legal;
  }
  CHECK(legal > 300);
}

TEST_CASE("evaluate: what breaks a rule is named, what is no schedule is refused") {
  Small s;
  Memory memory(HostAllocator(), 0);
  Arena arena(&memory);
  Diagnostic diagnostic = {};
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  std::vector<uint8_t> cut = {kCutDram, kCutNone, kCutNone, kCutNone, kCutNone};
  std::vector<int32_t> tiles = {1, 1, 1, 1, 1};
  sluice_notation_t n = {};
  n.layers = 5;
  n.order = order.data();
  n.cuts = cut.data();
  n.tiles = tiles.data();
  sluice_evaluation_t e = {};
  const auto evaluate = [&] {
    return EvaluateNotation(s.problem, s.model, n, &arena, &e, &diagnostic);
  };
  REQUIRE(evaluate() == Status::kOk);
  CHECK(e.fault == SLUICE_SCHEDULE_LEGAL);
  s.problem.buffer_bytes = e.peak_buffer_bytes / 8;
  REQUIRE(evaluate() == Status::kOk);
  CHECK(e.fault == SLUICE_SCHEDULE_BUFFER);
  CHECK(e.peak_buffer_bytes > s.problem.buffer_bytes);
  std::swap(order[2], order[3]);
  REQUIRE(evaluate() == Status::kOk);
  CHECK(e.fault == SLUICE_SCHEDULE_ORDER);
  order[2] = order[3];
  CHECK(evaluate() == Status::kBadArgument);
  order = {0, 1, 2, 3, 4};
  tiles[0] = 1 << 20;
  REQUIRE(evaluate() == Status::kOk);
  CHECK(e.fault == SLUICE_SCHEDULE_TILES);
  tiles[0] = 1;
  cut[0] = kCutFine;
  CHECK(evaluate() == Status::kBadArgument);
  cut[0] = kCutDram;
  n.transfers = 1;
  CHECK(evaluate() == Status::kBadArgument);
  const sluice_dram_tensor_t wrong = {SLUICE_DRAM_STORE, 1, 0, 0, 0, 1};
  n.dram = &wrong;
  REQUIRE(evaluate() == Status::kOk);
  CHECK(e.fault == SLUICE_SCHEDULE_ORDER);
}

TEST_CASE("evaluate: the peer's final schedules, by name of their DRAM tensors") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/schedules")) {
    std::ifstream in(entry.path());
    const Json j = Json::parse(in);
    const auto network =
        ReadPeerNetwork(folder, j["network"], j["batch"], j["platform"]);
    INFO(entry.path().string());
    Evaluation b(network.get());
    b.Read(j);
    REQUIRE(ParseNotation(&b.parser, b.notation, &b.list) == ParseResult::kOk);
    int64_t bound = 0;
    REQUIRE(BoundDma(network->problem, b.list, network->problem.buffer_bytes, &b.arena,
                     &bound) == Status::kOk);
    const int64_t peer = j["latency_cycles"];
    const int64_t ideal = std::max(b.list.compute_cycles, b.list.dram_cycles);
    MESSAGE(entry.path().stem().string()
            << ": peer " << peer << ", bound " << bound << ", sums " << ideal);
    CHECK(bound <= peer);
    CHECK(bound >= ideal);
  }
}

}  // namespace
}  // namespace sluice
