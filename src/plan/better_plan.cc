// SPDX-License-Identifier: Apache-2.0
#include "plan/better_plan.h"

#include "base/checked.h"
#include "plan/best_plan.h"
#include "plan/fused/take_fused.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_program.h"
#include "plan/objective.h"

namespace sluice {

bool IsBetter(PlanCall* call, Candidate* c, Arena* scratch) {
  if (CompleteCandidate({call->graph, call->hardware, call->bound}, scratch, c) !=
      Status::kOk) {
    return false;
  }
  if (!call->has_plan() && call->estimated) return true;
  const double cost =
      call->has_plan() ? call->best_cost : PlanCost(call->options, call->plain.report);
  return PlanCost(call->options, c->report) < cost;
}

Status TakeFound(PlanCall* call, bool better, Candidate* found) {
  SLUICE_TRY(call->offered);
  if (call->clock->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
  const Status priced = call->costs->status(call->diagnostic);
  if (priced == Status::kOutOfMemory) return Status::kOk;
  SLUICE_TRY(priced);
  if (!better) return Status::kOk;
  const Status status = TakePlan(call, found);
  // These failures do not end the call: it has a plan already, or the plain plan may
  // still fit.
  const bool large = status == Status::kOutOfMemory || status == Status::kUnsupported;
  call->too_large = call->too_large || large;
  const bool stands = large || status == Status::kStopped;
  return stands ? Status::kOk : status;
}

namespace {

// Writes a schedule for a mesh; empty = layer by layer on all nodes. whole: segments
// are not cut.
bool FindOnNodes(PlanCall* call, const SegmentSchedule& schedule, bool whole,
                 Candidate* out) {
  Arena memory(call->scratch->memory());
  Diagnostic ignored = {};
  NodeProgram on_nodes;
  const Status status = ScheduleOnNodes(
      {call->graph, call->hardware, call->plain.lowering, call->capacity, schedule,
       whole, call->coster, &call->search, &out->places, &memory},
      &out->program, &on_nodes, &ignored);
  out->lowering = on_nodes.lowering;
  out->groups = on_nodes.groups;
  return status == Status::kOk && IsBetter(call, out, &memory);
}

Status TakeOnNodes(PlanCall* call, const SegmentSchedule& schedule, bool whole) {
  Candidate found(call->scratch->memory(), call->hardware);
  const bool better = FindOnNodes(call, schedule, whole, &found);
  return TakeFound(call, better, &found);
}

}  // namespace

Status TakeBetter(PlanCall* call) {
  if (!call->on_many_nodes()) {
    const uint64_t live = call->scratch->memory()->live_bytes();
    SLUICE_TRY(TakeFromSpace(call));
    // A caller that limits time or iterations expects the search to use them up.
    const bool goes_on =
        call->options.deadline_ns != 0 || call->options.max_iterations != 0;
    return call->spaced && !goes_on ? Status::kOk : TakeFusedWithin(call, live);
  }
  // Segments are mostly better than layers one by one, but take longer to find. With a
  // clock, a plan layer by layer comes first.
  SegmentSchedule schedule = {};
  if (call->clock->watched()) SLUICE_TRY(TakeOnNodes(call, schedule, false));
  if (call->options.solver != SLUICE_SOLVER_BASELINE) {
    Arena memory(call->scratch->memory());
    Diagnostic ignored = {};
    const Status status =
        FindSegments({call->graph, call->hardware, call->plain.lowering, call->capacity,
                      call->options},
                     &call->search, &memory, &schedule, &ignored);
    for (int whole = 1; status == Status::kOk && whole >= 0; --whole) {
      SLUICE_TRY(TakeOnNodes(call, schedule, whole != 0));
    }
    schedule = SegmentSchedule{};
  }
  return call->clock->watched() ? Status::kOk : TakeOnNodes(call, schedule, false);
}

}  // namespace sluice
