// SPDX-License-Identifier: Apache-2.0
#include "solve/space/improve.h"

#include <string.h>

#include <initializer_list>

#include "base/checked.h"
#include "base/rng.h"
#include "solve/space/states.h"

namespace sluice {
namespace {

// Whether all clocks of one plan are later than those of the other by the same number of
// cycles. If the same segments follow, that stays so.
bool IsLater(const SpaceNode& than, const SpaceNode& node) {
  const int64_t by = node.compute - than.compute;
  bool is = node.dma - than.dma == by && node.stored - than.stored == by &&
            node.window_size == than.window_size;
  for (int k = 0; is && k < node.window_size; ++k) {
    is = node.window[k].start - than.window[k].start == by &&
         node.window[k].free == than.window[k].free;
  }
  return is;
}

void Delay(int64_t by, double energy_pj, SpaceNode* node) {
  for (int64_t* clock : {&node->compute, &node->dma, &node->stored}) *clock += by;
  for (int k = 0; k < node->window_size; ++k) node->window[k].start += by;
  node->energy_pj += energy_pj;
}

}  // namespace

Status Improver::Init(const Sequence<SpaceNode>& nodes, uint32_t last) {
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &links_));
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &tried_));
  uint32_t i = last;
  for (; nodes[i].before != kNone; i = nodes[i].before) ++count_;
  start_ = nodes[i];
  first_ = nodes[last];
  i = last;
  for (size_t k = count_; k-- > 0; i = nodes[i].before) links_[k].node = nodes[i];
  for (size_t k = 0; k < count_; ++k) {
    const SpaceNode& node = links_[k].node;
    if (!of_.segments->Make({Before(k).held, node.first, node.last, node.loops})) {
      return Status::kInternal;
    }
    links_[k].cost = of_.segments->cost();
    links_[k].times = of_.prices.TimesOf(links_[k].cost);
  }
  return Status::kOk;
}

// Tries a move of segment i; true if the plan is to be kept.
bool Improver::TryMove(size_t i, int move) {
  if (IsFixed(i)) return false;
  const bool joins = i + 1 < count_ && !IsFixed(i + 1);
  const SpaceNode& node = links_[i].node;
  const SpaceNode& behind = links_[joins ? i + 1 : i].node;
  const SegmentAt next = {behind.first, behind.last, behind.loops};
  SegmentChange change;
  return DraftChange({node.first, node.last, node.loops}, joins ? &next : nullptr, move,
                     &change) &&
         Try(i, change);
}

Status Improver::Descend() {
  work_ = 0;
  // Once around without a change is the end.
  size_t since = 0;
  bool ends = false;
  for (size_t i = 0; since <= count_ && !ends; i = i + 1 < count_ ? i + 1 : 0) {
    ++since;
    for (int move = 0; move < kSegmentMoves; ++move) {
      ends = work_ >= of_.work || of_.budget->Tick();
      if (ends) break;
      ArenaScope scope(&held_);
      if (!TryMove(i, move)) continue;
      SLUICE_TRY(Keep(i));
      since = 0;
    }
  }
  SetClocks(0, false);
  return Status::kOk;
}

Status Improver::Anneal(uint64_t work, uint64_t seed) {
  Span<KnownSegment> best;
  SLUICE_TRY(arena_->Allocate(of_.problem.layer.size(), &best));
  List(best);
  SpaceNode cheapest = end();
  Rng rng(seed);
  for (work_ = 0; work_ < work && !of_.budget->Tick(); ++work_) {
    const double left = 1 - static_cast<double>(work_) / static_cast<double>(work);
    most_ = 1 + kHeat * left / static_cast<double>(count_);
    const size_t i = rng.Below(static_cast<uint32_t>(count_));
    ArenaScope scope(&held_);
    if (!TryMove(i, static_cast<int>(rng.Below(kRandomMoves)))) continue;
    SLUICE_TRY(Keep(i));
    if (Ratio(cheapest, end()) >= 1 - kLeast) continue;
    cheapest = end();
    List(best);
  }
  most_ = 1 - kLeast;
  return Restore(best);
}

void Improver::List(Span<KnownSegment> segments) const {
  for (KnownSegment& known : segments) known.last = 0;
  for (size_t k = 0; k < count_; ++k) {
    const SpaceNode& node = links_[k].node;
    segments[node.first] = {node.last, node.loops};
  }
}

Status Improver::Restore(Span<const KnownSegment> segments) {
  PlanLink at = {start_, {}, {}, {}};
  replaced_ = count_;
  count_ = 0;
  while (at.node.last < segments.size()) {
    const KnownSegment& known = segments[at.node.last];
    ArenaScope scope(&held_);
    if (!Make(&at, at.node.last, known.last, known.choice)) return Status::kOutOfMemory;
    tried_[0] = at;
    fresh_ = 1;
    SLUICE_TRY(Keep(count_));
    replaced_ = 0;
    at = links_[count_ - 1];
  }
  return Status::kOk;
}

