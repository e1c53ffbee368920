// SPDX-License-Identifier: Apache-2.0
// How far two plans differ, for a caller who patches the stream on a device.
//
// Input    the plan before (its structure checked, no more) and the one after.
// Output   what has changed, counted.
// Errors   none; unreadable parts of the earlier plan count as changed.
// Cost     linear in the streams.
#ifndef SLUICE_PLAN_COMPARE_STREAMS_H_
#define SLUICE_PLAN_COMPARE_STREAMS_H_

#include "model/plan.h"

namespace sluice {

// Scratchpad bytes that the plan's stream was made for; 0 where it has no header.
int64_t BudgetOf(const Plan& plan);

// Blocks and bytes of the new stream that differ. The old one is not trusted.
void CompareStreams(const Plan& before, const Plan& after, sluice_change_t* change);

}  // namespace sluice

#endif  // SLUICE_PLAN_COMPARE_STREAMS_H_
