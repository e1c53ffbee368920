// SPDX-License-Identifier: Apache-2.0
// Which plans take the place of the best one of a small call, and which do not.
#include "plan/better_plan.h"

#include <doctest/doctest.h>

#include "plan/best_plan.h"
#include "plan/fused/take_fused.h"
#include "plan/objective.h"
#include "tests/plan/called.h"

namespace sluice {
namespace {

using sluice_test::Called;

TEST_CASE("better plan: layers fused on one node keep on chip what lies between them") {
  Called c;
  c.MakePlain();
  const double plain = PlanCost(c.options, c.call.plain.report);
  CHECK(c.call.plain.report.dram_write_bytes == 2 * 128);
  REQUIRE(TakeFused(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  CHECK(c.call.fuses);
  CHECK(c.call.best_cost < plain);
  CHECK(c.Read().report.dram_write_bytes == 128);
}

TEST_CASE("better plan: the space of plans is enough where nobody asks for more") {
  Called many({}, nullptr, nullptr, sluice_test::RowOfLayers(49));
  many.MakePlain();
  REQUIRE(TakeBetter(&many.call) == Status::kOk);
  CHECK(many.call.spaced);
  CHECK(!many.call.fuses);
}

TEST_CASE("better plan: fused plans are tried for small graphs, and with iterations") {
  Called quick;
  quick.MakePlain();
  REQUIRE(TakeBetter(&quick.call) == Status::kOk);
  CHECK(quick.call.has_plan());
  CHECK(quick.call.spaced);
  CHECK(quick.call.fuses);
  sluice_schedule_options_t options = {};
  options.max_iterations = 20;
  Called searched(options);
  searched.MakePlain();
  REQUIRE(TakeBetter(&searched.call) == Status::kOk);
  CHECK(searched.call.spaced);
  CHECK(searched.call.fuses);
  CHECK(searched.call.wants_iterations);
  CHECK(searched.call.search.stop_reason() == SLUICE_STOP_ITERATIONS);
  CHECK(searched.call.best_cost <= quick.call.best_cost);
}

// 40 nodes take 100 cycles at least. Their tiles take 1,600 cycles on one node, 500 of the
// 2,100 being the host's.
TEST_CASE("better plan: fewer nodes pay where tiles on them alone may cost less") {
  Called c;
  CHECK(MayPay(c.call, 1));  // there is no plan yet
  const uint8_t plan[1] = {};
  c.call.best.all = {plan, 1};
  c.call.bound.cycles = 100;
  c.call.bound.energy_pj = 1000;
  c.call.bound.certificate.all.cycles = 2100;
  c.call.bound.certificate.host_cycles = 500;
  const double leaked = 1500 * c.n.hardware.leakage_pj_per_cycle;
  c.call.best_cost = 1600 * (1000 + leaked);
  CHECK(!MayPay(c.call, 1));
  CHECK(MayPay(c.call, 2));
  c.call.best_cost += 1;
  CHECK(MayPay(c.call, 1));
  c.call.best_cost = 100 * 1000;
  CHECK(!MayPay(c.call, 40));
}

TEST_CASE(
    "better plan: on a mesh it is better than the plain plan, and no worse than one "
    "node") {
  sluice_test::HardwareSpec mesh;
  mesh.node_cols = 2;
  Called c({}, nullptr, nullptr, sluice_test::PairOfLayers(16), mesh);
  c.MakePlain();
  REQUIRE(c.call.on_many_nodes());
  const double plain = PlanCost(c.options, c.call.plain.report);
  REQUIRE(TakeBetter(&c.call) == Status::kOk);
  REQUIRE(c.call.has_plan());
  CHECK(c.call.best_cost < plain);
  Called one({}, nullptr, nullptr, sluice_test::PairOfLayers(16));
  one.MakePlain();
  REQUIRE(TakeBetter(&one.call) == Status::kOk);
  CHECK(c.call.best_cost <= one.call.best_cost);
}

TEST_CASE("better plan: it has to cost less than the plain plan, then than the best") {
  Called c;
  c.MakePlain();
  c.call.plain.groups = 2;
  CHECK(!IsBetter(&c.call, &c.call.plain, &c.scratch));
  CHECK(c.call.plain.report.groups == 2);
  // Where there is neither a plain plan to compare with nor another, any plan is better.
  c.call.lacks_plain = true;
  CHECK(IsBetter(&c.call, &c.call.plain, &c.scratch));
  c.call.lacks_plain = false;
  REQUIRE(TakeFused(&c.call) == Status::kOk);
  Called again;
  again.MakePlain();
  again.call.best = c.call.best;
  again.call.best_cost = PlanCost(c.options, again.call.plain.report) * 1.01;
  CHECK(IsBetter(&again.call, &again.call.plain, &again.scratch));
  again.call.best_cost = c.call.best_cost;
  CHECK(!IsBetter(&again.call, &again.call.plain, &again.scratch));
}

TEST_CASE("better plan: what was found is left when the call has ended or failed") {
  uint32_t cancel = 0;
  sluice_schedule_options_t options = {};
  options.cancel = &cancel;
  Called worse, late(options), defect, found;
  for (Called* c : {&worse, &late, &defect, &found}) c->MakePlain();
  CHECK(TakeFound(&worse.call, false, &worse.call.plain) == Status::kOk);
  CHECK(!worse.call.has_plan());
  cancel = 1;
  CHECK(late.clock.Exhausted());
  CHECK(TakeFound(&late.call, true, &late.call.plain) == Status::kOk);
  CHECK(!late.call.has_plan());
  defect.call.offered = Status::kInternal;
  CHECK(TakeFound(&defect.call, true, &defect.call.plain) == Status::kInternal);
  CHECK(!defect.call.has_plan());
  CHECK(TakeFound(&found.call, true, &found.call.plain) == Status::kOk);
  CHECK(found.call.has_plan());
}

}  // namespace
}  // namespace sluice
