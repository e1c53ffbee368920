// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/depth_first.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

class Walk {
 public:
  Walk(const OperatorGraph& graph, Arena* arena) : g_(graph), arena_(arena) {}

  // Twice: in any order, to know what each operator needs, and with the neediest first.
  Status Run(Span<uint32_t> order) {
    SLUICE_TRY(FindParts());
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &made_));
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &peak_));
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &stack_));
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &at_));
    Visit(order);
    for (const uint32_t o : order) {
      SortParts(o);
      peak_[o] = PeakOf(o);
    }
    for (uint8_t& made : made_) made = 0;
    Visit(order);
    return Status::kOk;
  }

 private:
  // f(part, of): `part` must have run before `of`.
  template <typename F>
  void ForEachPart(F f) const {
    for (uint32_t o = 0; o < g_.operators.size(); ++o) {
      for (const uint32_t a : g_.InputsOf(g_.operators[o])) {
        if (maker_[a] != kNoOperand) f(maker_[a], o);
      }
    }
    for (const OperatorEdge& edge : g_.edges) f(edge.before, edge.after);
  }

  // Sets parts_.
  Status FindParts() {
    const uint32_t n = static_cast<uint32_t>(g_.operators.size());
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &maker_));
    SLUICE_TRY(arena_->Allocate(n + 2, &begin_));
    for (uint32_t& m : maker_) m = kNoOperand;
    for (uint32_t o = 0; o < n; ++o) {
      for (const uint32_t a : g_.OutputsOf(g_.operators[o])) maker_[a] = o;
    }
    ForEachPart([&](uint32_t, uint32_t of) { ++begin_[of + 2]; });
    for (uint32_t o = 0; o < n; ++o) begin_[o + 2] += begin_[o + 1];
    SLUICE_TRY(arena_->Allocate(begin_[n + 1], &parts_));
    ForEachPart([&](uint32_t part, uint32_t of) { parts_[begin_[of + 1]++] = part; });
    return Status::kOk;
  }

  int64_t ResultOf(uint32_t o) const {
    int64_t bytes = 0;
    for (const uint32_t a : g_.OutputsOf(g_.operators[o])) bytes += g_.tensors[a].bytes;
    return bytes;
  }

  void SortParts(uint32_t of) {
    Sort(parts_.begin() + begin_[of], parts_.begin() + begin_[of + 1],
         [&](uint32_t a, uint32_t b) {
           const int64_t x = peak_[a] - ResultOf(a), y = peak_[b] - ResultOf(b);
           return x != y ? x > y : a < b;
         });
  }

  int64_t PeakOf(uint32_t o) const {
    int64_t held = 0, peak = ResultOf(o);
    for (const uint32_t a : g_.InputsOf(g_.operators[o])) peak += g_.tensors[a].bytes;
    for (uint32_t i = begin_[o]; i < begin_[o + 1]; ++i) {
      peak = Max(peak, held + peak_[parts_[i]]);
      held += ResultOf(parts_[i]);
    }
    return peak;
  }

  // From the last operator on, as those that nobody reads stand behind what they read.
  void Visit(Span<uint32_t> order) {
    uint32_t count = 0;
    for (uint32_t last = static_cast<uint32_t>(order.size()); last-- > 0;) {
      uint32_t depth = 0;
      const auto begin = [&](uint32_t o) {
        if (made_[o] != 0) return;
        made_[o] = 1;
        stack_[depth] = o;
        at_[depth++] = begin_[o];
      };
      begin(last);
      while (depth != 0) {
        const uint32_t o = stack_[depth - 1];
        if (at_[depth - 1] == begin_[o + 1]) {
          order[count++] = o;
          --depth;
        } else {
          begin(parts_[at_[depth - 1]++]);
        }
      }
    }
  }

  const OperatorGraph& g_;
  Arena* const arena_;
  Span<uint32_t> maker_;          // by tensor: operator
  Span<uint32_t> begin_, parts_;  // by operator: what it waits for
  Span<int64_t> peak_;            // bytes needed to make its result
  Span<uint8_t> made_;
  Span<uint32_t> stack_, at_;
};

}  // namespace

Status DepthFirst(const OperatorGraph& graph, Arena* arena, Span<uint32_t> order) {
  ArenaScope scope(arena);
  return Walk(graph, arena).Run(order);
}

}  // namespace sluice
