// SPDX-License-Identifier: Apache-2.0
// No plan of any solver costs less than the bounds of its report. Random graphs on random
// machines and on presets (cores, mapped arrays, meshes), with tile costs of the machine and
// of a caller.
//
// Environment: SLUICE_BOUNDS_CASES, the number of cases; SLUICE_BOUNDS_SEED, the first seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "presets/presets.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A caller's cost: each tile takes one cycle (the library raises it to work over peak) and
// hardly any energy.
int32_t CheapTile(void*, uint32_t layer, const int32_t*, int32_t,
                  sluice_tile_cost_t* cost) {
  cost->cycles = 1;
  cost->energy_pj = layer % 2 == 0 ? 1e-3 : 0;
  return 1;
}

struct Tally {
  int plans = 0, tight = 0, below = 0;
  double sum = 0;
};

void CheckPlans(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
                Tally* tally) {
  for (uint32_t solver = SLUICE_SOLVER_DEFAULT; solver <= SLUICE_SOLVER_SOMA;
       ++solver) {
    for (const bool cheap : {false, true}) {
      sluice_schedule_options_t options = {};
      options.struct_size = sizeof options;
      options.solver = solver;
      options.max_iterations = solver == SLUICE_SOLVER_DEFAULT ? 0 : 200;
      if (cheap) options.tile_cost = CheapTile;
      sluice_plan_t* raw = nullptr;
      const sluice_status_t status =
          sluice_schedule(library->context.get(), graph.get(), hardware.get(), &options,
                          &raw, &library->diagnostic);
      const PlanPtr plan(raw);
      CAPTURE(solver);
      CAPTURE(cheap);
      INFO(library->diagnostic.message);
      CHECK((status == SLUICE_OK || status == SLUICE_INFEASIBLE ||
             status == SLUICE_UNSUPPORTED));
      if (status != SLUICE_OK) continue;
      const sluice_report_t r = ReportOf(plan);
      CHECK(r.latency_cycles >= r.bound_latency_cycles);
      CHECK(r.energy_pj >= r.bound_energy_pj);
      CHECK(library->Verify(graph, hardware, plan) == SLUICE_OK);
      const double ratio =
          static_cast<double>(r.latency_cycles) /
          static_cast<double>(std::max<uint64_t>(1, r.bound_latency_cycles));
      ++tally->plans;
      tally->tight += ratio <= 1.1 ? 1 : 0;
      tally->sum += ratio;
    }
  }
}

TEST_CASE("bounds: no plan of any solver is below them") {
  const uint64_t cases = Setting("SLUICE_BOUNDS_CASES", 120);
  const uint64_t begin = Setting("SLUICE_BOUNDS_SEED", 1);
  const char* presets[] = {"soma-edge",    "mcu-256k",       "gemmini-16x16",
                           "gemmini-like", "ethos-u55-like", "vta-1x16x16",
                           "eyeriss-like", "kapla-4x4",      "tpuv1-like"};
  constexpr uint64_t kPresets = sizeof presets / sizeof *presets;
  Tally tally;
  for (uint64_t seed = begin; seed < begin + cases; ++seed) {
    CAPTURE(seed);
    RandomGraphLimits limits;
    limits.opaque = seed % 8 == 0;
    const uint64_t turn = seed % (2 * kPresets);
    const Bytes graph_bytes = GraphBytes(MakeRandomGraph(seed, limits));
    const Bytes machine = turn < kPresets ? sluice::presets::LoadPreset(presets[turn])
                          : turn % 2 == 0 ? MachineBytes(MakeRandomMachine(seed))
                                          : MachineBytes(LimitedMachine(seed));
    Library library;
    const GraphPtr graph = library.Graph(graph_bytes);
    const HardwarePtr hardware = library.Hardware(machine);
    REQUIRE(graph != nullptr);
    REQUIRE(hardware != nullptr);
    CheckPlans(&library, graph, hardware, &tally);
  }
  MESSAGE(tally.plans << " plans; cycles over the bound on average "
                      << tally.sum / std::max(1, tally.plans) << ", at most 1.1 in "
                      << tally.tight);
  CHECK(tally.plans > static_cast<int>(2 * cases));
}

}  // namespace
}  // namespace sluice_test
