// SPDX-License-Identifier: Apache-2.0
// A small node of two by two units, and layers for it.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_NODE_H_
#define SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_NODE_H_

#include "base/rng.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {

// Two by two units, a scratchpad that holds no more than a part of most
// layers below.
inline void MakeSmallMesh(Machine* m, uint32_t cols, uint32_t rows, int64_t registers,
                          int64_t scratchpad) {
  m->AddLevel(registers, 0.006, 0.006);
  m->AddLevel(scratchpad, 0.18, 0.18);
  m->AddLevel(0, 25, 25);
  m->AddFanout(1, 2, DimBit(kDimK) | DimBit(kDimC));
  m->AddFanout(1, 2, DimBit(kDimP) | DimBit(kDimN));
  m->hardware.macs_per_cycle = 4;
  m->hardware.mac_pj = 1;
  m->hardware.vector_ops_per_cycle = 4;
  m->hardware.vector_op_pj = 1;
  m->hardware.leakage_pj_per_cycle = 5;
  m->hardware.accumulator_bytes = 2;
  m->hardware.node_cols = cols;
  m->hardware.node_rows = rows;
  m->hardware.hop_pj_per_bit = 0.61;
  m->Finish();
}

inline MappingProblem SmallLayer(Rng* rng) {
  const auto pick = [rng](uint32_t most) { return int64_t{1} + rng->Below(most); };
  return ConvProblem({pick(2), 2 * pick(3), 2 * pick(3), pick(6), pick(2),
                      rng->Below(2) == 0 ? 1 : 3, 1, 1, 2});
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_NODE_H_
