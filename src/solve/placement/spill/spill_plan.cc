// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_plan.h"

#include "base/checked.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {
namespace {

struct Builder {
  const OperatorGraph& graph;
  SpillCharge charge;
  SpillPlan* plan;
  size_t count = 0;
  Span<uint32_t> open;     // per tensor: its latest residence
  Span<uint32_t> unread;   // per tensor: reads still to come
  Span<uint8_t> has_copy;  // per tensor: its write is paid or free

  void Begin(uint32_t a, uint32_t step, bool retrieved) {
    open[a] = static_cast<uint32_t>(count);
    plan->residences[count++] =
        Residence{a, step, step + 1, -1, retrieved, false, kNoOperand};
  }

  void Read(uint32_t a, uint32_t step, bool fetch) {
    --unread[a];
    if (open[a] == kNoOperand) return Begin(a, step, false);  // first load
    Residence& last = plan->residences[open[a]];
    if (!fetch || last.end == step + 1) {  // kept, or a second slot of this read
      last.end = step + 1;
      return;
    }
    if (!has_copy[a]) {
      has_copy[a] = 1;
      last.spilled = true;
      plan->spill_bytes += graph.tensors[a].bytes;
    }
    plan->retrieve_bytes += graph.tensors[a].bytes;
    Begin(a, step, true);
  }

  void Run(uint32_t o, uint32_t step, Span<const uint8_t> fetch) {
    const Operator& op = graph.operators[o];
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t slot = op.first_input + k;
      Read(graph.operands[slot], step, fetch[slot] != 0);
    }
    for (uint32_t a : graph.OutputsOf(op)) Begin(a, step, false);
    if (op.in_place == kNoOperand) return;
    const uint32_t from = graph.InputsOf(op)[op.in_place];
    const uint32_t to = graph.OutputsOf(op)[0];
    if (unread[from] != 0 || graph.tensors[from].bytes != graph.tensors[to].bytes)
      return;
    plan->residences[open[to]].takes_over = open[from];
  }
};

}  // namespace

Status BuildResidences(const OperatorGraph& graph, Span<const uint32_t> order,
                       Span<const uint8_t> fetch, SpillCharge charge, Arena* arena,
                       SpillPlan* plan) {
  size_t most = graph.tensors.size();
  for (const Operator& op : graph.operators) most += op.input_count;
  Span<Residence> all;
  SLUICE_TRY(arena->Allocate(most, &all));
  SLUICE_TRY(arena->Allocate(order.size(), &plan->order));
  ArenaScope scope(arena);
  plan->residences = all;
  plan->spill_bytes = plan->retrieve_bytes = 0;
  Builder builder{graph, charge, plan, 0, {}, {}, {}};
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &builder.open));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &builder.unread));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &builder.has_copy));
  for (uint32_t a = 0; a < graph.tensors.size(); ++a) {
    builder.open[a] = kNoOperand;
    builder.has_copy[a] = charge == SpillCharge::kHost &&
                          graph.tensors[a].role != TensorRole::kIntermediate;
  }
  for (const Operator& op : graph.operators) {
    for (uint32_t a : graph.InputsOf(op)) ++builder.unread[a];
  }
  for (uint32_t step = 0; step < order.size(); ++step) {
    plan->order[step] = order[step];
    builder.Run(order[step], step, fetch);
  }
  plan->residences = all.Slice(0, builder.count);
  plan->placed = false;
  return Status::kOk;
}

Status PlaceResidences(const OperatorGraph& graph, const AddressOptions& options,
                       Budget* budget, Arena* arena, SpillPlan* plan) {
  ArenaScope scope(arena);
  const size_t n = plan->residences.size();
  Span<LiveRange> ranges;
  Span<uint32_t> range_of;  // residences joined in place share one
  SLUICE_TRY(arena->Allocate(n, &ranges));
  SLUICE_TRY(arena->Allocate(n, &range_of));
  size_t count = 0;
  for (size_t r = 0; r < n; ++r) {
    const Residence& stay = plan->residences[r];
    if (stay.begin >= options.steps) break;
    range_of[r] = kNoOperand;
    if (stay.end <= options.first_step) continue;
    const uint32_t begin = Max(stay.begin, options.first_step);
    const uint32_t end = Min(stay.end, options.steps);
    if (stay.takes_over != kNoOperand && range_of[stay.takes_over] != kNoOperand) {
      range_of[r] = range_of[stay.takes_over];
      ranges[range_of[r]].end = end;
      continue;
    }
    range_of[r] = static_cast<uint32_t>(count);
    LiveRange& range = ranges[count++];
    range = LiveRange{begin, end, graph.tensors[stay.tensor].bytes};
    range.alignment = options.alignment;
  }
  LiveRangeSet set;
  set.buffers = ranges.Slice(0, count);
  OffsetOptions offset_options;
  offset_options.explain = false;
  offset_options.max_nodes = options.max_nodes;
  OffsetPlan offsets;
  Diagnostic ignored;
  const Status status = PlaceOffsets(set, options.capacity, offset_options,
                                     Workspace{budget, arena, &ignored}, &offsets);
  if (status != Status::kOk && offsets.offsets.empty()) return status;
  for (size_t r = 0; r < n && plan->residences[r].begin < options.steps; ++r) {
    if (range_of[r] == kNoOperand) continue;
    plan->residences[r].offset = offsets.offsets[range_of[r]];
  }
  plan->placed = status == Status::kOk && options.first_step == 0 &&
                 options.steps >= plan->order.size();
  plan->peak_bytes = offsets.peak;
  return status;
}

}  // namespace sluice
