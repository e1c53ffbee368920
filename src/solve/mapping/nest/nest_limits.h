// SPDX-License-Identifier: Apache-2.0
// What every loop nest of a problem costs at least, also with tiles that do not divide the
// extents.
//
// Input    a problem, hardware of 2 to 6 levels with fanouts anywhere, constraints
//          (bypass, resident; others only make nests dearer)
// Output   energy and cycles that no nest goes below; the product of their powers is a
//          bound on the objective
// Errors   kOutOfMemory
// Cost     0.1 to 10 ms: at most some 100,000 tiles; less precise where there are more
// Source   For each pair of memories between which operands move, the least traffic
//          over all tiles of the inner one, by model/access.h:
//          1. A tile of lengths l has at least ceil(extent / l) visits per loop that
//             does not move its operand. All inner memories together hold what the tile
//             of all units needs, so their capacities add up.
//          2. The innermost loop above a tile keeps at most one operand: each dim but G
//             moves two of three. That operand is moved once at least.
//          3. Input words are bilinear in the numbers of tiles, so that they are least
//             where an axis is not cut, or cut most.
//          4. Reads that feed the MACs are shared by at most as many units as the
//             fanouts have; no unit shares for two operands, but for windows.
//          Every pair is bounded by itself, so that the sum is a bound, too
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_LIMITS_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_LIMITS_H_

#include "solve/mapping/conv/conv_exact.h"
#include "solve/mapping/nest/least_traffic.h"

namespace sluice {

struct NestLimits {
  double energy_pj;
  double cycles;
  // Of the tiles below the outermost level that move least, in energy and in bytes:
  // where a search may start. length 0: none.
  least_traffic::LeastTile tile[2];
};

Status LimitNests(const NestRequest& request, Arena* arena, NestLimits* limits);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_LIMITS_H_
