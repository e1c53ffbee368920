// SPDX-License-Identifier: Apache-2.0
#include "solve/space/improve.h"

#include "base/checked.h"
#include "base/rng.h"
#include "solve/space/states.h"

namespace sluice {
namespace {

// What a random change may cost at the begin, of the cost of a segment.
constexpr double kHeat = 0.02;
constexpr size_t kClocks = 4;  // of segments, that take as long as a layer made
// A change is given up where so many segments behind it find other roots on chip.
constexpr size_t kFar = 8;

// Continues the plan that ends with `link` by a segment; what it holds lives in `arena`.
// False if it does not fit.
bool Continue(const Improver::Call& of, const SegmentAt& segment, Arena* arena,
              PlanLink* link) {
  SpaceNode* node = &link->node;
  of.segments->Forget();
  if (!of.segments->Make({node->held, segment.first, segment.last, segment.loops})) {
    return false;
  }
  const Span<const Held> held = of.segments->held();
  Span<Held> room;
  if (arena->Allocate(held.size(), &room) != Status::kOk) return false;
  for (size_t h = 0; h < held.size(); ++h) room[h] = held[h];
  link->cost = of.segments->cost();
  link->times = of.prices.TimesOf(link->cost);
  of.prices.Advance(link->cost, link->times, node);
  node->first = segment.first;
  node->last = segment.last;
  node->loops = segment.loops;
  node->held = room;
  return true;
}

}  // namespace

Status Improver::Init(const Sequence<SpaceNode>& nodes, uint32_t last) {
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &links_.all));
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &tried_));
  first_ = nodes[last];
  TakeNodes(nodes, last, &links_);
  return PriceLinks(of_.segments, of_.prices, &links_);
}

// Makes a move of segment i if it pays.
Status Improver::TakeMove(size_t i, int move, bool* pays) {
  *pays = false;
  if (IsFixed(i)) return Status::kOk;
  const bool joins = i + 1 < links_.count && !IsFixed(i + 1);
  const SpaceNode& node = links_.all[i].node;
  const SpaceNode& behind = links_.all[joins ? i + 1 : i].node;
  const SegmentAt next = {behind.first, behind.last, behind.loops};
  SegmentChange change;
  const SegmentAt at = {node.first, node.last, node.loops};
  const bool is = DraftChange(at, joins ? &next : nullptr, move, &change);
  return is ? Take(i, change, pays) : Status::kOk;
}

Status Improver::Descend() {
  work_ = 0;
  // Once around without a change is the end.
  size_t since = 0;
  bool ends = false;
  for (size_t i = 0; since <= links_.count && !ends;
       i = i + 1 < links_.count ? i + 1 : 0) {
    ++since;
    for (int move = 0; move < kSegmentMoves; ++move) {
      ends = work_ >= of_.work || of_.budget->Tick();
      if (ends) break;
      bool pays = false;
      SLUICE_TRY(TakeMove(i, move, &pays));
      if (pays) since = 0;
    }
  }
  SetClocks(of_.prices, 0, false, &links_);
  return Status::kOk;
}

Status Improver::Take(size_t i, const SegmentChange& change, bool* pays) {
  ArenaScope scope(&held_);
  *pays = Try(i, change);
  return *pays ? Keep(i) : Status::kOk;
}

Status Improver::Anneal(uint64_t work, uint64_t seed) {
  Span<KnownSegment> best;
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &best));
  List(best);
  SpaceNode cheapest = links_.end();
  Rng rng(seed);
  for (work_ = 0; work_ < work && !of_.budget->Tick(); ++work_) {
    const double left = 1 - static_cast<double>(work_) / static_cast<double>(work);
    most_ = 1 + kHeat * left / static_cast<double>(links_.count);
    const size_t i = rng.Below(static_cast<uint32_t>(links_.count));
    bool pays = false;
    SLUICE_TRY(TakeMove(i, static_cast<int>(rng.Below(kRandomMoves)), &pays));
    if (!pays || Ratio(cheapest, links_.end()) >= 1 - kLeast) continue;
    cheapest = links_.end();
    List(best);
  }
  most_ = 1 - kLeast;
  return Restore(best);
}

