// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/cut_sections.h"

#include "solve/fusion/repetition.h"

namespace sluice {
namespace {

constexpr uint32_t kLongSection = 300;  // layers

void SplitAt(SectionedPlan* plan, uint32_t i, uint32_t middle) {
  const Span<Section> sections = plan->sections;
  for (uint32_t at = plan->count++; at > i + 1; --at) sections[at] = sections[at - 1];
  sections[i + 1] = Section{};
  sections[i + 1].first = middle;
  sections[i + 1].last = sections[i].last;
  sections[i].last = middle;
}

}  // namespace

Status CutIntoSections(SectionedPlan* plan) {
  const FusedCall& call = plan->call;
  const Graph& graph = call.graph;
  const Lowering& lowering = call.lowering;
  SLUICE_TRY(plan->arena->Allocate(graph.layers.size(), &plan->order));
  SLUICE_TRY(plan->arena->Allocate(graph.layers.size(), &plan->sections));
  const Span<uint32_t> order = plan->order;
  uint32_t count = 0;
  bool open = false;  // the last section can still grow
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (l % 16 == 15 && plan->arena->memory()->Stop()) return Status::kStopped;
    if (lowering.is_view[l] != 0) continue;
    if (call.carried != nullptr && count != 0) {
      const Span<const CarriedLayer> carried = call.carried->layer;
      open = open && carried[l].section == carried[order[count - 1]].section;
    }
    bool may = MayFuse(graph, call.hardware, lowering, l, call.scratchpad_bytes);
    if (open) {
      const uint32_t first = plan->sections[plan->count - 1].first;
      const Span<const uint32_t> run = order.Slice(first, count);
      may = may || MayAppend(graph, lowering, run, l);
      if (may) open = !ReadsAlias(graph, lowering, run, l);
    }
    if (!open || !may) plan->sections[plan->count++].first = count;
    open = may;
    order[count++] = l;
    plan->sections[plan->count - 1].last = count;
  }
  return Status::kOk;
}

Status CutRepetitions(SectionedPlan* plan) {
  const FusedCall& call = plan->call;
  for (uint32_t i = 0; i < plan->count; ++i) {
    const uint32_t first = plan->sections[i].first;
    const uint32_t last = plan->sections[i].last;
    if (last - first <= kLongSection) continue;
    Repetition r;
    SLUICE_TRY(FindRepetition(call.graph, call.lowering, plan->order.Slice(first, last),
                              plan->arena, &r));
    for (uint32_t k = 0; k <= r.times && r.times != 0; ++k) {
      const uint32_t at = first + r.first + k * r.period;
      if (at > plan->sections[i].first && at < last) SplitAt(plan, i++, at);
      plan->sections[i].repeats = k < r.times;
    }
  }
  return Status::kOk;
}

void SplitSection(SectionedPlan* plan, uint32_t i) {
  SplitAt(plan, i, (plan->sections[i].first + plan->sections[i].last) / 2);
}

}  // namespace sluice
