// SPDX-License-Identifier: Apache-2.0
// What COSMA compares itself with: a given operator order, a linear allocator that
// places tensors as they appear, and a rule for what leaves when no gap is wide enough.
//
// Input   network, order, capacity, rule; every tensor's first departure is written
//         (the paper's reading) unless inputs and outputs are in DRAM anyway, every
//         return read; first loads are free.
// Output  bytes written and read besides the compulsory ones.
// Source  COSMA V-A 2; what the paper leaves open as the reference resolves it: lowest
//         gap (first fit), tightest (best fit), or the first behind the tensor placed
//         last (next fit); Belady drops the furthest next use,
//         the larger tensor if equal, until a gap exists; greedy opens the window whose
//         tensors cost the fewest bytes; when the operands in use fragment the arena
//         themselves, all others leave and the operands are moved down through DRAM.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SCHEMES_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SCHEMES_H_

#include <algorithm>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_test {

enum class Leaves { kBelady, kGreedy };
enum class Fit { kFirst, kBest, kNext };

// Tensors of which DRAM has a copy that nobody paid for.
inline std::vector<bool> InDram(const Net& net, bool paper) {
  std::vector<bool> there;
  for (const sluice::OperatorTensor& t : net.tensors)
    there.push_back(!paper && t.role != sluice::TensorRole::kIntermediate);
  return there;
}

