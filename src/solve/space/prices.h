// SPDX-License-Identifier: Apache-2.0
// What partial plans cost: two clocks, of tiles and of DMA, that each further segment
// advances, and energy.
//
// Input    a problem, a goal; partial plans as nodes, costs of segments.
// Output   the clocks, energy and cost of the plan with the segment.
// Errors   Init: kOutOfMemory.
// Cost     constant for each segment; Price is linear in the roots held.
#ifndef SLUICE_SOLVE_SPACE_PRICES_H_
#define SLUICE_SOLVE_SPACE_PRICES_H_

#include "base/checked.h"
#include "solve/space/tiles.h"
#include "solve/space/unroll.h"

namespace sluice {

// How long DMA takes for parts of a segment's bytes (SpaceCost).
struct SegmentTimes {
  int64_t early[SpaceCost::kEarly + 1];  // no load, the first one, the first two, all
  int64_t load, spill, store;            // store: beside the spilled bytes
  int64_t exposed, ahead, last_store;
  int64_t rest;    // loads beyond those `ahead`
  int64_t stored;  // `store` without twice the last one
};

// SpaceNode::cost and hidden.
struct PlanCosts {
  double cost, hidden;
};

class Prices {
 public:
  Prices(const SpaceProblem& problem, const SpaceGoal& goal)
      : p_(problem), goal_(goal) {}

  Status Init(Arena* arena) {
    SLUICE_TRY(arena->Allocate(p_.layer.size() + 1, &live_));
    for (uint32_t r = 0; r < p_.roots.size(); ++r) {
      const SpaceRoot& root = p_.roots[r];
      if (root.first_maker == kNone || root.constant) continue;
      uint32_t end = root.last_maker;
      if (root.last_reader != kNone) end = Max(end, root.last_reader);
      for (uint32_t b = root.first_maker + 1; b <= end; ++b) live_[b] += root.bytes;
    }
    return Status::kOk;
  }

  SegmentTimes TimesOf(const SpaceCost& c) const {
    SegmentTimes t;
    t.early[0] = p_.DmaCycles(0, 0);
    for (int k = 0; k < c.early_count; ++k) {
      t.early[k + 1] = p_.DmaCycles(c.early[k].bytes, 0);
    }
    t.load = p_.DmaCycles(c.load, c.transfers);
    t.spill = p_.DmaCycles(c.spill, 0);
    t.store = p_.DmaCycles(c.store - c.spill, 0);
    t.exposed = p_.DmaCycles(c.exposed, 0);
    t.ahead = p_.DmaCycles(c.ahead, 0);
    t.last_store = p_.DmaCycles(c.last_store, 0);
    t.rest = p_.DmaCycles(Max<int64_t>(c.load - c.ahead, 0), 0);
    t.stored = p_.DmaCycles(Max<int64_t>(c.store - c.spill - 2 * c.last_store, 0), 0);
    return t;
  }

  void Advance(const SpaceCost& c, SpaceNode* n) const { Advance(c, TimesOf(c), n); }

  // Advances both clocks over a segment. What its first iteration needs is loaded as
  // soon as earlier segments leave room for the frames: for all of them, or else for
  // the first ones.
  void Advance(const SpaceCost& c, const SegmentTimes& t, SpaceNode* n) const {
    int w = n->window_size, loads = c.early_count;
    const int64_t free = w > 0 ? n->window[w - 1].free : 0;
    while (loads > 0 && c.early[loads - 1].room > free) --loads;
    const bool any = loads > 0 || c.early_count == 0;
    const EarlyLoads ahead = loads == 0 ? EarlyLoads{} : c.early[loads - 1];
    const int64_t early = ahead.bytes;
    int64_t begin = n->compute;
    n->loads_from = n->last;
    n->early = ahead.room;
    while (w > 0 && any && n->window[w - 1].free >= ahead.room) {
      --w;
      begin = n->window[w].start;
      n->loads_from = n->window[w].first;
    }
    // Not before the loads of earlier segments are over.
    while (w + 1 < n->window_size && early > 0 && n->window[w + 1].start <= n->dma) {
      n->loads_from = n->window[++w].first;
    }
    for (int k = w; k < n->window_size; ++k) n->window[k].free -= ahead.room;
    if (w == 0 && n->window_size < SpaceNode::kWindow) begin = 0;
    int64_t begun = Max(n->dma, begin) + t.spill;
    int64_t ready = begun + c.first_wait;
    if (early < c.first_load()) {
      // The rest of the first iteration's loads comes when the earlier segments are
      // over.
      const int64_t first = t.early[loads];
      begun = Max(begun, n->compute - first);
      ready = Max(ready, n->compute + c.first_wait - first);
    }
    const int64_t start = Max(n->compute, ready);
    const int64_t before = n->last;
    n->compute = Max(start + c.cycles + t.exposed, begun + t.load + c.last_cycles);
    n->dma = begun + t.load + t.store;
    // Loads beyond what the segment's frames hold at its begin move while it computes.
    const int64_t late = Max(start, begun + t.ahead) + t.rest;
    n->compute = Max(n->compute, late + t.stored);
    // Loads may overtake stores, but a store waits for the tiles that make its data.
    if (c.store > c.spill) {
      n->stored = Max(Max(n->stored, start + c.first_cycles) + t.store,
                      n->compute + t.last_store);
    }
    if (t.rest > 0) n->dma = Max(n->dma, late + t.store);
    n->energy_pj += c.energy_pj;
    if (n->window_size == SpaceNode::kWindow) Merge(n);
    n->window[n->window_size++] = {start, p_.capacity - c.peak,
                                   static_cast<uint32_t>(before)};
  }

