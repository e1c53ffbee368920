// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/offsets.h"

#include <algorithm>

#include "base/checked.h"
#include "base/gcd.h"
#include "solve/placement/offsets/conflict_set.h"
#include "solve/placement/offsets/lowest_fit.h"
#include "solve/placement/offsets/partial_gaps.h"

namespace sluice {
namespace {

constexpr uint32_t kSwaps = 32;        // tried where no exact search follows
constexpr size_t kSwapPairs = 400000;  // the most pairs of buffers that swaps look at
constexpr uint64_t kFirstProbeNodes = 4096;  // per capacity tried, doubles

// Every canonical offset, so every useful peak, is a multiple of this.
int64_t Granule(const LiveRangeSet& set, const Sections& sections) {
  int64_t granule = 0;
  for (const SectionedBuffer& b : sections.buffers) {
    granule = Gcd(granule, b.bytes);
    if (b.bank_bytes != 0) granule = Gcd(granule, set.bank_bytes);
    // Alignment only lifts offsets to its multiples.
    if (b.alignment > 1) granule = Gcd(granule, b.alignment);
  }
  for (const ByteRange& hole : sections.holes) {
    if (hole.end < kNowhere) granule = Gcd(granule, hole.end);
  }
  for (const LiveGap& gap : set.gaps) {
    granule = Gcd(Gcd(granule, gap.first_byte), gap.last_byte);
  }
  return granule == 0 ? 1 : granule;
}

// kPlain: no buffer has gaps, and no peak is lowered by an exact search. A library whose
// callers ask for nothing else has no code for the rest.
template <bool kPlain>
class Placer {
 public:
  Placer(const LiveRangeSet& set, const Sections& sections, int64_t capacity,
         const OffsetOptions& options, const Workspace& work, OffsetPlan* plan)
      : set_(set),
        sections_(sections),
        capacity_(capacity),
        options_(options),
        work_(work),
        plan_(plan) {}

  Status Run(Span<int64_t> best, Span<int64_t> trial) {
    best_ = best;
    trial_ = trial;
    const int64_t bound = plan_->lower_bound;
    const size_t affordable = kSwapPairs / (sections_.near.size() + 1);
    const uint32_t swaps = options_.exact || !options_.swaps
                               ? 0
                               : Min(kSwaps, static_cast<uint32_t>(affordable));
    SLUICE_TRY(BestFit(sections_, options_.smallest ? bound : Max(bound, capacity_),
                       swaps, work_, best_, &peak_));
    peak_ = Max(peak_, sections_.fixed_peak);
    if (bound > capacity_) return Status::kInfeasible;
    if (peak_ > capacity_) {
      if (!options_.exact) return Status::kStopped;
      SLUICE_TRY(Exact(capacity_, 0));
    }
    if constexpr (!kPlain) {
      if (options_.smallest && options_.exact) return Shrink();
    }
    return Status::kOk;
  }
  int64_t peak() const { return peak_; }

 private:
  // max_nodes 0: what the options leave.
  Status Exact(int64_t capacity, uint64_t max_nodes) {
    ExactLimits limits{max_nodes, &plan_->nodes};
    if (options_.max_nodes != 0) {
      if (plan_->nodes >= options_.max_nodes) return Status::kStopped;
      const uint64_t left = options_.max_nodes - plan_->nodes;
      limits.max_nodes = max_nodes == 0 ? left : Min(left, max_nodes);
    }
    Status status = Status::kOk;
    if constexpr (kPlain) {
      status =
          ExactOffsets(sections_, capacity, limits, work_.budget, work_.arena, trial_);
    } else {
      status = ExactWithGaps(set_, sections_, capacity, limits, work_, trial_);
      // A table is not made where the time is over.
      if (status == Status::kOutOfMemory && work_.budget->Exhausted())
        return Status::kStopped;
    }
    SLUICE_TRY(status);
    std::copy(trial_.begin(), trial_.end(), best_.begin());
    peak_ = sections_.fixed_peak;
    for (size_t u = 0; u < best_.size(); ++u) {
      peak_ = Max(peak_, best_[u] + sections_.buffers[u].bytes);
    }
    return Status::kOk;
  }

  // Bisects between bound and peak. A probe that runs out of nodes counts as infeasible
  // until the next round, which allows twice as many.
  Status Shrink() {
    const int64_t granule = Granule(set_, sections_);
    int64_t& proved = plan_->lower_bound;
    for (uint64_t allowance = kFirstProbeNodes; proved < peak_; allowance *= 2) {
      int64_t low = proved;
      bool first = true;
      while (low < peak_) {
        const int64_t steps = (peak_ - low - 1) / granule;
        const int64_t probe = first ? low : low + steps / 2 * granule;
        first = false;
        const Status status = Exact(probe, allowance);
        if (status == Status::kOutOfMemory) return status;
        if (status == Status::kOk) continue;
        if (work_.budget->Exhausted() ||
            (options_.max_nodes != 0 && plan_->nodes >= options_.max_nodes)) {
          return Status::kOk;  // there is a fit; only its proof is missing
        }
        low = probe + granule;
        if (status == Status::kInfeasible) proved = low;
      }
      proved = Min(proved, peak_);
    }
    return Status::kOk;
  }

