// SPDX-License-Identifier: Apache-2.0
// The partial plans that a search keeps: at each border between layers a few, the
// cheapest first, and those that they continue.
//
// Input    segments that were tried, each with the plan that it continues.
// Output   the states of a border, as nodes that name the ones before them.
// Errors   kOutOfMemory.
// Cost     states of a border times roots held, for each that is kept.
#ifndef SLUICE_SOLVE_SPACE_STATES_H_
#define SLUICE_SOLVE_SPACE_STATES_H_

#include "base/sequence.h"
#include "solve/space/memo.h"
#include "solve/space/unroll.h"

namespace sluice {

// Whether the same roots are held, in any order.
inline bool SameHeld(Span<const Held> a, Span<const Held> b) {
  if (a.size() != b.size()) return false;
  for (const Held& x : a) {
    bool found = false;
    for (const Held& y : b) found = found || (x.root == y.root && x.stored == y.stored);
    if (!found) return false;
  }
  return true;
}

// A partial plan that was tried, with what it holds.
struct Tried {
  SpaceNode node = {};
  Held held[SegmentMemo::kMostHeld];
  size_t count = 0;

  void Take(const SpaceNode& plan, Span<const Held> holds) {
    node = plan;
    count = 0;
    for (const Held& h : holds) held[count++] = h;
  }
};

// The best plans that end with a run of layers: by `cost` and by `hidden` (unroll.h).
struct Tries {
  bool any = false;
  Tried best, least;

  void Take(const SpaceNode& plan, Span<const Held> holds) {
    if (!any || plan.cost < best.node.cost) best.Take(plan, holds);
    if (!any || plan.hidden < least.node.hidden) least.Take(plan, holds);
    any = true;
  }
};

// States per border: more than `least` where there are few layers, up to so many in all. A
// search for one state has one.
inline uint32_t StatesOf(uint32_t layers, uint32_t least) {
  constexpr uint32_t kAll = 1200, kMost = 24;
  return least == 1 ? 1 : Max(least, Min(kMost, kAll / Max(layers, 1u)));
}

// The partial plans that are kept at each border, the cheapest first, and those that
// they continue.
class States {
 public:
  explicit States(Arena* arena)
      : arena_(arena), nodes_(arena), room_(arena), free_(arena) {}
  Status Init(size_t borders, uint32_t most) {
    most_ = most;
    SLUICE_TRY(arena_->Allocate(borders * most, &states_));
    SLUICE_TRY(arena_->Allocate(borders, &count_));
    SpaceNode start = {};
    start.before = kNone;
    return Keep(start, {});
  }
  uint32_t count(uint32_t at) const { return count_[at]; }
  uint32_t node(uint32_t at, uint32_t i) const {
    return states_[size_t{at} * most_ + i];
  }
  const Sequence<SpaceNode>& nodes() const { return nodes_; }
  // Adds a node that is no state of a border; what it holds lives with the caller.
  Status Add(const SpaceNode& plan, uint32_t* node) {
    *node = static_cast<uint32_t>(nodes_.size());
    SLUICE_TRY(room_.Push({}));
    return nodes_.Push(plan);
  }

  // Whether a plan of that cost may be a state of a border.
  bool Wants(uint32_t at, double cost) const {
    return count_[at] < most_ || cost < nodes_[node(at, most_ - 1)].cost;
  }

  // Whether one of these plans may be a state of its border.
  bool Wants(const Tries& tries) const {
    if (!tries.any) return false;
    const uint32_t at = tries.best.node.last;
    return Wants(at, tries.best.node.cost) || Wants(at, tries.least.node.cost);
  }

  // Adds a copy of a plan that holds these roots to the states of its border.
  Status Keep(const SpaceNode& plan, Span<const Held> held) {
    uint32_t node = kNone;
    SLUICE_TRY(Take(held.size(), &node));
    const Span<Held> room = room_[node];
    for (size_t i = 0; i < held.size(); ++i) room[i] = held[i];
    nodes_[node] = plan;
    nodes_[node].held = room.Slice(0, held.size());
    const uint32_t gone = Insert(plan.last, node);
    // Nodes of the second pass may continue a node of the first, so that one is not
    // freed.
    const bool named = gone != kNone && nodes_[gone].late != plan.late;
    return gone == kNone || named ? Status::kOk : free_.Push(gone);
  }

  // Adds the best plans of a run of layers to the states of its end.
  Status Keep(const Tries& tries) {
    if (!tries.any) return Status::kOk;
    SLUICE_TRY(Keep(tries.best));
    const bool same = tries.least.node.cost == tries.best.node.cost;
    return same ? Status::kOk : Keep(tries.least);
  }

 private:
  Status Keep(const Tried& tried) {
    if (!Wants(tried.node.last, tried.node.cost)) return Status::kOk;
    return Keep(tried.node, Span<const Held>(tried.held, tried.count));
  }

  // A node with room for what is held: one that is free, or a new one.
  Status Take(size_t held, uint32_t* node) {
    for (size_t i = free_.size(); i-- > 0 && i + 8 > free_.size();) {
      if (room_[free_[i]].size() < held) continue;
      *node = free_[i];
      free_[i] = free_[free_.size() - 1];
      free_.Truncate(free_.size() - 1);
      return Status::kOk;
    }
    Span<Held> room;
    SLUICE_TRY(arena_->Allocate(held + 4, &room));
    *node = static_cast<uint32_t>(nodes_.size());
    SLUICE_TRY(room_.Push(room));
    return nodes_.Push(SpaceNode{});
  }

  // Inserts a node into the states of a border. Returns the node that is not kept: the new
  // one if others are no worse, or the one that it replaced; kNone if all are kept.
  uint32_t Insert(uint32_t at, uint32_t node) {
    const Span<uint32_t> all =
        states_.Slice(size_t{at} * most_, size_t{at + 1} * most_);
    uint32_t count = count_[at], gone = kNone;
    const SpaceNode& fresh = nodes_[node];
    // A state that is no better than the new node makes room for it.
    uint32_t worse = count;
    for (uint32_t i = count; i-- > 0;) {
      const SpaceNode& other = nodes_[all[i]];
      if (!SameHeld(other.held, fresh.held)) continue;
      if (other.cost <= fresh.cost && other.hidden <= fresh.hidden) return node;
      if (other.cost >= fresh.cost && other.hidden >= fresh.hidden) worse = i;
    }
    if (worse < count) {
      gone = all[worse];
      for (uint32_t k = worse + 1; k < count; ++k) all[k - 1] = all[k];
      --count;
    }
    uint32_t to = count;
    while (to > 0 && nodes_[all[to - 1]].cost > fresh.cost) --to;
    if (to == most_) return node;
    if (count == most_) gone = all[most_ - 1];
    count = Min(count + 1, most_);
    for (uint32_t k = count; k-- > to + 1;) all[k] = all[k - 1];
    all[to] = node;
    count_[at] = count;
    return gone;
  }

  Arena* arena_;
  Sequence<SpaceNode> nodes_;
  Vector<Span<Held>> room_;  // by node: for what it holds
  Vector<uint32_t> free_;    // nodes that may be used again
  uint32_t most_ = 0;
  Span<uint32_t> states_;  // nodes, by border
  Span<uint32_t> count_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_STATES_H_
