// SPDX-License-Identifier: Apache-2.0
// Gives each model of a cohort a plan and a range of the scratchpad; turns come later.
//
// Input    the problem; for a partition or for shared time also the planned sizes
// Output   plan, offset, bytes and latency of each model in an Arrangement
// Errors   FindFreeRanges: kBadArgument for a reservation outside the scratchpad, not
//          aligned, or overlapping another one. ArrangePartition: those of
//          Shares::Divide
// Cost     linear in the models; ArrangePartition also plans (shares.h)
#ifndef SLUICE_PLAN_TOGETHER_ARRANGE_H_
#define SLUICE_PLAN_TOGETHER_ARRANGE_H_

#include "plan/together/cohort.h"
#include "plan/together/shares.h"

namespace sluice {

// Finds the ranges between the reservations.
Status FindFreeRanges(CohortProblem* problem);

// The bytes that each model without a reservation would have if all had the same.
int64_t EqualShare(const CohortProblem& problem);

// Each model without a reservation gets a range of its own. *proved: no other division
// of the considered sizes has a smaller weighted sum of latencies.
Status ArrangePartition(const CohortProblem& problem, Shares* shares,
                        Arrangement* arrangement, bool* proved);

// All models without a reservation get the largest free range, to use in turns.
void ArrangeTime(const CohortProblem& problem, const Shares& shares,
                 Arrangement* arrangement);

// Weighted sum of the cycles at which the models finish.
uint64_t FinishSum(const CohortProblem& problem, const Arrangement& arrangement);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_ARRANGE_H_
