// SPDX-License-Identifier: Apache-2.0
// What tiles cost on Gemmini, and what plans by these costs move.
#include "bindings/targets/gemmini/sluice_gemmini_cost.h"

#include <doctest/doctest.h>

#include "support/library.h"
#include "targets/gemmini/runs.h"
#include "targets/layers.h"

namespace gemmini_model {
namespace {

using target_test::Conv;
using target_test::Graph;

int64_t Cycles(const Conv& layer, const int32_t (&extent)[4], int32_t channels) {
  sluice_test::Library library;
  const auto graph = library.Graph(Graph(layer));
  REQUIRE(graph != nullptr);
  sluice_tile_cost_t cost = {};
  if (sluice_gemmini_tile_cost(graph.get(), 0, extent, channels, &cost) != 1) return 0;
  return cost.cycles;
}

// A product of ViT: more sums than the accumulators hold, more input than the rows.
const Conv kDown = {SLUICE_OP_FULLY_CONNECTED,
                    {1, 1, 197, 3072},
                    {768, 3072},
                    {1, 1, 197, 768},
                    0,
                    0,
                    0,
                    0,
                    0};

}  // namespace

TEST_CASE("targets: Gemmini's tiles cost passes, and the way of sums out") {
  // Each block of weights waits four cycles for its bank, each part 48 for what the array is
  // filled with and drained of; sums leave at 16 bytes a cycle, 40 after the first.
  const auto passes = [](int64_t pixels, int64_t blocks) {
    return blocks * (pixels * 16 + 4);
  };
  // 13 x 5 sums of 16 x 16 stay until the last slice; 13 x 6 leave after each, and the host
  // adds: eight bytes each, in two parts.
  CHECK(Cycles(kDown, {1, 1, 197, 80}, 1024) ==
        passes(13, 5 * 64) + 48 + (197 * 80 * 4 / 16 + 40) / 3);
  CHECK(Cycles(kDown, {1, 1, 197, 96}, 1024) ==
        passes(13, 6 * 64) + 2 * 48 + 197 * 96 * 8 / 16 + 2 * 40);
  CHECK(Cycles(kDown, {1, 1, 197, 96}, 3072) ==
        passes(13, 6 * 192) + 2 * 48 + 197 * 96 * 4 / 16 + 2 * 40);
  const Conv first = {
      SLUICE_OP_CONV, {1, 28, 28, 3}, {32, 7, 7, 3}, {1, 14, 14, 32}, 2, 1, 3, 1, 4};
  CHECK(Cycles(first, {1, 14, 14, 32}, 3) ==
        passes(13, 2 * 7 * 2) + 48 + 196 * 32 * 4 / 16 + 40);  // 5 positions a row
  // Two positions of 8 channels are a block, of 9 not; and a product has no positions.
  for (const int32_t c : {8, 9, 32}) {
    Conv few = first;
    few.input.back() = few.weight.back() = c;
    CHECK(Cycles(few, {1, 14, 14, 32}, c) ==
          passes(13, 2 * 7 * (c == 8 ? 4 : 7) * (c == 32 ? 2 : 1)) + 48 +
              196 * 32 * 4 / 16 + 40);
  }
  const Conv small = {
      SLUICE_OP_FULLY_CONNECTED, {1, 1, 16, 3}, {16, 3}, {1, 1, 16, 16}, 0, 0, 0, 0, 0};
  CHECK(Cycles(small, {1, 1, 16, 16}, 3) == passes(1, 1) + 48 + 16 * 16 * 4 / 16 + 40);
  // 1,024 rows of sums stay.
  const Conv full = {SLUICE_OP_FULLY_CONNECTED,
                     {1, 1, 256, 64},
                     {64, 64},
                     {1, 1, 256, 64},
                     0,
                     0,
                     0,
                     0,
                     0};
  CHECK(Cycles(full, {1, 1, 256, 64}, 16) ==
        passes(16, 4) + 48 + (256 * 64 * 4 / 16 + 40) / 4);
  const Conv deep = {SLUICE_OP_DEPTHWISE_CONV,
                     {1, 14, 14, 32},
                     {1, 3, 3, 32},
                     {1, 14, 14, 32},
                     1,
                     1,
                     1,
                     0,
                     4};
  CHECK(Cycles(deep, {1, 14, 14, 32}, 32) ==
        passes(13, 2 * 9) + 48 + 196 * 32 * 4 / 16 + 40);
  Conv other = first;
  other.dtype = SLUICE_DTYPE_UINT8;
  CHECK(Cycles(other, {1, 14, 14, 32}, 3) == 0);
}

TEST_CASE("targets: plans by Gemmini's costs keep sums in the accumulators") {
  const Bytes graph = Graph(kDown);
  const auto run = [&](sluice_tile_cost_fn tile_cost) {
    sluice_test::Library library;
    const auto handle = library.Graph(graph);
    const auto hardware = library.Hardware(sluice::presets::LoadPreset(kPreset));
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.tile_cost = tile_cost;
    options.tile_cost_user = handle.get();
    sluice_plan_t* plan = nullptr;
    REQUIRE(sluice_schedule(library.context.get(), handle.get(), hardware.get(),
                            &options, &plan, &library.diagnostic) == SLUICE_OK);
    const BoardResult result = RunBoard(
        graph, sluice_test::BytesOf(sluice_test::PlanPtr(plan)), 1, Late::kStores);
    CHECK_MESSAGE(result.error.empty(), result.error);
    CHECK(result.output_fnv1a == target_test::Expected(graph, 1));
    return result.counts.sum_bytes;
  };
  CHECK(run(sluice_gemmini_tile_cost) == 197 * 768 * 4);
  CHECK(run(nullptr) > 2 * 197 * 768 * 4);
}

}  // namespace gemmini_model
