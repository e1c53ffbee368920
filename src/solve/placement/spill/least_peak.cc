// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/least_peak.h"

#include <algorithm>

#include "base/checked.h"
#include "solve/placement/spill/depth_first.h"
#include "solve/placement/spill/spill_model.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {
namespace {

constexpr uint32_t kNoNode = 0xffffffffu;
constexpr uint64_t kLooks = 8;  // at operators, that count as much as a node

struct Entry {
  int64_t first, second;  // less is better
  uint32_t node;
  bool operator<(const Entry& other) const {  // a max-heap's top is the best
    if (first != other.first) return first > other.first;
    if (second != other.second) return second > other.second;
    return node < other.node;
  }
};

// One width of sets: each is some 5 KB of code.
using Model = SpillModel<kMaxSpillItems / 64>;

class PeakSearch {
 public:
  using Set = Model::Set;
  // gnu::cold: runs rarely; optimised for size in a build for speed.
  struct Node {
    Set executed, resident, ready;
    int64_t peak, live;  // live: sum of the resident ones
    uint32_t parent, op, depth;
  };

  // least: the least peak that is at most `within`; else any order up to it.
  PeakSearch(const Model& model, bool least, int64_t within, uint64_t max_nodes,
             Arena* arena)
      : m_(model),
        least_(least),
        within_(within),
        max_nodes_(max_nodes),
        arena_(arena),
        nodes_(arena),
        heap_(arena) {}

  // *node: the last node of an order, or kNoNode.
  Status Run(Budget* budget, bool* proved, uint32_t* node) {
    SLUICE_TRY(Rehash(1024));
    Node root{};
    root.parent = kNoNode;
    for (uint32_t o = 0; o < m_.operators; ++o) {
      if (m_.Ready(o, root.executed)) root.ready.Add(o);
    }
    SLUICE_TRY(Push(root));
    *proved = true;
    while (heap_.size() != 0) {
      *node = heap_[0].node;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.Pop();
      if (nodes_[*node].depth == m_.operators) return Status::kOk;
      const bool limited = max_nodes_ != 0 && Spent() >= max_nodes_;
      if (!limited && !budget->Tick()) {
        SLUICE_TRY(Expand(*node));
        continue;
      }
      *proved = false;
      break;
    }
    *node = kNoNode;
    return Status::kOk;
  }

  uint64_t Spent() const { return nodes_.size() + looks_ / kLooks; }

  [[gnu::cold]] int64_t PeakOf(Span<const uint32_t> order) {
    Node node{};
    for (const uint32_t o : order) node = Child(node, o, ChangeBy(node, o), kNoNode);
    return node.peak;
  }

  [[gnu::cold]] int64_t Trace(uint32_t node, Span<uint32_t> order) const {
    const int64_t peak = nodes_[node].peak;
    for (uint32_t step = m_.operators; step-- > 0; node = nodes_[node].parent) {
      order[step] = nodes_[node].op;
    }
    return peak;
  }

 private:
  struct Change {
    int64_t during, after;  // live bytes
  };
  Change ChangeBy(const Node& from, uint32_t o) const {
    Set with = from.executed;
    with.Add(o);
    Change c = {from.live, from.live};
    m_.inputs[o].ForEach([&](uint32_t a) {
      const bool last = m_.readers[a].Within(with);
      if (!from.resident.Has(a)) {
        c.during += m_.bytes[a];
        c.after += m_.bytes[a];
      }
      if (!last) return;
      c.after -= m_.bytes[a];
      if (m_.in_place[o] == a) c.during -= m_.bytes[a];
    });
    m_.outputs[o].ForEach([&](uint32_t a) {
      c.during += m_.bytes[a];
      if (!m_.readers[a].Empty()) c.after += m_.bytes[a];
    });
    return c;
  }

  // index: of the node `from`
  Node Child(const Node& from, uint32_t o, const Change& change, uint32_t index) const {
    Node next = from;
    next.peak = Max(next.peak, change.during);
    next.live = change.after;
    next.executed.Add(o);
    next.ready.Drop(o);
    m_.wakes[o].ForEach([&](uint32_t p) {
      if (m_.waits[p].Within(next.executed)) next.ready.Add(p);
    });
    (m_.inputs[o] | m_.outputs[o]).ForEach([&](uint32_t a) {
      if (m_.readers[a].Within(next.executed)) {
        next.resident.Drop(a);
      } else {
        next.resident.Add(a);
      }
    });
    next.parent = index;
    next.op = o;
    ++next.depth;
    return next;
  }

  Status Expand(uint32_t from) {
    const Set ready = nodes_[from].ready;
    const int64_t limit = least_ ? nodes_[from].peak : within_;
    uint32_t free = kNoNode;
    ready.ForEach([&](uint32_t o) {
      if (free != kNoNode) return;
      ++looks_;
      const Change c = ChangeBy(nodes_[from], o);
      if (c.after <= nodes_[from].live && c.during <= limit) free = o;
    });
    Status status = Status::kOk;
    ready.ForEach([&](uint32_t o) {
      if (status != Status::kOk || (free != kNoNode && free != o)) return;
      const Change c = ChangeBy(nodes_[from], o);
      if (c.during > within_) return;
      status = Push(Child(nodes_[from], o, c, from));
    });
    return status;
  }

