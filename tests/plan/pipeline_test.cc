// SPDX-License-Identifier: Apache-2.0
// Whole calls of the planner for a small graph: which plan they return, and how they end.
#include "plan/pipeline.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "io/read.h"
#include "presets/presets.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::Bytes;

struct Made {
  explicit Made(const sluice_schedule_options_t& given = {}) : options(given) {
    if (options.max_iterations == 0) options.max_iterations = 20;
  }
  Made(const Bytes& graph, const Bytes& machine) : n(graph, machine), options() {}
  Status Run() {
    Span<const uint8_t> made;
    status = MakePlan(request, &kept, &scratch, &made, &change, &n.diagnostic);
    if (status != Status::kOk) return status;
    bytes.assign(made.begin(), made.end());
    REQUIRE(ReadPlan(made.data(), made.size(), &n.arena, &plan, &n.diagnostic) ==
            Status::kOk);
    return status;
  }
  sluice_test::Nouns n{sluice_test::TwoRequantized(16)};
  sluice_schedule_options_t options;
  Arena kept{&n.memory}, scratch{&n.memory};
  PlanRequest request{n.graph, n.hardware, options};
  sluice_change_t change = {};
  Status status = Status::kInternal;
  Plan plan = {};
  std::vector<uint8_t> bytes;
};

TEST_CASE("pipeline: a search keeps between layers what the plain plan stores") {
  sluice_schedule_options_t options = {};
  options.solver = SLUICE_SOLVER_BASELINE;
  Made plain(options), best;
  REQUIRE(plain.Run() == Status::kOk);
  REQUIRE(best.Run() == Status::kOk);
  CHECK(plain.plan.report.dram_write_bytes == 1024);
  CHECK(plain.plan.report.iterations == 0);
  CHECK(best.plan.report.dram_write_bytes == 512);
  CHECK(best.plan.report.latency_cycles < plain.plan.report.latency_cycles);
  Made again;
  REQUIRE(again.Run() == Status::kOk);
  CHECK(again.bytes == best.bytes);
}

// Without a stream an earlier plan says what to make: these segments, or none.
TEST_CASE("pipeline: a plan is made of exactly the segments of one without a stream") {
  Made found;
  REQUIRE(found.Run() == Status::kOk);
  REQUIRE(found.plan.notation.segment.size() == 1);
  REQUIRE(!found.plan.notation.loop.empty());
  Plan wish = found.plan;
  wish.stream = {};
  const auto make = [&](Made* made) {
    made->request.before = &wish;
    return made->Run();
  };
  Made same;
  REQUIRE(make(&same) == Status::kOk);
  CHECK(same.plan.report.latency_cycles == found.plan.report.latency_cycles);
  CHECK(same.plan.report.energy_pj == found.plan.report.energy_pj);
  // Dearer than what a search finds.
  PlanLoop finest = found.plan.notation.loop[0];
  finest.trips = 16;
  PlanSegment both = found.plan.notation.segment[0];
  both.loops = 1;
  wish.notation.loop = {&finest, 1};
  wish.notation.segment = {&both, 1};
  Made dear;
  REQUIRE(make(&dear) == Status::kOk);
  REQUIRE(dear.plan.notation.loop.size() == 1);
  CHECK(dear.plan.notation.loop[0].trips == 16);
  CHECK(dear.plan.report.latency_cycles > found.plan.report.latency_cycles);
  // More parts than there are rows, and a layer that is in no segment.
  finest.trips = 17;
  Made illegal;
  CHECK(make(&illegal) == Status::kRejected);
  CHECK(std::string(illegal.n.diagnostic.stage) == "notation");
  finest.trips = 16;
  both.layers = 1;
  Made partial;
  CHECK(make(&partial) == Status::kRejected);
  // What stays on chip between segments does not fit.
  const PlanSegment each[] = {{1, 0, 0, 0}, {1, 0, 0, 0}};
  wish.notation.segment = {each, 2};
  wish.notation.loop = {};
  sluice_schedule_options_t small = {};
  small.scratchpad_bytes = 600;
  Made tight(small);
  CHECK(make(&tight) == Status::kRejected);
}

