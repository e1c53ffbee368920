// SPDX-License-Identifier: Apache-2.0
// Scheduling and planning again, by the C functions.
#include <doctest/doctest.h>

#include <string>

#include "objects.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

TEST_CASE("schedule: the same inputs give the same bytes") {
  Objects one, two;
  sluice_plan_t *a = nullptr, *b = nullptr;
  REQUIRE(one.Schedule(nullptr, &a) == SLUICE_OK);
  REQUIRE(two.Schedule(nullptr, &b) == SLUICE_OK);
  CHECK(PlanBytesOf(a) == PlanBytesOf(b));
  sluice_plan_destroy(a);
  sluice_plan_destroy(b);
}

TEST_CASE(
    "schedule: infeasible names layer, tensor, bytes and the scratchpad that works") {
  Objects o;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = 1;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_INFEASIBLE);
  CHECK(plan == nullptr);
  CHECK(o.diagnostic.layer == 0);
  CHECK(o.diagnostic.tensor != SLUICE_NO_INDEX);
  CHECK(o.diagnostic.available_bytes == 1);
  CHECK(o.diagnostic.required_bytes > 1);
  CHECK(std::string(o.diagnostic.message).find("bytes of scratchpad") !=
        std::string::npos);
  options.scratchpad_bytes = o.diagnostic.smallest_scratchpad_bytes;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  options.scratchpad_bytes -= 1;
  CHECK(o.Schedule(&options, &plan) == SLUICE_INFEASIBLE);
}

TEST_CASE("schedule: every object gives its memory back") {
  Objects o;
  const uint64_t before = o.LiveBytes();
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(nullptr, &plan) == SLUICE_OK);
  CHECK(o.LiveBytes() > before);
  sluice_plan_destroy(plan);
  CHECK(o.LiveBytes() == before);
}

