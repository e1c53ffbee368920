// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/decide_section.h"

#include "base/checked.h"
#include "plan/carry/carried_section.h"
#include "plan/fused/cut_sections.h"
#include "plan/fused/keep_fused.h"
#include "plan/fused/measure_section.h"
#include "plan/fused/place_section.h"
#include "plan/objective.h"
#include "solve/fusion/same_run.h"

namespace sluice {
namespace {

constexpr uint64_t kRoundsPerLayer = 100;  // of annealing, when there is a limit
// Under a deadline a section of many layers leaves this part of the scratchpad free:
// its many buffers rarely fit without gaps, and finding that out takes time.
constexpr uint64_t kManyLayers = 64;
constexpr int64_t kGaps = 16;  // 1 / kGaps of the scratchpad stays free
// To rework a carried section: evaluations in all if few layers were touched,
// evaluations per layer if many were.
constexpr uint64_t kReworkEvaluations = 64, kReworkOfLayer = 2;
// How many sections back an equal section is looked for.
constexpr uint32_t kTwinDistance = 4;

// The section's share of the iterations that the options allow.
uint64_t Share(const SectionedPlan& plan, const Section& section) {
  return Max<uint64_t>(
      1, plan.call.options.max_iterations / plan.order.size() * LayersOf(section));
}

uint64_t EvaluationsOf(const CarriedSchedule& carried, const Section& section) {
  if (carried.minimise) return 0;
  if (carried.touched <= kFewLayers) return kReworkEvaluations;
  return kReworkOfLayer * LayersOf(section);
}

Status Decide(SectionedPlan* plan, Section* section) {
  const FusedCall& call = plan->call;
  bool decided = false;
  SLUICE_TRY(OpenSection(plan, section, &decided));
  if (decided) return Status::kOk;
  Arena work(plan->arena->memory());
  // The published searches choose their own rounds unless the options give a number.
  const bool once = IsPublished(call);
  const uint64_t rounds =
      once && call.options.max_iterations != 0 ? Share(*plan, *section) : 0;
  const bool timed = call.options.deadline_ns != 0;
  const uint32_t percent =
      PercentForSection(LayersOf(*section), plan->order.size() - section->first, once);
  Budget part = timed ? plan->budget->Part(percent) : *plan->budget;
  FusionSearch search = SearchOf(*plan, *section, rounds);
  search.quick = timed;
  SLUICE_TRY(SolveSection(*plan, search, &part, &work, section));
  JoinPart(plan, part);
  // A section that cannot be placed soon is better tried in halves.
  part = timed ? plan->budget->Part(kPercentForPlacing) : *plan->budget;
  const Status placed = PlaceOrTighten(section, call.scratchpad_bytes, &part, &work);
  JoinPart(plan, part);
  SLUICE_TRY(placed);
  SLUICE_TRY(MeasureFused(plan, section));
  double alone = 0;
  SLUICE_TRY(MeasureAlone(*plan, *section, &alone));
  section->fused = section->cost < alone;
  return section->fused ? KeepSection(plan, section) : Status::kOk;
}

}  // namespace

Status ChooseSections(SectionedPlan* plan, bool* any) {
  const FusedCall& call = plan->call;
  SLUICE_TRY(CutIntoSections(plan));
  SLUICE_TRY(CutRepetitions(plan));
  *any = false;
  LeaveTime(plan, 0);
  for (uint32_t i = 0; i < plan->count && !plan->budget->Exhausted();) {
    Section* section = &plan->sections[i];
    if (MayFuse(call.graph, call.hardware, call.lowering, plan->order[section->first],
                call.scratchpad_bytes)) {
      // The halves of a section that does not pay, or needs too much memory, may pay or
      // fit.
      (void)TrySection(plan, section);
      *any = *any || section->fused;
      if (!section->fused && LayersOf(*section) > 1) {
        SplitSection(plan, i);
        continue;
      }
      LeaveTime(plan, 0);
    }
    ++i;
  }
  return Status::kOk;
}

Status TrySection(SectionedPlan* plan, Section* section) {
  const Arena::Mark mark = plan->arena->mark();
  const Status status = Decide(plan, section);
  if (status != Status::kOk) section->fused = false;
  if (!section->fused) plan->arena->Rewind(mark);
  return status;
}

uint32_t TwinOf(const SectionedPlan& plan, uint32_t i) {
  const Section& section = plan.sections[i];
  for (uint32_t k = i; k-- > 0 && k + kTwinDistance > i;) {
    const Section& other = plan.sections[k];
    if (other.fused && LayersOf(other) == LayersOf(section) &&
        SameRun(other.run, section.run)) {
      return k;
    }
  }
  return plan.count;
}

bool TakeTwin(SectionedPlan* plan, Section* section) {
  const uint32_t i = static_cast<uint32_t>(section - plan->sections.data());
  const uint32_t twin = TwinOf(*plan, i);
  if (twin == plan->count) return false;
  const Section& other = plan->sections[twin];
  section->fused = true;
  section->cost = other.cost;
  section->decision = other.decision;
  section->work_bytes = other.work_bytes;
  section->result = other.result;
  section->buffers = other.buffers;
  section->offsets = other.offsets;
  return true;
}

Status OpenSection(SectionedPlan* plan, Section* section, bool* decided) {
  SLUICE_TRY(MakeFusionRun(SettingOf(plan->call), plan->LayersIn(*section), plan->arena,
                           &section->run));
  section->run.coster = plan->call.coster;
  *decided = TakeTwin(plan, section);
  if (*decided) return Status::kOk;
  return plan->arena->Allocate(section->run.layer.size(), &section->more);
}

uint64_t RoundsOf(const SectionedPlan& plan, const Section& section) {
  const sluice_schedule_options_t& options = plan.call.options;
  if (IsPublished(plan.call)) return 0;
  if (options.max_iterations != 0) return Share(plan, section);
  if (options.deadline_ns == 0 && !section.repeats) return 0;
  return kRoundsPerLayer * LayersOf(section);
}

FusionSearch SearchOf(const SectionedPlan& plan, const Section& section,
                      uint64_t rounds) {
  const sluice_schedule_options_t& options = plan.call.options;
  FusionSearch search;
  const Exponents exponents = ExponentsOf(options);
  search.solver = options.solver;
  search.objective = Objective{exponents.energy, exponents.delay};
  search.seed = options.seed;
  search.rounds = rounds;
  if (!section.start.order.empty()) {
    search.solver = SLUICE_SOLVER_FUSION;
    search.start = &section.start;
    search.touched = section.touched;
    search.evaluations = EvaluationsOf(*plan.call.carried, section);
  }
  return search;
}

int64_t BufferOf(const SectionedPlan& plan, const Section& section) {
  const int64_t capacity = plan.call.scratchpad_bytes;
  const bool tight =
      plan.call.options.deadline_ns == 0 || LayersOf(section) < kManyLayers;
  return tight ? capacity : capacity - capacity / kGaps;
}

Status SolveSection(const SectionedPlan& plan, const FusionSearch& search,
                    Budget* budget, Arena* work, Section* section) {
  const uint64_t before = work->memory()->live_bytes();
  section->run.problem.buffer_bytes = BufferOf(plan, *section);
  Diagnostic ignored = {};
  const Status status =
      SearchFusion(section->run.problem, ModelOf(&section->run), search,
                   Workspace{budget, work, &ignored}, &section->result);
  section->work_bytes = work->memory()->live_bytes() - before;
  return status;
}

Status KeepSection(SectionedPlan* plan, Section* section) {
  section->decision = ++plan->decisions;
  return KeepFused(plan->arena, &section->result, &section->buffers, &section->offsets);
}

void JoinPart(SectionedPlan* plan, const Budget& part) {
  if (plan->call.options.deadline_ns != 0) {
    plan->budget->Join(part);
  } else {
    *plan->budget = part;
  }
}

}  // namespace sluice
