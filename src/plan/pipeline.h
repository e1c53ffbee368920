// SPDX-License-Identifier: Apache-2.0
// The order of work, from graph to verified plan.
//
//   lowering -> baseline -> waits -> cycles, report
//            -> fusion -> placement -> waits -> cycles, report; the cheaper of both
//               (but with SLUICE_SOLVER_BASELINE)
//            -> stream -> plan bytes -> verify
//
// Input    graph, hardware, options.
// Output   the plan's bytes in `arena`.
// Errors   as sluice_schedule states; kInternal when our own plan fails verify.
#ifndef SLUICE_PLAN_PIPELINE_H_
#define SLUICE_PLAN_PIPELINE_H_

#include "base/budget.h"
#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"

namespace sluice {

Status MakePlan(const Graph& graph, const Hardware& hardware,
                const sluice_schedule_options_t& options, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, Diagnostic* diagnostic);

// From a plan of a graph, machine or budget that was like these, of which what holds is
// kept:
//   lowering -> which layer was which -> fusion of what was touched -> placement -> ...
// or as MakePlan where nothing can be kept; *change says which, and counts layers.
Status RemakePlan(const Graph& graph, const Hardware& hardware,
                  const sluice_schedule_options_t& options, const Plan& before,
                  bool minimise_changes, Arena* arena, Arena* scratch,
                  Span<const uint8_t>* bytes, sluice_change_t* change,
                  Diagnostic* diagnostic);

// Bytes that MakePlan takes at most, its plan included.
Status BoundMemory(const Graph& graph, const Hardware& hardware,
                   const sluice_schedule_options_t& options, Arena* scratch,
                   uint64_t* bytes, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_PIPELINE_H_
