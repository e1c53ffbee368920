// SPDX-License-Identifier: Apache-2.0
#include "solve/space/improve.h"

#include <initializer_list>

#include "base/checked.h"
#include "base/rng.h"
#include "solve/space/states.h"

namespace sluice {
namespace {

// The moves of a segment, by number: four for each loop that change its parts, one for
// each loop that drops it, one for each axis that cuts it, three places to divide the
// segment, each with the loops for both halves or for one of them, and four with the
// next segment.
constexpr int kTrips = 4;
constexpr int kDrop = kMaxLoops * kTrips;
constexpr int kAdd = kDrop + kMaxLoops;
constexpr int kDivide = kAdd + kAxes;
constexpr int kNext = kDivide + 9;
constexpr int kMoves = kNext + 4;

void Drop(int k, LoopChoice* loops) {
  for (--loops->count; k < loops->count; ++k) {
    loops->cut[k] = loops->cut[k + 1];
    loops->trips[k] = loops->trips[k + 1];
  }
}

// Cuts an axis in two by one more loop, the innermost around all layers. False if it is
// cut already.
bool Cut(int axis, LoopChoice* loops) {
  int at = loops->count;
  if (at == kMaxLoops) return false;
  for (int k = 0; k < at; ++k) {
    if (loops->cut[k] == axis) return false;
  }
  if (at > 0 && loops->cut[at - 1] == kSumCut) {
    loops->cut[at] = kSumCut;
    loops->trips[at] = loops->trips[at - 1];
    --at;
  }
  loops->cut[at] = static_cast<uint8_t>(axis);
  loops->trips[at] = 2;
  ++loops->count;
  return true;
}

// Whether all clocks of a plan differ from those of another by the same, so that they
// do so behind equal segments too.
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
  }
  return Status::kOk;
}

// Tries a move of segment i; true if the plan is to be kept.
bool Improver::TryMove(size_t i, int move, size_t* count) {
  Change change;
  return Draft(i, move, &change) && Try(i, change, count);
}

Status Improver::Descend() {
  work_ = 0;
  // Once around without a change is the end.
  size_t since = 0;
  for (size_t i = 0; since <= count_; i = i + 1 < count_ ? i + 1 : 0) {
    ++since;
    for (int move = 0; move < kMoves; ++move) {
      if (work_ >= of_.work || of_.budget->Tick()) return Status::kOk;
      size_t count = 0;
      ArenaScope scope(&held_);
      if (!TryMove(i, move, &count)) continue;
      SLUICE_TRY(Keep(i, count));
      since = 0;
    }
  }
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
    size_t count = 0;
    ArenaScope scope(&held_);
    if (!TryMove(i, static_cast<int>(rng.Below(kMoves)), &count)) continue;
    SLUICE_TRY(Keep(i, count));
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
  PlanLink at = {start_, {}, {}};
  replaced_ = count_;
  count_ = 0;
  while (at.node.last < segments.size()) {
    const KnownSegment& known = segments[at.node.last];
    ArenaScope scope(&held_);
    if (!Make(&at, at.node.last, known.last, known.choice)) return Status::kOutOfMemory;
    tried_[0] = at;
    fresh_ = 1;
    SLUICE_TRY(Keep(count_, 1));
    replaced_ = 0;
    at = links_[count_ - 1];
  }
  return Status::kOk;
}

// Describes a move of segment i; false if there is no such move.
bool Improver::Draft(size_t i, int move, Change* out) const {
  if (IsFixed(i)) return false;
  const SpaceNode& node = links_[i].node;
  // Most segments have few loops or layers, so most moves end here.
  const int on = move < kDrop ? move / kTrips : move - kDrop;
  if (move < kAdd && on >= node.loops.count) return false;
  if (move >= kDivide && move < kNext && node.last - node.first < 2) return false;
  LoopChoice* loops = out->loops;
  loops[0] = loops[1] = node.loops;
  out->border[0] = node.first;
  out->border[1] = out->border[2] = node.last;
  if (move >= kNext) return DraftNext(i, move - kNext, out);
  if (move < kDrop) {
    const int32_t trips = loops->trips[on];
    const int32_t other[kTrips] = {trips + 1, trips - 1, trips * 2, (trips + 1) / 2};
    loops->trips[on] = other[move % kTrips];
  } else if (move < kAdd) {
    Drop(on, loops);
  } else if (move < kDivide) {
    if (!Cut(move - kAdd, loops)) return false;
  } else {
    const int place = (move - kDivide) / 3, bare = (move - kDivide) % 3;
    const uint32_t at[] = {node.first + 1, (node.first + node.last) / 2, node.last - 1};
    out->border[1] = at[place];
    if (bare != 0) loops[bare - 1] = LoopChoice{};
    out->made = 2;
    // The places of short segments are one.
    if (place > 0 && at[place] <= at[place - 1]) return false;
    return at[place] > node.first && at[place] < node.last;
  }
  return true;
}

