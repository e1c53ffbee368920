// SPDX-License-Identifier: Apache-2.0
// Notations of hand-made fused runs, and of plain layers between them.
#include "plan/fused/notation_writer.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

template <typename T>
std::vector<T> All(Span<const T> span) {
  return std::vector<T>(span.begin(), span.end());
}

// Two layers, 7 and 9 of the graph, in the order 9, 7; cut behind both, in 4 tiles behind
// the second. Transfer 0 is a load that starts at 5, transfer 1 a store that ends at 6.
struct Fused {
  Fused() {
    result.notation = {{order, 2}, {cut, 2}, {tiles, 2}};
    result.dma = {{dma_order, 2}, {start, 2}, {end, 2}};
    transfer[0].kind = kLoadInput;
    transfer[1].kind = kStore;
    result.list.transfers = 2;
    result.list.transfer = {transfer, 2};
    run.layer = {layer, 2};
  }
  uint32_t layer[2] = {7, 9};
  uint32_t order[2] = {1, 0};
  uint8_t cut[2] = {kCutNone, kCutDram};
  int32_t tiles[2] = {3, 4};
  uint32_t dma_order[2] = {1, 0};
  int32_t start[2] = {5, 50}, end[2] = {60, 6};
  DramTensor transfer[2] = {};
  FusionRun run = {};
  FusionResult result;
};

struct Written {
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  NotationWriter writer{&arena};
};

TEST_CASE("plan notation: plain layers are one section, each cut by DRAM") {
  Written w;
  REQUIRE(w.writer.AddPlain({}) == Status::kOk);
  CHECK(w.writer.notation().section.size() == 0);
  const uint32_t layers[] = {3, 4, 6};
  REQUIRE(w.writer.AddPlain({layers, 3}) == Status::kOk);
  const PlanNotation n = w.writer.notation();
  REQUIRE(n.section.size() == 1);
  CHECK(n.section[0].layer == 3);
  CHECK(n.section[0].kind == kPlainSection);
  CHECK(n.section[0].transfers == 0);
  CHECK(All(n.order) == std::vector<uint32_t>{3, 4, 6});
  CHECK(All(n.cut) == std::vector<uint8_t>(3, uint8_t{kCutDram}));
  CHECK(All(n.tiling) == std::vector<int32_t>(3, 0));
  CHECK(All(n.section_buffer) == std::vector<uint32_t>{0});
}

TEST_CASE("plan notation: a fused run by its graph layers, transfers in their order") {
  Written w;
  Fused f;
  const int64_t offsets[] = {0, 64, 192};
  REQUIRE(w.writer.Reserve(3, 6, 4, 6) == Status::kOk);
  REQUIRE(w.writer.AddFused(7, f.run, f.result, {offsets, 3}, kNone) == Status::kOk);
  const int64_t later[] = {8};
  REQUIRE(w.writer.AddFused(17, f.run, f.result, {later, 1}, kNone) == Status::kOk);
  // The third section repeats the first one, so it shares the transfers and buffers.
  REQUIRE(w.writer.AddFused(27, f.run, f.result, {offsets, 3}, 0) == Status::kOk);
  const PlanNotation n = w.writer.notation();
  REQUIRE(n.section.size() == 3);
  CHECK(n.section[0].layer == 7);
  CHECK(n.section[0].kind == kFusedSection);
  CHECK(n.section[0].dram == 0);
  CHECK(n.section[0].transfers == 2);
  CHECK(n.section[1].dram == 2);
  CHECK(n.section[2].layer == 27);
  CHECK(n.section[2].dram == 0);
  CHECK(n.section[2].transfers == 2);
  CHECK(All(n.order) == std::vector<uint32_t>{9, 7, 9, 7, 9, 7});
  CHECK(n.cut[0] == kCutNone);
  CHECK(n.cut[1] == kCutDram);
  // Tiles are noted where a group ends.
  CHECK(All(n.tiling) == std::vector<int32_t>{0, 4, 0, 4, 0, 4});
  REQUIRE(n.dram.size() == 4);
  CHECK(n.dram[0].tensor == 1);
  CHECK(n.dram[0].duration == 6);  // a store: its end
  CHECK(n.dram[1].tensor == 0);
  CHECK(n.dram[1].duration == 5);  // a load: its start
  CHECK(All(n.section_buffer) == std::vector<uint32_t>{0, 3, 0});
  CHECK(All(n.buffer) == std::vector<uint32_t>{0, 64, 192, 8});
}

}  // namespace
}  // namespace sluice