  // Merges the two neighbours in the window whose free bytes differ least.
  static void Merge(SpaceNode* n) {
    int at = 0;
    int64_t least = INT64_MAX;
    for (int k = 0; k + 1 < n->window_size; ++k) {
      const int64_t a = n->window[k].free, b = n->window[k + 1].free;
      const int64_t lost = Max(a, b) - Min(a, b);
      if (lost >= least) continue;
      least = lost;
      at = k;
    }
    n->window[at].free = Min(n->window[at].free, n->window[at + 1].free);
    --n->window_size;
    for (int k = at + 1; k < n->window_size; ++k) n->window[k] = n->window[k + 1];
  }

  // Sets n->cost: the cost so far, as if all that later layers need and that is not on
  // chip were loaded at once. Sets n->hidden: the same without the cycles by which
  // tiles outlast these loads, because later loads may hide them.
  void Price(Span<const Held> held, SpaceNode* n) const {
    int64_t bytes = 0;
    for (const Held& h : held) bytes += p_.graph->tensors[h.root].bytes;
    const int64_t away = Max<int64_t>(live_[n->last] - bytes, 0);
    const MemoryLevel& dram = p_.hardware->dram();
    const MemoryLevel& pad = p_.hardware->scratchpad();
    const double energy =
        n->energy_pj +
        static_cast<double>(away) * 8 * (dram.read_pj_per_bit + pad.write_pj_per_bit);
    const int64_t loaded = n->dma + p_.DmaCycles(away, 0);
    int64_t cycles = Max(n->compute, loaded);
    // The stores so far overlap with what later layers compute.
    const bool ends = n->last == p_.layer.size();
    if (ends) cycles = Max(cycles, n->stored);
    n->cost = CostOf(energy, cycles);
    n->hidden = ends ? n->cost : CostOf(energy, loaded);
  }

  // What Price finds at least for a plan with one more segment, up to the border `end`,
  // that costs at least `segment`.
  PlanCosts Least(const SpaceNode& n, uint32_t end, const SpaceCost& segment) const {
    const int64_t away = Max<int64_t>(live_[end] - p_.capacity, 0);
    const MemoryLevel& dram = p_.hardware->dram();
    const MemoryLevel& pad = p_.hardware->scratchpad();
    const double energy =
        n.energy_pj + segment.energy_pj +
        static_cast<double>(away) * 8 * (dram.read_pj_per_bit + pad.write_pj_per_bit);
    const int64_t loaded = n.dma + p_.DmaCycles(segment.load + segment.store + away, 0);
    const int64_t cycles = Max(n.compute + segment.cycles, loaded);
    const double cost = CostOf(energy, cycles);
    return {cost, end == p_.layer.size() ? cost : CostOf(energy, loaded)};
  }

  // What a whole plan costs.
  PlanTotal Total(const SpaceNode& end) const {
    const int64_t cycles = Max(Max(end.compute, end.dma), end.stored);
    const double leak = static_cast<double>(cycles) * p_.hardware->leakage_pj_per_cycle;
    return {end.energy_pj + leak, cycles};
  }

  // Whether segments of several layers may end at a border: at most half more bytes
  // live there than at borders up to kNearby away, or if `strict`, hardly more.
  bool IsBorder(uint32_t b, bool strict) const {
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    int64_t least = live_[b];
    for (uint32_t k = b > kNearby ? b - kNearby : 1; k <= b + kNearby && k < n; ++k) {
      least = Min(least, live_[k]);
    }
    return live_[b] <= (strict ? least + least / 16 : least + least / 2);
  }

 private:
  static constexpr uint32_t kNearby = 3;  // borders

  double CostOf(double energy, int64_t cycles) const {
    const double time = static_cast<double>(cycles);
    const double leak = time * p_.hardware->leakage_pj_per_cycle;
    return (energy + leak) * goal_.per_pj + time * goal_.per_cycle;
  }

  const SpaceProblem& p_;
  const SpaceGoal& goal_;
  Span<int64_t> live_;  // by border: bytes that are made before and needed behind
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_PRICES_H_