// Continues the plan that ends with `link` by a segment. False if it does not fit.
bool Improver::Make(PlanLink* link, uint32_t first, uint32_t last,
                    const LoopChoice& loops) {
  work_ += last - first;
  SpaceNode* node = &link->node;
  of_.segments->Forget();
  if (!of_.segments->Make({node->held, first, last, loops})) return false;
  const Span<const Held> held = of_.segments->held();
  Span<Held> room;
  if (held_.Allocate(held.size(), &room) != Status::kOk) return false;
  for (size_t h = 0; h < held.size(); ++h) room[h] = held[h];
  link->cost = of_.segments->cost();
  link->times = of_.prices.TimesOf(link->cost);
  of_.prices.Advance(link->cost, link->times, node);
  node->first = first;
  node->last = last;
  node->loops = loops;
  node->held = room;
  return true;
}

// Whether the plan is cheaper with a change of segments from i on; then the segments that
// differ are in tried_.
bool Improver::Try(size_t i, const SegmentChange& change) {
  PlanLink at = {Before(i), {}, {}, {}};
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
  for (size_t k = end; k < count_; ++k) {
    const SpaceNode& before = Before(k);
    if (SameHeld(at.node.held, before.held)) {
      const bool behind = at.node.energy_pj >= before.energy_pj &&
                          at.node.compute >= before.compute &&
                          at.node.dma >= before.dma;
      return !(behind && most_ < 1) && Pays(k, at.node);
    }
    const SpaceNode& was = links_[k].node;
    if (k - end > kFar || !Make(&at, was.first, was.last, was.loops)) return false;
    tried_[fresh_++] = at;
    ++replaced_;
  }
  return Ratio(this->end(), at.node) < most_;
}

// Whether the plan is cheaper if it begins with `node` and goes on with the segments from k
// on.
bool Improver::Pays(size_t k, SpaceNode node) {
  for (size_t n = fresh_; k < count_; ++k, ++n) {
    const SpaceNode& was = links_[k].node;
    of_.prices.Advance(links_[k].cost, links_[k].times, &node);
    node.last = was.last;
    if (n % kClocks == 0) ++work_;
    if (!IsLater(was, node)) continue;
    // From here on the plan only runs earlier or later than before.
    SpaceNode then = end();
    Delay(node.compute - was.compute, node.energy_pj - was.energy_pj, &then);
    if (Ratio(end(), then) >= most_) return false;
    // Taking the change is work too.
    const auto rounds = [](size_t clocks) { return (clocks + kClocks - 1) / kClocks; };
    work_ += rounds(n + count_ - k) - rounds(n + 1);
    return true;
  }
  return Ratio(end(), node) < most_;
}

// The cost of a plan over that of another one.
double Improver::RatioOf(const PlanTotal& now, const PlanTotal& then) const {
  const double energy = then.energy_pj / now.energy_pj;
  const double time =
      static_cast<double>(then.cycles) / static_cast<double>(now.cycles);
  double ratio = 1;
  for (uint32_t n = 0; n < of_.goal.energy_exponent; ++n) ratio *= energy;
  for (uint32_t n = 0; n < of_.goal.delay_exponent; ++n) ratio *= time;
  return ratio;
}

// Copies what a link holds to where it stays.
Status Improver::TakeRoom(Span<const Held> held, PlanLink* link) {
  link->room = {};
  for (size_t i = free_.size();
       i-- > 0 && link->room.empty() && i + 8 > free_.size();) {
    if (free_[i].size() < held.size()) continue;
    link->room = free_[i];
    free_[i] = free_[free_.size() - 1];
    free_.Truncate(free_.size() - 1);
  }
  if (link->room.empty()) SLUICE_TRY(arena_->Allocate(held.size() + 4, &link->room));
  for (size_t h = 0; h < held.size(); ++h) link->room[h] = held[h];
  link->node.held = link->room.Slice(0, held.size());
  return Status::kOk;
}

// Takes the links that were tried in the place of those from i on.
Status Improver::Keep(size_t i) {
  ++kept_;
  for (size_t k = i; k < i + replaced_; ++k) {
    if (!links_[k].room.empty()) SLUICE_TRY(free_.Push(links_[k].room));
  }
  const size_t rest = count_ > i + replaced_ ? count_ - i - replaced_ : 0;
  if (fresh_ != replaced_ && rest != 0) {
    memmove(&links_[i + fresh_], &links_[i + replaced_], rest * sizeof(PlanLink));
  }
  count_ = i + fresh_ + rest;
  for (size_t k = 0; k < fresh_; ++k) {
    links_[i + k] = tried_[k];
    SLUICE_TRY(TakeRoom(tried_[k].node.held, &links_[i + k]));
  }
  SetClocks(i + fresh_, true);
  return Status::kOk;
}

// Sets the clocks of the segments from k on. hasty: where the plan only runs earlier or
// later than before, these are delayed, but not the positions from which loads may begin.
void Improver::SetClocks(size_t k, bool hasty) {
  for (; k < count_; ++k) {
    SpaceNode node = Before(k);
    const SpaceNode was = links_[k].node;
    of_.prices.Advance(links_[k].cost, links_[k].times, &node);
    node.first = was.first;
    node.last = was.last;
    node.loops = was.loops;
    node.held = was.held;
    links_[k].node = node;
    if (!hasty || !IsLater(was, node)) continue;
    while (++k < count_) {
      Delay(node.compute - was.compute, node.energy_pj - was.energy_pj,
            &links_[k].node);
    }
  }
}

}  // namespace sluice
