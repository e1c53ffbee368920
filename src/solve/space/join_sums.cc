// SPDX-License-Identifier: Apache-2.0
#include "solve/space/join_sums.h"

#include "base/checked.h"
#include "solve/space/layer_facts.h"
#include "solve/space/segment.h"

namespace sluice {
namespace {

constexpr size_t kJoined = 3;                 // segments at once
constexpr int64_t kConstantsShare = 4;        // of the scratchpad
constexpr double kWorthJoining = 1.0 / 1024;  // of the plan's cycles

// Whether segments [i, end) may be joined, and could gain by that: of each engine's time
// only what the other one waits for, and what they hand on through DRAM. Where their
// constants are small, all of them stay on chip without parts of a sum.
bool MayJoin(const SpaceProblem& p, const Improver& plan, size_t i, size_t end) {
  int64_t apart = 0, compute = 0, dma = 0, constants = 0;
  for (size_t k = i; k < end; ++k) {
    const PlanLink& link = plan.links()[k];
    const SegmentTimes& t = link.times;
    const int64_t moved = t.load + t.store;
    apart += Max(link.cost.cycles + t.exposed, moved);
    compute += link.cost.cycles;
    dma += moved;
    if (plan.IsFixed(k)) return false;
    for (uint32_t at = link.node.first; at < link.node.last; ++at) {
      constants += ConstantsOf(p, at);
    }
    if (k + 1 < end) dma -= 2 * Min(t.store, plan.links()[k + 1].times.load);
  }
  const double gain = static_cast<double>(apart - Max(compute, dma));
  return constants > p.capacity / kConstantsShare &&
         gain > kWorthJoining * static_cast<double>(plan.total().cycles);
}

struct SumTrier {
  const SpaceProblem& problem;
  Improver* plan;
  Budget* budget;

  // Tries all numbers of parts of the sum of layer `summed` inside these loops around the
  // segments [i, end), and keeps those that pay.
  Status TryParts(size_t i, size_t end, uint32_t summed, const LoopChoice& loops) {
    const Layer& layer = problem.at(summed);
    const TripList parts = TripsOf(AccumulatedChannels(*problem.graph, layer));
    SegmentChange change;
    change.border[0] = plan->links()[i].node.first;
    change.border[1] = change.border[2] = plan->links()[end - 1].node.last;
    change.replaced = end - i;
    for (int n = 0; n < parts.size && !budget->Tick(); ++n) {
      change.loops[0] = loops;
      change.loops[0].Add(kSumCut, parts.trips[n]);
      bool pays = false;
      SLUICE_TRY(plan->Take(i, change, &pays));
      if (pays) change.replaced = 1;
    }
    return Status::kOk;
  }

  // Joins segments from i on.
  Status Join(size_t i) {
    for (size_t end = i + 2; end <= Min(i + kJoined, plan->links().size()); ++end) {
      const SpaceNode& last = plan->links()[end - 1].node;
      const uint32_t summed = SummedOf(problem, plan->links()[i].node.first, last.last);
      if (summed == kNone || summed < last.first) continue;
      const int64_t sums = WholeBox(OutputOf(problem, summed)).elements() *
                           problem.hardware->accumulator_bytes;
      if (sums >= problem.capacity || !MayJoin(problem, *plan, i, end)) continue;
      SLUICE_TRY(TryParts(i, end, summed, {}));
    }
    return Status::kOk;
  }

  // Cuts channels around a sum in two, under half the parts of the axis before.
  Status CutChannels(size_t i) {
    const SpaceNode& node = plan->links()[i].node;
    const int outer = node.loops.count - 1;
    const bool sum = outer > 0 && node.loops.cut[outer] == kSumCut;
    if (!sum || plan->IsFixed(i) || node.last - node.first < 2 ||
        node.loops.cut[outer - 1] == 3) {
      return Status::kOk;
    }
    LoopChoice loops;
    for (int k = 0; k < outer; ++k) {
      const int32_t trips = node.loops.trips[k];
      loops.Add(node.loops.cut[k], k + 1 == outer ? (trips + 1) / 2 : trips);
    }
    loops.Add(3, 2);
    const uint32_t summed = SummedOf(problem, node.first, node.last);
    const bool room = loops.count < kMaxLoops && summed != kNone;
    return room ? TryParts(i, i + 1, summed, loops) : Status::kOk;
  }
};

}  // namespace

Status JoinSums(const SpaceProblem& problem, Improver* plan, Budget* budget) {
  SumTrier trier{problem, plan, budget};
  for (size_t i = 0; i < plan->links().size() && !budget->Tick(); ++i) {
    SLUICE_TRY(trier.Join(i));
    SLUICE_TRY(trier.CutChannels(i));
  }
  return Status::kOk;
}

}  // namespace sluice
