// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/place_section.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr int kPlacementTries = 16;     // placements, each of a tighter scheme
constexpr int64_t kReserveStep = 64;    // least share of the scratchpad to leave free
constexpr double kCarriedMost = 1.125;  // cost growth that tightening may bring
constexpr uint64_t kPlacementNodes = 2000;  // of exact search, after greedy
constexpr size_t kExactBuffers = 2000;      // above, exact search is not tried

Status PlaceQuickly(const Section& section, int64_t capacity, bool swaps,
                    Budget* budget, Arena* arena, OffsetPlan* plan) {
  LiveRangeSet set;
  set.buffers = section.buffers.ranges;
  OffsetOptions options;
  options.exact = false;
  options.swaps = swaps;
  options.explain = false;
  Diagnostic ignored = {};
  return PlaceOffsets(set, capacity, options, Workspace{budget, arena, &ignored}, plan);
}

// tried: greedy placement done before, or nullptr.
Status Place(const Section& section, int64_t capacity, const QuickPlacement* tried,
             Budget* budget, Arena* arena, OffsetPlan* plan) {
  const PhaseScope phase(arena->memory(), SLUICE_PHASE_PLACE);
  Status status = Status::kOk;
  if (tried != nullptr) {
    *plan = tried->plan;
    status = tried->status;
  } else {
    status = PlaceQuickly(section, capacity, true, budget, arena, plan);
  }
  // Under a deadline, or where a plan is carried over, a tighter scheme is found sooner
  // than addresses for this one.
  if (status != Status::kStopped || budget->left_ns() != UINT64_MAX ||
      !section.start.order.empty() || budget->Exhausted() ||
      section.buffers.ranges.size() > kExactBuffers) {
    return status;
  }
  LiveRangeSet set;
  set.buffers = section.buffers.ranges;
  OffsetOptions options;
  options.explain = false;
  options.max_nodes = kPlacementNodes;
  OffsetPlan exact;
  Diagnostic ignored = {};
  const Status again =
      PlaceOffsets(set, capacity, options, Workspace{budget, arena, &ignored}, &exact);
  if (again == Status::kOutOfMemory) return status;
  if (again == Status::kOk) *plan = exact;
  return again;
}

// Layers whose buffers end above the capacity must leave more of it free: Tighten then
// shortens living durations there, or makes tiles smaller.
void Reserve(Section* section, int64_t capacity, bool hurry,
             Span<const int64_t> offsets) {
  const TileList& list = section->result.list;
  const FusedBuffers& buffers = section->buffers;
  Span<int64_t> more = section->more;
  for (int64_t& m : more) m = 0;
  for (size_t b = 0; b < buffers.ranges.size(); ++b) {
    const LiveRange& range = buffers.ranges[b];
    const int64_t over = offsets[b] + range.bytes - capacity;
    if (over <= 0) continue;
    const int64_t wanted = Max(hurry ? over : over / 2, capacity / kReserveStep);
    const int64_t begin = Max<int64_t>(range.begin - 1, 0);
    const int64_t end = Min<int64_t>(range.end - 1, list.tiles);
    for (int64_t p = begin; p < end; ++p) {
      int64_t* m = &more[list.layer[static_cast<size_t>(p)]];
      *m = Max(*m, wanted);
    }
  }
  for (size_t l = 0; l < more.size(); ++l) {
    int64_t* reserve = &section->run.reserve[l];
    *reserve = Min(*reserve + more[l], capacity / 2);
  }
}

}  // namespace

Status PlaceOrTighten(Section* section, int64_t capacity, Budget* budget, Arena* arena,
                      const QuickPlacement* tried) {
  // A carried scheme that has to be tightened a lot is worse than a new search.
  const double most = section->start.order.empty()
                          ? kAnnealRejected
                          : kCarriedMost * section->result.score.cost;
  for (int i = 0; i < kPlacementTries; ++i) {
    if (section->result.score.cost >= Min(most, kAnnealRejected)) {
      return Status::kInfeasible;
    }
    if (tried == nullptr) {
      SLUICE_TRY(
          BuffersOfFused(section->run, section->result, arena, &section->buffers));
    }
    OffsetPlan plan;
    const Status status = Place(*section, capacity, tried, budget, arena, &plan);
    tried = nullptr;
    if (status == Status::kOk) {
      section->offsets = plan.offsets;
      return status;
    }
    if (status != Status::kInfeasible && status != Status::kStopped) return status;
    if (budget->Exhausted() || plan.offsets.empty()) return Status::kStopped;
    Reserve(section, capacity, budget->left_ns() != UINT64_MAX, plan.offsets);
    Diagnostic ignored = {};
    SLUICE_TRY(Tighten(section->run.problem, Workspace{budget, arena, &ignored},
                       &section->result));
  }
  return Status::kInfeasible;
}

Status PlaceAtOnce(Section* section, int64_t capacity, bool swaps, Budget* budget,
                   Arena* arena, QuickPlacement* out) {
  out->status = PlaceQuickly(*section, capacity, swaps, budget, arena, &out->plan);
  if (out->status == Status::kOk) section->offsets = out->plan.offsets;
  return out->status == Status::kOutOfMemory ? out->status : Status::kOk;
}

}  // namespace sluice
