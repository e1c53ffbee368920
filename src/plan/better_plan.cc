// SPDX-License-Identifier: Apache-2.0
#include "plan/better_plan.h"

#include "base/checked.h"
#include "plan/best_plan.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_program.h"
#include "plan/objective.h"

namespace sluice {

bool IsBetter(PlanCall* call, const FusedPlan& plan, Candidate* c, Arena* scratch) {
  c->lowering = plan.lowering;
  c->notation = plan.notation;
  if (CompleteCandidate({call->graph, call->hardware, call->bound}, scratch, c) !=
      Status::kOk) {
    return false;
  }
  c->report.groups = plan.groups;
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
  // The plain plan may still fit, or is there already.
  const bool stands = status == Status::kOutOfMemory || status == Status::kStopped ||
                      status == Status::kUnsupported;
  return stands ? Status::kOk : status;
}

namespace {

// Receives a complete plan while the search goes on.
void Offer(void* user, const FusedPlan& plan, Candidate* c, Arena* scratch) {
  PlanCall* call = static_cast<PlanCall*>(user);
  Status status = Status::kOk;
  if (IsBetter(call, plan, c, scratch)) status = TakePlan(call, c);
  if (status == Status::kInternal) call->offered = status;
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
}

bool FindFused(PlanCall* call, Candidate* out) {
  Arena memory(call->scratch->memory());
  FusedCall fused = FusedCallOf(call, call->plain.report);
  fused.alone = call->alone;
  fused.in_hand = call->has_plan();
  if (call->clock->watched()) fused.constructed = {call, Offer};
  Diagnostic ignored = {};
  FusedPlan plan;
  const FusedOutput output = {&out->places, &out->program, &plan};
  const Status status = ScheduleFused(fused, &call->search, &memory, output, &ignored);
  call->fuses = status == Status::kOk && plan.fused;
  return call->fuses && IsBetter(call, plan, out, &memory);
}

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
  FusedPlan plan;
  plan.lowering = on_nodes.lowering;
  plan.groups = on_nodes.groups;
  return status == Status::kOk && IsBetter(call, plan, out, &memory);
}

Status TakeOnNodes(PlanCall* call, const SegmentSchedule& schedule, bool whole) {
  Candidate found(call->scratch->memory(), call->hardware);
  const bool better = FindOnNodes(call, schedule, whole, &found);
  return TakeFound(call, better, &found);
}

// Fusion within the memory that suits it; with more where that was too little to fuse
// anything.
Status TakeFusedWithin(PlanCall* call, uint64_t live_before) {
  // A search that offers a plan on the way writes two; time for a second try is not there.
  if (call->clock->watched()) return TakeFused(call);
  Memory* memory = call->scratch->memory();
  const uint64_t more = memory->live_bytes() - live_before;
  const uint64_t hits = memory->limit_hits();
  memory->Limit(Min(call->fusion_limit_bytes + more, call->limit_bytes));
  SLUICE_TRY(TakeFused(call));
  memory->Limit(call->limit_bytes);
  const bool again = !call->fuses && memory->limit_hits() != hits;
  return again ? TakeFused(call) : Status::kOk;
}

}  // namespace

FusedCall FusedCallOf(PlanCall* call, const sluice_report_t& scale) {
  return {call->graph,   call->hardware, call->plain.lowering, call->capacity,
          call->options, scale,          call->coster,         {},
          call->step_ns, true,           {nullptr, nullptr},   nullptr,
          &call->tilings};
}

Status TakeFused(PlanCall* call) {
  Candidate found(call->scratch->memory(), call->hardware);
  const bool better = FindFused(call, &found);
  return TakeFound(call, better, &found);
}

Status TakeBetter(PlanCall* call) {
  if (!call->on_many_nodes()) {
    const uint64_t live = call->scratch->memory()->live_bytes();
    SLUICE_TRY(TakeFromSpace(call));
    // Whoever gives time or iterations has them used up by a search that goes on.
    const bool goes_on =
        call->options.deadline_ns != 0 || call->options.max_iterations != 0;
    return call->spaced && !goes_on ? Status::kOk : TakeFusedWithin(call, live);
  }
  // Segments are mostly better, but take longer to find.
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
