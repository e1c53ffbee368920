// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/joint.h"

#include <algorithm>

#include "base/checked.h"
#include "solve/placement/spill/address_beam.h"
#include "solve/placement/spill/address_search.h"
#include "solve/placement/spill/break_nodes.h"
#include "solve/placement/spill/check_joint.h"
#include "solve/placement/spill/depth_first.h"
#include "solve/placement/spill/least_peak.h"
#include "solve/placement/spill/operator_order.h"
#include "solve/placement/spill/spill_bound.h"
#include "solve/placement/spill/spill_plan.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {
namespace {

// States of a beam: for a first plan, and when the exact search gave up.
constexpr uint32_t kBeamWidth = 4;
constexpr uint32_t kNarrowBeam = 2;
constexpr uint32_t kWideBeam = 64;
constexpr uint32_t kWindowEvictions = 4;
constexpr uint32_t kBeamEvictions = 12;     // sets tried per state and operator
constexpr uint64_t kSharedNodes = 1 << 12;  // for addresses where the beam pays more
// Beams for an order, one after the other, while addresses cost more than the sums.
struct Attempt {
  int reserve;  // parts of the capacity left free
  bool again;   // another kind of beam, and more layouts
};
constexpr Attempt kAttempts[] = {
    {0, false}, {0, true}, {1, false}, {2, false}, {4, false}};
constexpr uint64_t kBoundStates = 1 << 17;  // where the exact search follows
constexpr uint64_t kSoonStates = 1 << 12;   // for a bound soon
// Windows between near cuts, for graphs too large to solve at once.
constexpr size_t kWindowFrom = 24;  // operators; below, the exact search is as fast
struct WindowShape {
  uint32_t least, most;  // steps
  uint32_t width;        // states per layer
};
constexpr WindowShape kFirstWindows = {20, 36, 16};
constexpr WindowShape kLastWindows = {60, 110, 64};  // when the exact search gave up
constexpr uint32_t kImprovePercent =
    60;                           // of the rest, for windows over what is cheapest
constexpr int64_t kNearPart = 4;  // of the peak: it may come down by so much
constexpr uint32_t kPlainPercent = 60;  // of the time, for a plan without in-place
constexpr int kWindowRounds = 3;        // passes over all windows
constexpr int kReserveParts =
    64;                          // parts of the capacity; a reserve is a number of them
constexpr int kSafeReserve = 8;  // parts that nearly always suffice
constexpr int kWideReserves = 8;            // the largest reserve of a wide beam
constexpr uint64_t kUnspilledNodes = 4000;  // of the search for an order without spills
constexpr uint64_t kProofNodes = 1 << 17;   // of the search for the least peak
constexpr uint64_t kSeedNodes = 2000;       // of the search for an order of least peak
constexpr uint32_t kFirstLayouts = 8;       // per step, so that there is some plan soon
constexpr uint32_t kLayouts = 128;
constexpr uint32_t kMoreLayouts = 512;
constexpr uint32_t kMostLayouts = 4096;     // in the end
constexpr uint64_t kPlaceNodes = 1000;      // per plan, while better ones are sought
constexpr uint64_t kAllNodes = INT64_MAX;   // no limit
constexpr uint64_t kEarlyStates = 1 << 11;  // of each segment, before windows
constexpr size_t kExactFirst = 100;         // operators; above, wide windows come first
constexpr uint64_t kLastLeaves = 20000;     // plans tried for addresses in the end
constexpr uint64_t kLastSteps = 1 << 22;    // of the search for these plans

// A search in progress: decisions, and the best plan with addresses.
struct Joint {
  const OperatorGraph& graph;
  const JointOptions& options;
  Budget* budget;
  Arena* arena;
  SpillPlan* plan;
  Span<uint32_t> seeds[3] = {};  // orders to start from
  int seed_count = 0, best_seed = 0;
  bool by_beam = false;  // a narrow beam's order was cheaper than the seeds'
  SpillDecisions decisions = {}, trial = {};
  SpillDecisions least = {};     // the cheapest by sums, for BoundSpills
  uint32_t layouts = 0;          // most that were tried for `least`
  int64_t bound = 0;             // no plan has fewer bytes
  int64_t best = INT64_MAX;      // bytes of the plan; none yet
  int64_t unplaced = INT64_MAX;  // bytes of a plan that fits in sums only
  bool nothing_fits = false;
};

// There is no better plan than that at hand, or no time for one.
bool IsDone(const Joint& self) {
  if (self.plan->placed && self.plan->bytes() <= self.bound) return true;
  return (self.plan->placed || !self.options.needed) && self.budget->Exhausted();
}

Status Conclude(Joint* self) {
  if (!self->plan->placed && self->nothing_fits) return Status::kInfeasible;
  self->plan->lower_bound =
      self->plan->placed ? Min(self->bound, self->plan->bytes()) : self->bound;
  self->plan->proved =
      self->plan->placed && self->plan->bytes() == self->plan->lower_bound;
  return self->plan->placed ? Status::kOk : Status::kStopped;
}

Workspace WorkOf(const Joint& self) { return {self.budget, self.arena, nullptr}; }

SpillSearchOptions SumsOnly(const Joint& self) {
  SpillSearchOptions search;
  search.charge = self.options.charge;
  search.capacity = self.options.capacity;
  search.fixed_order = self.options.fixed_order;
  return search;
}

// Turns decisions into a placed plan if they are better than the plan so far and have
// addresses. If they have none, a beam search of this width looks for decisions that do, at
// a higher cost.
Status Adopt(Joint* self, const SpillDecisions& decisions, uint64_t max_nodes,
             uint32_t width, bool* placed) {
  *placed = false;
  if (self->plan->placed && decisions.bytes >= self->plan->bytes()) return Status::kOk;
  SpillPlan next;
  next.states = self->plan->states;
  SLUICE_TRY(PlaceDecisions(
      self->graph,
      {self->options.charge, self->options.capacity, self->best, max_nodes, width},
      decisions, WorkOf(*self), &next));
  *placed = next.placed;
  if (!*placed) return Status::kOk;
  if (!self->plan->placed || next.bytes() < self->plan->bytes()) *self->plan = next;
  self->best = self->plan->bytes();
  return Status::kOk;
}

Status AdoptDecisions(Joint* self, uint64_t max_nodes, uint32_t width, bool* placed) {
  return Adopt(self, self->decisions, max_nodes, width, placed);
}

// Addresses for an order that needs no spills.
Status AdoptUnspilled(Joint* self) {
  self->decisions.bytes = 0;
  for (uint8_t& fetch : self->decisions.fetch) fetch = 0;
  bool placed = false;
  SLUICE_TRY(AdoptDecisions(self, 4 * kPlaceNodes, 0, &placed));
  if (!placed) self->unplaced = 0;
  return Status::kOk;
}

// Searches briefly for an order that needs no spills.
Status Unspilled(Joint* self) {
  if (!self->options.fixed_order.empty()) return Status::kOk;
  bool none = false;
  SLUICE_TRY(OrderWithin(self->graph, {self->options.capacity, kUnspilledNodes},
                         WorkOf(*self), self->decisions.order, &self->decisions.found,
                         &none));
  if (!self->decisions.found) return Status::kOk;
  return AdoptUnspilled(self);
}

// Orders to start from: one of low peak, which needs no spills if the peak fits; a
// depth-first one; the graph's own.
Status FindSeeds(Joint* self, int64_t* peak) {
  const size_t n = self->graph.operators.size();
  for (Span<uint32_t>& seed : self->seeds) SLUICE_TRY(self->arena->Allocate(n, &seed));
  bool proved = false;
  SLUICE_TRY(MinimumPeak(self->graph, kSeedNodes, WorkOf(*self), self->seeds[0], peak,
                         &proved));
  SLUICE_TRY(DepthFirst(self->graph, self->arena, self->seeds[1]));
  self->seed_count = 2;
  for (uint32_t o = 0; o < n; ++o) self->seeds[2][o] = o;
  bool good = false;
  uint32_t at = 0;
  SLUICE_TRY(CheckOrder(self->graph, self->seeds[2], self->arena, &good, &at));
  if (good) self->seed_count = 3;
  return Status::kOk;
}

// Costs the seeds' orders; the best one replaces more expensive decisions.
Status TrySeeds(Joint* self, SpillSearchOptions search) {
  for (int i = 0; i < self->seed_count; ++i) {
    search.fixed_order = self->seeds[i];
    SLUICE_TRY(
        SearchSpills(self->graph, search, self->budget, self->arena, &self->trial));
    self->plan->states += self->trial.states;
    if (!self->trial.found ||
        (self->decisions.found && self->trial.bytes >= self->decisions.bytes)) {
      continue;
    }
    self->trial.lower_bound = self->decisions.lower_bound;
    self->best_seed = i;
    std::swap(self->decisions, self->trial);
  }
  return Status::kOk;
}

// Searches the steps [begin, end) of the decisions again; keeps a better result.
Status RedoSteps(Joint* self, SpillSearchOptions search, uint32_t begin, uint32_t end) {
  search.window = SpillWindow{begin, end, &self->decisions};
  SLUICE_TRY(
      SearchSpills(self->graph, search, self->budget, self->arena, &self->trial));
  self->plan->states += self->trial.states;
  if (!self->trial.found) return Status::kOk;
  self->trial.bytes += self->decisions.bytes - self->trial.window_bytes;
  const Span<uint32_t> order = self->decisions.order;
  const Span<uint8_t> fetch = self->decisions.fetch;
  self->decisions.order = self->trial.order;
  self->decisions.fetch = self->trial.fetch;
  self->decisions.bytes = self->trial.bytes;
  self->trial.order = order;
  self->trial.fetch = fetch;
  return Status::kOk;
}

Status NearCuts(Joint* self, const WindowShape& shape, Vector<uint32_t>* cuts) {
  const uint32_t n = static_cast<uint32_t>(self->graph.operators.size());
  Span<BreakNode> nodes;
  SLUICE_TRY(FindBreakNodes(self->graph, self->decisions.order, self->arena, &nodes));
  SLUICE_TRY(cuts->Push(0));
  for (uint32_t from = 0; n - from > shape.most;) {
    uint32_t best = from + shape.least;
    for (uint32_t step = best; step <= from + shape.most; ++step) {
      if (nodes[step - 1].incomparable < nodes[best - 1].incomparable) best = step;
    }
    SLUICE_TRY(cuts->Push(best));
    from = best;
  }
  return cuts->Push(n);
}

// Divide and conquer for graphs without a good cut: solves windows between the best
// near cuts, then windows across these cuts to repair what the cuts cost.
Status Windows(Joint* self, int64_t target, const WindowShape& shape) {
  const uint32_t n = static_cast<uint32_t>(self->graph.operators.size());
  if (n < kWindowFrom) return Status::kOk;
  SpillSearchOptions search = SumsOnly(*self);
  search.target = target;
  search.width = shape.width;
  search.max_evictions = kWindowEvictions;
  for (int round = 0; round < kWindowRounds; ++round) {
    const int64_t before = self->decisions.bytes;
    ArenaScope scope(self->arena);
    Vector<uint32_t> cuts(self->arena);
    SLUICE_TRY(NearCuts(self, shape, &cuts));
    for (size_t i = 0; i + 1 < cuts.size() && !self->budget->Exhausted(); ++i) {
      SLUICE_TRY(RedoSteps(self, search, cuts[i], cuts[i + 1]));
    }
    for (size_t i = 1; i + 1 < cuts.size() && !self->budget->Exhausted(); ++i) {
      SLUICE_TRY(RedoSteps(self, search, cuts[i] - (cuts[i] - cuts[i - 1]) / 2,
                           cuts[i] + (cuts[i + 1] - cuts[i]) / 2));
    }
    if (self->decisions.bytes == before || self->budget->Exhausted()) break;
  }
  return Status::kOk;
}

// Searches with a beam, and then in windows, for decisions within a target below the
// capacity, and gives them addresses. reserve: parts of the capacity left free.
Status TryTarget(Joint* self, int reserve, bool windows, bool* placed) {
  *placed = false;
  SpillSearchOptions search = SumsOnly(*self);
  search.target =
      self->options.capacity - self->options.capacity / kReserveParts * reserve;
  search.width = kBeamWidth;
  search.max_evictions = kBeamEvictions;
  SLUICE_TRY(
      SearchSpills(self->graph, search, self->budget, self->arena, &self->decisions));
  self->plan->states += self->decisions.states;
  if (reserve == 0) {
    self->bound = Max(self->bound, self->decisions.lower_bound);
    self->nothing_fits = self->decisions.complete && !self->decisions.found;
  }
  SLUICE_TRY(TrySeeds(self, search));
  if (!self->decisions.found) return Status::kOk;
  if (windows) SLUICE_TRY(Windows(self, search.target, kFirstWindows));
  if (reserve == 0) self->unplaced = self->decisions.bytes;
  SLUICE_TRY(AdoptDecisions(self, kPlaceNodes, kLayouts, placed));
  if (reserve == 0 && *placed && self->plan->bytes() == self->unplaced)
    self->unplaced = INT64_MAX;
  return Status::kOk;
}

void Remember(Joint* self) {
  if (self->least.found && self->least.bytes <= self->decisions.bytes) return;
  self->least.found = true;
  self->layouts = 0;
  self->least.bytes = self->decisions.bytes;
  std::copy(self->decisions.order.begin(), self->decisions.order.end(),
            self->least.order.begin());
  std::copy(self->decisions.fetch.begin(), self->decisions.fetch.end(),
            self->least.fetch.begin());
}

// Layouts for the cheapest decisions, unless as many were tried before. Many layouts cost
// more than a search for addresses without departures, which comes before them.
Status AdoptLeast(Joint* self, uint32_t layouts) {
  bool placed = false;
  if (layouts <= self->layouts) return Status::kOk;
  self->layouts = layouts;
  const uint64_t nodes = layouts == kMoreLayouts ? kSharedNodes : 0;
  return Adopt(self, self->least, nodes, layouts, &placed);
}

// One beam for an order within a target, and addresses for the cheapest. *whole: there
// was nothing left to improve on at this target.
Status ShareAt(Joint* self, uint32_t width, const Attempt& attempt, bool* whole) {
  const int reserve = attempt.reserve;
  OrderOptions order;
  order.charge = self->options.charge;
  order.capacity = self->options.capacity;
  order.target =
      self->options.capacity - self->options.capacity / kReserveParts * reserve;
  order.give_up = self->best;
  if (reserve == 0 && self->least.found)
    order.give_up = Min(self->best, self->least.bytes);
  order.width = width;
  order.other = attempt.again;
  const uint32_t layouts = attempt.again ? kMoreLayouts : kLayouts;
  bool placed = false;
  if (attempt.again && self->least.found &&
      self->best - self->least.bytes > self->least.bytes / 8)
    SLUICE_TRY(AdoptLeast(self, layouts));
  SLUICE_TRY(ChooseOrder(self->graph, order, WorkOf(*self), &self->trial));
  self->plan->states += self->trial.states;
  if (!self->trial.found) {
    *whole = reserve != 0 || !self->least.found || self->best <= self->least.bytes;
    if (*whole) return Status::kOk;
    return AdoptLeast(self, layouts);
  }
  std::swap(self->decisions, self->trial);
  const int64_t bytes = self->decisions.bytes;
  Remember(self);
  if (reserve == 0) {
    self->bound = Max(self->bound, self->decisions.lower_bound);
    self->unplaced = Min(self->unplaced, bytes);
  }
  if (!self->options.needed && IsDone(*self)) return Status::kOk;
  if (self->least.bytes == bytes) self->layouts = layouts;
  if (!self->plan->placed) SLUICE_TRY(AdoptDecisions(self, 0, kFirstLayouts, &placed));
  const uint64_t nodes = width == kOrderWidth ? 0 : kSharedNodes;
  SLUICE_TRY(AdoptDecisions(self, nodes, layouts, &placed));
  *whole = self->best <= bytes;
  if (*whole && reserve == 0) self->unplaced = INT64_MAX;
  return Status::kOk;
}

Status BoundByWindows(Joint* self, uint64_t max_states) {
  if (self->graph.operators.size() < kWindowFrom || !self->least.found ||
      !self->options.fixed_order.empty() || !self->options.exact) {
    return Status::kOk;
  }
  SpillBoundOptions options;
  options.charge = self->options.charge;
  options.capacity = self->options.capacity;
  options.enough = Min(self->best, self->unplaced);
  options.max_states = max_states;
  int64_t bound = 0;
  SLUICE_TRY(BoundSpills(self->graph, options, self->least, WorkOf(*self), &bound));
  self->bound = Max(self->bound, bound);
  return Status::kOk;
}

// The cheapest order of a beam, with addresses; if these cost more, at lower targets.
Status ByBeams(Joint* self, uint32_t width) {
  if (self->graph.operators.size() < kWindowFrom || !self->options.fixed_order.empty())
    return Status::kOk;
  bool whole = false;
  for (const Attempt& attempt : kAttempts) {
    if (whole || IsDone(*self) || self->budget->Exhausted()) break;
    SLUICE_TRY(ShareAt(self, width, attempt, &whole));
    // A bound soon: beams may take the rest of the time.
    if (!attempt.again && attempt.reserve == 0 && width == kOrderWidth)
      SLUICE_TRY(BoundByWindows(self, kSoonStates));
  }
  return Status::kOk;
}

// A search for addresses of the cheapest decisions; then more and more layouts.
Status WidenLayouts(Joint* self) {
  bool placed = false;
  if (self->least.found && !self->budget->Exhausted())
    SLUICE_TRY(Adopt(self, self->least, kSharedNodes, 0, &placed));
  for (uint32_t width = 8 * kLayouts; width <= kMostLayouts; width *= 4) {
    if (!self->least.found || self->budget->Exhausted()) break;
    SLUICE_TRY(AdoptLeast(self, width));
  }
  return Status::kOk;
}

// The cheapest decisions so far, improved in windows, and their addresses.
Status ImproveLeast(Joint* self) {
  if (!self->least.found || (self->plan->placed && self->budget->Exhausted()))
    return Status::kOk;
  std::copy(self->least.order.begin(), self->least.order.end(),
            self->decisions.order.begin());
  std::copy(self->least.fetch.begin(), self->least.fetch.end(),
            self->decisions.fetch.begin());
  self->decisions.found = true;
  self->decisions.bytes = self->least.bytes;
  Budget part = self->budget->Part(kImprovePercent);
  Budget* const whole = self->budget;
  self->budget = &part;
  const Status status = Windows(self, self->options.capacity, kFirstWindows);
  self->budget = whole;
  whole->Join(part);
  SLUICE_TRY(status);
  Remember(self);
  self->unplaced = Min(self->unplaced, self->least.bytes);
  SLUICE_TRY(AdoptLeast(self, kLayouts));
  if (self->best <= self->least.bytes) self->unplaced = INT64_MAX;
  return Status::kOk;
}

// The cheapest of the seeds, then again with more effort; a narrow beam may find a better
// order.
Status PickSeed(Joint* self) {
  SpillSearchOptions search = SumsOnly(*self);
  search.width = search.max_evictions = 1;
  self->decisions.found = false;
  SLUICE_TRY(TrySeeds(self, search));
  if (!self->decisions.found) return Status::kOk;
  std::swap(self->seeds[0], self->seeds[self->best_seed]);
  const int count = self->seed_count;
  self->seed_count = 1;
  search.width = kBeamWidth;
  search.max_evictions = kWindowEvictions;
  SLUICE_TRY(TrySeeds(self, search));
  self->seed_count = count;
  search.width = kNarrowBeam;
  search.give_up = self->decisions.bytes;
  SLUICE_TRY(
      SearchSpills(self->graph, search, self->budget, self->arena, &self->trial));
  self->plan->states += self->trial.states;
  self->by_beam = self->trial.found;
  if (self->by_beam) std::swap(self->decisions, self->trial);
  return Status::kOk;
}

// Orders that beams, which go astray where many operators could run at once, need not
// find: the best of them improved, unless a narrow beam is cheaper. An order of low peak that is
// found soon has addresses more often than the one of least peak.
Status BySeeds(Joint* self) {
  if (self->graph.operators.size() < kWindowFrom || !self->options.fixed_order.empty())
    return Status::kOk;
  int64_t peak = 0;
  SLUICE_TRY(FindSeeds(self, &peak));
  if (peak - peak / kNearPart <= self->options.capacity) SLUICE_TRY(Unspilled(self));
  if (!self->plan->placed && peak <= self->options.capacity) {
    std::copy(self->seeds[0].begin(), self->seeds[0].end(),
              self->decisions.order.begin());
    SLUICE_TRY(AdoptUnspilled(self));
  }
  if (IsDone(*self)) return Status::kOk;
  SLUICE_TRY(PickSeed(self));
  if (!self->decisions.found) return Status::kOk;
  Remember(self);
  return self->by_beam ? AdoptLeast(self, kFirstLayouts) : ImproveLeast(self);
}

// Searches in windows, for the whole capacity first and then for lower targets.
Status Improve(Joint* self) {
  if (self->graph.operators.size() < kWindowFrom) return Status::kOk;
  if (self->unplaced <
      self->best) {  // plans without addresses may get them after a few repairs
    bool placed = false;
    SLUICE_TRY(TryTarget(self, 0, false, &placed));
    if (IsDone(*self)) return Status::kOk;
  }
  for (int reserve = 0; reserve < kSafeReserve; ++reserve) {
    if (self->budget->Exhausted()) break;
    const int64_t before = self->best;
    bool placed = false;
    SLUICE_TRY(TryTarget(self, reserve, true, &placed));
    if (self->best < before) break;
  }
  return Status::kOk;
}

// When the exact search gave up: a wider beam at several targets, wider windows over
// its plans, and more effort on addresses.
Status WideBeam(Joint* self) {
  for (int reserve = 0; reserve <= kWideReserves; ++reserve) {
    if (self->budget->Exhausted()) break;
    SpillSearchOptions search = SumsOnly(*self);
    search.target =
        self->options.capacity - self->options.capacity / kReserveParts * reserve;
    search.width = kWideBeam;
    search.max_evictions = 4 * kBeamEvictions;
    search.give_up = self->best;
    SLUICE_TRY(
        SearchSpills(self->graph, search, self->budget, self->arena, &self->decisions));
    self->plan->states += self->decisions.states;
    if (!self->decisions.found) break;
    SLUICE_TRY(Windows(self, search.target, kLastWindows));
    bool placed = false;
    SLUICE_TRY(AdoptDecisions(self, 12 * kPlaceNodes, kLayouts, &placed));
    if (placed && reserve == 0 && self->plan->bytes() == self->decisions.bytes) break;
  }
  return Status::kOk;
}

// Segments between independent cuts, each on its own: their optima add up.
Status ExactBySegments(Joint* self, uint64_t max_states, bool* segmented,
                       bool* complete) {
  ArenaScope scope(self->arena);
  Span<BreakNode> nodes;
  SLUICE_TRY(FindBreakNodes(self->graph, self->decisions.order, self->arena, &nodes));
  *segmented = false;
  for (const BreakNode& node : nodes) *segmented |= node.independent;
  if (!*segmented) return Status::kOk;
  SpillSearchOptions search = SumsOnly(*self);
  *complete = true;
  int64_t bound = 0;
  uint32_t from = 0;
  for (uint32_t step = 1; step <= self->graph.operators.size(); ++step) {
    if (step < self->graph.operators.size() && !nodes[step - 1].independent) continue;
    search.max_states = max_states;
    SLUICE_TRY(RedoSteps(self, search, from, step));
    *complete &= self->trial.complete;
    bound += self->trial.lower_bound;
    from = step;
  }
  self->bound = Max(self->bound, bound);
  return Status::kOk;
}

// The optimum of the sums: a lower bound even if it has no addresses.
Status Exact(Joint* self, bool* complete) {
  bool placed = false;
  if (self->decisions.found && self->options.fixed_order.empty()) {
    bool segmented = false;
    SLUICE_TRY(ExactBySegments(self, self->options.max_states, &segmented, complete));
    if (segmented) return AdoptDecisions(self, 16 * kPlaceNodes, 0, &placed);
  }
  SpillSearchOptions search = SumsOnly(*self);
  search.max_states = self->options.max_states;
  search.give_up = Min(
      self->best, self->unplaced == INT64_MAX ? self->unplaced : self->unplaced + 1);
  SLUICE_TRY(
      SearchSpills(self->graph, search, self->budget, self->arena, &self->decisions));
  self->plan->states += self->decisions.states;
  *complete = self->decisions.complete;
  self->bound = Max(self->bound, self->decisions.lower_bound);
  if (self->decisions.complete && !self->decisions.found && self->best == INT64_MAX &&
      self->unplaced == INT64_MAX) {
    self->nothing_fits = true;
  }
  if (self->decisions.found)
    SLUICE_TRY(AdoptDecisions(self, 16 * kPlaceNodes, 0, &placed));
  return Status::kOk;
}

// Sums allow `bound`, but the plan found for it has no addresses: look for another one,
// or for the next more expensive one.
Status ByAddresses(Joint* self) {
  if (self->nothing_fits) return Status::kOk;
  AddressSearchBounds bounds;
  bounds.floor = self->bound;
  bounds.give_up = self->best;
  bounds.max_leaves = kLastLeaves;
  bounds.max_nodes = 16 * kPlaceNodes;
  bounds.max_steps = kLastSteps;
  AddressedOrder found = {self->decisions.order, self->decisions.fetch};
  const Status status =
      SearchAddresses(self->graph, self->options, bounds, WorkOf(*self), &found);
  if (status == Status::kInfeasible) {
    self->bound = self->best;  // no cheaper plan exists, or none at all
    self->nothing_fits = !self->plan->placed;
    return Status::kOk;
  }
  if (status == Status::kStopped) return Status::kOk;
  SLUICE_TRY(status);
  self->decisions.bytes = found.bytes;
  bool placed = false;
  SLUICE_TRY(AdoptDecisions(self, kAllNodes, 0, &placed));
  self->bound = Max(self->bound, found.bytes);  // all cheaper ones have been excluded
  return Status::kOk;
}

Status Run(Joint* self) {
  SLUICE_TRY(
      self->arena->Allocate(self->graph.operators.size(), &self->decisions.order));
  SLUICE_TRY(
      self->arena->Allocate(self->graph.operands.size(), &self->decisions.fetch));
  SLUICE_TRY(self->arena->Allocate(self->graph.operators.size(), &self->trial.order));
  SLUICE_TRY(self->arena->Allocate(self->graph.operands.size(), &self->trial.fetch));
  SLUICE_TRY(self->arena->Allocate(self->graph.operators.size(), &self->least.order));
  SLUICE_TRY(self->arena->Allocate(self->graph.operands.size(), &self->least.fetch));
  if (self->graph.operators.size() < kWindowFrom) SLUICE_TRY(Unspilled(self));
  if (IsDone(*self)) return Conclude(self);
  SLUICE_TRY(BySeeds(self));
  if (IsDone(*self)) return Conclude(self);
  SLUICE_TRY(ByBeams(self, kOrderWidth));
  if (IsDone(*self)) return Conclude(self);
  if (self->by_beam) SLUICE_TRY(ImproveLeast(self));
  if (IsDone(*self)) return Conclude(self);
  bool placed = false;
  if (!self->plan->placed) SLUICE_TRY(TryTarget(self, 0, false, &placed));
  if (IsDone(*self)) return Conclude(self);
  if (self->least.found && self->least.bytes <= self->bound)
    SLUICE_TRY(WidenLayouts(self));
  if (IsDone(*self)) return Conclude(self);
  SLUICE_TRY(ByBeams(self, kWideBeam));
  if (IsDone(*self)) return Conclude(self);
  if (self->options.exact && self->options.fixed_order.empty() &&
      self->decisions.found) {
    bool segmented = false, complete = false;
    SLUICE_TRY(ExactBySegments(self, kEarlyStates, &segmented, &complete));
    if (segmented) SLUICE_TRY(AdoptDecisions(self, 4 * kPlaceNodes, 0, &placed));
    if (IsDone(*self)) return Conclude(self);
  }
  SLUICE_TRY(WidenLayouts(self));
  SLUICE_TRY(BoundByWindows(self, kBoundStates));
  if (IsDone(*self)) return Conclude(self);
  SLUICE_TRY(Improve(self));
  if (IsDone(*self)) return Conclude(self);
  const bool wide_first = self->graph.operators.size() > kExactFirst;
  if (self->options.exact && wide_first) SLUICE_TRY(WideBeam(self));
  if (self->options.exact && !IsDone(*self) && !self->budget->Exhausted()) {
    bool complete = false;
    SLUICE_TRY(Exact(self, &complete));
    if (!IsDone(*self) && !complete && !wide_first) SLUICE_TRY(WideBeam(self));
    if (!IsDone(*self) && (complete || !self->plan->placed))
      SLUICE_TRY(ByAddresses(self));
  }
  return Conclude(self);
}

// A plan that takes nothing over in place is a plan as well, and a limited search may
// find a better one: where operators could work in place, it is made first.
[[gnu::cold]] Status WithoutInPlace(Joint* self, SpillPlan* out) {
  Span<Operator> operators;
  SLUICE_TRY(self->arena->Allocate(self->graph.operators.size(), &operators));
  bool any = false;
  for (size_t o = 0; o < operators.size(); ++o) {
    operators[o] = self->graph.operators[o];
    any |= operators[o].in_place != kNoOperand;
    operators[o].in_place = kNoOperand;
  }
  if (!any || !self->options.fixed_order.empty()) return Status::kOk;
  const OperatorGraph plain = {self->graph.tensors, operators, self->graph.operands,
                               self->graph.edges};
  Budget part = self->budget->Part(kPlainPercent);
  Joint joint = {plain, self->options, &part, self->arena, out};
  const Status status = Run(&joint);
  self->budget->Join(part);
  if (out->placed) self->best = out->bytes() + 1;
  return status == Status::kOutOfMemory ? status : Status::kOk;
}

}  // namespace

