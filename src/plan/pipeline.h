// SPDX-License-Identifier: Apache-2.0
// The order of work, from graph to verified plan.
//
//   lowering -> baseline -> waits -> cycles, report
//            -> fusion -> placement -> waits -> cycles, report; the cheaper of both
//               (but with SLUICE_SOLVER_BASELINE)
//            -> stream -> plan bytes -> verify
//
// With a plan before: lowering -> which layer was which -> fusion of what was touched
//            -> placement -> ...; as without one where nothing of it can be kept.
//
// Input    graph, hardware, options; plans to start from.
// Output   the plan's bytes in `arena`.
// Errors   as sluice_schedule states; kInternal when our own plan fails verify.
#ifndef SLUICE_PLAN_PIPELINE_H_
#define SLUICE_PLAN_PIPELINE_H_

#include "base/budget.h"
#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

// change: what was kept of request.before, counted in layers; may be NULL.
Status MakePlan(const PlanRequest& request, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, sluice_change_t* change,
                Diagnostic* diagnostic);

// The most bytes that MakePlan may take, its plan included.
Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_PIPELINE_H_
