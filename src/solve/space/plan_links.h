// SPDX-License-Identifier: Apache-2.0
// The segments of a whole plan in a row, each with its cost and its clocks, where some may be
// replaced by others.
//
// Input    the nodes of a plan; links to take in the place of others, with what they hold.
// Output   the row with copies of them; clocks as Prices advances them.
// Errors   kOutOfMemory; see PriceLinks.
// Cost     linear in the links behind a change.
#ifndef SLUICE_SOLVE_SPACE_PLAN_LINKS_H_
#define SLUICE_SOLVE_SPACE_PLAN_LINKS_H_

#include "base/sequence.h"
#include "solve/space/known.h"
#include "solve/space/memo.h"
#include "solve/space/prices.h"

namespace sluice {

// A segment of a plan: the node that ends with it, and its cost.
struct PlanLink {
  SpaceNode node;
  SpaceCost cost;
  SegmentTimes times;  // of the cost
  Span<Held> room;     // for what the node holds; or empty
};

struct PlanLinks {
  explicit PlanLinks(Arena* the_arena) : arena(the_arena), free(the_arena) {}

  Arena* arena;
  SpaceNode start = {};  // the node before the first link
  Span<PlanLink> all;
  size_t count = 0;
  Vector<Span<Held>> free;  // rooms of links that were replaced

  const SpaceNode& Before(size_t i) const { return i == 0 ? start : all[i - 1].node; }
  const SpaceNode& end() const { return all[count - 1].node; }
};

// Whether all clocks of one plan are later than those of the other by the same number of
// cycles. If the same segments follow, that stays so.
bool IsLater(const SpaceNode& than, const SpaceNode& node);

// Moves all clocks of a plan.
void Delay(int64_t by, double energy_pj, SpaceNode* node);

// The links of a plan that ends with the node `last`, without costs.
void TakeNodes(const Sequence<SpaceNode>& nodes, uint32_t last, PlanLinks* links);
// Sets the costs of the links. kInternal: a segment does not fit.
Status PriceLinks(SegmentMemo* segments, const Prices& prices, PlanLinks* links);

// The segments, by position.
void ListLinks(const PlanLinks& links, Span<KnownSegment> segments);

// Puts copies of the links `fresh` in the place of `replaced` links from i on.
Status ReplaceLinks(size_t i, size_t replaced, Span<const PlanLink> fresh,
                    PlanLinks* links);

// Sets the clocks of the segments from k on. hasty: where the plan only runs earlier or
// later than before, these are delayed, but not the positions from which loads may begin.
void SetClocks(const Prices& prices, size_t k, bool hasty, PlanLinks* links);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_PLAN_LINKS_H_