Status Improver::Restore(Span<const KnownSegment> segments) {
  PlanLink at = {links_.start, {}, {}, {}};
  replaced_ = links_.count;
  links_.count = 0;
  while (at.node.last < segments.size()) {
    const KnownSegment& known = segments[at.node.last];
    ArenaScope scope(&held_);
    if (!Make(&at, at.node.last, known.last, known.choice)) return Status::kOutOfMemory;
    tried_[0] = at;
    fresh_ = 1;
    SLUICE_TRY(Keep(links_.count));
    replaced_ = 0;
    at = links_.all[links_.count - 1];
  }
  return Status::kOk;
}

bool Improver::Make(PlanLink* link, uint32_t first, uint32_t last,
                    const LoopChoice& loops) {
  work_ += last - first;
  return Continue(of_, {first, last, loops}, &held_, link);
}

// Whether the plan is cheaper with a change of segments from i on; then the segments that
// differ are in tried_.
bool Improver::Try(size_t i, const SegmentChange& change) {
  PlanLink at = {links_.Before(i), {}, {}, {}};
  fresh_ = 0;
  replaced_ = change.replaced;
  for (size_t k = 0; k < change.made; ++k) {
    LoopChoice loops = change.loops[k];
    FitLoops(of_.problem, change.border[k], change.border[k + 1], &loops);
    if (loops.Iterations() > of_.most_iterations ||
        !Make(&at, change.border[k], change.border[k + 1], loops)) {
      return false;
    }
    tried_[fresh_++] = at;
  }
  const size_t end = i + change.replaced;
  for (size_t k = end; k < links_.count; ++k) {
    const SpaceNode& before = links_.Before(k);
    if (SameHeld(at.node.held, before.held)) {
      const bool behind = at.node.energy_pj >= before.energy_pj &&
                          at.node.compute >= before.compute &&
                          at.node.dma >= before.dma;
      return !(behind && most_ < 1) && Pays(k, at.node);
    }
    const SpaceNode& was = links_.all[k].node;
    if (k - end > kFar || !Make(&at, was.first, was.last, was.loops)) return false;
    tried_[fresh_++] = at;
    ++replaced_;
  }
  return Ratio(links_.end(), at.node) < most_;
}

// Whether the plan is cheaper if it begins with `node` and goes on with the segments from k
// on.
bool Improver::Pays(size_t k, SpaceNode node) {
  for (size_t n = fresh_; k < links_.count; ++k, ++n) {
    const SpaceNode& was = links_.all[k].node;
    of_.prices.Advance(links_.all[k].cost, links_.all[k].times, &node);
    node.last = was.last;
    if (n % kClocks == 0) ++work_;
    if (!IsLater(was, node)) continue;
    // From here on the plan only runs earlier or later than before.
    SpaceNode then = links_.end();
    Delay(node.compute - was.compute, node.energy_pj - was.energy_pj, &then);
    if (Ratio(links_.end(), then) >= most_) return false;
    // Taking the change is work too.
    const auto rounds = [](size_t clocks) { return (clocks + kClocks - 1) / kClocks; };
    work_ += rounds(n + links_.count - k) - rounds(n + 1);
    return true;
  }
  return Ratio(links_.end(), node) < most_;
}

// Takes the links that were tried in the place of those from i on.
Status Improver::Keep(size_t i) {
  ++kept_;
  SLUICE_TRY(ReplaceLinks(i, replaced_, tried_.Slice(0, fresh_), &links_));
  SetClocks(of_.prices, i + fresh_, true, &links_);
  return Status::kOk;
}

// The cost of a plan over that of another one.
double RatioOf(const SpaceGoal& goal, const PlanTotal& now, const PlanTotal& then) {
  const double energy = then.energy_pj / now.energy_pj;
  const double time =
      static_cast<double>(then.cycles) / static_cast<double>(now.cycles);
  double ratio = 1;
  for (uint32_t n = 0; n < goal.energy_exponent; ++n) ratio *= energy;
  for (uint32_t n = 0; n < goal.delay_exponent; ++n) ratio *= time;
  return ratio;
}

}  // namespace sluice
