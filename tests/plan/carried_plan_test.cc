// SPDX-License-Identifier: Apache-2.0
// What a call keeps of an earlier plan of a small graph, and when it keeps nothing.
#include "plan/carried_plan.h"

#include <doctest/doctest.h>

#include "plan/best_plan.h"
#include "plan/fused/take_fused.h"
#include "tests/plan/called.h"

namespace sluice {
namespace {

using sluice_test::Called;
using sluice_test::PairOfLayers;

// A fused plan that an earlier call has made.
struct Earlier : Called {
  Earlier() {
    MakePlain();
    REQUIRE(TakeFused(&call) == Status::kOk);
    REQUIRE(call.has_plan());
    plan = Read();
  }
  Plan plan;
};

TEST_CASE("carried plan: the same task is the same graph, machine and budget") {
  Earlier earlier;
  Called same({}, nullptr, &earlier.plan);
  CHECK(IsSameTask(same.call));
  sluice_schedule_options_t less = {};
  less.scratchpad_bytes = 2048;
  Called budget(less, nullptr, &earlier.plan);
  CHECK(!IsSameTask(budget.call));
  Called graph({}, nullptr, &earlier.plan, PairOfLayers(5));
  CHECK(!IsSameTask(graph.call));
  sluice_test::HardwareSpec slow;
  slow.dram_numerator = 2;
  Called machine({}, nullptr, &earlier.plan, PairOfLayers(), slow);
  CHECK(!IsSameTask(machine.call));
}

TEST_CASE("carried plan: the earlier plan itself is taken where it is right") {
  Earlier earlier;
  Called c({}, nullptr, &earlier.plan);
  c.call.change.from_scratch = 1;
  REQUIRE(TakeBefore(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  CHECK(c.call.change.from_scratch == 0);
  CHECK(c.call.best_cost == earlier.call.best_cost);
  Plan wrong = earlier.plan;
  wrong.graph_hash ^= 1;
  Called other({}, nullptr, &wrong);
  other.call.change.from_scratch = 1;
  REQUIRE(TakeBefore(&other.call) == Status::kOk);
  CHECK(!other.call.has_plan());
  CHECK(other.call.change.from_scratch == 1);
  CHECK(other.n.diagnostic.message[0] == '\0');
}

TEST_CASE("carried plan: unchanged layers keep their fused schedule") {
  Earlier earlier;
  sluice_test::HardwareSpec slow;
  slow.dram_numerator = 2;
  Called c({}, nullptr, &earlier.plan, PairOfLayers(), slow);
  REQUIRE(TakeCarried(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  CHECK(c.call.change.from_scratch == 0);
  CHECK(c.call.change.layers_kept == 2);
  CHECK(c.call.change.layers_changed == 0);
  CHECK(c.Read().report.dram_write_bytes == earlier.plan.report.dram_write_bytes);
}

// It is not made anew: that may end in another plan.
TEST_CASE("carried plan: for the same task a fused plan is left to be taken whole") {
  Earlier earlier;
  sluice_schedule_options_t options = {};
  Called same(options, nullptr, &earlier.plan);
  REQUIRE(TakeCarried(&same.call) == Status::kOk);
  CHECK(!same.call.has_plan());
  CHECK(same.call.change.layers_kept == 2);
  options.max_iterations = 100;
  Called minimal(options, nullptr, &earlier.plan),
      improved(options, nullptr, &earlier.plan);
  minimal.call.minimise = true;
  REQUIRE(TakeCarried(&minimal.call) == Status::kOk);
  CHECK(!minimal.call.has_plan());
  // Limits are used up to improve it.
  REQUIRE(TakeCarried(&improved.call) == Status::kOk);
  REQUIRE(improved.call.has_plan());
  CHECK(improved.call.change.from_scratch == 0);
  CHECK(improved.call.best_cost <= earlier.call.best_cost);
}

TEST_CASE("carried plan: changed layers are counted, and planned again") {
  Earlier earlier;
  Called c({}, nullptr, &earlier.plan, PairOfLayers(5));
  REQUIRE(TakeCarried(&c.call) == Status::kOk);
  CHECK(c.call.change.layers_kept == 0);
  CHECK(c.call.change.layers_changed == 2);
  REQUIRE(c.call.has_plan());
  CHECK(c.Read().report.dram_write_bytes == 5 * 32);
}

TEST_CASE("carried plan: in a smaller scratchpad only where few changes are wanted") {
  Earlier earlier;
  sluice_schedule_options_t less = {};
  less.scratchpad_bytes = earlier.plan.report.peak_buffer_bytes / 2;
  Called anew(less, nullptr, &earlier.plan), minimal(less, nullptr, &earlier.plan);
  REQUIRE(TakeCarried(&anew.call) == Status::kOk);
  CHECK(!anew.call.has_plan());
  CHECK(anew.call.change.from_scratch == 1);
  CHECK(anew.call.change.layers_kept == 2);
  minimal.call.minimise = true;
  REQUIRE(TakeCarried(&minimal.call) == Status::kOk);
  CHECK(minimal.call.has_plan());
  CHECK(minimal.call.change.from_scratch == 0);
}

TEST_CASE("carried plan: whole tensors and meshes are planned from scratch") {
  Earlier earlier;
  sluice_schedule_options_t whole = {};
  whole.granularity = SLUICE_GRANULARITY_OPERATOR;
  Called operators(whole, nullptr, &earlier.plan);
  REQUIRE(TakeCarried(&operators.call) == Status::kOk);
  CHECK(!operators.call.has_plan());
  CHECK(operators.call.change.from_scratch == 1);
  sluice_test::HardwareSpec mesh;
  mesh.node_cols = 2;
  Called nodes({}, nullptr, &earlier.plan, PairOfLayers(), mesh);
  REQUIRE(TakeCarried(&nodes.call) == Status::kOk);
  CHECK(!nodes.call.has_plan());
}

}  // namespace
}  // namespace sluice
