// SPDX-License-Identifier: Apache-2.0
// Latency over scratchpad size of a small graph.
#include "plan/together/curve.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "io/read.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

struct Traced {
  Traced() { request.options.max_iterations = 20; }
  Status Run(uint32_t points) {
    request.points = points;
    return MakeCurve(n.graph, n.hardware, request, &scratch, &curve, &n.diagnostic);
  }
  sluice_test::Nouns n{sluice_test::TwoRequantized(16)};
  CurveRequest request = {};
  Arena scratch{&n.memory};
  Vector<CurvePoint> curve{&n.arena};
};

TEST_CASE("curve: a factor of which so many steps lead from one size to another") {
  CHECK(GeometricRatio(3, 24, 3) == doctest::Approx(2).epsilon(1e-12));
  CHECK(GeometricRatio(100, 400, 2) == doctest::Approx(2).epsilon(1e-12));
  CHECK(GeometricRatio(100, 400, 1) == 4);
  CHECK(GeometricRatio(7, 7, 5) == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE(
    "curve: ranges begin at multiples of 64, or of what the scratchpad asks for") {
  Traced t;
  CHECK(RangeAlignment(t.n.hardware) == 64);
  std::vector<MemoryLevel> levels(t.n.hardware.levels.begin(),
                                  t.n.hardware.levels.end());
  levels[t.n.hardware.scratchpad_level].alignment_bytes = 256;
  t.n.hardware.levels = {levels.data(), levels.size()};
  CHECK(RangeAlignment(t.n.hardware) == 256);
}

TEST_CASE("curve: from the smallest size that has a plan to the whole, never slower") {
  Traced t;
  REQUIRE(t.Run(5) == Status::kOk);
  REQUIRE(t.curve.size() >= 3);
  CHECK(t.curve.size() <= 5);
  CHECK(t.curve[t.curve.size() - 1].bytes == 4096);
  for (size_t i = 0; i < t.curve.size(); ++i) {
    const CurvePoint& point = t.curve[i];
    CHECK(point.need <= point.bytes);
    CHECK(point.latency > 0);
    CHECK(point.plan.empty());  // not kept
    CHECK(!point.cut);
    if (i == 0) continue;
    CHECK(point.bytes > t.curve[i - 1].bytes);
    CHECK(point.latency <= t.curve[i - 1].latency);
  }
  CHECK(t.curve[0].latency > t.curve[t.curve.size() - 1].latency);
  CHECK(t.curve[0].bytes == 64);  // tiles of a few bytes fit there
}

TEST_CASE("curve: it ends at the caller's scratchpad, which must have a plan") {
  Traced t;
  t.request.options.scratchpad_bytes = 1024;
  REQUIRE(t.Run(2) == Status::kOk);
  CHECK(t.curve[t.curve.size() - 1].bytes == 1024);
  Traced more;
  more.request.options.scratchpad_bytes = 1 << 20;  // more than there is
  REQUIRE(more.Run(2) == Status::kOk);
  CHECK(more.curve[more.curve.size() - 1].bytes == 4096);
  Traced none;
  none.request.options.scratchpad_bytes = 16;
  CHECK(none.Run(2) == Status::kInfeasible);
}

TEST_CASE("curve: a point has its plan where that is kept, and its longest block") {
  Traced t;
  sluice_schedule_options_t options = t.request.options;
  const PlanRequest request = {t.n.graph, t.n.hardware, options};
  CurvePoint point = {};
  Arena kept(&t.n.memory);
  REQUIRE(PlanPoint(request, {}, &kept, &t.scratch, &point, &t.n.diagnostic) ==
          Status::kOk);
  REQUIRE(!point.plan.empty());
  CHECK(reinterpret_cast<uintptr_t>(point.plan.data()) % 16 == 0);
  Plan plan = {};
  REQUIRE(ReadPlan(point.plan.data(), point.plan.size(), &t.n.arena, &plan,
                   &t.n.diagnostic) == Status::kOk);
  CHECK(point.latency == static_cast<int64_t>(plan.report.latency_cycles));
  CHECK(point.energy_pj == plan.report.energy_pj);
  CHECK(point.need % 64 == 0);
  CHECK(point.need >= static_cast<int64_t>(plan.report.peak_buffer_bytes));
  CHECK(point.need < static_cast<int64_t>(plan.report.peak_buffer_bytes) + 64);
  CHECK(point.longest == 0);  // 0: the length of blocks is not limited
  CurvePoint cut = {};
  cut.bytes = point.need - 1;
  options.max_block_cycles = 100;
  REQUIRE(PlanPoint(request, {}, nullptr, &t.scratch, &cut, &t.n.diagnostic) ==
          Status::kOk);
  CHECK(cut.longest > 0);
  CHECK(cut.longest <= cut.latency);
  CHECK(cut.need <= point.need - 1);  // never more than the budget
}

}  // namespace
}  // namespace sluice
