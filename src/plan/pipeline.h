// SPDX-License-Identifier: Apache-2.0
// The order of work, from graph to verified plan.
//
//   lowering -> plain plan, layer by layer  -> waits -> cycles, report
//            -> fusion -> placement         -> waits -> cycles, report
//               (not with SLUICE_SOLVER_BASELINE)
//            -> the cheaper of both -> stream -> plan bytes -> verify
//
// With an earlier plan (request.before): lowering -> pairing of layers -> fusion of the
// changed ones -> placement -> ...; a new plan if nothing can be kept.
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
