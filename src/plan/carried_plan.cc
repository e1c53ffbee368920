// SPDX-License-Identifier: Apache-2.0
#include "plan/carried_plan.h"

#include "plan/best_plan.h"
#include "plan/compare_streams.h"
#include "plan/fused/take_fused.h"
#include "plan/space/segment_notation.h"
#include "plan/space/take_space.h"
#include "solve/repair/align.h"
#include "solve/repair/layer_hash.h"

namespace sluice {
namespace {

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

}  // namespace

Status TakeBefore(PlanCall* call) {
  const Status status = TakeWhole(call, *call->before);
  if (status == Status::kOutOfMemory || status == Status::kStopped) return status;
  if (status != Status::kOk) *call->diagnostic = {};  // a wrong plan is of no use
  if (call->has_plan()) call->change.from_scratch = 0;
  return Status::kOk;
}

bool IsSamePlace(const PlanCall& call) {
  return call.before->hardware_hash == call.hardware.hash &&
         BudgetOf(*call.before) == call.capacity;
}

bool IsSameTask(const PlanCall& call) {
  return call.before->graph_hash == call.graph.hash && IsSamePlace(call);
}

Status TakeCarried(PlanCall* call) {
  Arena memory(call->scratch->memory());
  Alignment alignment;
  SLUICE_TRY(AlignLayers(call, &memory, &alignment));
  // Only plans for one node carry a notation.
  if (call->on_many_nodes() || call->options.granularity != SLUICE_GRANULARITY_TILE) {
    return Status::kOk;
  }
  const bool of_segments = IsOfSegments(call->before->notation);
  const bool made = call->before->is_made();
  const bool same = made && call->request.before != nullptr && IsSameTask(*call);
  // The caller takes it whole. Limits are for a fused plan's own changes.
  if (same && (of_segments || call->minimise || !call->has_limits())) {
    return Status::kOk;
  }
  if (same) SLUICE_TRY(TakeBefore(call));
  // Another machine or scratchpad suits other segments, which a search finds in
  // milliseconds.
  const bool keeps = !of_segments || !made || IsSamePlace(*call) || call->minimise ||
                     call->options.deadline_ns != 0;
  if (!keeps) return Status::kOk;
  SLUICE_TRY(of_segments ? TakeCarriedSpace(call, alignment)
                         : TakeCarriedFused(call, alignment));
  if (call->has_plan()) {
    call->change.from_scratch = 0;
    if (call->clock->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
  }
  return call->costs->status(call->diagnostic);
}

}  // namespace sluice
