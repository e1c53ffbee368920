// SPDX-License-Identifier: Apache-2.0
// Random layers and machines that the exact mapper takes, small enough to try all nests.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_CONV_RANDOM_CONV_H_
#define SLUICE_TESTS_SOLVE_MAPPING_CONV_RANDOM_CONV_H_

#include "base/rng.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {

// Registers, scratchpad and DRAM, and two axes of units.
inline void RandomArray(Rng* rng, Machine* machine) {
  machine->AddLevel(2 * (3 + rng->Below(40)), 0.1 + 0.01 * rng->Below(10),
                    0.1 + 0.01 * rng->Below(10));
  machine->levels[0].may_hold = rng->Below(4) == 0 ? 1 + rng->Below(7) : 7;
  machine->AddLevel(2 * (20 + rng->Below(200)), 1 + 0.1 * rng->Below(10), 1.2);
  machine->levels[1].bandwidth = Rational{static_cast<int64_t>(rng->Below(12)), 1};
  machine->AddLevel(0, 20 + rng->Below(10), 22);
  machine->levels[2].bandwidth = Rational{static_cast<int64_t>(1 + rng->Below(4)), 2};
  machine->AddFanout(1, 2 + rng->Below(3),
                     DimBit(kDimP) | DimBit(kDimQ) | DimBit(kDimC));
  machine->AddFanout(1, 2 + rng->Below(2), DimBit(kDimK) | DimBit(kDimC));
  machine->fanouts[0].transfer_pj_per_bit = 0.3;
  machine->hardware.mac_pj = 1;
  machine->hardware.vector_op_pj = 0.5;
  machine->hardware.leakage_pj_per_cycle = rng->Below(2) * 40.0;
  machine->Finish();
}

inline MappingProblem RandomLayer(Rng* rng) {
  const auto pick = [rng](std::initializer_list<int64_t> from) {
    return from.begin()[rng->Below(static_cast<uint32_t>(from.size()))];
  };
  MappingProblem problem =
      ConvProblem({pick({1, 1, 2}), pick({1, 2, 3, 4, 6}), pick({1, 2, 3, 4}),
                   pick({1, 2, 3, 4, 5}), pick({1, 2, 4}), pick({1, 1, 3}),
                   pick({1, 2}), static_cast<int32_t>(pick({1, 1, 2})), 2});
  problem.dilation[0] = static_cast<int32_t>(pick({1, 1, 2}));
  problem.partial_bytes = static_cast<uint32_t>(pick({2, 2, 4}));
  if (rng->Below(4) == 0) {
    problem.extent[kDimG] = pick({2, 3});
    if (rng->Below(2) == 0) {
      problem.operands = 5;
      problem.vector = true;
      problem.extent[kDimK] = 1;
    }
  }
  return problem;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_CONV_RANDOM_CONV_H_
