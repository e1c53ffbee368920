// SPDX-License-Identifier: Apache-2.0
// Random graphs on random machines: either nothing fits, provably, or both judges
// accept the plan.
//
// SLUICE_PROPERTY_CASES: how many; SLUICE_PROPERTY_SEED: the first seed, to repeat a
// case.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "firmware-sim/sim.h"
#include "support/library.h"
#include "support/parameters.h"
#include "support/random_graph.h"
#include "support/setting.h"
#include "support/simulation.h"

namespace sluice_test {
namespace {

sluice_sim::SimulateResult RunPlan(const Bytes& graph, const Bytes& hardware,
                                   const Bytes& plan, uint64_t seed, bool functional) {
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, plan);
  o.functional = functional;
  o.seed = seed;
  o.parameters = ParametersOf(graph, seed);
  return sluice_sim::Simulate(o);
}

// Alternates between solvers, so that plans are made layer by layer or fused.
uint32_t SolverOf(uint64_t seed) {
  return seed % 2 == 0 ? SLUICE_SOLVER_DEFAULT : SLUICE_SOLVER_BASELINE;
}

struct Totals {
  int plans = 0, infeasible = 0, proved = 0;
  uint64_t tiles = 0, most_tiles = 0, accumulating = 0, stamped = 0;
  uint64_t layers = 0, host_layers = 0;
  std::map<uint16_t, int> ops;
};

// Checks everything that must hold of a plan; false at the first thing that does not.
bool CheckPlan(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
               const PlanPtr& plan, const Bytes& graph_bytes,
               const Bytes& hardware_bytes, uint64_t seed, Totals* totals) {
  const Bytes bytes = BytesOf(plan);
  const sluice_report_t report = ReportOf(plan);
  const sluice_status_t verdict = library->Verify(graph, hardware, plan);
  INFO("verify: " << library->diagnostic.rule << ": " << library->diagnostic.message);
  CHECK(verdict == SLUICE_OK);
  const auto* ops = sluice::wire::GetGraph(graph_bytes.data())->layer_op();
  const bool opaque =
      std::find(ops->begin(), ops->end(), SLUICE_OP_OPAQUE) != ops->end();
  const auto r = RunPlan(graph_bytes, hardware_bytes, bytes, seed, !opaque);
  INFO("simulate: " << r.error_code << ": " << r.error);
  CHECK(r.ok);
  CHECK(r.mismatches == 0);
  CHECK((opaque || r.compared_bytes > 0));
  CHECK(r.cycles == r.predicted_cycles);
  CHECK(r.cycles == report.latency_cycles);
  CHECK(r.dram_read_bytes == report.dram_read_bytes);
  CHECK(r.dram_write_bytes == report.dram_write_bytes);
  CHECK(r.claims.size() == 9);
  for (const sluice_sim::Claim& claim : r.claims) {
    CAPTURE(claim.field);
    CHECK(claim.claimed == claim.measured);
  }
  CHECK(report.latency_cycles >= report.bound_latency_cycles);
  CHECK(report.energy_pj >= report.bound_energy_pj);
  ++totals->plans;
  totals->layers += report.layers;
  totals->host_layers += report.host_layers;
  totals->tiles += report.tiles;
  totals->most_tiles = std::max<uint64_t>(totals->most_tiles, report.tiles);
  return verdict == SLUICE_OK && r.ok && r.cycles == report.latency_cycles &&
         r.dram_read_bytes == report.dram_read_bytes &&
         r.dram_write_bytes == report.dram_write_bytes &&
         report.latency_cycles >= report.bound_latency_cycles &&
         report.energy_pj >= report.bound_energy_pj;
}

// The bytes that an infeasible answer names are exact: they suffice, and one less does
// not.
bool CheckInfeasible(Library* library, const GraphPtr& graph, MachineSpec machine,
                     const Bytes& graph_bytes, uint64_t seed, Totals* totals) {
  const sluice_diagnostic_t first = library->diagnostic;
  INFO(first.message << " required " << first.required_bytes << " available "
                     << first.available_bytes << " smallest "
                     << first.smallest_scratchpad_bytes);
  CHECK(first.required_bytes > first.available_bytes);
  CHECK(first.available_bytes == machine.base.scratchpad_bytes);
  CHECK(first.smallest_scratchpad_bytes >= first.required_bytes);
  CHECK(first.layer != SLUICE_NO_INDEX);
  ++totals->infeasible;
  machine.base.scratchpad_bytes = first.smallest_scratchpad_bytes;
  const Bytes enough = MachineBytes(machine);
  const HardwarePtr hardware = library->Hardware(enough);
  const PlanPtr plan = library->Schedule(graph, hardware, 0, SolverOf(seed));
  INFO("with that: " << library->diagnostic.message);
  CHECK(library->status == SLUICE_OK);
  if (plan == nullptr) return false;
  const bool good =
      CheckPlan(library, graph, hardware, plan, graph_bytes, enough, seed, totals);
  machine.base.scratchpad_bytes = first.smallest_scratchpad_bytes - 1;
  const HardwarePtr tight = library->Hardware(MachineBytes(machine));
  const PlanPtr none = library->Schedule(graph, tight, 0, SolverOf(seed));
  CHECK(library->status == SLUICE_INFEASIBLE);
  CHECK(library->diagnostic.smallest_scratchpad_bytes ==
        first.smallest_scratchpad_bytes);
  ++totals->proved;
  return good && library->status == SLUICE_INFEASIBLE &&
         library->diagnostic.smallest_scratchpad_bytes ==
             first.smallest_scratchpad_bytes;
}

bool CheckGraph(uint64_t seed, const GraphSpec& spec, const MachineSpec& machine,
                Totals* totals) {
  CAPTURE(seed);
  const Bytes graph_bytes = GraphBytes(spec), hardware_bytes = MachineBytes(machine);
  Library library;
  const GraphPtr graph = library.Graph(graph_bytes);
  INFO(library.diagnostic.message);
  CHECK(library.status == SLUICE_OK);
  if (graph == nullptr) return false;
  for (const LayerSpec& l : spec.layers) ++totals->ops[l.op];
  const HardwarePtr hardware = library.Hardware(hardware_bytes);
  CHECK(library.status == SLUICE_OK);
  if (hardware == nullptr) return false;
  const PlanPtr plan = library.Schedule(graph, hardware, 0, SolverOf(seed));
  if (library.status == SLUICE_INFEASIBLE) {
    return CheckInfeasible(&library, graph, machine, graph_bytes, seed, totals);
  }
  INFO(library.diagnostic.stage << " " << library.diagnostic.rule << ": "
                                << library.diagnostic.message);
  CHECK(library.status == SLUICE_OK);
  return plan != nullptr && CheckPlan(&library, graph, hardware, plan, graph_bytes,
                                      hardware_bytes, seed, totals);
}

bool CheckSeed(uint64_t seed, RandomGraphLimits limits, const MachineSpec& machine,
               Totals* totals) {
  return CheckGraph(seed, MakeRandomGraph(seed, limits), machine, totals);
}

// Encodes some of the weights that nothing but convolutions and products read.
int Encode(uint64_t seed, GraphSpec* spec) {
  sluice::Rng rng(seed ^ 0x656e636fu);
  int encoded = 0;
  for (const LayerSpec& l : spec->layers) {
    const bool takes = l.op == SLUICE_OP_CONV || l.op == SLUICE_OP_DEPTHWISE_CONV ||
                       l.op == SLUICE_OP_FULLY_CONNECTED ||
                       l.op == SLUICE_OP_TRANSPOSED_CONV;
    if (!takes || spec->tensors[l.inputs[1]].kind != 3 || rng.Below(4) == 0) continue;
    TensorSpec* weights = &spec->tensors[l.inputs[1]];
    uint64_t bytes = 1;
    for (const int32_t extent : weights->dims) bytes *= static_cast<uint64_t>(extent);
    weights->encoded_bytes = 1 + rng.Below(static_cast<uint32_t>(bytes));
    ++encoded;
  }
  return encoded;
}

TEST_CASE("a random graph on a random machine is proved infeasible or planned right") {
  const uint64_t cases = Setting("SLUICE_PROPERTY_CASES", 400);
  const uint64_t begin = Setting("SLUICE_PROPERTY_SEED", 1);
  Totals totals;
  int failures = 0;
  for (uint64_t seed = begin; seed < begin + cases && failures < 20; ++seed) {
    RandomGraphLimits limits;
    limits.opaque = seed % 8 == 0;
    failures += CheckSeed(seed, limits, MakeRandomMachine(seed), &totals) ? 0 : 1;
  }
  MESSAGE(cases << " cases: " << totals.plans << " plans of " << totals.tiles
                << " tiles (at most " << totals.most_tiles << "), " << totals.infeasible
                << " infeasible, each with the exact smallest scratchpad");
  CHECK(totals.infeasible == totals.proved);
  if (cases < 400) return;
  CHECK(totals.infeasible > 20);
  CHECK(totals.plans > 200);
  for (uint16_t op = 1; op < SLUICE_OP_COUNT; ++op) {
    CAPTURE(op);
    CHECK(totals.ops[op] > 0);
  }
}

TEST_CASE("a machine that does some operators leaves the rest to its host") {
  const uint64_t cases = Setting("SLUICE_PROPERTY_CASES", 400);
  const uint64_t begin = Setting("SLUICE_PROPERTY_SEED", 1);
  Totals totals;
  int failures = 0;
  for (uint64_t seed = begin; seed < begin + cases && failures < 20; ++seed) {
    RandomGraphLimits limits;
    limits.opaque = seed % 8 == 0;
    failures += CheckSeed(seed, limits, LimitedMachine(seed), &totals) ? 0 : 1;
  }
  MESSAGE(cases << " cases: " << totals.plans << " plans of " << totals.layers
                << " layers, " << totals.host_layers << " on the host");
  CHECK(totals.infeasible == totals.proved);
  if (cases < 400) return;
  CHECK(totals.plans > 200);
  CHECK(totals.host_layers * 4 > totals.layers);
  CHECK(totals.host_layers * 4 < totals.layers * 3);
}

TEST_CASE("memories off chip of their own, and weights that lie there encoded") {
  const uint64_t cases = Setting("SLUICE_PROPERTY_CASES", 400);
  const uint64_t begin = Setting("SLUICE_PROPERTY_SEED", 1);
  Totals totals;
  int failures = 0, encoded = 0;
  for (uint64_t seed = begin; seed < begin + cases && failures < 20; ++seed) {
    MachineSpec machine = MakeRandomMachine(seed);
    sluice::Rng rng(seed ^ 0x6d656du);
    machine.base.memories = RandomMemories(&rng);
    GraphSpec graph = MakeRandomGraph(seed, {});
    encoded += Encode(seed, &graph);
    failures += CheckGraph(seed, graph, machine, &totals) ? 0 : 1;
  }
  MESSAGE(cases << " cases: " << totals.plans << " plans, " << encoded
                << " encoded tensors, " << totals.infeasible << " infeasible");
  CHECK(totals.infeasible == totals.proved);
  if (cases < 400) return;
  CHECK(totals.plans > 200);
  CHECK(encoded > 100);
}

TEST_CASE("cases that were once planned or judged wrongly") {
  Totals totals;
  RandomGraphLimits limits;
  limits.every_op = false;
  for (uint64_t seed : {
           7,     // a scratchpad aligned to less than an int32's size
           17,    // a window that covers its whole input only at one end
           541,   // a bound that counted inputs nobody needs
           587,   // a tensor concatenated with itself, copied row by row
           1788,  // the same, several times over
           2024,  // a PAD that pads nothing in front of a convolution
       }) {
    CHECK(CheckSeed(seed, limits, MakeRandomMachine(seed), &totals));
  }
}

}  // namespace
}  // namespace sluice_test
