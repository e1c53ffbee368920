// SPDX-License-Identifier: Apache-2.0
// Plans of a small graph are written, judged and kept as the best one; a plan that the judge
// refuses is not kept.
#include "plan/best_plan.h"

#include <doctest/doctest.h>

#include <cstring>

#include "plan/objective.h"
#include "tests/plan/called.h"

namespace sluice {
namespace {

using sluice_test::Called;

TEST_CASE("best plan: the plain plan with hashes, notation and report") {
  Called c;
  c.MakePlain();
  const sluice_report_t report = c.call.plain.report;
  CHECK(!c.call.has_plan());
  REQUIRE(TakePlain(&c.call) == Status::kOk);
  CHECK(c.call.has_plan());
  CHECK(c.call.best_cost == PlanCost(c.options, report));
  CHECK(c.progress.cost == c.call.best_cost);
  const Plan plan = c.Read();
  CHECK(plan.graph_hash == c.n.graph.hash);
  CHECK(plan.hardware_hash == c.n.hardware.hash);
  CHECK(plan.report.latency_cycles == report.latency_cycles);
  CHECK(plan.notation.order.size() == 2);
  CHECK(plan.layer_hash.size() == 2);
  CHECK(c.call.hashes.size() == 2);
  CHECK(plan.stream.size() > 0);
}

TEST_CASE("best plan: blocks are cut to the length that the caller wants") {
  sluice_schedule_options_t options = {};
  Called whole;
  whole.MakePlain();
  REQUIRE(TakePlain(&whole.call) == Status::kOk);
  options.max_block_cycles = 50;
  Called cut(options);
  cut.MakePlain();
  REQUIRE(TakePlain(&cut.call) == Status::kOk);
  const auto instances = [](Called* c) {
    sluice_stream_header_t header;
    std::memcpy(&header, c->Read().stream.data(), sizeof header);
    return header.instance_count;
  };
  CHECK(instances(&whole) == 2);
  CHECK(instances(&cut) == 4);
}

TEST_CASE("best plan: what the judge refuses is a defect, and the best stays") {
  Called c;
  c.MakePlain();
  // Without waits a tile may read bytes that are not loaded yet, so the judge refuses.
  ProgramWaits& waits = c.call.plain.waits;
  for (uint32_t i = 0; i <= c.call.plain.program.size(); ++i) waits.begin[i] = 0;
  CHECK(TakePlain(&c.call) == Status::kInternal);
  CHECK(c.n.diagnostic.status == SLUICE_INTERNAL);
  CHECK(!c.call.has_plan());
  CHECK(c.call.best_cost == 0);
}

TEST_CASE("best plan: a plan that was handed in is held as it is, if it fits") {
  Called made;
  made.MakePlain();
  REQUIRE(TakePlain(&made.call) == Status::kOk);
  const Plan plan = made.Read();
  Called same({}, &plan);
  REQUIRE(TakeWhole(&same.call, *same.call.request.resume) == Status::kOk);
  REQUIRE(same.call.has_plan());
  CHECK(same.call.best_cost == made.call.best_cost);
  const Plan again = same.Read();
  REQUIRE(again.stream.size() == plan.stream.size());
  CHECK(std::memcmp(again.stream.data(), plan.stream.data(), plan.stream.size()) == 0);
  REQUIRE(again.debug_layer.size() == plan.debug_layer.size());
  for (size_t i = 0; i < plan.debug_layer.size(); ++i) {
    CHECK(again.debug_layer[i] == plan.debug_layer[i]);
  }
  // A plan with more scratchpad than the budget, or with blocks longer than the limit, is
  // only a start for the search, not a result.
  sluice_schedule_options_t less = {};
  less.scratchpad_bytes = plan.report.peak_buffer_bytes - 1;
  Called small(less, &plan);
  CHECK(TakeWhole(&small.call, *small.call.request.resume) == Status::kOk);
  CHECK(!small.call.has_plan());
  less.scratchpad_bytes = plan.report.peak_buffer_bytes;
  Called enough(less, &plan);
  CHECK(TakeWhole(&enough.call, *enough.call.request.resume) == Status::kOk);
  CHECK(enough.call.has_plan());
  sluice_schedule_options_t cut = {};
  cut.max_block_cycles = 50;
  Called blocks(cut, &plan);
  CHECK(TakeWhole(&blocks.call, *blocks.call.request.resume) == Status::kOk);
  CHECK(!blocks.call.has_plan());
  Plan wrong = plan;
  wrong.graph_hash ^= 1;
  Called other({}, &wrong);
  CHECK(TakeWhole(&other.call, *other.call.request.resume) != Status::kOk);
  CHECK(!other.call.has_plan());
}

}  // namespace
}  // namespace sluice
