// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/conflict_set.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/offsets/lowest_fit.h"
#include "solve/placement/offsets/partial_gaps.h"

namespace sluice {
namespace {

enum class Verdict : uint8_t { kFits, kInfeasible, kUnknown };

constexpr uint64_t kNodesPerTest = 200000;  // beyond it a buffer is kept untested

struct Filter {
  const LiveRangeSet& set;
  int64_t capacity;
  Budget* budget;
  Arena* arena;
  uint64_t* nodes;
  Span<LiveRange> subset;  // scratch

  Status Test(Span<const uint32_t> chosen, Verdict* verdict) {
    const Status status = TestAll(chosen, verdict);
    if (status == Status::kOk) return status;
    *verdict = Verdict::kUnknown;
    return budget->Exhausted() ? Status::kOk : status;
  }

  Status TestAll(Span<const uint32_t> chosen, Verdict* verdict) {
    ArenaScope scope(arena);
    for (size_t i = 0; i < chosen.size(); ++i) subset[i] = set.buffers[chosen[i]];
    LiveRangeSet part = set;
    part.buffers = Span<const LiveRange>(subset.data(), chosen.size());
    Sections sections;
    SLUICE_TRY(CutSections(part, arena, &sections));
    *verdict = Verdict::kInfeasible;
    if (sections.lower_bound > capacity) return Status::kOk;
    Span<int64_t> offsets;
    SLUICE_TRY(arena->Allocate(sections.buffers.size(), &offsets));
    const Workspace work = {budget, arena, nullptr};
    int64_t peak = 0;
    SLUICE_TRY(BestFit(sections, capacity, 0, work, offsets, &peak));
    *verdict = Verdict::kFits;
    if (peak <= capacity) return Status::kOk;
    *verdict = Verdict::kUnknown;
    const ExactLimits limits{kNodesPerTest, nodes};
    const Status status =
        ExactWithGaps(part, sections, capacity, limits, work, offsets);
    if (status == Status::kOk) *verdict = Verdict::kFits;
    if (status == Status::kInfeasible) *verdict = Verdict::kInfeasible;
    return status == Status::kOutOfMemory ? status : Status::kOk;
  }
};

// The fewest buffers that overload one moment by their sizes alone; 0 if none do.
Status OverloadedSection(const Sections& sections, int64_t capacity, Arena* arena,
                         Span<uint32_t> members, size_t* count) {
  ArenaScope scope(arena);
  Span<uint32_t> sorted;
  SLUICE_TRY(arena->Allocate(sections.buffers.size(), &sorted));
  *count = 0;
  for (uint32_t s = 0; s < sections.count; ++s) {
    if (arena->memory()->Stop()) return Status::kStopped;
    const Span<const uint32_t> all = sections.MembersOf(s);
    std::copy(all.begin(), all.end(), sorted.begin());
    Sort(sorted.begin(), sorted.begin() + all.size(), [&](uint32_t a, uint32_t b) {
      const int64_t x = sections.buffers[a].bytes;
      const int64_t y = sections.buffers[b].bytes;
      return x != y ? x > y : a < b;
    });
    int64_t sum = 0;
    for (size_t i = 0; i < all.size() && (*count == 0 || i + 1 < *count); ++i) {
      sum += sections.buffers[sorted[i]].bytes;
      if (sum <= capacity) continue;
      *count = i + 1;
      for (size_t k = 0; k <= i; ++k) members[k] = sections.buffers[sorted[k]].source;
      break;
    }
  }
  return Status::kOk;
}

struct Moment {
  int64_t time, bytes;  // negative bytes: freed
};

}  // namespace

Status FindOverload(const LiveRangeSet& set, int64_t capacity, Arena* arena,
                    OffsetPlan* plan) {
  Span<uint32_t> chosen;
  SLUICE_TRY(arena->Allocate(set.buffers.size(), &chosen));
  ArenaScope scope(arena);
  Span<Moment> moments;
  SLUICE_TRY(arena->Allocate(2 * set.buffers.size(), &moments));
  size_t count = 0;
  const auto counted = [&](uint32_t i) { return set.buffers[i].gap_count == 0; };
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    if (!counted(i)) continue;
    moments[count++] = Moment{set.buffers[i].begin, set.buffers[i].bytes};
    moments[count++] = Moment{set.buffers[i].end, -set.buffers[i].bytes};
  }
  Sort(moments.begin(), moments.begin() + count, [](const Moment& a, const Moment& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    const LiveRange& r = set.buffers[i];
    if (r.fixed_offset == kFreeOffset || r.fixed_offset + r.bytes <= plan->lower_bound)
      continue;
    plan->lower_bound = r.fixed_offset + r.bytes;
    chosen[0] = i;
  }
  if (plan->lower_bound > capacity) {
    plan->conflict = chosen.Slice(0, 1);
    plan->irreducible = true;
    return Status::kOk;
  }
  int64_t load = 0, worst = 0;
  for (size_t i = 0; i < count; ++i) {
    load += moments[i].bytes;
    if (load <= plan->lower_bound) continue;
    plan->lower_bound = load;
    worst = moments[i].time;
  }
  if (plan->lower_bound <= capacity) return Status::kOk;
  size_t alive = 0;
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    const LiveRange& r = set.buffers[i];
    if (counted(i) && r.begin <= worst && worst < r.end) chosen[alive++] = i;
  }
  Sort(chosen.begin(), chosen.begin() + alive, [&](uint32_t a, uint32_t b) {
    const int64_t x = set.buffers[a].bytes, y = set.buffers[b].bytes;
    return x != y ? x > y : a < b;
  });
  // Largest first: the last one taken is the smallest, so without any one of them the
  // rest would fit by size.
  size_t taken = 0;
  for (load = 0; load <= capacity; ++taken) load += set.buffers[chosen[taken]].bytes;
  Sort(chosen.begin(), chosen.begin() + taken);
  plan->conflict = chosen.Slice(0, taken);
  plan->irreducible = set.reserved.empty();
  for (uint32_t i : plan->conflict) {
    const LiveRange& r = set.buffers[i];
    plan->irreducible = plan->irreducible && r.alignment == 1 && r.banks == 0 &&
                        !r.single_bank && r.fixed_offset == kFreeOffset;
  }
  return Status::kOk;
}

