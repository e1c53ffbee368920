// SPDX-License-Identifier: Apache-2.0
// Improves a whole plan by small changes of its segments: other numbers of parts, a
// loop more or less, two segments joined, one divided, a border moved by a layer. A
// change is kept if the whole plan costs less by the objective itself; the search
// before compares partial plans, by a sum of energy and time, and tries few cuts.
//
// From the first border behind a change at which the same roots are on chip as before, the
// cost of each segment is unchanged. So only the segments before that border are priced
// again; for the others, only the times at which their engines start are recomputed.
//
// Input    a problem; the nodes of a plan; segments that must stay.
// Output   the same plan, or a cheaper one.
// Errors   kOutOfMemory.
// Cost     at most `work` layers of segments made, each time.
#ifndef SLUICE_SOLVE_SPACE_IMPROVE_H_
#define SLUICE_SOLVE_SPACE_IMPROVE_H_

#include "base/budget.h"
#include "solve/space/known.h"
#include "solve/space/memo.h"
#include "solve/space/moves.h"
#include "solve/space/prices.h"

namespace sluice {

// A segment of a plan: the node that ends with it, and its cost.
struct PlanLink {
  SpaceNode node;
  SpaceCost cost;
  SegmentTimes times;  // of the cost
  Span<Held> room;     // of the improver, for what the node holds; or empty
};

class Improver {
 public:
  struct Call {
    const SpaceProblem& problem;
    const SpaceGoal& goal;
    SegmentMemo* segments;
    const Prices& prices;
    KnownSegments known;      // these stay
    int64_t most_iterations;  // of a segment's loops
    uint64_t work;            // layers of segments to make at most, in each Descend
    Budget* budget;
  };
  Improver(const Call& call, Arena* arena)
      : of_(call), arena_(arena), held_(arena->memory()), free_(arena) {}

  // last: the node at the end of the plan.
  Status Init(const Sequence<SpaceNode>& nodes, uint32_t last);
  // Makes changes that pay until none is left. If the budget ends, the result so far
  // stands.
  Status Descend();
  // Makes random changes. A change may raise the cost by a little, which shrinks to nothing
  // on the way. Ends with the cheapest plan seen. work: layers of segments to make, and
  // changes to try.
  Status Anneal(uint64_t work, uint64_t seed);
  PlanTotal total() const { return of_.prices.Total(end()); }
  // The plan's cost divided by the cost of a plan with these totals.
  double Over(const PlanTotal& least) const { return RatioOf(least, total()); }
  // The segments, by position.
  void List(Span<KnownSegment> segments) const;
  // Goes back to an earlier plan, given by its segments.
  Status Restore(Span<const KnownSegment> segments);
  Span<const PlanLink> links() const { return {links_.begin(), count_}; }
  uint64_t kept() const { return kept_; }  // changes that were kept
  // The part of the first plan's cost that the changes have saved.
  double gain() const { return 1 - Ratio(first_, end()); }

 private:
  static constexpr double kLeast = 1e-5;  // smaller gains do not count
  // What a random change may cost at the begin, of the cost of a segment.
  static constexpr double kHeat = 0.02;
  static constexpr size_t kClocks =
      4;  // of segments, that take as long as a layer made
  // A change is given up where so many segments behind it find other roots on chip.
  static constexpr size_t kFar = 8;

  const SpaceNode& Before(size_t i) const {
    return i == 0 ? start_ : links_[i - 1].node;
  }
  bool IsFixed(size_t i) const {
    const uint32_t at = links_[i].node.first;
    return of_.known.Is(at) || of_.problem.alone[at] != 0;
  }
  bool Make(PlanLink* link, uint32_t first, uint32_t last, const LoopChoice& loops);
  bool Try(size_t i, const SegmentChange& change);
  bool TryMove(size_t i, int move);
  double RatioOf(const PlanTotal& now, const PlanTotal& then) const;
  double Ratio(const SpaceNode& before, const SpaceNode& after) const {
    return RatioOf(of_.prices.Total(before), of_.prices.Total(after));
  }
  const SpaceNode& end() const { return links_[count_ - 1].node; }
  bool Pays(size_t k, SpaceNode node);
  Status Keep(size_t i);
  void SetClocks(size_t k, bool hasty);
  Status TakeRoom(Span<const Held> held, PlanLink* link);

  const Call of_;
  Arena* arena_;
  Arena held_;  // of the links being tried
  SpaceNode start_ = {};
  SpaceNode first_ = {};  // the end of the plan before all changes
  Span<PlanLink> links_, tried_;
  size_t count_ = 0;
  size_t fresh_ = 0;     // links tried that hold something else than before
  size_t replaced_ = 0;  // links that these replace
  Vector<Span<Held>> free_;
  double most_ = 1 - kLeast;  // cost of a change to keep, over the plan's
  uint64_t work_ = 0, kept_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_IMPROVE_H_
