// SPDX-License-Identifier: Apache-2.0
// Plans of fused layers on one node, as candidates of a call: new plans, and plans from
// the parts of an earlier plan that are still valid.
//
// Input    the call: lowered graph, tile costs, the plain plan or estimates of it.
// Output   call->best, when a better plan was found.
// Errors   kInternal when the judge refuses a plan; kBadArgument when the caller's tile
//          costs are wrong. Anything else leaves the best plan as it was, with kOk.
// Cost     as ScheduleFused.
#ifndef SLUICE_PLAN_FUSED_TAKE_FUSED_H_
#define SLUICE_PLAN_FUSED_TAKE_FUSED_H_

#include "plan/plan_call.h"
#include "solve/repair/align.h"

namespace sluice {

Status TakeFused(PlanCall* call);

// The same within the memory that suits fusion; once more with the whole memory of
// searches if that was too little to fuse anything. live_before: bytes in use when the
// call's searches began.
Status TakeFusedWithin(PlanCall* call, uint64_t live_before);

// Keeps the valid parts of call->before and reworks the parts whose layers have
// changed.
Status TakeCarriedFused(PlanCall* call, const Alignment& alignment);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_TAKE_FUSED_H_
