// SPDX-License-Identifier: Apache-2.0
// Streams of machines with several queues, executed in any order that their waits
// allow.
#include <doctest/doctest.h>

#include "firmware-sim/sim.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/random_machine.h"
#include "support/simulation.h"
#include "support/stream_image.h"

namespace sluice_test {
namespace {

struct Planned {
  Bytes graph, hardware, plan;
};

Bytes WithStream(const Bytes& plan, const StreamBuilder& stream, const Planned& p) {
  const auto* wire = sluice::wire::GetPlan(plan.data());
  std::vector<Place> places;
  for (uint32_t t = 0; t < wire->tensor_region()->size(); ++t) {
    Place place;
    place.region = wire->tensor_region()->Get(t);
    place.offset = wire->tensor_offset()->Get(t);
    for (uint32_t a = 0; a < 4; ++a) {
      place.stride[a] = wire->tensor_strides()->Get(4 * t + a);
    }
    places.push_back(place);
  }
  return BytesOfPlan(stream.Image(), places, p.graph, p.hardware, {});
}

sluice_sim::SimulateResult Run(const Planned& p, uint64_t interleaving,
                               bool check_races) {
  sluice_sim::SimulateOptions o = SimulationOf(p.graph, p.hardware, p.plan);
  o.functional = true;
  o.seed = 1;
  o.interleaving = interleaving;
  o.check_races = check_races;
  return sluice_sim::Simulate(o);
}

// A fully connected layer of rows x inputs x outputs.
GraphSpec FullyConnected(int32_t rows, int32_t inputs, int32_t outputs) {
  GraphSpec g;
  g.tensors.push_back({{1, 1, rows, inputs}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{outputs, inputs}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{outputs, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 1, rows, outputs}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED,
                      {0, 1, 2},
                      {3},
                      std::vector<int32_t>(SLUICE_CONV_ATTRIBUTES)});
  return g;
}

Planned Schedule(const Bytes& graph, const Bytes& hardware, uint32_t solver) {
  Library library;
  const GraphPtr g = library.Graph(graph);
  const HardwarePtr h = library.Hardware(hardware);
  const PlanPtr plan = library.Schedule(g, h, 0, solver);
  if (plan == nullptr) return {};
  return {graph, hardware, BytesOf(plan)};
}

TEST_CASE(
    "interleavings: random plans on random queues give the same bytes in any order") {
  int plans = 0, several = 0;
  for (uint64_t seed = 1; plans < 60; ++seed) {
    RandomGraphLimits limits;
    limits.layers = 5;
    limits.elements = 300;
    MachineSpec machine = MakeRandomMachine(seed);
    machine.base.scratchpad_bytes = 2048;
    const Planned p =
        Schedule(GraphBytes(MakeRandomGraph(seed, limits)), MachineBytes(machine),
                 seed % 2 == 0 ? SLUICE_SOLVER_BASELINE : SLUICE_SOLVER_DEFAULT);
    if (p.plan.empty()) continue;
    ++plans;
    several += machine.base.queues.size() > 1 ? 1 : 0;
    const auto timed = Run(p, 0, true);
    INFO("seed " << seed << ": " << timed.error);
    REQUIRE(timed.ok);
    CHECK(timed.cycles == timed.predicted_cycles);
    for (uint64_t order = 1; order <= 10; ++order) {
      const auto r = Run(p, order, false);
      INFO("order " << order << ": " << r.error_code << " " << r.error);
      CHECK(r.ok);
      CHECK(r.output_fnv1a == timed.output_fnv1a);
    }
  }
  CHECK(several > 20);
}

TEST_CASE("interleavings: a matrix of 256 on a machine with VTA's queues") {
  HardwareSpec machine;
  machine.scratchpad_bytes = 32768;
  machine.queues = ParametersByCompute();
  const Bytes graph = GraphBytes(FullyConnected(256, 256, 256));
  for (const uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_DEFAULT}) {
    Planned p = Schedule(graph, HardwareBytes(machine), solver);
    REQUIRE_FALSE(p.plan.empty());
    const auto timed = Run(p, 0, true);
    INFO(timed.error);
    REQUIRE(timed.ok);
    for (uint64_t order = 1; order <= 20; ++order) {
      CHECK(Run(p, order, false).output_fnv1a == timed.output_fnv1a);
    }
    // Without the waits of the storing queue, some order must give other bytes or read
    // bytes that were never written.
    const auto* wire = sluice::wire::GetPlan(p.plan.data());
    StreamBuilder stream =
        TakeApart(reinterpret_cast<const uint8_t*>(wire->stream()->data()));
    for (BlockBuilder& b : stream.blocks) {
      for (ListedInstruction& entry : b.lists[1]) entry.waits.clear();
    }
    const Bytes plan = p.plan;
    p.plan = WithStream(plan, stream, p);
    CHECK_FALSE(Run(p, 0, true).ok);
    int wrong = 0;
    for (uint64_t order = 1; order <= 20; ++order) {
      const auto r = Run(p, order, false);
      wrong += !r.ok || r.output_fnv1a != timed.output_fnv1a ? 1 : 0;
    }
    CHECK(wrong >= 15);
  }
}

}  // namespace
}  // namespace sluice_test
