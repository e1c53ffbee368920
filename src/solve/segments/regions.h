// SPDX-License-Identifier: Apache-2.0
// Rectangles of nodes for the stages of a run, cut out of the mesh one by one.
//
// Input    the work of each stage; the mesh; a budget, at whose end the cuts end
// Output   allocations: one region for each stage. Without a proof the best one, by
//          most work per node; with a proof all of them, up to 512
// Errors   kOutOfMemory
// Cost     O(2^stages) cuts without a proof
// Source   KAPLA's published program
#ifndef SLUICE_SOLVE_SEGMENTS_REGIONS_H_
#define SLUICE_SOLVE_SEGMENTS_REGIONS_H_

#include "solve/segments/space.h"

namespace sluice {

// The allocations of a run: Space::regions from *first on. None if the best one leaves
// most nodes idle.
Status AllocateRegions(Space* space, const Run& run, Budget* budget, uint32_t* first,
                       uint32_t* count);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_REGIONS_H_
