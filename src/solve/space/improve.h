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
#include "solve/space/plan_links.h"

namespace sluice {

// The cost of plan `now` divided by the cost of plan `then`.
double RatioOf(const SpaceGoal& goal, const PlanTotal& now, const PlanTotal& then);

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
      : of_(call), arena_(arena), held_(arena->memory()), links_(arena) {}

  // last: the node at the end of the plan.
  Status Init(const Sequence<SpaceNode>& nodes, uint32_t last);
  // Makes changes that pay until none is left or the budget ends.
  Status Descend();
  // Makes a change of segments from i on if the plan then costs less; *pays: whether it does.
  Status Take(size_t i, const SegmentChange& change, bool* pays);
  // Tries random changes, ends with the cheapest plan seen. A change may raise the cost a little,
  // by less and less. Each try takes one of `work`, and so does each layer of a segment made.
  Status Anneal(uint64_t work, uint64_t seed);
  PlanTotal total() const { return of_.prices.Total(links_.end()); }
  // The segments, by position.
  void List(Span<KnownSegment> segments) const { ListLinks(links_, segments); }
  // Goes back to an earlier plan, given by its segments.
  Status Restore(Span<const KnownSegment> segments);
  // Whether segment i must stay as it is.
  bool IsFixed(size_t i) const {
    const uint32_t at = links_.all[i].node.first;
    return of_.known.Is(at) || of_.problem.alone[at] != 0;
  }
  Span<const PlanLink> links() const { return links_.all.Slice(0, links_.count); }
  uint64_t kept() const { return kept_; }  // changes that were kept
  // The part of the first plan's cost that the changes have saved.
  double gain() const { return 1 - Ratio(first_, links_.end()); }

 private:
  static constexpr double kLeast = 1e-5;  // smaller gains do not count

  bool Make(PlanLink* link, uint32_t first, uint32_t last, const LoopChoice& loops);
  bool Try(size_t i, const SegmentChange& change);
  Status TakeMove(size_t i, int move, bool* pays);
  double Ratio(const SpaceNode& before, const SpaceNode& after) const {
    return RatioOf(of_.goal, of_.prices.Total(before), of_.prices.Total(after));
  }
  bool Pays(size_t k, SpaceNode node);
  Status Keep(size_t i);

  const Call of_;
  Arena* arena_;
  Arena held_;            // of the links being tried
  SpaceNode first_ = {};  // the end of the plan before all changes
  PlanLinks links_;
  Span<PlanLink> tried_;
  size_t fresh_ = 0;     // links tried that hold something else than before
  size_t replaced_ = 0;  // links that these replace
  double most_ =
      1 - kLeast;  // a change is kept if it costs less than this times the plan
  uint64_t work_ = 0, kept_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_IMPROVE_H_
