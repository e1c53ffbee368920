// SPDX-License-Identifier: Apache-2.0
// Random changes of a fusion scheme.
//
// Input    Scheme; Rng; which operators are allowed.
// Output   a changed scheme (logged, not scored); false when nothing was changed.
// Errors   none; illegal results are left to the score.
// Cost     O(positions touched).
// Source   SoMa section V: computing order, tiling number, FLC, DRAM cut. Our own:
//          shifted cuts, whole windows as one group, groups taken apart, list policy.
#ifndef SLUICE_SOLVE_FUSION_MOVES_H_
#define SLUICE_SOLVE_FUSION_MOVES_H_

#include "base/rng.h"
#include "solve/fusion/scheme.h"

namespace sluice {

enum MoveSet : uint8_t {
  kMovesOurs,
  kMovesSoma,   // order .20, tiles .35, fuse fine groups .15, DRAM cuts .30
  kMovesCocco,  // order .40, DRAM cuts .60; fine groups follow the DRAM cuts
};

bool RandomMove(MoveSet set, Scheme* scheme, Rng* rng);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_MOVES_H_
