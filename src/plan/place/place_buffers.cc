// SPDX-License-Identifier: Apache-2.0
#include "plan/place/place_buffers.h"

#include <algorithm>

#include "base/budget.h"
#include "base/checked.h"
#include "base/watch_scope.h"
#include "solve/placement/offsets/conflict_set.h"
#include "solve/placement/offsets/crowd.h"
#include "solve/placement/offsets/offsets.h"
#include "solve/placement/offsets/sections.h"
#include "solve/placement/spill/buffer_beam.h"

namespace sluice {
namespace {

constexpr char kStage[] = "placement";
constexpr size_t kMany = 1000;  // buffers; an exact search of more rarely ends
constexpr uint32_t kLayouts[] = {1, 4, 16, 64};  // per step, of the beams over these
constexpr uint32_t kNarrow = 4;  // the widest beam that is run at each of kProbes
constexpr int kProbes = 32;      // capacities tried with a narrow beam
constexpr int64_t kNear = 20;    // a peak is near the bound within this part of it
constexpr int64_t kParts = 100;  // of the bound, by which a beam's capacity grows
constexpr uint64_t kManyPairs = uint64_t{1}
                                << 22;  // the most that heuristics go through

Status ReadBuffer(const sluice_placement_problem_t& problem, uint32_t i,
                  LiveRange* range, Diagnostic* diagnostic) {
  const sluice_buffer_t& b = problem.buffers[i];
  if ((b.flags & ~uint32_t{SLUICE_BUFFER_FIXED | SLUICE_BUFFER_SINGLE_BANK}) != 0 ||
      b.reserved != 0) {
    return Fail(diagnostic, Status::kBadArgument, kStage)
        .Tensor(i)
        .Say("buffer # has unknown flags", i);
  }
  const bool fixed = (b.flags & SLUICE_BUFFER_FIXED) != 0;
  if (fixed && b.fixed_offset < 0) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Tensor(i)
        .Say("buffer # is fixed at a negative offset", i);
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

// Many buffers: beams in order of time, for the goal and then for more and more, as long
// as that is below the plan's peak.
Status PlaceMany(const LiveRangeSet& set, int64_t goal, bool smallest,
                 const Workspace& work, OffsetPlan* plan) {
  Span<int64_t> trial;
  SLUICE_TRY(work.arena->Allocate(set.buffers.size(), &trial));
  const int64_t more = plan->lower_bound / kParts + 1;
  const int64_t near = smallest ? plan->lower_bound + plan->lower_bound / kNear : goal;
  for (const uint32_t width : kLayouts) {
    // The wide beams take their time: they only look for what is near the bound.
    const bool narrow = width <= kNarrow;
    int64_t peak = narrow ? goal : near;
    bool placed = false;
    for (int i = 0; i < (narrow ? kProbes : 1) && !placed; ++i, peak += more) {
      if (peak >= plan->peak || work.budget->Exhausted()) break;
      SLUICE_TRY(PlaceByTime(set, peak, width, work, trial, &placed));
    }
    if (!placed) continue;
    if (plan->offsets.empty())
      SLUICE_TRY(work.arena->Allocate(trial.size(), &plan->offsets));
    std::copy(trial.begin(), trial.end(), plan->offsets.begin());
    plan->peak = 0;
    for (size_t i = 0; i < trial.size(); ++i)
      plan->peak = Max(plan->peak, trial[i] + set.buffers[i].bytes);
  }
  return Status::kOk;
}

// Heuristics and beams for many buffers; kStopped: the exact search may still do better.
Status PlaceManyFirst(const LiveRangeSet& set, int64_t capacity, OffsetOptions own,
                      const Workspace& work, OffsetPlan* plan) {
  own.exact = false;
  Diagnostic own_reason;
  const Status status = PlaceOffsets(
      set, capacity, own, Workspace{work.budget, work.arena, &own_reason}, plan);
  if (status != Status::kOk && status != Status::kStopped) {
    *work.diagnostic = own_reason;
    return status;
  }
  if (plan->offsets.empty()) return Status::kStopped;
  const int64_t goal =
      own.smallest ? plan->lower_bound : Max(plan->lower_bound, capacity);
  const Status many = PlaceMany(set, goal, own.smallest, work, plan);
  if (many != Status::kOk && !work.budget->Exhausted()) return many;
  plan->proved = plan->peak <= plan->lower_bound;
  return plan->peak <= capacity && (!own.smallest || plan->proved) ? Status::kOk
                                                                   : Status::kStopped;
}

// A skyline, where pairs are too many to be gone through. A moment with too many bytes is a
// proof that nothing fits.
Status PlaceCrowdFirst(const LiveRangeSet& set, int64_t capacity,
                       const OffsetOptions& own, const Workspace& work,
                       OffsetPlan* plan) {
  SLUICE_TRY(FindOverload(set, capacity, work.arena, plan));
  const int64_t bound = plan->lower_bound;
  SLUICE_TRY(work.arena->Allocate(set.buffers.size(), &plan->offsets));
  const Status status =
      PlaceCrowd(set, own.smallest ? bound : Max(bound, capacity), work, plan);
  if (status == Status::kOutOfMemory) return status;
  if (bound > capacity) {
    plan->proved = true;
    if (!own.explain) plan->conflict = Span<uint32_t>();
    return ExplainPlacing(*plan, capacity, work.diagnostic);
  }
  SLUICE_TRY(status);
  plan->proved = plan->peak <= bound;
  return plan->peak <= capacity && (!own.smallest || plan->proved) ? Status::kOk
                                                                   : Status::kStopped;
}

// Pairs of buffers that meet, where they may be more than heuristics go through and a
// skyline could be tried instead; else 0.
Status CountPairs(const LiveRangeSet& set, int64_t capacity, const Workspace& work,
                  uint64_t* pairs) {
  const uint64_t n = set.buffers.size();
  *pairs = 0;
  if (n * n / 2 <= kManyPairs || set.bank_bytes != 0) return Status::kOk;
  SLUICE_TRY(CheckLiveRanges(set, capacity, work.arena, work.diagnostic));
  return CountMeetings(set.buffers, work.arena, pairs);
}

// The better of a search of beams, or of a skyline, and, if it found no end, of the exact
// one.
Status PlaceAll(const LiveRangeSet& set, int64_t capacity, const OffsetOptions& own,
                const Workspace& work, OffsetPlan* plan) {
  OffsetPlan quick;
  if (set.buffers.size() > kMany) {
    uint64_t pairs = 0;
    SLUICE_TRY(CountPairs(set, capacity, work, &pairs));
    const Status status = pairs > kManyPairs
                              ? PlaceCrowdFirst(set, capacity, own, work, &quick)
                              : PlaceManyFirst(set, capacity, own, work, &quick);
    *plan = quick;
    if (status != Status::kStopped) return status;
    const bool over = work.budget->Exhausted();
    const bool last = over || pairs > (own.exact ? kMaxPairs : kManyPairs);
    if (!quick.offsets.empty() && quick.peak <= capacity && (!own.exact || last))
      return Status::kOk;
    if (last) return StoppedPlacing(quick, capacity, work.diagnostic);
  }
  const Status status = PlaceOffsets(set, capacity, own, work, plan);
  if ((status != Status::kOk && status != Status::kStopped) || quick.offsets.empty() ||
      (!plan->offsets.empty() && quick.peak >= plan->peak)) {
    return status;
  }
  quick.lower_bound = plan->lower_bound;
  quick.nodes = plan->nodes;
  *plan = quick;
  return quick.peak <= capacity ? Status::kOk : status;
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
  const WatchScope watch(arena->memory(), &budget);
  OffsetPlan plan;
  Status status = PlaceAll(set, call.problem.capacity_bytes, own,
                           Workspace{&budget, arena, diagnostic}, &plan);
  if (status == Status::kOutOfMemory && budget.Exhausted()) {
    // The table was not made because the time was over.
    plan = OffsetPlan();
    status = StoppedPlacing(plan, call.problem.capacity_bytes, diagnostic);
  }
  if (status == Status::kOk || status == Status::kInfeasible ||
      status == Status::kStopped) {
    Describe(plan, call.offsets, call.conflict, out);
  }
  return status;
}

}  // namespace sluice
