// SPDX-License-Identifier: Apache-2.0
// A whole program in which runs of layers are fused: choose, place, retry, write.
//
// The graph is cut into runs of layers that may fuse; what lies between, and runs that
// fusing does not make cheaper, stays layer by layer. Every run is constructed, placed
// and measured first; what is left of the budget is then spent on annealing them, and
// the result replaces what was constructed only when the whole plan gets cheaper.
//
// Input    graph, hardware, lowering, scratchpad bytes, options, tile costs; energy and
// cycles of
//          the whole graph layer by layer, as the scale of both.
// Output   the program, its lowering (places differ: fewer tensors are in DRAM), the
//          number of fusion groups (a layer by itself counts as one), whether any run
//          is fused at all.
// Errors   kOutOfMemory, kStopped, kUnsupported: the caller keeps the plan it has.
// Cost     a construction per run; with a limit, or where runs repeat, a second one
//          with annealing.
#ifndef SLUICE_API_FUSED_PLAN_H_
#define SLUICE_API_FUSED_PLAN_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/plan.h"
#include "model/program.h"
#include "model/tile_cost.h"

namespace sluice {

struct FusedPlan {
  Lowering lowering;
  PlanNotation notation;
  uint32_t groups = 0;
  bool fused = false;
};

// arena: of the plan; program must not allocate from scratch.
Status ScheduleFused(const Graph& graph, const Hardware& hardware,
                     const Lowering& lowering, int64_t scratchpad_bytes,
                     const sluice_schedule_options_t& options,
                     const sluice_report_t& baseline, const TileCoster& coster,
                     Budget* budget, Arena* arena, Arena* scratch, Program* program,
                     FusedPlan* plan, Diagnostic* diagnostic);

// energy^n * cycles^m; both exponents 0 mean 1, 1.
double PlanCost(const sluice_schedule_options_t& options,
                const sluice_report_t& report);

}  // namespace sluice

#endif  // SLUICE_API_FUSED_PLAN_H_