  // Drops a set found again with an equal or higher peak.
  Status Push(const Node& node) {
    uint32_t slot = static_cast<uint32_t>(node.executed.Hash() >> 32) & mask_;
    while (slots_[slot] != kNoNode &&
           !(nodes_[slots_[slot]].executed == node.executed)) {
      slot = (slot + 1) & mask_;
    }
    const uint32_t known = slots_[slot];
    if (known != kNoNode && (!least_ || nodes_[known].peak <= node.peak)) {
      return Status::kOk;
    }
    const uint32_t index = static_cast<uint32_t>(nodes_.size());
    slots_[slot] = index;
    SLUICE_TRY(nodes_.Push(node));
    const int64_t deeper = -static_cast<int64_t>(node.depth);
    SLUICE_TRY(heap_.Push(least_ ? Entry{node.peak, deeper, index}
                                 : Entry{deeper, node.live, index}));
    std::push_heap(heap_.begin(), heap_.end());
    if (2 * nodes_.size() > mask_) return Rehash(4 * (mask_ + 1));
    return Status::kOk;
  }
  [[gnu::cold]] Status Rehash(uint32_t size) {
    SLUICE_TRY(arena_->Allocate(size, &slots_));
    mask_ = size - 1;
    for (uint32_t& slot : slots_) slot = kNoNode;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {  // later nodes of a set are better
      uint32_t slot = static_cast<uint32_t>(nodes_[i].executed.Hash() >> 32) & mask_;
      while (slots_[slot] != kNoNode &&
             !(nodes_[slots_[slot]].executed == nodes_[i].executed)) {
        slot = (slot + 1) & mask_;
      }
      slots_[slot] = i;
    }
    return Status::kOk;
  }

  const Model& m_;
  const bool least_;
  const int64_t within_;
  const uint64_t max_nodes_;
  Arena* const arena_;
  Vector<Node> nodes_;
  Vector<Entry> heap_;
  Span<uint32_t> slots_;
  uint32_t mask_ = 0;
  uint64_t looks_ = 0;  // at operators that could run next
};

// Which orders are wanted: with the least peak, or any; with a peak up to `within`.
struct PeakGoal {
  bool least;
  int64_t within;
  uint64_t max_nodes;
  uint64_t* spent = nullptr;  // nodes, for those who count them
};

// *peak is -1 when no order was found. *proved: none exists, or none is better.
Status Search(const Model& model, const PeakGoal& goal, const Workspace& work,
              Span<uint32_t> order, int64_t* peak, bool* proved) {
  ArenaScope scope(work.arena);
  PeakSearch search(model, goal.least, goal.within, goal.max_nodes, work.arena);
  uint32_t node = kNoNode;
  SLUICE_TRY(search.Run(work.budget, proved, &node));
  if (goal.spent != nullptr) *goal.spent = search.Spent();
  *peak = node == kNoNode ? -1 : search.Trace(node, order);
  return Status::kOk;
}

// Orders, each with a lower peak than the one before; then best first.
constexpr uint64_t kDescents = 4;  // of so many nodes, together

// Begins with an order that follows what is read; finds orders, each with a lower peak;
// then searches best first for a better one or the proof.
Status Descend(const Model& model, uint64_t max_nodes, const Workspace& work,
               Span<uint32_t> order, int64_t* peak, bool* proved) {
  SLUICE_TRY(DepthFirst(*model.graph, work.arena, order));
  *peak = PeakSearch(model, false, 0, 0, work.arena).PeakOf(order);
  int64_t next = 0;
  uint64_t left = max_nodes == 0 ? UINT64_MAX : kDescents * max_nodes;
  while (left != 0 && !*proved) {
    uint64_t spent = 0;
    const PeakGoal below = {false, *peak - 1, Min(left, max_nodes), &spent};
    SLUICE_TRY(Search(model, below, work, order, &next, proved));
    if (next < 0) break;
    left -= Min(left, spent);
    *proved = false;
    *peak = next;
  }
  if (*proved) return Status::kOk;
  const PeakGoal least = {true, *peak - 1, max_nodes};
  SLUICE_TRY(Search(model, least, work, order, &next, proved));
  if (next >= 0) *peak = next;
  return Status::kOk;
}

}  // namespace

Status MinimumPeak(const OperatorGraph& graph, uint64_t max_nodes,
                   const Workspace& work, Span<uint32_t> order, int64_t* peak,
                   bool* proved) {
  if (SpillItems(graph) > kMaxSpillItems) return Status::kUnsupported;
  ArenaScope scope(work.arena);
  Model model;
  SLUICE_TRY(model.Init(graph, work.arena));
  *proved = false;
  return Descend(model, max_nodes, work, order, peak, proved);
}

Status OrderWithin(const OperatorGraph& graph, const OrderLimits& limits,
                   const Workspace& work, Span<uint32_t> order, bool* found,
                   bool* none) {
  if (SpillItems(graph) > kMaxSpillItems) return Status::kUnsupported;
  ArenaScope scope(work.arena);
  Model model;
  SLUICE_TRY(model.Init(graph, work.arena));
  int64_t peak = 0;
  const PeakGoal goal = {false, limits.capacity, limits.max_nodes};
  SLUICE_TRY(Search(model, goal, work, order, &peak, none));
  *found = peak >= 0;
  *none = *none && !*found;
  return Status::kOk;
}

}  // namespace sluice
