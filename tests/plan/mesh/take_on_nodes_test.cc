// SPDX-License-Identifier: Apache-2.0
// A mesh is used as far as it pays.
#include "plan/mesh/take_on_nodes.h"

#include <doctest/doctest.h>

#include "base/checked.h"
#include "plan/better_plan.h"
#include "plan/called.h"
#include "plan/mesh/mesh_run.h"

namespace sluice {
namespace {

using sluice_test::Called;
using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::HardwareSpec;

HardwareSpec Mesh(uint32_t cols, uint32_t rows, uint64_t hop_cycles) {
  HardwareSpec h;
  h.node_cols = cols;
  h.node_rows = rows;
  h.scratchpad_bytes = 16384;
  h.dram_numerator = 16;
  h.hop_latency_cycles = hop_cycles;
  return h;
}

GraphSpec Network() {
  return Chain(2, 8, 8, 8).Conv(16, 3).Conv(16, 3).Pool(2).Conv(8, 1).Done();
}

sluice_schedule_options_t Latency() {
  sluice_schedule_options_t options = {};
  options.delay_exponent = 1;
  return options;
}

double BestBy(const sluice_schedule_options_t& options, const HardwareSpec& mesh,
              const GraphSpec& network, size_t most_steps = 0) {
  Called c(options, nullptr, nullptr, network, mesh);
  c.MakePlain();
  if (most_steps != 0) c.call.most_steps = most_steps;
  REQUIRE(TakeBetter(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  return c.call.best_cost;
}

double BestOn(const HardwareSpec& mesh, const GraphSpec& network = Network(),
              uint32_t solver = SLUICE_SOLVER_DEFAULT, size_t most_steps = 0) {
  sluice_schedule_options_t options = Latency();
  options.solver = solver;
  return BestBy(options, mesh, network, most_steps);
}

TEST_CASE("take on nodes: where DRAM limits, one node of the mesh does all") {
  HardwareSpec one = Mesh(1, 1, 3), mesh = Mesh(4, 4, 3);
  one.dram_numerator = mesh.dram_numerator = 1;
  one.macs_per_cycle = mesh.macs_per_cycle = 4096;
  Called c(Latency(), nullptr, nullptr, Network(), mesh);
  c.MakePlain();
  REQUIRE(TakeOnMesh(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  CHECK(c.call.spaced);
  CHECK(c.call.best_cost <= BestOn(one));
}

TEST_CASE("take on nodes: a program has as many steps as the call allows, no more") {
  for (const size_t steps : {kJudgedSteps, size_t{30}}) {
    Called c(Latency(), nullptr, nullptr, Network(), Mesh(4, 4, 3));
    c.call.lacks_plain = true;
    c.call.most_steps = steps;
    REQUIRE(TakeOnMesh(&c.call) == Status::kOk);
    CHECK(c.call.has_plan() == (steps == kJudgedSteps));
  }
}

TEST_CASE("take on nodes: layers together take no longer than one by one") {
  for (const int32_t channels : {8, 40}) {
    for (const uint64_t bytes : {1024, 2048, 3072, 4096, 8192}) {
      CAPTURE(channels);
      CAPTURE(bytes);
      HardwareSpec mesh = Mesh(4, 4, 3);
      mesh.scratchpad_bytes = bytes;
      const GraphSpec network =
          Chain(1, 16, 16, 8).Conv(channels, 3).Conv(24, 3).Conv(channels, 1).Done();
      CHECK(BestOn(mesh, network) <=
            BestOn(mesh, network, SLUICE_SOLVER_BASELINE) * 1.001);
    }
  }
}

TEST_CASE(
    "take on nodes: where plans are dear to make, a part of the mesh may still win") {
  // The plan for the whole mesh takes more than half of the steps. Links are slow.
  const auto best = [](uint32_t cols, uint32_t rows) {
    return BestOn(Mesh(cols, rows, 300), Network(), SLUICE_SOLVER_DEFAULT, 600);
  };
  CHECK(best(8, 4) <= best(4, 2) * 1.01);
  CHECK(best(8, 4) <= best(2, 2) * 1.01);
}

TEST_CASE("take on nodes: more nodes do not take longer") {
  for (const uint64_t hop : {3, 300, 3000}) {
    double before = BestOn(Mesh(1, 1, hop));
    for (const auto& [cols, rows] :
         {std::pair<uint32_t, uint32_t>{2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}}) {
      CAPTURE(hop);
      CAPTURE(cols);
      CAPTURE(rows);
      const double cycles = BestOn(Mesh(cols, rows, hop));
      CHECK(cycles <= before * 1.01);
      before = cycles;
    }
  }
}

TEST_CASE("take on nodes: up to 32 x 32 nodes, more of them do not cost more") {
  const GraphSpec networks[] = {Network(),
                                Chain(1, 16, 16, 8).Conv(40, 3).Conv(24, 1).Done(),
                                Chain(16, 1, 1, 64).Dense(128).Dense(32).Done()};
  for (const GraphSpec& network : networks) {
    for (const uint32_t delay : {1, 0}) {
      sluice_schedule_options_t options = {};
      options.delay_exponent = delay;
      options.energy_exponent = 1 - delay;
      double before = 0;
      for (uint32_t nodes = 1; nodes <= 1024; nodes *= 2) {
        const uint32_t cols =
            nodes == 1 ? 1 : 1u << ((31 - __builtin_clz(nodes) + 1) / 2);
        CAPTURE(delay);
        CAPTURE(nodes);
        const double cost = BestBy(options, Mesh(cols, nodes / cols, 3), network);
        CHECK((nodes == 1 || cost <= before * 1.01));
        before = nodes == 1 ? cost : Min(before, cost);
      }
    }
  }
}

}  // namespace
}  // namespace sluice
