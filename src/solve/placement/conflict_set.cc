// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/conflict_set.h"

#include <algorithm>

#include "base/checked.h"
#include "solve/placement/exact_offsets.h"
#include "solve/placement/lowest_fit.h"

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
    int64_t peak = 0;
    SLUICE_TRY(BestFit(sections, capacity, 0, budget, arena, offsets, &peak));
    *verdict = Verdict::kFits;
    if (peak <= capacity) return Status::kOk;
    *verdict = Verdict::kUnknown;
    const ExactLimits limits{kNodesPerTest, nodes};
    const Status status =
        ExactOffsets(sections, capacity, limits, budget, arena, offsets);
    if (status == Status::kOk) *verdict = Verdict::kFits;
    if (status == Status::kInfeasible && !sections.conservative) {
      *verdict = Verdict::kInfeasible;
    }
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
    const Span<const uint32_t> all = sections.MembersOf(s);
    std::copy(all.begin(), all.end(), sorted.begin());
    std::sort(sorted.begin(), sorted.begin() + all.size(), [&](uint32_t a, uint32_t b) {
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

}  // namespace

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
  // An overloaded moment is where to start, not the end: alignment, banks or reserved
  // bytes may make some of its buffers superfluous.
  if (count == 0) {
    for (uint32_t i = 0; i < n; ++i) chosen[i] = i;
    count = n;
  }
  std::sort(chosen.begin(), chosen.begin() + count, [&](uint32_t a, uint32_t b) {
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
  std::sort(chosen.begin(), chosen.begin() + count);
  plan->conflict = chosen.Slice(0, count);
  plan->irreducible = conclusive;
  return Status::kOk;
}

}  // namespace sluice
