// SPDX-License-Identifier: Apache-2.0
// Joins segments of a plan where one sum, added up in parts, goes around all their layers:
// the layers before the last one make what one part of its sum needs. DMA then loads
// constants of one layer while another one computes, and what is handed on stays on chip.
//
// The search before tries few numbers of parts, and only where it looks at all lengths of
// segments. Here all numbers are tried where the plan shows that a tenth of a percent
// could be gained. Sums under other loops are tried with half of the channels too, which
// leaves room for twice the rows.
//
// Input    a plan that is being improved.
// Output   the same plan, or a cheaper one.
// Errors   kOutOfMemory.
// Cost     some tens of segments made, for each run of up to three segments that may gain.
#ifndef SLUICE_SOLVE_SPACE_JOIN_SUMS_H_
#define SLUICE_SOLVE_SPACE_JOIN_SUMS_H_

#include "solve/space/improve.h"

namespace sluice {

Status JoinSums(const SpaceProblem& problem, Improver* plan, Budget* budget);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_JOIN_SUMS_H_
