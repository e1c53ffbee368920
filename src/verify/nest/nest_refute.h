// SPDX-License-Identifier: Apache-2.0
// Looks for a nest that costs less than a limit: the judge's own search. Private to
// nest_claim.
//
// Input    a case; what the objective must stay below
// Output   *found: whether the space has such a nest
// Errors   kStopped: the budget or the work that is allowed ended before the space; kOutOfMemory
// Cost     at most 400,000 steps of 0.6 microseconds over all sets of held operands
// Source   Nests are begun at the outermost level. A beginning is given up
//   1. when what it has cost and what the levels further in cost at least reach the limit, or
//   2. when another one with the same tile costs no more and stands no worse for any level
//      further in. The counts of those levels are products of readings (nest_counts.h) of
//      the digits passed, and each reading has one factor for the tiles of whole length and
//      one for all, so that no worse in both is no worse. Where tiles divide, these are
//      products over the dims that keep an operand, and products are compared.
//      Which loops are innermost matters only by the operand that they keep, and by the dim
//      that slides.
#ifndef SLUICE_VERIFY_NEST_NEST_REFUTE_H_
#define SLUICE_VERIFY_NEST_NEST_REFUTE_H_

#include "verify/nest/nest_counts.h"

namespace sluice::nest_claims {

// The work that a check may do, over all its calls.
struct Effort {
  Budget* budget;
  uint64_t steps;
};

Status FindCheaper(const Case& one, double limit, Effort* effort, Arena* arena,
                   bool* found, Diagnostic* diagnostic);

}  // namespace sluice::nest_claims

#endif  // SLUICE_VERIFY_NEST_NEST_REFUTE_H_
