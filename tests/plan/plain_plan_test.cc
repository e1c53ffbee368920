// SPDX-License-Identifier: Apache-2.0
// The plain plan of a small graph: written and completed.
#include "plan/plain_plan.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/checked.h"
#include "support/read_graph.h"
#include "tests/plan/called.h"

namespace sluice {
namespace {

using sluice_test::kI8;

// Two layers and a view between them.
sluice_test::GraphSpec LayersAndView() {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, kI8, 1},
                  {{1, 4, 4, 8}, kI8, 0},
                  {{1, 1, 16, 8}, kI8, 0},
                  {{1, 1, 16, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_RESHAPE, {1}, {2}, {}},
                 {SLUICE_OP_REQUANTIZE, {2}, {3}, same}};
  return spec;
}

struct Planned {
  explicit Planned(const sluice_test::HardwareSpec& hardware = {})
      : n(LayersAndView(), hardware) {
    call.fitted = n.graph;
    REQUIRE(Lower(n.graph, n.hardware, &call.plain.places, &call.plain.lowering,
                  &n.diagnostic) == Status::kOk);
    call.costs = &costs;
  }
  sluice_test::Nouns n;
  sluice_schedule_options_t options = {};
  Arena kept{&n.memory};
  Budget clock;
  Progress progress;
  PlanRequest request{n.graph, n.hardware, options};
  PlanCall call{request, {&kept, &n.arena, &n.diagnostic}, &clock, &progress};
  TileCosts costs{n.graph, n.hardware, call.plain.lowering, options, &n.arena};
};

// Twice 32 MiB through a scratchpad of 64 bytes; twice 32 bytes through as many.
TEST_CASE("plain plan: its steps are counted without writing it, for meshes to have") {
  for (const int32_t rows : {1 << 20, 1}) {
    sluice_test::HardwareSpec hardware;
    hardware.scratchpad_bytes = 64;
    sluice_test::Called c({}, nullptr, nullptr, sluice_test::PairOfLayers(rows),
                          hardware);
    uint64_t steps = 0;
    REQUIRE(CountPlain(&c.call, &steps) == Status::kOk);
    CHECK(c.call.plain.program.size() == 0);
    CHECK(c.call.most_steps == Max(kJudgedSteps, size_t{steps}));
    CHECK((steps > kJudgedSteps) == (rows > 1));
    if (rows > 1) continue;
    REQUIRE(SchedulePlain(&c.call) == Status::kOk);
    CHECK(steps <= c.call.plain.program.size());
    CHECK(2 * steps >= c.call.plain.program.size());
  }
}

TEST_CASE("plain plan: layer by layer, each with what it costs by itself") {
  Planned p;
  REQUIRE(SchedulePlain(&p.call) == Status::kOk);
  CHECK(p.call.plain.program.block_count() == 2);
  CHECK(p.call.plain.report.latency_cycles == 0);  // not timed yet
  REQUIRE(CompletePlain(&p.call) == Status::kOk);
  const sluice_report_t& report = p.call.plain.report;
  CHECK(report.layers == 2);
  CHECK(report.groups == 2);
  // 128 bytes at 4 per cycle behind 10, and back; 128 operations at 16 per cycle.
  CHECK(report.latency_cycles == 2 * 92);
  REQUIRE(p.call.alone.size() == 2);
  double energy_pj = 0;
  for (const BlockCost& block : p.call.alone) {
    CHECK(block.cycles == 92);
    energy_pj += block.energy_pj;
  }
  CHECK(energy_pj == doctest::Approx(report.energy_pj));
}

TEST_CASE("plain plan: of many nodes no layer has costs of its own") {
  sluice_test::HardwareSpec mesh;
  mesh.node_cols = 2;
  Planned p(mesh);
  REQUIRE(SchedulePlain(&p.call) == Status::kOk);
  REQUIRE(CompletePlain(&p.call) == Status::kOk);
  CHECK(p.call.alone.empty());
  CHECK(p.call.plain.report.latency_cycles > 0);
  CHECK(p.call.plain.report.groups == 2);
}

TEST_CASE("plain plan: a callback that fails ends it") {
  Planned p;
  p.options.tile_cost = [](void*, uint32_t, const int32_t*, int32_t,
                           sluice_tile_cost_t*) -> int32_t { return -1; };
  p.call.coster = p.costs.coster();
  CHECK(SchedulePlain(&p.call) == Status::kBadArgument);
}

TEST_CASE("plain plan: views are no layers of a plain plan") {
  Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  uint8_t views[] = {1, 0, 0, 1, 0};
  Lowering lowering = {};
  lowering.is_view = {views, 5};
  PlanNotation n;
  REQUIRE(NotePlain(lowering, &arena, &n) == Status::kOk);
  const std::vector<uint32_t> order(n.order.begin(), n.order.end());
  CHECK(order == std::vector<uint32_t>{1, 2, 4});
  CHECK(n.cut.size() == 3);
  CHECK(n.tiling.size() == 3);
  REQUIRE(n.section.size() == 1);
  CHECK(n.section[0].layer == 1);
}

}  // namespace
}  // namespace sluice
