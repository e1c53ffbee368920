// SPDX-License-Identifier: Apache-2.0
#include "plan/plain_plan.h"

#include "base/checked.h"
#include "model/notation.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {

static LayerCall LayersOf(PlanCall* call) {
  return {call->graph,  call->hardware, call->plain.lowering, call->capacity,
          call->coster, call->clock,    &call->tilings};
}

Status CountPlain(PlanCall* call, uint64_t* steps) {
  uint32_t layer = kNone;
  int64_t counted = 0;
  SLUICE_TRY(CountSteps(LayersOf(call), call->scratch, &counted, &layer));
  *steps = static_cast<uint64_t>(counted);
  call->most_steps = Max(kJudgedSteps, static_cast<size_t>(counted));
  return Status::kOk;
}

Status SchedulePlain(PlanCall* call) {
  SLUICE_TRY(ScheduleLayerByLayer(LayersOf(call), call->scratch, &call->plain.program,
                                  call->diagnostic));
  return call->costs->status(call->diagnostic);
}

Status CompletePlain(PlanCall* call) {
  Candidate* plain = &call->plain;
  Span<int64_t> block_cycles;
  const size_t blocks = plain->program.block_count();
  if (plain->program.nodes() == 1) {
    SLUICE_TRY(call->scratch->Allocate(blocks, &block_cycles));
    SLUICE_TRY(call->scratch->Allocate(blocks, &call->alone));
  }
  SLUICE_TRY(CompleteCandidate({call->graph, call->hardware, call->bound},
                               call->scratch, plain, block_cycles));
  SLUICE_TRY(FillBlockCosts({call->graph, call->hardware, plain->program}, block_cycles,
                            *call->scratch->memory(), call->alone));
  return Status::kOk;
}

Status NotePlain(const Lowering& lowering, Arena* arena, PlanNotation* notation) {
  size_t count = 0;
  for (const uint8_t view : lowering.is_view) count += view == 0 ? 1 : 0;
  if (count == 0) return Status::kOk;
  Span<uint32_t> order;
  Span<uint8_t> cut;
  Span<int32_t> tiling;
  Span<PlanSection> section;
  SLUICE_TRY(arena->Allocate(count, &order));
  SLUICE_TRY(arena->Allocate(count, &cut));
  SLUICE_TRY(arena->Allocate(count, &tiling));
  SLUICE_TRY(arena->Allocate(1, &section));
  uint32_t at = 0;
  for (uint32_t l = 0; l < lowering.is_view.size(); ++l) {
    if (lowering.is_view[l] == 0) order[at++] = l;
  }
  for (uint8_t& c : cut) c = kCutDram;
  section[0] = PlanSection{order[0], 0, 0, 0};
  notation->section = section;
  notation->order = order;
  notation->cut = cut;
  notation->tiling = tiling;
  return Status::kOk;
}

}  // namespace sluice
