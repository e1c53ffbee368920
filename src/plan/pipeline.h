// SPDX-License-Identifier: Apache-2.0
// The order of work, from graph to verified plan.
//
//   lowering -> plain plan, layer by layer         -> waits -> cycles, report
//            -> better_plan.h:
//               segments (the default) -> places   -> waits -> cycles, report
//               fusion -> places                   -> waits -> cycles, report
//               or, on a mesh, layers dealt out    -> waits -> cycles, report
//               (none of them with SLUICE_SOLVER_BASELINE on one node)
//            -> the cheapest one -> stream -> plan bytes -> verify
//
// With a deadline, a quick search over segments comes before the plain plan where it is
// likely to end sooner. On a mesh the plain plan comes last, unless the call may be ended
// early, and only where it may be the cheapest or where there is no other. Whole tensors
// (SLUICE_GRANULARITY_OPERATOR and _RECOMPUTE) have a planner of their own in the place of
// all these, operators/operator_plan.h.
//
// With an earlier plan (request.before): lowering -> pairing of layers -> a search for the
// changed ones, over segments or by fusion as that plan was made -> places -> ...; a new
// plan if nothing can be kept.
//
// Input    graph, hardware, options; plans to start from.
// Output   the plan's bytes in `arena`.
// Errors   as sluice_schedule states; kInternal when our own plan fails verify.
// Cost     the plain plan, then as much search as options and clock allow.
#ifndef SLUICE_PLAN_PIPELINE_H_
#define SLUICE_PLAN_PIPELINE_H_

#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

// change: how many layers of request.before were kept; may be NULL.
Status MakePlan(const PlanRequest& request, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, sluice_change_t* change,
                Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_PIPELINE_H_
