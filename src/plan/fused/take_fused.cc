// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/take_fused.h"

#include "base/checked.h"
#include "plan/best_plan.h"
#include "plan/better_plan.h"
#include "plan/compare_streams.h"
#include "plan/deadline.h"
#include "plan/fused/fused_plan.h"
#include "plan/objective.h"

namespace sluice {
namespace {

// Receives a complete plan while the search goes on.
void Offer(void* user, Candidate* c, Arena* scratch) {
  PlanCall* call = static_cast<PlanCall*>(user);
  Status status = Status::kOk;
  if (IsBetter(call, c, scratch)) status = TakePlan(call, c);
  if (status == Status::kInternal) call->offered = status;
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
}

// Takes a carried plan unless the one in hand is better.
Status Finish(PlanCall* call, Candidate* c, Arena* scratch) {
  SLUICE_TRY(CompleteCandidate({call->graph, call->hardware, call->bound}, scratch, c));
  if (call->has_plan() && PlanCost(call->options, c->report) >= call->best_cost) {
    return Status::kOk;
  }
  return TakePlan(call, c);
}

void OfferCarried(void* user, Candidate* c, Arena* scratch) {
  PlanCall* call = static_cast<PlanCall*>(user);
  (void)Finish(call, c, scratch);
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
}

// What a fused plan is asked for; alone, carried: the caller's to set.
FusedCall FusedCallOf(PlanCall* call, const sluice_report_t& scale) {
  return {call->graph,   call->hardware, call->plain.lowering, call->capacity,
          call->options, scale,          call->coster,         {},
          call->step_ns, true,           {nullptr, nullptr},   nullptr,
          &call->tilings};
}

bool FindFused(PlanCall* call, Candidate* out) {
  Arena memory(call->scratch->memory());
  FusedCall fused = FusedCallOf(call, call->plain.report);
  fused.alone = call->alone;
  fused.in_hand = call->has_plan();
  if (call->clock->watched()) fused.constructed = {call, Offer};
  Diagnostic ignored = {};
  bool any = false;
  const Status status =
      ScheduleFused(fused, &call->search, &memory, out, &any, &ignored);
  call->fuses = status == Status::kOk && any;
  return call->fuses && IsBetter(call, out, &memory);
}

// Makes the program of the carried schedule, and the plan from it.
Status FuseCarried(PlanCall* call, const CarriedSchedule& carried, Candidate* found,
                   Arena* memory) {
  const sluice_report_t& report = call->before->report;
  FusedCall fused = FusedCallOf(call, report);
  fused.carried = &carried;
  if (call->clock->watched()) fused.constructed = {call, OfferCarried};
  const bool fits = report.peak_buffer_bytes <= static_cast<uint64_t>(call->capacity);
  if (call->clock->left_ns() != UINT64_MAX) {
    call->search = TimeForCarried(*call->clock, fits);
  }
  bool any = false;
  Diagnostic ignored = {};
  SLUICE_TRY(ScheduleFused(fused, &call->search, memory, found, &any, &ignored));
  return Finish(call, found, memory);
}

}  // namespace

Status TakeFused(PlanCall* call) {
  Candidate found(call->scratch->memory(), call->hardware);
  const bool better = FindFused(call, &found);
  return TakeFound(call, better, &found);
}

Status TakeFusedWithin(PlanCall* call, uint64_t live_before) {
  // With a clock, the search offers a plan on the way and so writes two, which leaves
  // no time for a second try.
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

Status TakeCarriedFused(PlanCall* call, const Alignment& alignment) {
  // In a much smaller scratchpad little of the earlier plan is worth keeping. A
  // deadline or the wish for few changes makes it worth trying.
  const uint64_t peak = call->before->report.peak_buffer_bytes;
  const bool fits = peak <= static_cast<uint64_t>(call->capacity);
  if (!fits && !call->minimise && !call->clock->watched()) return Status::kOk;
  Arena memory(call->scratch->memory());
  Candidate found(call->scratch->memory(), call->hardware);
  CarriedSchedule carried;
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
  const bool stands =
      call->has_plan() || status == Status::kInfeasible || status == Status::kStopped;
  return stands ? Status::kOk : status;
}

}  // namespace sluice
