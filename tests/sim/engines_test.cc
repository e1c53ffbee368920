// SPDX-License-Identifier: Apache-2.0
// The simulator's engines, and what moving a box takes of them.
#include "firmware-sim/engines.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "judge_case.h"
#include "model/engines.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

using Names = std::vector<std::string>;

sluice_sim::SimulateResult WithQueues(const std::vector<QueueSpec>& queues,
                                      Case c = ConvCase()) {
  c.hardware.queues = queues;
  if (!queues.empty()) c.hardware.dma_latency_cycles = 0;
  return Judge(c, false);
}

QueueSpec PerNode(uint32_t operations, bool per_node = true) {
  QueueSpec queue;
  queue.operations = operations;
  queue.roles = 0;
  queue.per_node = per_node;
  return queue;
}

TEST_CASE("engines: those of queues, then what no queue does") {
  CHECK(Judge(ConvCase()).engine_names == Names{"dma", "host", "compute 0"});
  CHECK(Judge(NodesCase()).engine_names ==
        Names{"dma", "host", "compute 0", "send 0", "compute 1", "send 1"});
  QueueSpec moves;
  const auto names = [](const std::vector<QueueSpec>& queues, const Case& c) {
    return WithQueues(queues, c).error;
  };
  // A stream of other engines is refused by the first one that differs.
  CHECK(WithQueues({moves}).ok);
  CHECK(names({moves, PerNode(SLUICE_DOES_COMPUTE)}, ConvCase()) ==
        "engine 1 is not the hardware's queue 1");
  CHECK(names({moves, PerNode(SLUICE_DOES_FORWARD)}, ConvCase()) ==
        "another number of engines than the hardware's");
  // With a queue that sends, nodes have no engine of their own for it.
  CHECK(names({moves, PerNode(SLUICE_DOES_FORWARD)}, NodesCase()) ==
        "engine 1 is not the hardware's queue 1 0");
}

TEST_CASE(
    "engines: queues that compute or forward are of one node, one for each work") {
  const uint32_t compute = SLUICE_DOES_COMPUTE, forward = SLUICE_DOES_FORWARD;
  QueueSpec moves;
  for (const uint32_t does : {compute, forward, compute | forward}) {
    CAPTURE(does);
    const auto shared = WithQueues({moves, PerNode(does, false)});
    CHECK(shared.error_code == "hardware");
    CHECK(shared.error == "queue 1 forwards or computes for all nodes");
    const auto two = WithQueues({moves, PerNode(does), PerNode(does)});
    CHECK(two.error_code == "hardware");
    CHECK(two.error == "two queues compute, or two forward");
  }
  // One of each is right, if the stream has them.
  CHECK(WithQueues({moves, PerNode(compute), PerNode(forward)}).error_code == "stream");
  CHECK(WithQueues({moves, moves}).error_code == "stream");
}

// Counted by the planner, which shares no code with the simulator.
TEST_CASE("engines: what random boxes take of queues is what the planner counts") {
  sluice::Rng rng(9);
  int several = 0, indexed_rows = 0;
  for (int round = 0; round < 20000; ++round) {
    CAPTURE(round);
    sluice_sim::Engine engine;
    sluice::Queue queue;
    queue.burst_bytes = 1u << rng.Below(5);
    queue.max_rows = rng.Below(2) == 0 ? 0 : 1 + rng.Below(6);
    queue.max_row_bytes = rng.Below(2) == 0 ? 0 : 1 + rng.Below(12);
    queue.max_axes = rng.Below(2) == 0 ? 0 : 1 + rng.Below(4);
    engine.burst_bytes = static_cast<uint64_t>(queue.burst_bytes);
    engine.max_rows = static_cast<uint64_t>(queue.max_rows);
    engine.max_row_bytes = static_cast<uint64_t>(queue.max_row_bytes);
    engine.max_axes = queue.max_axes;
    const uint32_t width = 1u << rng.Below(3);
    sluice_walk_operand_t src = {}, dst = {};
    int32_t extent[4];
    uint32_t next_dram = width, next_scratch = width;
    dst.bytes = width;
    for (int a = 3; a >= 0; --a) {
      extent[a] = static_cast<int32_t>(1 + rng.Below(a == 3 ? 24 : 5));
      src.extent[a] = dst.extent[a] = static_cast<uint32_t>(extent[a]);
      src.stride[a] = next_dram + width * (rng.Below(3) == 0 ? rng.Below(4) : 0);
      dst.stride[a] = next_scratch + width * (rng.Below(3) == 0 ? rng.Below(4) : 0);
      next_dram = src.stride[a] * src.extent[a];
      next_scratch = dst.stride[a] * dst.extent[a];
      dst.bytes *= dst.extent[a];
    }
    src.bytes = dst.bytes;
    const bool indexed = rng.Below(4) == 0;
    const int64_t encoded = !indexed && rng.Below(6) == 0 ? 1 + rng.Below(40) : 0;
    const sluice::QueueWork want =
        WorkOf(queue, {extent, src.stride, dst.stride, width, indexed, encoded});
    const sluice_sim::QueueLoad load =
        LoadOf(engine, src, dst, indexed, static_cast<uint64_t>(encoded));
    CHECK(load.descriptors == static_cast<uint64_t>(want.descriptors));
    CHECK(load.bytes == static_cast<uint64_t>(want.bytes));
    several += want.descriptors > 1;
    indexed_rows += indexed && want.descriptors > 1;
  }
  CHECK(several > 5000);
  CHECK(indexed_rows > 1000);
}

}  // namespace
}  // namespace sluice_test