Status PlanJoint(const OperatorGraph& graph, const JointOptions& options,
                 Budget* budget, Arena* arena, SpillPlan* plan,
                 Diagnostic* diagnostic) {
  *plan = SpillPlan();
  RoundedJoint rounded;
  SLUICE_TRY(CheckJoint(graph, options, arena, &rounded, diagnostic));
  Joint joint = {rounded.graph, rounded.options, budget, arena, plan};
  SpillPlan plain;
  SLUICE_TRY(WithoutInPlace(&joint, &plain));
  rounded.options.needed = options.needed && !plain.placed;
  Status status = Run(&joint);
  if (status == Status::kOutOfMemory) return status;
  if (plain.placed && (!plan->placed || plan->bytes() > plain.bytes())) {
    *plan = plain;
    plan->lower_bound = Min(joint.bound, plan->bytes());
    plan->proved = plan->lower_bound == plan->bytes();
    status = Status::kOk;
  }
  if (status == Status::kUnsupported) {
    return Fail(diagnostic, status, "placement")
        .Text("more than 1024 operators or tensors");
  }
  if (status == Status::kInfeasible) {
    return Fail(diagnostic, status, "placement")
        .Bytes(static_cast<uint64_t>(LargestOperator(rounded.graph)),
               static_cast<uint64_t>(options.capacity))
        .Text("the operands of an operator do not fit together");
  }
  if (status == Status::kStopped) {
    return Fail(diagnostic, status, "placement")
        .Text("stopped before any plan had addresses");
  }
  return status;
}

Status PlanFootprint(const OperatorGraph& graph, Budget* budget, Arena* arena,
                     FootprintPlan* plan, Diagnostic* diagnostic) {
  *plan = FootprintPlan();
  SLUICE_TRY(CheckOperatorGraph(graph, arena, diagnostic));
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &plan->order));
  const Status status =
      MinimumPeak(graph, kProofNodes, Workspace{budget, arena, diagnostic}, plan->order,
                  &plan->peak_bytes, &plan->proved);
  if (status == Status::kUnsupported) {
    return Fail(diagnostic, status, "placement")
        .Text("more than 1024 operators or tensors");
  }
  return status;
}

}  // namespace sluice
