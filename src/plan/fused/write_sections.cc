// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/write_sections.h"

#include "base/checked.h"
#include "plan/fused/notation_writer.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/fusion/fused_program.h"

namespace sluice {
namespace {

// The section whose result a fused one took over, or kNone.
uint32_t LikeOf(Span<const Section> sections, uint32_t i) {
  for (uint32_t k = i; k-- > 0;) {
    if (sections[k].fused && sections[k].decision == sections[i].decision) {
      return k;
    }
  }
  return kNone;
}

// DRAM places for the order in which groups run.
Status PlaceTensors(const SectionedPlan& sectioned, Candidate* plan,
                    Diagnostic* diagnostic) {
  const Graph& graph = sectioned.call.graph;
  const Lowering& lowering = sectioned.call.lowering;
  const Span<const Section> sections = sectioned.all();
  const Span<const uint32_t> order = sectioned.order;
  Arena* scratch = sectioned.arena;
  ArenaScope scope(scratch);
  Span<uint32_t> when;
  Span<uint8_t> on_chip;
  SLUICE_TRY(scratch->Allocate(graph.layers.size(), &when));
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), &on_chip));
  uint32_t time = 0;
  for (uint32_t i = 0; i < sections.size(); ++i) {
    const Section& s = sections[i];
    if (!s.fused) {
      for (uint32_t l = s.first; l < s.last; ++l) when[order[l]] = time++;
      continue;
    }
    for (uint32_t layer = 0; layer < s.run.layer.size(); ++layer) {
      const uint32_t at = time + s.buffers.group_of[layer];
      when[s.run.layer[layer]] = at;
      if (s.run.append[layer] != kNone) when[s.run.append[layer]] = at;
      if (StaysOnChip(s.run, s.buffers, layer)) {
        on_chip[lowering.executed[s.run.layer[layer]].outputs[0]] = 1;
      }
    }
    time += s.result.list.groups;
  }
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (on_chip[WrittenTensor(graph, lowering, t)] != 0) on_chip[t] = 1;
  }
  TimeViews(graph, lowering, when);
  plan->groups = time;
  return PlaceInDram(graph, when, on_chip, scratch, &plan->lowering, diagnostic);
}

}  // namespace

Status WriteSections(const SectionedPlan& plan, Candidate* out,
                     Diagnostic* diagnostic) {
  const FusedCall& call = plan.call;
  Lowering* lowering = &out->lowering;
  *lowering = call.lowering;
  SLUICE_TRY(out->places.Allocate(call.graph.tensors.size(), &lowering->places));
  SLUICE_TRY(PlaceTensors(plan, out, diagnostic));
  Budget unlimited;  // the work is linear: decided sections are always written
  for (const Section& s : plan.all()) {
    if (s.fused) {
      SLUICE_TRY(AppendFused(s.run, *lowering,
                             PlacedFusion{s.result, s.buffers, s.offsets}, plan.arena,
                             &out->program));
      continue;
    }
    for (uint32_t l : plan.LayersIn(s)) {
      SLUICE_TRY(AppendLayer(PlainLayers(call, *lowering, &unlimited), l, plan.arena,
                             &out->program));
    }
  }
  return Status::kOk;
}

Status NoteSections(const SectionedPlan& plan, Candidate* out) {
  const Span<const uint32_t> order = plan.order;
  const Span<const Section> sections = plan.all();
  NotationWriter writer(&out->places);
  size_t dram = 0;
  size_t buffers = 0;
  for (uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].fused && LikeOf(sections, i) == kNone) {
      dram += sections[i].result.list.transfers;
      buffers += sections[i].offsets.size();
    }
  }
  SLUICE_TRY(writer.Reserve(sections.size(), order.size(), dram, buffers));
  for (uint32_t i = 0; i < sections.size(); ++i) {
    if (out->places.memory()->Stop()) return Status::kStopped;
    const Section& s = sections[i];
    if (s.fused) {
      SLUICE_TRY(writer.AddFused(order[s.first], s.run, s.result, s.offsets,
                                 LikeOf(sections, i)));
    } else {
      SLUICE_TRY(writer.AddPlain(order.Slice(s.first, s.last)));
    }
  }
  out->notation = writer.notation();
  return Status::kOk;
}

}  // namespace sluice
