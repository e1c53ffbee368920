// SPDX-License-Identifier: Apache-2.0
// A fused chain as buffers, and as the steps of a program.
#include "solve/fusion/fused_program.h"

#include <doctest/doctest.h>

#include "plan/fused/place_section.h"
#include "tests/plan/fused/placed_run.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::SearchedRun;

TEST_CASE(
    "fused program: every tile and load has a buffer that lives while it is used") {
  const SearchedRun s(Chain(4));
  const FusedBuffers& b = s.section.buffers;
  const TileList& list = s.section.result.list;
  REQUIRE(b.of_tile.size() >= list.tiles);
  for (uint32_t p = 0; p < list.tiles; ++p) {
    const uint32_t buffer = b.of_tile[p];
    REQUIRE(buffer < b.ranges.size());
    // Live ranges count time as tile position + 1.
    CHECK(b.ranges[buffer].begin <= int64_t{p} + 1);
    CHECK(b.ranges[buffer].end > int64_t{p} + 1);
    CHECK(b.frame[buffer].extent[3] == 4);
  }
  for (uint32_t d = 0; d < list.transfers; ++d) {
    if (list.transfer[d].kind == kStore) continue;
    const uint32_t buffer = b.of_transfer[d];
    REQUIRE(buffer < b.ranges.size());
    CHECK(b.ranges[buffer].begin <= int64_t{list.transfer[d].use} + 1);
    CHECK(b.ranges[buffer].end > int64_t{list.transfer[d].use} + 1);
  }
}

TEST_CASE("fused program: in one group all but the last layer stay on chip") {
  const SearchedRun s(Chain(4));
  REQUIRE(s.section.result.list.groups == 1);
  for (uint32_t l = 0; l < 4; ++l) {
    CHECK(StaysOnChip(s.section.run, s.section.buffers, l) == (l < 3));
    CHECK(s.section.buffers.group_of[l] == 0);
  }
}

TEST_CASE("fused program: a block per group, a step per tile and transfer") {
  SearchedRun s(Chain(4));
  REQUIRE(PlaceOrTighten(&s.section, 1 << 16, &s.budget, &s.n.arena) == Status::kOk);
  Arena arena(&s.n.memory), scratch(&s.n.memory);
  Program program(&arena, s.n.hardware);
  REQUIRE(AppendFused(s.section.run, s.lowering,
                      {s.section.result, s.section.buffers, s.section.offsets},
                      &scratch, &program) == Status::kOk);
  const TileList& list = s.section.result.list;
  CHECK(program.block_count() == list.groups);
  uint32_t tiles = 0, moves = 0;
  for (uint32_t i = 0; i < program.size(); ++i) {
    (program.step(i).kind == StepKind::kCompute ? tiles : moves) += 1;
  }
  CHECK(tiles == list.tiles);
  CHECK(moves == list.transfers);
}

}  // namespace
}  // namespace sluice
