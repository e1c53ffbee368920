// SPDX-License-Identifier: Apache-2.0
// A call of the planner for two small layers, at the point where the graph is lowered.
#ifndef SLUICE_TESTS_PLAN_CALLED_H_
#define SLUICE_TESTS_PLAN_CALLED_H_

#include <doctest/doctest.h>

#include <vector>

#include "io/read.h"
#include "plan/plain_plan.h"
#include "plan/plan_call.h"
#include "support/read_graph.h"

namespace sluice_test {

// Two layers, one after the other, on `rows` times 32 bytes.
inline GraphSpec PairOfLayers(int32_t rows = 4) {
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  GraphSpec spec;
  spec.tensors = {
      {{1, rows, 4, 8}, i8, 1}, {{1, rows, 4, 8}, i8, 0}, {{1, rows, 4, 8}, i8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_REQUANTIZE, {1}, {2}, same}};
  return spec;
}

// As many layers in a row as asked, each like those of a pair.
inline GraphSpec RowOfLayers(uint32_t layers) {
  const GraphSpec pair = PairOfLayers();
  GraphSpec spec;
  for (uint32_t l = 0; l < layers; ++l) {
    spec.tensors.push_back(pair.tensors[l == 0 ? 0 : 1]);
    spec.layers.push_back(pair.layers[0]);
    spec.layers[l].inputs = {l};
    spec.layers[l].outputs = {l + 1};
  }
  spec.tensors.push_back(pair.tensors[2]);
  return spec;
}

struct Called {
  explicit Called(const sluice_schedule_options_t& given = {},
                  const sluice::Plan* resume = nullptr,
                  const sluice::Plan* before = nullptr,
                  const GraphSpec& graph = PairOfLayers(),
                  const HardwareSpec& hardware = {})
      : Called(GraphBytes(graph), HardwareBytes(hardware), given, resume, before) {}
  Called(const Bytes& graph, const Bytes& hardware,
         const sluice_schedule_options_t& given = {},
         const sluice::Plan* resume = nullptr, const sluice::Plan* before = nullptr)
      : n(graph, hardware), options(given), request{n.graph, n.hardware, options,
                                                    resume,  0,          before} {
    call.fitted = n.graph;
    REQUIRE(sluice::Lower(n.graph, n.hardware, &call.plain.places, &call.plain.lowering,
                          &n.diagnostic) == sluice::Status::kOk);
    REQUIRE(costs.Init(&n.diagnostic) == sluice::Status::kOk);
    call.costs = &costs;
    call.coster = costs.coster();
    n.memory.Watch(&clock);
    call.limit_bytes = call.fusion_limit_bytes = uint64_t{1} << 30;
  }
  ~Called() { n.memory.Watch(nullptr); }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;
  void MakePlain() {
    REQUIRE(sluice::SchedulePlain(&call) == sluice::Status::kOk);
    REQUIRE(sluice::CompletePlain(&call) == sluice::Status::kOk);
  }
  sluice::Plan Read() {
    sluice::Plan plan = {};
    REQUIRE(sluice::ReadPlan(call.best.all.data(), call.best.all.size(), &read, &plan,
                             &n.diagnostic) == sluice::Status::kOk);
    return plan;
  }
  Nouns n;
  sluice_schedule_options_t options;
  sluice::Arena kept{&n.memory}, scratch{&n.memory}, read{&n.memory};
  sluice::Budget clock{{}, options.deadline_ns, options.max_iterations, options.cancel};
  sluice::Progress progress;
  sluice::PlanRequest request;
  sluice::PlanCall call{request, {&kept, &scratch, &n.diagnostic}, &clock, &progress};
  sluice::TileCosts costs{n.graph, n.hardware, call.plain.lowering, options, &n.arena};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_CALLED_H_
