// SPDX-License-Identifier: Apache-2.0
// The best loop nest of all whose factors divide the extents, on any hierarchy, proved.
//
// Input    a problem; hardware of 2 to 6 levels with fanouts anywhere, per-operand
//          memories, shares, buses without multicast or reduction, wires, bandwidths,
//          sliding memories; constraints but for outer, quick and gap. upper > 0: only
//          nests below it are asked for
// Output   the best nest below `upper`, if there is one (nest.levels 0: none); bound: no
//          nest of the space is below it; proved: the nest, or `upper`, is the bound
// Errors   kInfeasible when no nest of the space fits and there is no upper;
//          kUnsupported for OuterPrice; kOutOfMemory. A budget, or more work than is
//          allowed, ends the search with a lower bound and proved = false
// Cost     0.1 ms to 0.3 s, at most 2^16 partial nests of 300 bytes a level
// Source   The loops are chosen level by level, from the outermost inwards. What the rest
//          costs depends on the tile, and on the little that nest_steps.h remembers of the
//          loops above, so that of two beginnings with the same tile the dearer one is
//          dropped if it is no better in anything that counts (dynamic programming over
//          tiles). Each level costs at least what its best tile and array cost, whatever
//          stands above: a beginning whose cost and these sums reach the best nest known
//          is dropped, too
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_EXACT_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_EXACT_H_

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

// The factors of a nest divide the extents, or its last tiles may be smaller.
enum class NestSpace : uint8_t { kDividing = 0, kRagged };

Status MapNestExact(const NestRequest& request, NestSpace space, Budget* budget,
                    Arena* arena, MappedNest* mapped, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_EXACT_H_