  const LiveRangeSet& set_;
  const Sections& sections_;
  const int64_t capacity_;
  const OffsetOptions& options_;
  const Workspace& work_;
  OffsetPlan* const plan_;
  Span<int64_t> best_, trial_;  // per free buffer
  int64_t peak_ = kNowhere;
};

void FillOffsets(const LiveRangeSet& set, const Sections& sections,
                 Span<const int64_t> free_offsets, Span<int64_t> offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = set.buffers[i].fixed_offset;
  for (size_t u = 0; u < free_offsets.size(); ++u) {
    offsets[sections.buffers[u].source] = free_offsets[u];
  }
}

// Ends a call in which too many pairs meet to be compared. A moment with too many bytes
// is a proof that nothing fits all the same.
Status TooMany(const LiveRangeSet& set, int64_t capacity, Arena* arena,
               OffsetPlan* plan, Diagnostic* diagnostic) {
  SLUICE_TRY(FindOverload(set, capacity, arena, plan));
  if (plan->lower_bound > capacity) {
    plan->proved = true;
    return ExplainPlacing(*plan, capacity, diagnostic);
  }
  return Fail(diagnostic, Status::kUnsupported, "placement")
      .Text("more than 2^25 pairs of buffers meet in time");
}

// Places the buffers; does not explain conflicts. kUnsupported: too many buffers meet.
template <bool kPlain>
Status Search(const LiveRangeSet& set, int64_t capacity, const OffsetOptions& options,
              const Workspace& work, OffsetPlan* plan) {
  Arena* arena = work.arena;
  ArenaScope scope(arena);
  const Span<int64_t> offsets = plan->offsets;
  plan->offsets = Span<int64_t>();  // until there are some
  Sections sections;
  SLUICE_TRY(CutSections(set, arena, &sections));
  plan->lower_bound = sections.lower_bound;
  Span<int64_t> best, trial;
  SLUICE_TRY(arena->Allocate(sections.buffers.size(), &best));
  SLUICE_TRY(arena->Allocate(sections.buffers.size(), &trial));
  Placer<kPlain> placer(set, sections, capacity, options, work, plan);
  const Status status = placer.Run(best, trial);
  if (status == Status::kOutOfMemory) return status;
  plan->peak = placer.peak();
  if (plan->peak >= kNowhere) return status;
  FillOffsets(set, sections, best, offsets);
  plan->offsets = offsets;
  return status;
}

}  // namespace

Status PlaceAround(Span<const LiveRange> buffers, int64_t capacity, Arena* arena,
                   Span<int64_t> offsets, bool* placed, Diagnostic* diagnostic) {
  LiveRangeSet set;
  set.buffers = buffers;
  *placed = false;
  SLUICE_TRY(CheckLiveRanges(set, capacity, arena, diagnostic));
  return FitAround(buffers, capacity, arena, offsets, placed);
}

Status PlacePlain(Span<const LiveRange> buffers, int64_t capacity,
                  const OffsetOptions& options, const Workspace& work,
                  OffsetPlan* plan) {
  LiveRangeSet set;
  set.buffers = buffers;
  *plan = OffsetPlan();
  SLUICE_TRY(work.arena->Allocate(buffers.size(), &plan->offsets));
  return Search<true>(set, capacity, options, work, plan);
}

Status ExplainPlacing(const OffsetPlan& plan, int64_t capacity,
                      Diagnostic* diagnostic) {
  Fail fail(diagnostic, Status::kInfeasible, "placement");
  fail.Bytes(static_cast<uint64_t>(plan.lower_bound), static_cast<uint64_t>(capacity));
  if (plan.conflict.empty()) return fail.Text("no placement fits the capacity");
  fail.Tensor(plan.conflict[0]).Text("buffers that cannot lie together:");
  constexpr size_t kNamed = 16;
  for (size_t i = 0; i < Min(kNamed, plan.conflict.size()); ++i) {
    fail.Say(" #", plan.conflict[i]);
  }
  if (plan.conflict.size() > kNamed) {
    fail.Say(" and # more", plan.conflict.size() - kNamed);
  }
  return fail;
}

Status StoppedPlacing(const OffsetPlan& plan, int64_t capacity,
                      Diagnostic* diagnostic) {
  Fail fail(diagnostic, Status::kStopped, "placement");
  if (!plan.offsets.empty())
    fail.Bytes(static_cast<uint64_t>(plan.peak), static_cast<uint64_t>(capacity));
  return fail.Text("stopped before a placement was found or excluded");
}

Status PlaceOffsets(const LiveRangeSet& set, int64_t capacity,
                    const OffsetOptions& options, const Workspace& work,
                    OffsetPlan* plan) {
  Arena* arena = work.arena;
  Diagnostic* diagnostic = work.diagnostic;
  *plan = OffsetPlan();
  SLUICE_TRY(CheckLiveRanges(set, capacity, arena, diagnostic));
  SLUICE_TRY(arena->Allocate(set.buffers.size(), &plan->offsets));
  const Status status = Search<false>(set, capacity, options, work, plan);
  switch (status) {
    case Status::kOk:
      plan->proved = plan->peak <= plan->lower_bound;
      return status;
    case Status::kUnsupported:
      return TooMany(set, capacity, arena, plan, diagnostic);
    case Status::kInfeasible:
      plan->proved = true;
      if (options.explain) {
        const Status explained =
            FindConflict(set, capacity, options.max_nodes, work.budget, arena, plan);
        if (explained != Status::kOk && !work.budget->Exhausted()) return explained;
      }
      return ExplainPlacing(*plan, capacity, diagnostic);
    case Status::kStopped:
      return StoppedPlacing(*plan, capacity, diagnostic);
    default:
      return status;
  }
}

}  // namespace sluice
