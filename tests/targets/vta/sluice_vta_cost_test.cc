// SPDX-License-Identifier: Apache-2.0
// What tiles cost on VTA, and that plans by these costs run there.
#include "bindings/targets/vta/sluice_vta_cost.h"

#include <doctest/doctest.h>

#include "presets/presets.h"
#include "support/library.h"
#include "targets/layers.h"
#include "targets/vta/runs.h"

namespace vta_test {
namespace {

using target_test::Conv;
using target_test::Graph;

int64_t Cycles(const sluice_test::Bytes& bytes, const int32_t (&extent)[4],
               int32_t channels) {
  sluice_test::Library library;
  const auto graph = library.Graph(bytes);
  REQUIRE(graph != nullptr);
  sluice_tile_cost_t cost = {};
  if (sluice_vta_tile_cost(graph.get(), 0, extent, channels, &cost) != 1) return 0;
  return cost.cycles;
}

// Sums leave as four planes of 16 bytes at 8 a cycle, after four operations of two cycles
// each; a part waits for four STOREs and two LOADs of 32 cycles.
int64_t Way(int64_t sums, int64_t parts) { return sums * 16 + parts * 4 * 32; }

}  // namespace

TEST_CASE("vta: tiles cost products, operations on sums, and their way out") {
  Conv conv = {
      SLUICE_OP_CONV, {1, 14, 14, 40}, {33, 3, 3, 40}, {1, 14, 14, 33}, 1, 1, 1, 1, 4};
  CHECK(Cycles(Graph(conv), {1, 14, 14, 33}, 40) == 588 * 9 * 3 + Way(588, 1) + 64);
  // A slice of the channels leaves its sums where they are.
  CHECK(Cycles(Graph(conv), {1, 14, 14, 33}, 16) ==
        588 * 9 + Way(588, 1) * 16 / 40 + 64);
  conv.weight_zero = 3;  // nine bits: twice
  CHECK(Cycles(Graph(conv), {1, 14, 14, 33}, 40) == 588 * 9 * 3 * 2 + Way(588, 1) + 64);
  const Conv groups = {
      SLUICE_OP_CONV, {1, 8, 8, 64}, {96, 1, 1, 16}, {1, 8, 8, 96}, 1, 1, 0, 4, 0};
  CHECK(Cycles(Graph(groups), {1, 8, 8, 96}, 16) == 64 * 6 + Way(64 * 6, 1) + 64);
  const Conv deep = {SLUICE_OP_DEPTHWISE_CONV,
                     {1, 8, 8, 64},
                     {1, 3, 3, 64},
                     {1, 8, 8, 64},
                     1,
                     1,
                     1,
                     0,
                     0};
  CHECK(Cycles(Graph(deep), {1, 8, 8, 64}, 64) == 64 * 4 * 9 + Way(64 * 4, 1) + 64);
  // One sum keeps the core waiting: as four.
  const Conv one = {
      SLUICE_OP_FULLY_CONNECTED, {1, 1, 1, 64}, {16, 64}, {1, 1, 1, 16}, 0, 0, 0, 0, 0};
  CHECK(Cycles(Graph(one), {1, 1, 1, 16}, 64) == 4 * 4 + Way(1, 1) + 64);
  const Conv large = {SLUICE_OP_FULLY_CONNECTED,
                      {1, 1, 100, 64},
                      {400, 64},
                      {1, 1, 100, 400},
                      0,
                      0,
                      0,
                      0,
                      0};
  CHECK(Cycles(Graph(large), {1, 1, 100, 400}, 64) == 2500 * 4 + Way(2500, 2) + 2 * 64);
}

TEST_CASE("vta: plans by the costs of tiles give the bytes of the untiled run") {
  const sluice_test::Bytes graph = target_test::OwnModel();
  sluice_test::Library library;
  const auto handle = library.Graph(graph);
  const auto hardware = library.Hardware(sluice::presets::LoadPreset(kPreset));
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.tile_cost = sluice_vta_tile_cost;
  options.tile_cost_user = handle.get();
  sluice_plan_t* made = nullptr;
  REQUIRE(sluice_schedule(library.context.get(), handle.get(), hardware.get(), &options,
                          &made, &library.diagnostic) == SLUICE_OK);
  const sluice_test::Bytes plan = sluice_test::BytesOf(sluice_test::PlanPtr(made));
  const Run run =
      VtaRun(graph.data(), graph.size(), plan.data(), plan.size()).Execute(1, 1);
  CHECK(run.error == "");
  CHECK(run.hash == Expected(graph, 1));
}

}  // namespace vta_test
