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
#ifndef SLUICE_API_PIPELINE_H_
#define SLUICE_API_PIPELINE_H_

#include "base/budget.h"
#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"

namespace sluice {

Status MakePlan(const Graph& graph, const Hardware& hardware,
                const sluice_schedule_options_t& options, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_API_PIPELINE_H_