TEST_CASE("pipeline: a plan to go on from is never lost") {
  Made first;
  REQUIRE(first.Run() == Status::kOk);
  sluice_schedule_options_t options = {};
  options.solver = SLUICE_SOLVER_BASELINE;
  Made next(options);
  next.request.resume = &first.plan;
  next.request.resume_bytes = first.bytes.size();
  REQUIRE(next.Run() == Status::kOk);
  CHECK(next.plan.report.latency_cycles <= first.plan.report.latency_cycles);
  CHECK(next.plan.report.dram_write_bytes == 512);
}

TEST_CASE("pipeline: what was planned before is kept where nothing has changed") {
  Made first;
  REQUIRE(first.Run() == Status::kOk);
  Made same;
  same.request.before = &first.plan;
  REQUIRE(same.Run() == Status::kOk);
  CHECK(same.change.from_scratch == 0);
  CHECK(same.plan.stream.size() == first.plan.stream.size());
  CHECK(std::memcmp(same.plan.stream.data(), first.plan.stream.data(),
                    first.plan.stream.size()) == 0);
}

// A sum, of which the default makes a fused plan of two tiles. Made again it could be
// another plan: what is carried of a fused plan is placed anew.
TEST_CASE("pipeline: a small graph's fused plan is kept where nothing has changed") {
  sluice_test::GraphSpec sum;
  for (const uint8_t kind : {1, 1, 2}) {
    sum.tensors.push_back({{1, 8, 8, 10}, SLUICE_DTYPE_INT16, kind});
  }
  sum.layers = {{SLUICE_OP_ADD,
                 {0, 1},
                 {2},
                 {0, 0, 1 << 30, 1, 0, 1 << 30, 1, 0, 1 << 30, 1, -32768, 32767}}};
  const Bytes graph = GraphBytes(sum);
  const Bytes machine = presets::LoadPreset("soma-edge");
  Made first(graph, machine), same(graph, machine);
  REQUIRE(first.Run() == Status::kOk);
  REQUIRE(first.plan.notation.section.size() == 1);
  CHECK(first.plan.notation.section[0].kind == kFusedSection);
  same.request.before = &first.plan;
  REQUIRE(same.Run() == Status::kOk);
  CHECK(same.change.from_scratch == 0);
  CHECK(same.bytes == first.bytes);
}

TEST_CASE("pipeline: wrong options and machines are refused before anything is made") {
  sluice_schedule_options_t options = {};
  options.solver = 99;
  CHECK(Made(options).Run() == Status::kBadArgument);
  options = {};
  options.scratchpad_bytes = 16;
  Made small(options);
  CHECK(small.Run() == Status::kInfeasible);
  CHECK(small.n.diagnostic.available_bytes == 16);
}

TEST_CASE("pipeline: a call that is cancelled before it has a plan says so") {
  const uint32_t cancel = 1;
  sluice_schedule_options_t options = {};
  options.cancel = &cancel;
  Made made(options);
  CHECK(made.Run() == Status::kStopped);
  CHECK(std::string(made.n.diagnostic.message).find("cancelled") != std::string::npos);
}

TEST_CASE("pipeline: the report says how the search ended") {
  sluice_schedule_options_t few = {};
  few.solver = SLUICE_SOLVER_FUSION;
  few.max_iterations = 1;
  Made counted(few);
  REQUIRE(counted.Run() == Status::kOk);
  CHECK(counted.plan.report.stop_reason == SLUICE_STOP_ITERATIONS);
  // A callback that stops as soon as there is a plan.
  sluice_schedule_options_t options = {};
  options.progress = [](void*, uint64_t, double cost) -> int32_t { return cost > 0; };
  Made stopped(options);
  REQUIRE(stopped.Run() == Status::kOk);
  CHECK(stopped.plan.report.stop_reason == SLUICE_STOP_CANCELLED);
}

}  // namespace
}  // namespace sluice
