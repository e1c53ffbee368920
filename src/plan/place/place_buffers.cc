// SPDX-License-Identifier: Apache-2.0
#include "plan/place/place_buffers.h"

#include "base/budget.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {
namespace {

constexpr char kStage[] = "placement";

Status ReadBuffer(const sluice_placement_problem_t& problem, uint32_t i,
                  LiveRange* range, Diagnostic* diagnostic) {
  const sluice_buffer_t& b = problem.buffers[i];
  if ((b.flags & ~uint32_t{SLUICE_BUFFER_FIXED | SLUICE_BUFFER_SINGLE_BANK}) != 0 ||
      b.reserved != 0) {
    return Fail(diagnostic, Status::kBadArgument, kStage)
        .Tensor(i)
        .Text("buffer ")
        .Number(i)
        .Text(" has unknown flags");
  }
  const bool fixed = (b.flags & SLUICE_BUFFER_FIXED) != 0;
  if (fixed && b.fixed_offset < 0) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Tensor(i)
        .Text("buffer ")
        .Number(i)
        .Text(" is fixed at a negative offset");
  }
  *range = LiveRange{b.begin, b.end, b.bytes};
  range->alignment = b.alignment == 0 ? 1 : b.alignment;
  range->fixed_offset = fixed ? b.fixed_offset : kFreeOffset;
  range->banks = b.banks;
  range->single_bank = (b.flags & SLUICE_BUFFER_SINGLE_BANK) != 0;
  range->first_gap = b.gap_begin;
  range->gap_count = b.gap_count;
  return Status::kOk;
}

Status ReadProblem(const sluice_placement_problem_t& problem, Arena* arena,
                   LiveRangeSet* set, Diagnostic* diagnostic) {
  Span<LiveRange> ranges;
  Span<LiveGap> gaps;
  Span<ReservedRegion> regions;
  SLUICE_TRY(arena->Allocate(problem.buffer_count, &ranges));
  SLUICE_TRY(arena->Allocate(problem.gap_count, &gaps));
  SLUICE_TRY(arena->Allocate(problem.region_count, &regions));
  for (uint32_t i = 0; i < problem.buffer_count; ++i) {
    SLUICE_TRY(ReadBuffer(problem, i, &ranges[i], diagnostic));
  }
  for (uint32_t i = 0; i < problem.gap_count; ++i) {
    const sluice_buffer_gap_t& g = problem.gaps[i];
    gaps[i] = LiveGap{g.begin, g.end, g.first_byte, g.last_byte};
  }
  for (uint32_t i = 0; i < problem.region_count; ++i) {
    const sluice_reserved_region_t& r = problem.regions[i];
    regions[i] = ReservedRegion{r.begin, r.end, r.offset, r.bytes};
  }
  set->buffers = ranges;
  set->gaps = gaps;
  set->reserved = regions;
  set->bank_bytes = problem.bank_bytes;
  return Status::kOk;
}

void Describe(const OffsetPlan& plan, int64_t* offsets, uint32_t* conflict,
              sluice_placement_t* out) {
  out->placed = plan.offsets.empty() ? 0 : 1;
  out->proved = plan.proved ? 1 : 0;
  out->irreducible = plan.irreducible ? 1 : 0;
  out->conflict_count = static_cast<uint32_t>(plan.conflict.size());
  out->peak_bytes = plan.peak;
  out->lower_bound_bytes = plan.lower_bound;
  out->nodes = plan.nodes;
  for (size_t i = 0; i < plan.offsets.size(); ++i) offsets[i] = plan.offsets[i];
  if (conflict == nullptr) return;
  for (size_t i = 0; i < plan.conflict.size(); ++i) conflict[i] = plan.conflict[i];
}

}  // namespace

Status PlaceBuffers(const BufferCall& call, Arena* arena, sluice_placement_t* out,
                    Diagnostic* diagnostic) {
  const sluice_placement_options_t& options = call.options;
  LiveRangeSet set;
  SLUICE_TRY(ReadProblem(call.problem, arena, &set, diagnostic));
  OffsetOptions own;
  own.exact = options.fast == 0;
  own.smallest = options.smallest != 0;
  own.explain = options.no_conflict == 0;
  own.max_nodes = options.max_nodes;
  Budget budget(arena->memory()->time(), options.deadline_ns, 0, options.cancel);
  OffsetPlan plan;
  const Status status = PlaceOffsets(set, call.problem.capacity_bytes, own,
                                     Workspace{&budget, arena, diagnostic}, &plan);
  if (status == Status::kOk || status == Status::kInfeasible ||
      status == Status::kStopped) {
    Describe(plan, call.offsets, call.conflict, out);
  }
  return status;
}

}  // namespace sluice
