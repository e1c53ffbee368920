// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/improve_sections.h"

#include "plan/fused/decide_section.h"
#include "plan/fused/measure_section.h"
#include "plan/fused/parallel_starts.h"
#include "plan/fused/place_section.h"

namespace sluice {
namespace {

constexpr uint64_t kStartBytes =
    uint64_t{256} * 1024;  // of a parallel start, besides its search

// True when the section is annealed itself, not copied from an equal one.
bool IsSearched(const SectionedPlan& plan, uint32_t i) {
  const Section& section = plan.sections[i];
  return section.fused && RoundsOf(plan, section) != 0 && TwinOf(plan, i) == plan.count;
}

// Anneals from the constructed scheme; keeps the result when it costs less than
// `limit`.
Status Anneal(SectionedPlan* plan, uint32_t percent, double limit, Section* section) {
  const sluice_schedule_options_t& options = plan->call.options;
  Arena work(plan->arena->memory());
  ParallelStarts starts(plan->arena->memory());
  FusionSearch search = SearchOf(*plan, *section, RoundsOf(*plan, *section));
  const GroupNotation start = section->result.notation;
  // Repeated blocks start from a new construction: one short network is annealed and
  // its blocks are copied.
  if (section->result.repeats.runs == 0) {
    search.start = &start;
    search.touched = Span<uint8_t>();
    search.sweep = options.deadline_ns != 0;
  } else {
    // The bytes that were left free for the earlier scheme need not be free for the new
    // one; and blocks with different free bytes would not count as repeated.
    for (int64_t& bytes : section->run.reserve) bytes = 0;
  }
  Budget part = options.deadline_ns != 0 ? plan->budget->Part(percent) : *plan->budget;
  Status status = Status::kOutOfMemory;
  if (options.runner != nullptr) {
    section->run.problem.buffer_bytes = BufferOf(*plan, *section);
    status = starts.Run(section->run, options, search,
                        2 * section->work_bytes + kStartBytes, &part, &section->result);
  }
  // Without memory for several starts, run one.
  if (status == Status::kOutOfMemory) {
    status = SolveSection(*plan, search, &part, &work, section);
  }
  JoinPart(plan, part);
  SLUICE_TRY(status);
  SLUICE_TRY(PlaceOrTighten(section, plan->call.scratchpad_bytes, plan->budget, &work));
  SLUICE_TRY(MeasureFused(plan, section));
  return section->cost < limit ? KeepSection(plan, section) : Status::kOk;
}

// Anneals a section that is fused already; *better: the section got cheaper.
Status Improve(SectionedPlan* plan, Section* section, uint32_t percent, bool* better) {
  if (TakeTwin(plan, section)) return Status::kOk;
  const Arena::Mark mark = plan->arena->mark();
  Section next = *section;
  const Status status = Anneal(plan, percent, section->cost, &next);
  if (status != Status::kOk || next.cost >= section->cost) {
    plan->arena->Rewind(mark);
    return status;
  }
  *section = next;
  *better = true;
  return Status::kOk;
}

void Swap(SectionedPlan* plan, Span<Section> other) {
  for (uint32_t i = 0; i < plan->count; ++i) {
    const Section s = plan->sections[i];
    plan->sections[i] = other[i];
    other[i] = s;
  }
}

// Restores `chosen` unless the present plan is cheaper.
void KeepCheaper(SectionedPlan* plan, Span<Section> chosen) {
  double before = 0;
  double after = 0;
  const bool known = CostOfAll(*plan, &after) == Status::kOk;
  Swap(plan, chosen);
  if (known && CostOfAll(*plan, &before) == Status::kOk && after < before) {
    Swap(plan, chosen);
  }
}

}  // namespace

bool ImproveSections(SectionedPlan* plan) {
  Span<Section> chosen;
  if (plan->arena->Allocate(plan->count, &chosen) != Status::kOk) {
    return !plan->offered;
  }
  uint64_t layers = 0;
  for (uint32_t i = 0; i < plan->count; ++i) {
    chosen[i] = plan->sections[i];
    if (IsSearched(*plan, i)) layers += LayersOf(plan->sections[i]);
  }
  bool better = false;
  for (uint32_t i = 0; i < plan->count && !plan->budget->Exhausted(); ++i) {
    Section* section = &plan->sections[i];
    if (!section->fused || RoundsOf(*plan, *section) == 0) continue;
    const bool searched = IsSearched(*plan, i);
    const uint64_t own = searched ? LayersOf(*section) : 0;
    const uint32_t percent = searched ? PercentForImproving(own, layers) : 0;
    if (Improve(plan, section, percent, &better) == Status::kOutOfMemory) break;
    layers -= own;
  }
  // The caller already holds the offered plan: report only a better one.
  if (plan->offered) return better;
  if (better) KeepCheaper(plan, chosen);
  return true;
}

}  // namespace sluice
