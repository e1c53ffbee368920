// SPDX-License-Identifier: Apache-2.0
#include "plan/carried_plan.h"

#include "plan/best_plan.h"
#include "plan/better_plan.h"
#include "plan/carry/compare_streams.h"
#include "plan/deadline.h"
#include "plan/objective.h"
#include "solve/repair/carry.h"
#include "solve/repair/layer_hash.h"

namespace sluice {
namespace {

// Takes a plan unless the one in hand is better.
Status Finish(PlanCall* call, const FusedPlan& plan, Candidate* c, Arena* scratch) {
  c->lowering = plan.lowering;
  c->notation = plan.notation;
  SLUICE_TRY(CompleteCandidate({call->graph, call->hardware, call->bound}, scratch, c));
  c->report.groups = plan.groups;
  if (call->has_plan() && PlanCost(call->options, c->report) >= call->best_cost) {
    return Status::kOk;
  }
  return TakePlan(call, c);
}

void Offer(void* user, const FusedPlan& plan, Candidate* c, Arena* scratch) {
  PlanCall* call = static_cast<PlanCall*>(user);
  (void)Finish(call, plan, c, scratch);
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
}

// Pairs the layers of the earlier graph with those of this one.
Status AlignLayers(PlanCall* call, Arena* arena, Alignment* alignment) {
  SLUICE_TRY(HashLayers(call->graph, call->scratch, &call->hashes));
  SLUICE_TRY(Align(call->before->layer_hash, call->hashes, arena, alignment));
  call->change.layers_kept = alignment->kept;
  call->change.layers_changed = alignment->changed;
  call->change.layers_inserted = alignment->inserted;
  call->change.layers_removed = alignment->removed;
  call->change.from_scratch = 1;
  return Status::kOk;
}

// Makes the program of the carried schedule, and the plan from it.
Status FuseCarried(PlanCall* call, const CarriedSchedule& carried, Candidate* found,
                   Arena* memory) {
  const sluice_report_t& report = call->before->report;
  if (call->clock->watched()) call->step_ns = kGuessedStepNs;
  FusedCall fused = FusedCallOf(call, report);
  fused.carried = &carried;
  if (call->clock->watched()) fused.constructed = {call, Offer};
  const bool fits = report.peak_buffer_bytes <= static_cast<uint64_t>(call->capacity);
  if (call->clock->left_ns() != UINT64_MAX) {
    call->search = TimeForCarried(*call->clock, fits);
  }
  FusedPlan plan;
  Diagnostic ignored = {};
  const FusedOutput output = {&found->places, &found->program, &plan};
  SLUICE_TRY(ScheduleFused(fused, &call->search, memory, output, &ignored));
  return Finish(call, plan, found, memory);
}

}  // namespace

Status TakeBefore(PlanCall* call) {
  const Status status = TakeWhole(call, *call->before);
  if (status == Status::kOutOfMemory || status == Status::kStopped) return status;
  if (status != Status::kOk) *call->diagnostic = {};  // a wrong plan is of no use
  if (call->has_plan()) call->change.from_scratch = 0;
  return Status::kOk;
}

bool IsSameTask(const PlanCall& call) {
  return call.before->graph_hash == call.graph.hash &&
         call.before->hardware_hash == call.hardware.hash &&
         BudgetOf(*call.before) == call.capacity;
}

Status TakeCarried(PlanCall* call) {
  Arena memory(call->scratch->memory());
  Alignment alignment;
  CarriedSchedule carried;
  SLUICE_TRY(AlignLayers(call, &memory, &alignment));
  Candidate found(call->scratch->memory(), call->hardware);
  // Only plans for one node carry a notation.
  if (found.program.nodes() > 1 ||
      call->options.granularity != SLUICE_GRANULARITY_TILE) {
    return Status::kOk;
  }
  // In a much smaller scratchpad little of the earlier plan is worth keeping. A deadline
  // or the wish for few changes makes it worth trying.
  const uint64_t peak = call->before->report.peak_buffer_bytes;
  const bool fits = peak <= static_cast<uint64_t>(call->capacity);
  if (!fits && !call->minimise && !call->clock->watched()) return Status::kOk;
  Diagnostic ignored = {};
  Status status = Carry(call->before->notation, alignment, call->graph, &memory,
                        &carried, &ignored);
  if (status != Status::kOk) {
    return status == Status::kOutOfMemory ? status : Status::kOk;
  }
  carried.minimise = call->minimise;
  carried.same_machine = call->before->hardware_hash == call->hardware.hash &&
                         BudgetOf(*call->before) >= call->capacity;
  status = FuseCarried(call, carried, &found, &memory);
  if (!call->has_plan() && status != Status::kInfeasible &&
      status != Status::kStopped) {
    SLUICE_TRY(status);
  }
  if (call->has_plan()) {
    call->change.from_scratch = 0;
    if (call->clock->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
  }
  return call->costs->status(call->diagnostic);
}

}  // namespace sluice