// A segment and the next one: joined, or with another border between them.
bool Improver::DraftNext(size_t i, int move, Change* out) const {
  if (i + 1 == count_ || IsFixed(i + 1)) return false;
  const SpaceNode& next = links_[i + 1].node;
  out->replaced = 2;
  out->border[2] = next.last;
  if (move < 2) {
    out->border[1] = next.last;
    if (move == 1) out->loops[0] = next.loops;
    return true;
  }
  out->made = 2;
  out->loops[1] = next.loops;
  out->border[1] += move == 2 ? 1u : ~0u;
  return out->border[1] > out->border[0] && out->border[1] < next.last;
}

// Makes loops valid for these layers: no more parts than there are to cut.
void Improver::Fit(uint32_t first, uint32_t last, LoopChoice* loops) const {
  const SpaceProblem& p = of_.problem;
  const Tensor& out = p.graph->tensors[p.at(last - 1).outputs[0]];
  for (int k = loops->count; k-- > 0;) {
    int32_t trips = loops->trips[k];
    if (loops->cut[k] == kSumCut) {
      const uint32_t at = SummedOf(p, first, last);
      const bool may = at != kNone && loops->slice == 0 && loops->piece == 0;
      trips = may ? PartsOfSum(p, at, trips) : 1;
    } else {
      // Parts of a size; no part is empty.
      const int64_t extent = out.extent[loops->cut[k]];
      const int64_t part =
          CeilDivide(extent, Max<int64_t>(Min<int64_t>(trips, extent), 1));
      trips = static_cast<int32_t>(CeilDivide(extent, part));
    }
    loops->trips[k] = trips;
    if (trips <= 1) Drop(k, loops);
  }
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
  of_.prices.Advance(link->cost, node);
  node->first = first;
  node->last = last;
  node->loops = loops;
  node->held = room;
  return true;
}

// Whether the plan is cheaper with a change of segments from i on; then the segments
// from i on are in tried_.
bool Improver::Try(size_t i, const Change& change, size_t* count) {
  PlanLink at = {Before(i), {}, {}};
  for (size_t k = 0; k < change.made; ++k) {
    LoopChoice loops = change.loops[k];
    Fit(change.border[k], change.border[k + 1], &loops);
    if (loops.Iterations() > of_.most_iterations ||
        !Make(&at, change.border[k], change.border[k + 1], loops)) {
      return false;
    }
    tried_[(*count)++] = at;
  }
  bool same = false, later = false;
  fresh_ = change.made;
  replaced_ = change.replaced;
  const SpaceNode& whole = end();
  const size_t end = i + change.replaced;
  for (size_t k = end; k < count_; ++k) {
    const SpaceNode& was = links_[k].node;
    if (!same) {
      const SpaceNode& before = Before(k);
      same = SameHeld(at.node.held, before.held);
      const bool behind = at.node.energy_pj >= before.energy_pj &&
                          at.node.compute >= before.compute &&
                          at.node.dma >= before.dma;
      if (same ? behind && most_ < 1 : k - end > kFar) return false;
    }
    if (!same) {
      if (!Make(&at, was.first, was.last, was.loops)) return false;
      ++fresh_;
      ++replaced_;
    } else {
      at.cost = links_[k].cost;
      at.room = links_[k].room;
      of_.prices.Advance(at.cost, &at.node);
      at.node.first = was.first;
      at.node.last = was.last;
      at.node.loops = was.loops;
      at.node.held = was.held;
      if (*count % kClocks == 0) ++work_;
      // From here on the plan only runs earlier or later than before.
      if (!later && IsLater(was, at.node)) {
        later = true;
        const int64_t by = at.node.compute - was.compute;
        SpaceNode then = whole;
        then.energy_pj += at.node.energy_pj - was.energy_pj;
        for (int64_t* clock : {&then.compute, &then.dma, &then.stored}) *clock += by;
        if (Ratio(whole, then) >= most_) return false;
      }
    }
    tried_[(*count)++] = at;
  }
  return Ratio(whole, at.node) < most_;
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
Status Improver::Keep(size_t i, size_t count) {
  ++kept_;
  for (size_t k = i; k < i + replaced_; ++k) {
    if (!links_[k].room.empty()) SLUICE_TRY(free_.Push(links_[k].room));
  }
  for (size_t k = 0; k < count; ++k) {
    links_[i + k] = tried_[k];
    if (k < fresh_) SLUICE_TRY(TakeRoom(tried_[k].node.held, &links_[i + k]));
  }
  count_ = i + count;
  return Status::kOk;
}

}  // namespace sluice
