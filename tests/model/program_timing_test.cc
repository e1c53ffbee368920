// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "model/program.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

// The cycles of one load of 40 bytes per role, in program order, on the given queues.
// Each has a buffer of its own, so there are no waits. DRAM moves 4 bytes per cycle.
int64_t CyclesOf(const std::vector<sluice_test::QueueSpec>& queues,
                 const std::vector<uint8_t>& roles) {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 40}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 40}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  sluice_test::HardwareSpec machine;
  machine.queues = queues;
  sluice_test::Nouns n(g, machine);
  TensorPlace places[2] = {};
  places[0].region = SLUICE_REGION_INPUT;
  places[1].region = SLUICE_REGION_OUTPUT;
  Program p(&n.arena, n.hardware);
  const int32_t extent[kAxes] = {1, 1, 1, 40};
  for (uint32_t i = 0; i < roles.size(); ++i) {
    Transfer load = {};
    load.role = roles[i];
    load.buffer =
        DenseBuffer(BufferRange{i * 40, i * 40 + 40}, extent, SLUICE_DTYPE_INT8, 1);
    for (int a = 0; a < kAxes; ++a) load.dram.extent[a] = extent[a];
    load.dram.stride[3] = 1;
    REQUIRE(p.AddTransfer(StepKind::kLoad, 0, load) == Status::kOk);
  }
  ProgramWaits w(&n.arena);
  REQUIRE(DeriveWaits({n.graph, n.hardware, p}, Span<const TensorPlace>(places, 2),
                      &n.arena, &w) == Status::kOk);
  int64_t cycles = 0;
  REQUIRE(PredictCycles({n.graph, n.hardware, p}, w, &n.arena, &cycles) == Status::kOk);
  return cycles;
}

constexpr uint8_t kIn = SLUICE_ROLE_INPUT, kWeight = SLUICE_ROLE_WEIGHT;

std::vector<sluice_test::QueueSpec> ByRole(uint64_t input_latency,
                                           uint64_t weight_latency) {
  std::vector<sluice_test::QueueSpec> queues = sluice_test::LoadAndStore();
  queues.push_back(queues[0]);
  queues[0].roles = kIn;
  queues[0].latency_cycles = input_latency;
  queues[2].roles = SLUICE_ROLES & ~kIn;
  queues[2].latency_cycles = weight_latency;
  return queues;
}

TEST_CASE("timing: one queue takes its latency for each transfer") {
  CHECK(CyclesOf({}, {kIn, kWeight}) == 2 * (10 + 10));
}

TEST_CASE("timing: latencies of two queues overlap, the port serves one at a time") {
  CHECK(CyclesOf(ByRole(10, 10), {kIn, kWeight}) == 10 + 2 * 10);
  // The weights have the port from 3 to 13, then the input.
  CHECK(CyclesOf(ByRole(10, 3), {kIn, kWeight}) == 13 + 10);
  // The second input asks for the port at 20 + 10, long after the weights.
  CHECK(CyclesOf(ByRole(10, 10), {kIn, kWeight, kIn}) == 40);
  // Weights 5-15, input 15-25, then the weights that asked at 20, then the input.
  CHECK(CyclesOf(ByRole(10, 5), {kIn, kWeight, kIn, kWeight}) == 45);
}

TEST_CASE("timing: bursts and descriptors cost what the queue says") {
  std::vector<sluice_test::QueueSpec> queues(1);
  queues[0].burst_bytes = 64;
  CHECK(CyclesOf(queues, {kIn}) == 10 + 16);
  queues[0].max_row_bytes = 16;
  queues[0].descriptor_cycles = 5;
  CHECK(CyclesOf(queues, {kIn}) == 10 + 5 + 16);  // two rows at one pitch, and the rest
  queues[0].max_axes = 1;
  CHECK(CyclesOf(queues, {kIn}) == 10 + 2 * 5 + 16);
}

TEST_CASE("timing: of two queues that do the same the one with fewer bytes is taken") {
  const std::vector<sluice_test::QueueSpec> two(2);
  CHECK(CyclesOf(two, {kIn, kIn}) == 10 + 2 * 10);
  // The third load uses the first queue, which is free at 20, and asks at 30.
  CHECK(CyclesOf(two, {kIn, kIn, kIn}) == 40);
}

}  // namespace
}  // namespace sluice
