// SPDX-License-Identifier: Apache-2.0
// The plain plan, layer by layer: made and timed.
//
// Input    the call: lowered graph, tile costs.
// Output   call->plain: program, waits, report; call->alone: what each layer costs by
//          itself.
// Errors   kInfeasible when a layer does not fit the scratchpad; kOutOfMemory,
//          kStopped; kBadArgument when the caller's tile costs are wrong.
// Cost     as ScheduleLayerByLayer, PredictCycles and FillReport.
#ifndef SLUICE_PLAN_PLAIN_PLAN_H_
#define SLUICE_PLAN_PLAIN_PLAN_H_

#include "plan/plan_call.h"

namespace sluice {

// *steps: no more than the program has; it is not written. Sets call->most_steps: a plan
// on a mesh may be as long as this one, which is written and judged if there is no other.
Status CountPlain(PlanCall* call, uint64_t* steps);

// Writes the program: layer by layer.
Status SchedulePlain(PlanCall* call);

// Adds the waits and the report, and fills call->alone: the part of each layer in the
// report.
Status CompletePlain(PlanCall* call);

// The notation of a plain plan: every layer by itself, in the graph's order.
Status NotePlain(const Lowering& lowering, Arena* arena, PlanNotation* notation);

}  // namespace sluice

#endif  // SLUICE_PLAN_PLAIN_PLAN_H_
