// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/fused_plan.h"

#include "plan/fused/adopt_sections.h"
#include "plan/fused/decide_section.h"
#include "plan/fused/improve_sections.h"
#include "plan/fused/measure_section.h"
#include "plan/fused/write_sections.h"

namespace sluice {
namespace {

// Offers the constructed plan to the caller if that takes little of the time left or if
// there is no plan yet.
Status OfferConstructed(SectionedPlan* plan) {
  const FusedCall& call = plan->call;
  if (call.constructed.offer == nullptr ||
      (call.in_hand && !TimeForOffer(*plan->budget, plan->finish))) {
    return Status::kOk;
  }
  Memory* heap = plan->arena->memory();
  const bool timed = heap->clock()->timed();
  const uint64_t begin = timed ? heap->time().Now() : 0;
  Arena memory(heap);
  Candidate candidate(heap, call.hardware);
  Diagnostic ignored = {};
  SLUICE_TRY(NoteSections(*plan, &candidate));
  SLUICE_TRY(WriteSections(*plan, &candidate, &ignored));
  call.constructed.offer(call.constructed.user, &candidate, &memory);
  if (timed) {
    TightenFinish(heap->time().Since(begin), &plan->finish);
    EndSearchBefore(*heap->clock(), plan->finish, plan->budget);
  }
  plan->offered = true;
  return Status::kOk;
}

}  // namespace

Status ScheduleFused(const FusedCall& call, Budget* budget, Arena* scratch,
                     Candidate* out, bool* fused, Diagnostic* diagnostic) {
  SectionedPlan plan = {call, budget, scratch};
  SLUICE_TRY(call.carried != nullptr ? AdoptSections(&plan, fused)
                                     : ChooseSections(&plan, fused));
  if (!*fused && call.carried == nullptr) return Status::kOk;
  LeaveTime(&plan, kLooksAtWhole);
  SLUICE_TRY(OfferConstructed(&plan));
  if (!ImproveSections(&plan) && call.carried == nullptr) {
    *fused = false;
    return Status::kOk;
  }
  SLUICE_TRY(NoteSections(plan, out));
  return WriteSections(plan, out, diagnostic);
}

}  // namespace sluice