TEST_CASE(
    "schedule: null pointers, short structs and unknown tails are bad arguments") {
  Objects o;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(o.context, nullptr, o.hardware, nullptr, &plan,
                        &o.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(o.diagnostic.message) ==
        "graph and hardware must not be null, options must be of a known version");
  CHECK(sluice_schedule(o.context, o.graph, o.hardware, nullptr, nullptr,
                        &o.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(o.diagnostic.message) ==
        "context, bytes and output pointer must not be null");
  sluice_schedule_options_t zero = {};  // struct_size 0
  CHECK(o.Schedule(&zero, &plan) == SLUICE_BAD_ARGUMENT);

  struct Newer {  // of a later library
    sluice_schedule_options_t known;
    uint64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof newer;
  CHECK(o.Schedule(&newer.known, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  newer.unknown = 1;
  CHECK(o.Schedule(&newer.known, &plan) == SLUICE_BAD_ARGUMENT);

  sluice_schedule_options_t solver = {};
  solver.struct_size = sizeof solver;
  solver.solver = 99;
  CHECK(o.Schedule(&solver, &plan) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(o.diagnostic.message).find("99") != std::string::npos);
  sluice_schedule_options_t progress = {};
  progress.struct_size = sizeof progress;
  progress.progress = [](void*, uint64_t, double) { return int32_t{0}; };
  CHECK(o.Schedule(&progress, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
}

TEST_CASE(
    "schedule: a cancelled or expired call before the first plan is stopped, not "
    "infeasible") {
  Objects o;
  const uint32_t cancel = 1;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
  options.cancel = nullptr;
  options.deadline_ns = 1;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
}

TEST_CASE("schedule: planning again for the same graph and machine changes nothing") {
  Objects o;
  sluice_plan_t *plan = nullptr, *next = nullptr;
  REQUIRE(o.Schedule(nullptr, &plan) == SLUICE_OK);
  sluice_change_t change = {};
  change.struct_size = sizeof change;
  change.patch_bytes = 99;
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.previous = plan;
  options.change = &change;
  REQUIRE(sluice_reschedule(o.context, o.graph, o.hardware, &options, &next,
                            &o.diagnostic) == SLUICE_OK);
  CHECK(change.changed == 0);
  CHECK(change.layers_kept == 1);
  CHECK(change.layers_changed + change.layers_inserted + change.layers_removed == 0);
  CHECK(change.blocks_changed == 0);
  CHECK(change.patch_bytes == 0);
  sluice_plan_destroy(next);
  options.previous = nullptr;
  CHECK(sluice_reschedule(o.context, o.graph, o.hardware, &options, &next,
                          &o.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(next == nullptr);
  CHECK(std::string(o.diagnostic.message) ==
        "graph, hardware, options and the previous plan must not be null, options must "
        "be of a known version");
  sluice_plan_destroy(plan);
}

TEST_CASE("schedule: a cap of the bound is enough, and the bound is not exceeded") {
  uint64_t bound = 0, before = 0;
  {
    Objects o;
    REQUIRE(sluice_schedule_memory_bound(o.context, o.graph, o.hardware, nullptr,
                                         &bound, &o.diagnostic) == SLUICE_OK);
    before = o.LiveBytes();
    CHECK(sluice_schedule_memory_bound(o.context, o.graph, o.hardware, nullptr, nullptr,
                                       &o.diagnostic) == SLUICE_BAD_ARGUMENT);
    CHECK(
        std::string(o.diagnostic.message) ==
        "context, graph, hardware and out_bytes must not be null, options must be of a "
        "known version");
  }
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  options.max_bytes = before + bound;
  Objects o(&options);
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(nullptr, &plan) == SLUICE_OK);
  sluice_memory_stats_t stats = {};
  stats.struct_size = sizeof stats;
  REQUIRE(sluice_context_memory(o.context, &stats) == SLUICE_OK);
  CHECK(stats.peak_bytes <= before + bound);
  sluice_plan_destroy(plan);
}

TEST_CASE("schedule: a layer that makes what nobody needs is planned too") {
  GraphSpec spec;
  for (const uint8_t kind : {1, 0, 0, 2}) {  // an input, two intermediates, an output
    spec.tensors.push_back({{1, 1, 1, 1}, SLUICE_DTYPE_INT8, kind});
  }
  const std::vector<int32_t> attributes = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, attributes},
                 {SLUICE_OP_REQUANTIZE, {0}, {2}, attributes},
                 {SLUICE_OP_REQUANTIZE, {2}, {3}, attributes}};
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(spec));
  const HardwarePtr hardware = library.Hardware(HardwareBytes(HardwareSpec()));
  const PlanPtr plan = library.Schedule(graph, hardware, 0);
  REQUIRE(plan != nullptr);
  CHECK(ReportOf(plan).layers == 3);
}

// A clock that goes on by `step` whenever it is read.
struct SteppedClock {
  uint64_t now = 0, step = 0, reads = 0;
  static uint64_t Now(void* user) {
    SteppedClock* self = static_cast<SteppedClock*>(user);
    ++self->reads;
    return self->now += self->step;
  }
  sluice_context_options_t Options() {
    sluice_context_options_t o = {};
    o.struct_size = sizeof o;
    o.now_ns = Now;
    o.clock_user = this;
    return o;
  }
};

TEST_CASE("schedule: the clock is the caller's, and is read for deadlines only") {
  SteppedClock clock;
  const sluice_context_options_t context = clock.Options();
  Objects o(&context);
  uint32_t cancel = 0;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  options.max_iterations = 100;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  cancel = 1;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
  CHECK(std::string(o.diagnostic.message) == "cancelled before there was a plan");
  CHECK(clock.reads == 0);
  // It stands still: the call ends as it would without a deadline.
  cancel = 0;
  options.max_iterations = 0;
  options.deadline_ns = 1;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_OK);
  sluice_report_t report = {};
  report.struct_size = sizeof report;
  REQUIRE(sluice_plan_report(plan, &report) == SLUICE_OK);
  CHECK(report.stop_reason == SLUICE_STOP_COMPLETE);
  sluice_plan_destroy(plan);
  CHECK(clock.reads > 10);
  // It runs: the deadline is in its unit.
  clock.step = 1000000;
  options.deadline_ns = 5000000;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
  CHECK(std::string(o.diagnostic.message).find("the deadline passed, ") == 0);
  // It goes back.
  clock.step = UINT64_MAX;  // -1
  options.deadline_ns = 1;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
}

TEST_CASE("schedule: a context in a block has the caller's clock too") {
  SteppedClock clock;
  clock.step = 10;
  sluice_context_options_t context = clock.Options();
  alignas(64) static uint8_t block[1 << 20];
  context.block = block;
  context.block_bytes = sizeof block;
  Objects o(&context);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.deadline_ns = 25;
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
  CHECK(clock.reads >= 3);
}

// The pooling at the end reads the first pixel of the CONCAT alone, so nobody needs what is
// requantised: the stream has nothing for that layer, and the report counts the others. The judge
// refused such plans. Found by the soak.
TEST_CASE("schedule: a layer that nobody needs has no step and is not counted") {
  GraphSpec g;
  g.tensors = {{{1, 4, 4, 1}, SLUICE_DTYPE_INT8, 1},
               {{1, 1, 1, 1}, SLUICE_DTYPE_INT8, 0},
               {{1, 1, 1, 1}, SLUICE_DTYPE_INT8, 0},
               {{1, 1, 2, 1}, SLUICE_DTYPE_INT8, 0},
               {{1, 1, 1, 1}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_MAX_POOL, {0}, {1}, {4, 4, 4, 4, 0, 0, 0, 0, -128, 127}},
              {SLUICE_OP_REQUANTIZE, {1}, {2}, {0, 1 << 30, 1, 0, -128, 127}},
              {SLUICE_OP_CONCAT, {1, 2}, {3}, {2}},
              {SLUICE_OP_MAX_POOL, {3}, {4}, {1, 1, 1, 2, 0, 0, 0, 0, -128, 127}}};
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(g));
  const HardwarePtr hardware = library.Hardware(MachineBytes(MachineSpec()));
  REQUIRE(hardware != nullptr);
  const PlanPtr plan = library.Schedule(graph, hardware);
  REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
  CHECK(library.Verify(graph, hardware, plan) == SLUICE_OK);
  CHECK(ReportOf(plan).layers == 2);
}

}  // namespace
}  // namespace sluice_test
