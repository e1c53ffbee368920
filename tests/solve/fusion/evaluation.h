// SPDX-License-Identifier: Apache-2.0
// Shared by the fusion tests: arrays for one evaluation, and readers of oracle files.
#ifndef SLUICE_TESTS_SOLVE_FUSION_EVALUATION_H_
#define SLUICE_TESTS_SOLVE_FUSION_EVALUATION_H_

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/dma_list.h"
#include "model/timeline.h"
#include "tests/bench/soma_peer.h"

namespace sluice {

using Json = nlohmann::json;

// "tiles_resnet50_b1_edge.csv" -> network, batch, platform.
struct Case {
  std::string path, network, platform;
  int32_t batch;
};
inline std::vector<Case> Cases(const std::string& folder, const std::string& prefix) {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().stem().string();
    if (name.rfind(prefix, 0) != 0) continue;
    name.erase(0, prefix.size());
    const size_t at_platform = name.rfind('_');
    const size_t at_batch = name.rfind('_', at_platform - 1);
    cases.push_back({entry.path().string(), name.substr(0, at_batch),
                     name.substr(at_platform + 1),
                     std::stoi(name.substr(at_batch + 2, at_platform - at_batch - 2))});
  }
  return cases;
}

// Everything an evaluation needs, with room for the largest oracle entries.
struct Evaluation {
  explicit Evaluation(PeerNetwork* network)
      : memory(HostAllocator(), 0), arena(&memory) {
    const size_t n = network->layers.size();
    REQUIRE(memo.Init(&arena, network->model, 1 << 14) == Status::kOk);
    REQUIRE(InitParser(&parser, &arena, &network->problem, &memo, {kTiles, kTransfers},
                       &list) == Status::kOk);
    REQUIRE(arena.Allocate(n, &notation.order) == Status::kOk);
    REQUIRE(arena.Allocate(n, &notation.cut) == Status::kOk);
    REQUIRE(arena.Allocate(n, &notation.tiles) == Status::kOk);
    REQUIRE(arena.Allocate(kTransfers, &dma.order) == Status::kOk);
    REQUIRE(arena.Allocate(kTransfers, &dma.start) == Status::kOk);
    REQUIRE(arena.Allocate(kTransfers, &dma.end) == Status::kOk);
    REQUIRE(arena.Allocate(kTiles + 2, &due) == Status::kOk);
    REQUIRE(arena.Allocate(kTransfers, &seen) == Status::kOk);
    REQUIRE(InitDmaLister(&arena, kTiles, kTransfers, &lister) == Status::kOk);
    REQUIRE(arena.Allocate(kTiles + 2, &profile) == Status::kOk);
  }
  void Read(const Json& j) {
    const size_t n = notation.order.size();
    for (size_t i = 0; i < n; ++i) notation.order[i] = j["order"][i];
    for (size_t i = 0; i < n; ++i) notation.cut[i] = kCutNone;
    for (size_t i : j["flg_extra"]) notation.cut[i] = kCutFine;
    for (size_t i : j["lg"]) notation.cut[i] = kCutDram;
    size_t group = 0;
    for (size_t i = 0; i < n; ++i) {
      if (notation.cut[i] != kCutNone) notation.tiles[i] = j["tiles"][group++];
    }
    REQUIRE(group == j["tiles"].size());
  }

  static constexpr uint32_t kTiles = 1 << 15;
  static constexpr uint32_t kTransfers = 1 << 15;
  Memory memory;
  Arena arena;
  TileMemo memo;
  Parser parser;
  DmaLister lister;
  TileList list;
  GroupNotation notation;
  DmaNotation dma;
  Span<int32_t> due, seen;
  Span<int64_t> profile;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_FUSION_EVALUATION_H_
