// SPDX-License-Identifier: Apache-2.0
// A call of the simulator for a plan.
#ifndef SLUICE_TESTS_SUPPORT_SIMULATION_H_
#define SLUICE_TESTS_SUPPORT_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "firmware-sim/sim.h"

namespace sluice_test {

// The options of a run of these bytes, which must outlive it. It only keeps time until the
// caller sets `functional`.
inline sluice_sim::SimulateOptions SimulationOf(const std::vector<uint8_t>& graph,
                                                const std::vector<uint8_t>& hardware,
                                                const std::vector<uint8_t>& plan) {
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.hardware = hardware.data();
  options.hardware_size = hardware.size();
  options.plan = plan.data();
  options.plan_size = plan.size();
  return options;
}

// A functional run. order: 0 keeps time, others are seeds of orders that obey nothing but
// the waits.
inline sluice_sim::SimulateResult Execute(const std::vector<uint8_t>& graph,
                                          const std::vector<uint8_t>& hardware,
                                          const std::vector<uint8_t>& plan,
                                          uint64_t order = 0) {
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, plan);
  o.functional = true;
  o.interleaving = order;
  return sluice_sim::Simulate(o);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_SIMULATION_H_
