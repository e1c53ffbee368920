// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/adopt_sections.h"

#include "plan/carry/carried_section.h"
#include "plan/fused/cut_sections.h"
#include "plan/fused/decide_section.h"
#include "plan/fused/measure_section.h"

namespace sluice {
namespace {

// The section's number in the earlier plan.
uint32_t CarriedOf(const SectionedPlan& plan, const Section& section) {
  return plan.call.carried->layer[plan.order[section.first]].section;
}

// What SortCarried needs: by layer its section, by section the next free place.
struct CarriedPlaces {
  Span<uint32_t> section, next;
};

Status MakePlaces(SectionedPlan* plan, CarriedPlaces* places) {
  const size_t layers = plan->call.graph.layers.size();
  SLUICE_TRY(plan->arena->Allocate(layers, &plan->local));
  SLUICE_TRY(plan->arena->Allocate(layers, &places->section));
  SLUICE_TRY(plan->arena->Allocate(plan->order.size(), &plan->carried_order));
  return plan->arena->Allocate(plan->order.size(), &places->next);
}

// Fills plan->carried_order: plan->order with each section sorted by the carried ranks.
void SortCarried(SectionedPlan* plan, const CarriedPlaces& places) {
  const FusedCall& call = plan->call;
  for (uint32_t i = 0; i < plan->count; ++i) {
    const Section& s = plan->sections[i];
    places.next[i] = s.first;
    for (uint32_t layer : plan->LayersIn(s)) places.section[layer] = i;
  }
  for (uint32_t layer : call.carried->order) {
    if (call.lowering.is_view[layer] != 0) continue;
    plan->carried_order[places.next[places.section[layer]]++] = layer;
  }
}

CarriedCall CarriedCallOf(const SectionedPlan& plan, const Section& section) {
  return {*plan.call.carried, CarriedOf(plan, section), plan.local,
          plan.call.scratchpad_bytes, plan.arena};
}

// Takes over an unchanged section on the same machine as it was, without a search.
Status TakeOver(SectionedPlan* plan, Section* section, bool* held) {
  FusionSearch search = SearchOf(*plan, *section, 0);
  const CarriedCall carried = CarriedCallOf(*plan, *section);
  search.list_transfers = carried.schedule.before->section[carried.section].transfers;
  *held = false;
  if (search.list_transfers == 0) return Status::kOk;
  const Arena::Mark mark = plan->arena->mark();
  const Status status = SolveSection(*plan, search, plan->budget, plan->arena, section);
  if (status == Status::kOutOfMemory) return status;
  if (status == Status::kOk) SLUICE_TRY(HoldTimes(carried, section, held));
  if (!*held) plan->arena->Rewind(mark);
  return Status::kOk;
}

Status Adopt(SectionedPlan* plan, Section* section) {
  const FusedCall& call = plan->call;
  const CarriedSchedule& schedule = *call.carried;
  bool decided = false;
  SLUICE_TRY(OpenSection(plan, section, &decided));
  if (decided) return Status::kOk;
  bool touched = false;
  bool held = false;
  SLUICE_TRY(StartOfCarried(schedule,
                            plan->carried_order.Slice(section->first, section->last),
                            plan->local, plan->arena, section, &touched));
  const CarriedCall carried = CarriedCallOf(*plan, *section);
  if (schedule.same_machine && !touched && schedule.whole[carried.section] != 0) {
    SLUICE_TRY(TakeOver(plan, section, &held));
  }
  if (!held) {
    SLUICE_TRY(SolveSection(*plan, SearchOf(*plan, *section, 0), plan->budget,
                            plan->arena, section));
    if (section->result.score.cost >= kAnnealRejected) return Status::kInfeasible;
    SLUICE_TRY(AdoptTimes(carried, plan->budget, section));
  }
  if (RoundsOf(*plan, *section) != 0) SLUICE_TRY(MeasureFused(plan, section));
  section->decision = ++plan->decisions;
  section->fused = true;
  return Status::kOk;
}

}  // namespace

Status AdoptSections(SectionedPlan* plan, bool* any) {
  const FusedCall& call = plan->call;
  SLUICE_TRY(CutIntoSections(plan));
  CarriedPlaces places;
  SLUICE_TRY(MakePlaces(plan, &places));
  SortCarried(plan, places);
  *any = false;
  for (uint32_t i = 0; i < plan->count; ++i) {
    Section* section = &plan->sections[i];
    if (call.carried->before->section[CarriedOf(*plan, *section)].kind !=
            kFusedSection ||
        !MayFuse(call.graph, call.hardware, call.lowering, plan->order[section->first],
                 call.scratchpad_bytes)) {
      continue;
    }
    Status status = Adopt(plan, section);
    if (status != Status::kOk && status != Status::kOutOfMemory) {
      section->start = GroupNotation{};
      if (plan->budget->Exhausted()) return Status::kStopped;
      status = TrySection(plan, section);
      if (!section->fused && LayersOf(*section) > 1) {
        SplitSection(plan, i--);
        SortCarried(plan, places);
      }
    }
    if (status == Status::kOutOfMemory) return status;
    *any = *any || section->fused;
  }
  return Status::kOk;
}

}  // namespace sluice
