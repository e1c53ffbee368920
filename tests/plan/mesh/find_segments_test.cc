// SPDX-License-Identifier: Apache-2.0
// Segments of small networks: complete, for the objective that was asked for.
#include "plan/mesh/find_segments.h"

#include <doctest/doctest.h>

#include <vector>

#include "plan/mesh/node_layers.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using NodeLayers = sluice_test::KaplaLayers;

sluice_schedule_options_t Exponents(uint32_t energy, uint32_t delay) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.energy_exponent = energy;
  options.delay_exponent = delay;
  return options;
}

Status Find(NodeLayers* m, const sluice_schedule_options_t& options, int64_t capacity,
            SegmentSchedule* schedule) {
  return FindSegments({m->n.graph, m->n.hardware, m->lowering, capacity, options},
                      &m->budget, &m->n.arena, schedule, &m->n.diagnostic);
}

TEST_CASE("find segments: each layer that is no view is in one segment") {
  NodeLayers m(sluice_test::JoinedGraph());
  SegmentSchedule schedule = {};
  REQUIRE(Find(&m, Exponents(0, 0), 1 << 14, &schedule) == Status::kOk);
  std::vector<uint32_t> order(schedule.order.begin(), schedule.order.end());
  CHECK(order == std::vector<uint32_t>{0, 1, 3});  // 2 is a view
  size_t layers = 0;
  for (const Segment& s : schedule.segments) {
    CHECK(s.begin == layers);
    for (size_t i = 0; i < s.layers.size(); ++i) {
      CHECK(s.layers[i].layer == order[layers + i]);
    }
    layers += s.layers.size();
  }
  CHECK(layers == 3);
}

TEST_CASE("find segments: least energy, least time, and both unless one is asked for") {
  SegmentSchedule energy = {}, delay = {}, both = {}, stated = {};
  const auto spec =
      Chain(2, 16, 16, 16).Conv(32, 3).Conv(32, 3).Pool(2).Dense(10).Done();
  NodeLayers m(spec);
  REQUIRE(Find(&m, Exponents(1, 0), 1 << 12, &energy) == Status::kOk);
  REQUIRE(Find(&m, Exponents(0, 1), 1 << 12, &delay) == Status::kOk);
  REQUIRE(Find(&m, Exponents(0, 0), 1 << 12, &both) == Status::kOk);
  REQUIRE(Find(&m, Exponents(1, 1), 1 << 12, &stated) == Status::kOk);
  CHECK(energy.cost.energy_pj < delay.cost.energy_pj);
  CHECK(delay.cost.cycles < energy.cost.cycles);
  CHECK(both.objective == stated.objective);
  CHECK(both.cost.energy_pj == stated.cost.energy_pj);
}

TEST_CASE("find segments: readers of a state keep their order, so there are none") {
  NodeLayers m(Chain(1, 8, 8, 4).Conv(4, 1).Conv(4, 1).Done());
  std::vector<Tensor> tensors(m.n.graph.tensors.begin(), m.n.graph.tensors.end());
  tensors[m.n.graph.layers[0].outputs[0]].kind = TensorKind::kState;
  m.n.graph.tensors = {tensors.data(), tensors.size()};
  SegmentSchedule schedule = {};
  CHECK(Find(&m, Exponents(0, 0), 1 << 14, &schedule) == Status::kUnsupported);
}

TEST_CASE("find segments: scratchpads too small for a layer have no segments") {
  NodeLayers m(Chain(1, 8, 8, 64).Conv(64, 3).Done());
  SegmentSchedule schedule = {};
  CHECK(Find(&m, Exponents(0, 0), 16, &schedule) != Status::kOk);
}

}  // namespace
}  // namespace sluice