class LinearScheme {
 public:
  LinearScheme(const Net& net, std::vector<uint32_t> order, int64_t capacity,
               Leaves leaves, Fit fit, bool paper = true)
      : net_(net),
        order_(std::move(order)),
        capacity_(capacity),
        leaves_(leaves),
        fit_(fit),
        uses_(net.tensors.size()),
        copied_(InDram(net, paper)),
        seen_(net.tensors.size(), false) {
    for (uint32_t t = 0; t < order_.size(); ++t) {
      const sluice::Operator& op = net_.operators[order_[t]];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        uses_[net_.operands[op.first_input + k]].push_back(t);
      }
    }
  }

  // Bytes; -1 when an operator does not fit.
  int64_t Run() {
    for (step_ = 0; step_ < order_.size(); ++step_) {
      const sluice::Operator& op = net_.operators[order_[step_]];
      pinned_.clear();
      for (uint32_t k = 0; k < op.input_count; ++k) Pin(op.first_input + k);
      for (uint32_t k = 0; k < op.output_count; ++k) Pin(op.first_output + k);
      for (const uint32_t a : pinned_) {
        if (Find(a) != blocks_.size()) continue;
        if (seen_[a]) bytes_ += Size(a);
        seen_[a] = true;
        if (!Place(a)) return -1;
      }
      blocks_.erase(
          std::remove_if(blocks_.begin(), blocks_.end(),
                         [&](const Block& b) { return NextUse(b.tensor) == kNever; }),
          blocks_.end());
    }
    return bytes_;
  }

 private:
  static constexpr uint32_t kNever = 0xffffffffu;
  struct Block {
    uint32_t tensor;
    int64_t offset;
  };

  int64_t Size(uint32_t a) const { return net_.tensors[a].bytes; }
  void Pin(uint32_t slot) {
    const uint32_t a = net_.operands[slot];
    if (!IsPinned(a)) pinned_.push_back(a);
  }
  bool IsPinned(uint32_t a) const {
    return std::find(pinned_.begin(), pinned_.end(), a) != pinned_.end();
  }
  size_t Find(uint32_t a) const {
    size_t i = 0;
    while (i < blocks_.size() && blocks_[i].tensor != a) ++i;
    return i;
  }
  // After the step at hand.
  uint32_t NextUse(uint32_t a) const {
    const auto next = std::upper_bound(uses_[a].begin(), uses_[a].end(), step_);
    return next == uses_[a].end() ? kNever : *next;
  }

  void Leave(size_t i) {
    const uint32_t a = blocks_[i].tensor;
    if (!copied_[a]) bytes_ += Size(a);
    copied_[a] = true;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // blocks_ are in order of offset. -1: no gap.
  int64_t GapFor(int64_t size) const {
    if (fit_ == Fit::kNext) {
      const int64_t behind = FirstGap(size, cursor_);
      return behind < 0 ? FirstGap(size, 0) : behind;
    }
    int64_t at = 0, found = -1, tightest = INT64_MAX;
    for (size_t i = 0; i <= blocks_.size(); ++i) {
      const int64_t end = i < blocks_.size() ? blocks_[i].offset : capacity_;
      const int64_t room = end - at;
      if (room >= size && (fit_ == Fit::kBest ? room < tightest : found < 0)) {
        found = at;
        tightest = room;
      }
      if (i < blocks_.size()) at = end + Size(blocks_[i].tensor);
    }
    return found;
  }

  int64_t FirstGap(int64_t size, int64_t at) const {
    for (const Block& b : blocks_) {
      if (b.offset >= at + size) break;
      at = std::max(at, b.offset + Size(b.tensor));
    }
    return at + size <= capacity_ ? at : -1;
  }

  bool Place(uint32_t a) {
    int64_t at = GapFor(Size(a));
    while (at < 0 && (leaves_ == Leaves::kBelady ? DropFurthest() : OpenWindow(a))) {
      at = GapFor(Size(a));
    }
    if (at < 0) {
      MoveDown();
      at = GapFor(Size(a));
    }
    if (at < 0) return false;
    const auto behind = std::find_if(blocks_.begin(), blocks_.end(),
                                     [&](const Block& b) { return b.offset > at; });
    blocks_.insert(behind, {a, at});
    cursor_ = at + Size(a);
    return true;
  }

  bool DropFurthest() {
    size_t chosen = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (IsPinned(blocks_[i].tensor)) continue;
      if (chosen == blocks_.size()) {
        chosen = i;
        continue;
      }
      const uint32_t a = blocks_[i].tensor, b = blocks_[chosen].tensor;
      const uint32_t use = NextUse(a), furthest = NextUse(b);
      if (use > furthest || (use == furthest && Size(a) > Size(b))) chosen = i;
    }
    if (chosen == blocks_.size()) return false;
    Leave(chosen);
    return true;
  }

  // What it costs to have the bytes [from, from + size) free; INT64_MAX: impossible.
  int64_t CostOfWindow(int64_t from, int64_t size) const {
    if (from < 0 || from + size > capacity_) return INT64_MAX;
    int64_t cost = 0;
    for (const Block& b : blocks_) {
      if (b.offset >= from + size || b.offset + Size(b.tensor) <= from) continue;
      if (IsPinned(b.tensor)) return INT64_MAX;
      cost += (copied_[b.tensor] ? 1 : 2) * Size(b.tensor);
    }
    return cost;
  }

  bool OpenWindow(uint32_t a) {
    const int64_t size = Size(a);
    int64_t best = INT64_MAX, at = -1;
    const auto look = [&](int64_t from) {
      const int64_t cost = CostOfWindow(from, size);
      if (cost < best || (cost == best && cost != INT64_MAX && from < at)) {
        best = cost;
        at = from;
      }
    };
    look(0);
    look(capacity_ - size);
    for (const Block& b : blocks_) {
      look(b.offset);
      look(b.offset - size);
      look(b.offset + Size(b.tensor));
      look(b.offset + Size(b.tensor) - size);
    }
    if (best == INT64_MAX || best == 0) return false;
    for (size_t i = blocks_.size(); i-- > 0;) {
      const Block b = blocks_[i];
      if (b.offset < at + size && b.offset + Size(b.tensor) > at) Leave(i);
    }
    return true;
  }

  void MoveDown() {
    for (size_t i = blocks_.size(); i-- > 0;) {
      if (!IsPinned(blocks_[i].tensor)) Leave(i);
    }
    int64_t at = 0;
    for (Block& b : blocks_) {
      if (b.offset != at) {
        bytes_ += Size(b.tensor) * (copied_[b.tensor] ? 1 : 2);
        copied_[b.tensor] = true;
        b.offset = at;
      }
      at += Size(b.tensor);
    }
  }

  const Net& net_;
  const std::vector<uint32_t> order_;
  const int64_t capacity_;
  const Leaves leaves_;
  const Fit fit_;
  std::vector<std::vector<uint32_t>> uses_;
  std::vector<bool> copied_, seen_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> pinned_;
  uint32_t step_ = 0;
  int64_t bytes_ = 0, cursor_ = 0;
};

inline int64_t SchemeBytes(const Net& net, const std::vector<uint32_t>& order,
                           int64_t capacity, Leaves leaves, Fit fit,
                           bool paper = true) {
  return LinearScheme(net, order, capacity, leaves, fit, paper).Run();
}
// The same with first fit and with best fit; the smaller number of bytes.
inline int64_t SchemeBytes(const Net& net, const std::vector<uint32_t>& order,
                           int64_t capacity, Leaves leaves, bool paper = true) {
  return std::min(SchemeBytes(net, order, capacity, leaves, Fit::kFirst, paper),
                  SchemeBytes(net, order, capacity, leaves, Fit::kBest, paper));
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SCHEMES_H_
