// SPDX-License-Identifier: Apache-2.0
// Random hierarchies: memories for some operands, shares, bandwidths, wires, fanouts that may
// unroll some dims only.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_RANDOM_HIERARCHY_H_
#define SLUICE_TESTS_SOLVE_MAPPING_RANDOM_HIERARCHY_H_

#include "tests/solve/mapping/random_nest.h"

namespace sluice {

inline void RandomHierarchy(Rng* rng, Machine* m) {
  RandomMachine(rng, m);
  for (uint32_t l = 0; l < m->levels.size(); ++l) {
    MemoryLevel& level = m->levels[l];
    const bool outermost = l + 1 == m->levels.size();
    if (!outermost && rng->Below(5) != 0)
      level.capacity_bytes = 2 + rng->Below(40u << l);
    if (!outermost && rng->Below(3) == 0) level.may_hold = rng->Below(8);
    if (!outermost && rng->Below(6) == 0)
      level.must_hold = level.may_hold & rng->Below(8);
    if (rng->Below(6) == 0) {
      level.share_percent[0] = level.share_percent[1] = 30;
      level.share_percent[2] = 40;
    }
    if (rng->Below(3) == 0)
      level.bandwidth = Rational{1 + rng->Below(9), 1 + rng->Below(3)};
    level.read_pj_per_bit = rng->Below(8) == 0 ? 0 : 0.1 * rng->Below(60);
    level.write_pj_per_bit = rng->Below(8) == 0 ? 0 : 0.1 * rng->Below(60);
  }
  for (Fanout& fanout : m->fanouts) {
    fanout.extent = 1 + rng->Below(5);
    fanout.may_unroll = rng->Below(128);
    fanout.transfer_pj_per_bit = rng->Below(3) == 0 ? 0.3 : 0;
    fanout.forward_pj_per_bit = rng->Below(3) == 0 ? 0.2 : 0;
  }
  m->hardware.leakage_pj_per_cycle = rng->Below(3) == 0 ? 0.4 : 0;
  m->hardware.mac_pj = m->hardware.vector_op_pj = 0.1;
  if (rng->Below(2) == 0) {
    m->hardware.macs_per_cycle = m->hardware.vector_ops_per_cycle = 1 + rng->Below(12);
  }
  m->Finish();
}

inline int PrimeFactors(const MappingProblem& problem) {
  int factors = 0;
  for (int64_t extent : problem.extent) {
    for (int64_t p = 2; extent > 1; ++p) {
      for (; extent % p == 0; extent /= p) ++factors;
    }
  }
  return factors;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_RANDOM_HIERARCHY_H_
