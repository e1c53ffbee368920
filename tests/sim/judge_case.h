// SPDX-License-Identifier: Apache-2.0
// Runs a hand-made Case, or a changed image of one, through the simulator.
#ifndef SLUICE_TESTS_SIM_JUDGE_CASE_H_
#define SLUICE_TESTS_SIM_JUDGE_CASE_H_

#include "firmware-sim/sim.h"
#include "support/simulation.h"
#include "support/stream_builder.h"

namespace sluice_test {

inline sluice_sim::SimulateResult Judge(const Case& c, const Bytes& plan,
                                        bool functional = true, uint64_t seed = 1) {
  const Bytes graph = c.Graph(), hardware = c.Hardware();
  sluice_sim::SimulateOptions options = SimulationOf(graph, hardware, plan);
  options.functional = functional;
  options.seed = seed;
  options.max_memory_bytes = 1 << 20;
  return sluice_sim::Simulate(options);
}

inline sluice_sim::SimulateResult Judge(const Case& c, bool functional = true,
                                        uint64_t seed = 1) {
  return Judge(c, c.Plan(), functional, seed);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SIM_JUDGE_CASE_H_