Status FindConflict(const LiveRangeSet& set, int64_t capacity, uint64_t max_nodes,
                    Budget* budget, Arena* arena, OffsetPlan* plan) {
  const size_t n = set.buffers.size();
  Span<uint32_t> chosen;
  SLUICE_TRY(arena->Allocate(n, &chosen));
  ArenaScope scope(arena);
  size_t count = 0;
  {
    Sections sections;
    SLUICE_TRY(CutSections(set, arena, &sections));
    if (!sections.conservative) {
      SLUICE_TRY(OverloadedSection(sections, capacity, arena, chosen, &count));
    }
  }
  // The buffers of an overloaded moment are only the start: alignment, banks or
  // reserved bytes may make some of them superfluous.
  if (count == 0) {
    for (uint32_t i = 0; i < n; ++i) chosen[i] = i;
    count = n;
  }
  Sort(chosen.begin(), chosen.begin() + count, [&](uint32_t a, uint32_t b) {
    if (set.buffers[a].begin != set.buffers[b].begin) {
      return set.buffers[a].begin < set.buffers[b].begin;
    }
    return a < b;
  });
  Span<uint32_t> trial;
  Filter filter{set, capacity, budget, arena, &plan->nodes, {}};
  SLUICE_TRY(arena->Allocate(n, &trial));
  SLUICE_TRY(arena->Allocate(n, &filter.subset));
  bool conclusive = true;
  for (size_t chunk = Max<size_t>(1, count / 2);; chunk /= 2) {
    conclusive = true;
    for (size_t at = 0; at < count;) {
      const size_t end = Min(at + chunk, count);
      std::copy(chosen.begin(), chosen.begin() + at, trial.begin());
      std::copy(chosen.begin() + end, chosen.begin() + count, trial.begin() + at);
      Verdict verdict = Verdict::kUnknown;
      const bool stop =
          budget->Exhausted() || (max_nodes != 0 && plan->nodes >= max_nodes);
      if (!stop) SLUICE_TRY(filter.Test(trial.Slice(0, count - (end - at)), &verdict));
      if (verdict == Verdict::kInfeasible) {
        std::copy(trial.begin(), trial.begin() + count - (end - at), chosen.begin());
        count -= end - at;
      } else {
        conclusive &= verdict == Verdict::kFits;
        at = end;
      }
    }
    if (chunk == 1) break;
  }
  Sort(chosen.begin(), chosen.begin() + count);
  plan->conflict = chosen.Slice(0, count);
  plan->irreducible = conclusive;
  return Status::kOk;
}

}  // namespace sluice
