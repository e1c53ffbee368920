// SPDX-License-Identifier: Apache-2.0
// Points at which a driver may leave the plan of a small graph for another model.
#include "plan/together/preemption.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "io/read.h"
#include "plan/pipeline.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;

sluice_test::GraphSpec Layers() {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, kI8, 1},
                  {{1, 4, 4, 8}, kI8, 2},
                  {{1, 2, 4, 8}, kI8, 1},
                  {{1, 2, 4, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_REQUANTIZE, {2}, {3}, same}};
  return spec;
}

// The plain plan: two visits of blocks; no data is on chip between them.
struct Planned {
  explicit Planned(uint64_t max_block_cycles = 0) {
    options.max_block_cycles = max_block_cycles;
    options.solver = SLUICE_SOLVER_BASELINE;
    Span<const uint8_t> bytes;
    REQUIRE(MakePlan({n.graph, n.hardware, options}, &kept, &scratch, &bytes, nullptr,
                     &n.diagnostic) == Status::kOk);
    REQUIRE(ReadPlan(bytes.data(), bytes.size(), &n.arena, &plan, &n.diagnostic) ==
            Status::kOk);
  }
  Status Find(sluice_preemption_point_t* points, uint32_t* count) {
    return FindPreemptionPoints({n.graph, n.hardware, plan}, &scratch, points, count,
                                &n.diagnostic);
  }
  sluice_test::Nouns n{Layers()};
  sluice_schedule_options_t options = {};
  Arena kept{&n.memory}, scratch{&n.memory};
  Plan plan = {};
};

TEST_CASE("preemption: a point in front of each visit, and one behind the last") {
  Planned p;
  std::vector<sluice_preemption_point_t> points(8);
  uint32_t count = 8;
  REQUIRE(p.Find(points.data(), &count) == Status::kOk);
  REQUIRE(count == 3);
  CHECK(points[0].cycles == 0);
  // Load, tile and store take 42, 8 and 42 cycles in the first layer, and 26, 4 and 26 for
  // half as many bytes in the second.
  CHECK(points[1].cycles == 92);
  CHECK(points[2].cycles == 56);
  for (uint32_t i = 0; i < 3; ++i) {
    CHECK(points[i].dead_offset == 0);
    CHECK(points[i].dead_bytes == 4096);
    CHECK(points[i].live_bytes == 0);
  }
}

TEST_CASE("preemption: inside a layer the bytes that it still needs are live") {
  Planned p(60);  // a block ends before the store
  std::vector<sluice_preemption_point_t> points(8);
  uint32_t count = 8;
  REQUIRE(p.Find(points.data(), &count) == Status::kOk);
  REQUIRE(count == 4);
  CHECK(points[1].cycles == 50);
  CHECK(points[1].live_bytes == 128);
  CHECK(points[1].dead_bytes >= 4096 - 256);
  CHECK(points[1].dead_bytes <= 4096 - 128);
  CHECK(points[1].dead_offset + points[1].dead_bytes <= 4096);
  CHECK(points[1].dead_offset > 0);
  CHECK(points[2].cycles == 42);
  CHECK(points[2].live_bytes == 0);
  CHECK(points[3].cycles == 56);
}

TEST_CASE("preemption: without room the count is said") {
  Planned p;
  std::vector<sluice_preemption_point_t> points(3);
  uint32_t count = 2;
  CHECK(p.Find(points.data(), &count) == Status::kBufferTooSmall);
  CHECK(count == 3);
  CHECK(std::string(p.n.diagnostic.message) == "points: room for 2, 3 needed");
  count = 77;
  CHECK(p.Find(nullptr, &count) == Status::kBufferTooSmall);
  CHECK(count == 3);
  CHECK(p.Find(points.data(), &count) == Status::kOk);
}

TEST_CASE("preemption: machines of several nodes or queues are refused in words") {
  Planned p;
  const std::string words =
      "points are found on machines of one node and one queue only";
  uint32_t count = 0;
  p.n.hardware.node_cols = 2;
  CHECK(p.Find(nullptr, &count) == Status::kUnsupported);
  CHECK(p.n.diagnostic.message == words);
  p.n.hardware.node_cols = 1;
  const Queue queues[2] = {};
  p.n.hardware.queues = Span<const Queue>(queues, 2);
  CHECK(p.Find(nullptr, &count) == Status::kUnsupported);
  CHECK(p.n.diagnostic.message == words);
}

TEST_CASE("preemption: a plan of another graph is refused first") {
  Planned p;
  p.plan.graph_hash ^= 1;
  uint32_t count = 0;
  CHECK(p.Find(nullptr, &count) != Status::kBufferTooSmall);
}

}  // namespace
}  // namespace sluice
