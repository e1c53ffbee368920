// SPDX-License-Identifier: Apache-2.0
// Turns of two plain plans, counted by hand.
#include "plan/together/turns.h"

#include <doctest/doctest.h>

#include <vector>

#include "plan/together/curve.h"
#include "tests/plan/together/small_cohort.h"

namespace sluice {
namespace {

// Plain plans of two models, each in a range of its own, or both in one. Each of two layers
// of model 1 loads 128 bytes in 42 cycles, computes for 8 and stores in 42: 92 in all. For a
// layer of model 0 these are 138, 32 and 138 cycles.
struct Turned : sluice_test::SmallCohort {
  // fused: model 0 has twelve layers, between which its plan keeps tensors on chip.
  explicit Turned(bool shared, uint64_t limit = 0, bool fused = false)
      : SmallCohort(fused ? 12 : 2) {
    options.max_turn_cycles = limit;
    sluice_schedule_options_t plain = PlanOptions(problem);
    plain.solver = fused ? SLUICE_SOLVER_DEFAULT : SLUICE_SOLVER_BASELINE;
    for (uint32_t m = 0; m < 2; ++m) {
      CurvePoint point = {};
      REQUIRE(PlanPoint({*graphs[m], n.hardware, plain}, {}, &arena, &scratch, &point,
                        &n.diagnostic) == Status::kOk);
      a.plan[m] = point.plan;
      a.latency[m] = point.latency;
      a.bytes[m] = shared ? 4096 : 2048;
      a.offset[m] = shared ? 0 : 2048 * m;
      a.shares[m] = shared;
    }
  }
  Status Make() { return MakeTurns(problem, &a, &least, &who); }
  Arrangement a{&arena};
  int64_t least = -1;
  uint32_t who = 9;
};

TEST_CASE("turns: without a limit each model runs once, the quickest first") {
  Turned t(false);
  REQUIRE(t.Make() == Status::kOk);
  CHECK(t.least == 0);
  REQUIRE(t.a.turns.size() == 2);
  CHECK(t.a.turns[0].model == 1);
  CHECK(t.a.turns[0].first_visit == 0);
  CHECK(t.a.turns[0].cycles == 184);
  CHECK(t.a.turns[1].model == 0);
  CHECK(t.a.turns[1].cycles == 616);
  CHECK(t.a.finish[1] == 184);
  CHECK(t.a.finish[0] == 800);
  CHECK(t.a.wait[1] == 0);
  CHECK(t.a.wait[0] == 184);
  CHECK(t.a.total == 800);
}

TEST_CASE("turns: a weight that outweighs the longer latency comes first") {
  Turned t(false);
  t.models[0].weight = 4;  // 616 / 4 is less than the 184 of model 1
  REQUIRE(t.Make() == Status::kOk);
  REQUIRE(t.a.turns.size() == 2);
  CHECK(t.a.turns[0].model == 0);
  CHECK(t.a.finish[0] == 616);
  CHECK(t.a.finish[1] == 800);
}

TEST_CASE("turns: with a limit they alternate, and the last one runs to its end") {
  Turned t(false, 400);
  t.models[0].weight = 4;
  REQUIRE(t.Make() == Status::kOk);
  CHECK(t.least == 0);
  uint32_t next[2] = {0, 0};
  uint64_t total = 0;
  for (size_t i = 0; i < t.a.turns.size(); ++i) {
    const sluice_turn_t& turn = t.a.turns[i];
    CHECK(turn.first_visit == next[turn.model]);
    CHECK(turn.end_visit > turn.first_visit);
    next[turn.model] = turn.end_visit;
    total += turn.cycles;
    if (i + 2 < t.a.turns.size()) CHECK(turn.cycles <= 400);
  }
  CHECK(total == t.a.total);
  // A layer of model 0, all of model 1, and what is left of model 0.
  REQUIRE(t.a.turns.size() == 3);
  CHECK(t.a.turns[0].cycles == 308);
  CHECK(t.a.turns[1].cycles == 184);
  CHECK(t.a.turns[2].cycles == 308);
  CHECK(t.a.wait[0] == 184);
  CHECK(t.a.wait[1] == 308);
}

TEST_CASE("turns: a limit that no border keeps is answered by one that does") {
  // Blocks keep the limit, but at some borders live bytes lie in the shared range, so the
  // models cannot change there.
  Turned t(true, 145);
  REQUIRE(t.Make() == Status::kOk);
  CHECK(t.least > 145);
  CHECK(t.who == 0);
  const int64_t least = t.least;
  Turned enough(true, static_cast<uint64_t>(least));
  REQUIRE(enough.Make() == Status::kOk);
  CHECK(enough.least == 0);
  // A model in a range of its own may be left at any border.
  Turned own(false, 145);
  REQUIRE(own.Make() == Status::kOk);
  CHECK(own.least == 0);
}

TEST_CASE("turns: of the waits of a model the longest is told") {
  Turned t(false, 145);
  t.models[0].weight = 100;
  REQUIRE(t.Make() == Status::kOk);
  // Model 1 waits for the load of model 0 first, then for its tile.
  REQUIRE(t.a.turns.size() > 4);
  CHECK(t.a.turns[0].cycles == 138);
  CHECK(t.a.turns[2].cycles == 32);
  CHECK(t.a.turns[3].model == 1);
  CHECK(t.a.turns[4].model == 0);
  CHECK(t.a.wait[1] == 138);
}

TEST_CASE("turns: a fused plan that is too long gives way to a plain one") {
  Turned t(true, 310, true);
  t.models[0].weight = 100;  // it comes first
  REQUIRE(t.Make() == Status::kOk);
  CHECK(t.least > 310);
  CHECK(t.who == 0);
  CHECK(t.a.latency[0] < 12 * 308);
  int64_t least = 0;
  REQUIRE(TakeTimeTurns(t.problem, &t.a, &least) == Status::kOk);
  CHECK(least == 0);
  CHECK(t.a.latency[0] == 12 * 308);
  REQUIRE(t.a.turns.size() > 2);
  CHECK(t.a.turns[0].cycles == 308);
  // In a plain plan no turn can end inside of a layer, whose bytes are live until its end.
  Turned never(true, 145, true);
  never.models[0].weight = 100;
  REQUIRE(TakeTimeTurns(never.problem, &never.a, &least) == Status::kOk);
  CHECK(least == 308);
}

TEST_CASE(
    "turns: plans of a cohort are made for latency, in blocks as long as a turn") {
  Turned t(false, 77);
  t.options.seed = 5;
  const sluice_schedule_options_t options = PlanOptions(t.problem);
  CHECK(options.max_block_cycles == 77);
  CHECK(options.max_iterations == 20);
  CHECK(options.seed == 5);
  CHECK(options.delay_exponent == 1);
  CHECK(options.energy_exponent == 0);
}

}  // namespace
}  // namespace sluice
