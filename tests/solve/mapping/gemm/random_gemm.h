// SPDX-License-Identifier: Apache-2.0
// Random GEMMs and machines, small enough to try all mappings; the best mapping of one
// branch and split of the exact search, found by trying all tiles.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_RANDOM_GEMM_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_RANDOM_GEMM_H_

#include <algorithm>

#include "base/rng.h"
#include "solve/mapping/gemm/arena_memory.h"
#include "solve/mapping/gemm/gemm_exact_space.h"

namespace sluice {

inline void RandomGemm(Rng* rng, GemmShape* shape, GemmMachine* machine) {
  const int64_t extents[] = {1, 2, 3, 4, 5, 6, 8};
  for (int d = 0; d < 3; ++d) {
    shape->extent[d] = extents[rng->Below(7)];
    machine->fanout_limit[d] = rng->Below(3) == 0 ? 1 + rng->Below(3) : 0;
  }
  machine->middle_words = rng->Below(60);
  machine->inner_words = rng->Below(10);
  machine->pe_count = int64_t{1} << rng->Below(4);
  if (rng->Below(4) == 0) machine->pe_count = 1 + rng->Below(12);
  double* const energies[] = {&machine->outer_read_pj,  &machine->outer_write_pj,
                              &machine->middle_read_pj, &machine->middle_write_pj,
                              &machine->inner_read_pj,  &machine->inner_write_pj};
  const uint32_t scale[] = {100, 100, 20, 20, 10, 10};
  for (int k = 0; k < 6; ++k) *energies[k] = 0.25 * rng->Below(scale[k]);
  machine->mac_pj = 0.25;
  if (rng->Below(2) == 0) {
    machine->middle_leak_pj = rng->Below(10);
    machine->inner_leak_pj = 0.5 * rng->Below(4);
  }
}

// A random problem and its space.
struct RandomSpace {
  GemmShape shape;
  GemmMachine machine = {};
  GemmExactOptions options;
  sluice_tests::ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  GemmSpace space;
  Status status;

  RandomSpace(Rng* rng, GemmForm form) {
    RandomGemm(rng, &shape, &machine);
    options.form = form;
    options.pe_use = rng->Below(2) == 0 ? GemmPeUse::kExact : GemmPeUse::kAtMost;
    options.objective = static_cast<GemmObjective>(rng->Below(3));
    status = BuildGemmSpace({shape, machine, options}, &memory.arena, &budget, &space,
                            &diagnostic);
  }
  RandomSpace(const RandomSpace&) = delete;
};

// The branch's memories, orders and PEs; tiles are left open.
inline GemmMapping MappingOfBranch(const RandomSpace& s, const GemmBranch& branch,
                                   const GemmSplit& split) {
  GemmMapping m = {};
  m.middle_holds = branch.middle_holds;
  m.inner_holds = branch.inner_holds;
  m.outer_order = GemmOrderFrom(branch.walk_outer);
  m.middle_order = GemmOrderFrom(branch.stays ? branch.walk_outer : branch.walk_middle);
  for (int d = 0; d < 3; ++d) m.spatial[d] = s.space.spatial[d][split.index[d]];
  return m;
}

inline double ObjectiveOfMapping(const RandomSpace& s, const GemmMapping& m) {
  const GemmCost cost = EvaluateGemm(s.shape, s.machine, m, s.options.form);
  return s.options.objective == GemmObjective::kEnergyDelay
             ? cost.energy_pj_per_mac / static_cast<double>(cost.pe_used)
             : cost.energy_pj_per_mac;
}

// The least objective of all tiles. Branches in which a datum stays: the middle loops of
// the other axes have one trip.
inline double BestOfBranch(const RandomSpace& s, const GemmBranch& branch,
                           const GemmSplit& split) {
  GemmMapping m = MappingOfBranch(s, branch, split);
  double best = __builtin_huge_val();
  const auto visit = [&] {
    if (GemmFootprint(m.middle_tile, m.middle_holds) > s.machine.middle_words ||
        GemmFootprint(m.inner_tile, m.inner_holds) > s.machine.inner_words) {
      return;
    }
    for (int d = 0; d < 3 && branch.stays; ++d) {
      const bool once = m.middle_tile[d] == m.spatial[d] * m.inner_tile[d];
      if (d != branch.walk_outer && !once) return;
    }
    best = std::min(best, ObjectiveOfMapping(s, m));
  };
  const auto axis = [&](auto self, int d) -> void {
    if (d == 3) return visit();
    const int64_t step = m.spatial[d];
    for (int64_t l1 = step; l1 <= s.shape.extent[d]; l1 += step) {
      if (s.shape.extent[d] % l1 != 0) continue;
      for (int64_t l3 = 1; l3 * step <= l1; ++l3) {
        if (l1 % (l3 * step) != 0) continue;
        m.middle_tile[d] = l1;
        m.inner_tile[d] = l3;
        self(self, d + 1);
      }
    }
  };
  axis(axis, 0);
  return best;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_RANDOM_GEMM_H_
