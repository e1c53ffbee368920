// SPDX-License-Identifier: Apache-2.0
// The judge's own bounds are above the cost of no plan: a certificate says no more than they
// do, so none that is false by that is taken.
//
// Environment: SLUICE_OWN_BOUNDS_CASES, the number of cases; SLUICE_OWN_BOUNDS_SEED, the
// first seed, in the place of those that are written here.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "io/read.h"
#include "support/malloc_allocator.h"
#include "support/seeded_case.h"
#include "support/setting.h"
#include "verify/bound.h"
#include "verify/stream_view.h"
#include "verify/verify.h"

namespace sluice_test {
namespace {

// The least that plans of a case cost, and the judge's bounds from the last of them.
struct Least {
  double cycles = 0, pj = 0;
  double bound_cycles = 0, bound_pj = 0;
  int plans = 0;
};

// The judge's bounds, as it finds them to judge this plan.
void Bound(const SeededCase& of, const Bytes& plan_bytes, Least* least) {
  const Bytes graph_bytes = GraphBytes(of.spec), machine_bytes = of.machine;
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph graph;
  sluice::Hardware hardware;
  sluice::Plan plan;
  sluice::Diagnostic d = {};
  const auto good = [](sluice::Status status) { return status == sluice::Status::kOk; };
  REQUIRE(good(ReadGraph(graph_bytes.data(), graph_bytes.size(), &arena, &graph, &d)));
  REQUIRE(good(
      ReadHardware(machine_bytes.data(), machine_bytes.size(), &arena, &hardware, &d)));
  REQUIRE(good(ReadPlan(plan_bytes.data(), plan_bytes.size(), &arena, &plan, &d)));
  sluice::VerifiedCounts counts = {};
  REQUIRE(good(Verify(graph, hardware, plan, &arena, &counts, &d)));
  sluice::judge::Judge judge = {graph, hardware,         plan, &arena, &d,
                                {},    int64_t{1} << 40, {},   false};
  REQUIRE(good(ReadStream(&judge)));
  sluice::judge::LeastCosts costs;
  REQUIRE(good(FindLeastCosts(judge, counts, &costs)));
  const sluice_report_t& r = plan.report;
  CHECK(r.bound_latency_cycles <= r.latency_cycles);
  CHECK(r.bound_energy_pj <= r.energy_pj);
  const auto cycles = static_cast<double>(r.latency_cycles);
  least->bound_cycles = static_cast<double>(costs.cycles);
  least->bound_pj = costs.energy_pj + r.energy_host_pj +
                    least->bound_cycles * hardware.leakage_pj_per_cycle;
  least->cycles = least->plans == 0 ? cycles : std::min(cycles, least->cycles);
  least->pj = least->plans == 0 ? r.energy_pj : std::min(r.energy_pj, least->pj);
  ++least->plans;
}

Least LeastOfPlans(SeededCase* of) {
  Least least;
  const uint32_t exponents[][2] = {{1, 1}, {1, 0}, {0, 1}};
  for (uint32_t solver = SLUICE_SOLVER_DEFAULT; solver <= SLUICE_SOLVER_SOMA;
       ++solver) {
    for (const auto& [energy, delay] : exponents) {
      sluice_schedule_options_t options = {};
      options.struct_size = sizeof options;
      options.solver = solver;
      options.energy_exponent = energy;
      options.delay_exponent = delay;
      options.max_iterations = solver == SLUICE_SOLVER_DEFAULT ? 0 : 100;
      sluice_plan_t* raw = nullptr;
      const sluice_status_t status =
          sluice_schedule(of->library.context.get(), of->graph.get(),
                          of->hardware.get(), &options, &raw, &of->library.diagnostic);
      const PlanPtr plan(raw);
      INFO(of->library.diagnostic.message);
      // The judge has refused none.
      CHECK((status == SLUICE_OK || status == SLUICE_INFEASIBLE ||
             status == SLUICE_UNSUPPORTED));
      if (plan != nullptr) Bound(*of, BytesOf(plan), &least);
    }
  }
  return least;
}

TEST_CASE("own bounds: the judge's are above no plan") {
  std::vector<uint64_t> seeds = {73,  123,  239,  256,  401,  455,  562,  756,  758,
                                 951, 1012, 1084, 1140, 1367, 1401, 1421, 20254};
  const uint64_t begin = Setting("SLUICE_OWN_BOUNDS_SEED", 1);
  const uint64_t cases = Setting("SLUICE_OWN_BOUNDS_CASES", 0);
  if (cases != 0) seeds.clear();
  for (uint64_t seed = begin; seed < begin + cases; ++seed) seeds.push_back(seed);
  int plans = 0, graphs = 0, by_cycles = 0, by_energy = 0;
  for (const uint64_t seed : seeds) {
    CAPTURE(seed);
    SeededCase of(seed);
    const Least least = LeastOfPlans(&of);
    if (least.plans == 0) continue;
    ++graphs;
    plans += least.plans;
    CHECK(least.bound_cycles <= least.cycles);
    CHECK(least.bound_pj <= least.pj * (1 + 1e-9));
    by_cycles += least.bound_cycles > least.cycles ? 1 : 0;
    by_energy += least.bound_pj > least.pj * (1 + 1e-9) ? 1 : 0;
  }
  MESSAGE(graphs << " graphs, " << plans
                 << " plans; the judge's bound on cycles is above "
                 << "one in " << by_cycles << ", that on energy in " << by_energy);
}

}  // namespace
}  // namespace sluice_test
