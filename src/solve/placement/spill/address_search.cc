// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_search.h"

#include "base/checked.h"
#include "solve/placement/spill/spill_plan.h"

namespace sluice {
namespace {

constexpr uint32_t kNoStep = 0xffffffffu;
constexpr uint32_t kMaxLeaving = 20;  // most tensors used in a step and live after it

class Search {
 public:
  Search(const OperatorGraph& graph, const JointOptions& options,
         const AddressSearchBounds& bounds, Budget* budget, Arena* arena)
      : g_(graph), options_(options), bounds_(bounds), budget_(budget), arena_(arena) {}

  Status Run(Span<uint32_t> order, Span<uint8_t> fetch, int64_t* reached) {
    order_ = order;
    fetch_ = fetch;
    const size_t tensors = g_.tensors.size();
    SLUICE_TRY(arena_->Allocate(tensors, &unread_));
    SLUICE_TRY(arena_->Allocate(tensors, &unwritten_));
    SLUICE_TRY(arena_->Allocate(tensors, &resident_));
    SLUICE_TRY(arena_->Allocate(tensors, &copied_));
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &done_));
    for (const Operator& op : g_.operators) {
      for (uint32_t a : g_.InputsOf(op)) ++unread_[a];
      for (uint32_t a : g_.OutputsOf(op)) unwritten_[a] = 1;
    }
    for (size_t a = 0; a < tensors; ++a) {
      copied_[a] = options_.charge == SpillCharge::kHost &&
                   g_.tensors[a].role != TensorRole::kIntermediate;
    }
    for (limit_ = bounds_.floor; limit_ < bounds_.give_up; limit_ = beyond_) {
      beyond_ = INT64_MAX;
      cut_to_ = kNoStep;
      SLUICE_TRY(Level(0, 0, 0));
      if (found_) {
        *reached = reached_;
        return Status::kOk;
      }
      if (stopped_) return Status::kStopped;
      if (beyond_ == INT64_MAX) break;
    }
    return incomplete_ ? Status::kStopped : Status::kInfeasible;
  }

 private:
  bool Ready(uint32_t o) const {
    if (done_[o]) return false;
    for (uint32_t a : g_.InputsOf(g_.operators[o])) {
      if (unwritten_[a]) return false;
    }
    for (const OperatorEdge& edge : g_.edges) {
      if (edge.after == o && !done_[edge.before]) return false;
    }
    return true;
  }

  // Chooses the operator of this step. `held`: bytes resident before it.
  Status Level(uint32_t step, int64_t bytes, int64_t held) {
    if (step == g_.operators.size()) return TryAddresses(bytes);
    for (uint32_t o = 0; o < g_.operators.size(); ++o) {
      if (!options_.fixed_order.empty() && o != options_.fixed_order[step]) continue;
      if (!Ready(o)) continue;
      if (budget_->Tick() || (bounds_.max_steps != 0 && ++steps_ > bounds_.max_steps)) {
        stopped_ = true;
      }
      if (stopped_) return Status::kOk;
      SLUICE_TRY(RunOperator(step, o, bytes, held));
      if (found_ || stopped_) return Status::kOk;
      if (cut_to_ < step) return Status::kOk;
      cut_to_ = kNoStep;  // this step is the cause: try its other operators
    }
    return Status::kOk;
  }

  Status RunOperator(uint32_t step, uint32_t o, int64_t bytes, int64_t held) {
    const Operator& op = g_.operators[o];
    order_[step] = o;
    uint32_t used[kMaxLeaving];  // used in the step and live after it
    uint8_t was_resident[kMaxLeaving];
    uint32_t used_count = 0;
    int64_t during = held, after = held;
    bool overflow = false;
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = g_.operands[op.first_input + k];
      fetch_[op.first_input + k] = resident_[a] == 0;
    }
    int64_t taken_over = 0;
    const auto visit = [&](uint32_t a, bool is_input) {
      for (uint32_t i = 0; i < used_count; ++i) {
        if (used[i] == a) return;
      }
      if (used_count == kMaxLeaving) {
        overflow = true;
        return;
      }
      was_resident[used_count] = resident_[a];
      used[used_count++] = a;
      if (!resident_[a]) during += g_.tensors[a].bytes;
      (void)is_input;
    };
    for (uint32_t a : g_.InputsOf(op)) visit(a, true);
    for (uint32_t a : g_.OutputsOf(op)) visit(a, false);
    if (overflow) {
      incomplete_ = true;
      return Status::kOk;
    }
    done_[o] = 1;
    for (uint32_t a : g_.InputsOf(op)) --unread_[a];
    for (uint32_t a : g_.OutputsOf(op)) unwritten_[a] = 0;
    if (op.in_place != kNoOperand) {
      const uint32_t from = g_.InputsOf(op)[op.in_place];
      const int64_t size = g_.tensors[from].bytes;
      if (unread_[from] == 0 && size == g_.tensors[g_.OutputsOf(op)[0]].bytes) {
        taken_over = size;
      }
    }
    if (during - taken_over <= options_.capacity) {
      after = during;
      for (uint32_t i = 0; i < used_count; ++i) {
        resident_[used[i]] = unread_[used[i]] != 0;
        if (!resident_[used[i]]) after -= g_.tensors[used[i]].bytes;
      }
      SLUICE_TRY(Leave(step, bytes, after, used, used_count));
    }
    for (uint32_t i = 0; i < used_count; ++i) resident_[used[i]] = was_resident[i];
    for (uint32_t a : g_.OutputsOf(op)) unwritten_[a] = 1;
    for (uint32_t a : g_.InputsOf(op)) ++unread_[a];
    done_[o] = 0;
    return Status::kOk;
  }

  // Each used tensor that is still live stays until its next use or leaves now: tries
  // the rest of the list both ways, staying first.
  Status Leave(uint32_t step, int64_t bytes, int64_t held, const uint32_t* used,
               uint32_t count) {
    if (bytes > limit_) {
      beyond_ = Min(beyond_, bytes);
      return Status::kOk;
    }
    while (count > 0 && !resident_[used[count - 1]]) --count;
    if (count == 0) return Level(step + 1, bytes, held);
    const uint32_t a = used[count - 1];
    SLUICE_TRY(Leave(step, bytes, held, used, count - 1));
    if (found_ || stopped_ || cut_to_ <= step) return Status::kOk;
    const int64_t size = g_.tensors[a].bytes;
    const uint8_t had_copy = copied_[a];
    resident_[a] = 0;
    copied_[a] = 1;
    SLUICE_TRY(Leave(step, bytes + size + (had_copy ? 0 : size), held - size, used,
                     count - 1));
    resident_[a] = 1;
    copied_[a] = had_copy;
    return Status::kOk;
  }

  Status TryAddresses(int64_t bytes) {
    if (bounds_.max_leaves != 0 && ++leaves_ > bounds_.max_leaves) {
      stopped_ = true;
      return Status::kOk;
    }
    ArenaScope scope(arena_);
    SpillPlan plan;
    SLUICE_TRY(BuildResidences(g_, order_, fetch_, options_.charge, arena_, &plan));
    AddressOptions address;
    address.capacity = options_.capacity;
    address.max_nodes = bounds_.max_nodes;
    const Status status = PlaceResidences(g_, address, budget_, arena_, &plan);
    if (status == Status::kOk) {
      found_ = true;
      reached_ = bytes;
      return Status::kOk;
    }
    if (status == Status::kStopped) {
      incomplete_ = true;
      return Status::kOk;
    }
    if (status != Status::kInfeasible) return status;
    // The shortest prefix that already cannot be placed.
    uint32_t low = 1, high = static_cast<uint32_t>(order_.size());
    while (low < high) {
      address.steps = low + (high - low) / 2;
      const Status prefix = PlaceResidences(g_, address, budget_, arena_, &plan);
      if (prefix == Status::kOutOfMemory) return prefix;
      if (prefix == Status::kInfeasible) {
        high = address.steps;
      } else {
        low = address.steps + 1;
      }
    }
    cut_to_ = low - 1;  // this step or an earlier one must change
    return Status::kOk;
  }

  const OperatorGraph& g_;
  const JointOptions& options_;
  const AddressSearchBounds& bounds_;
  Budget* const budget_;
  Arena* const arena_;
  Span<uint32_t> order_, unread_;
  Span<uint8_t> fetch_, unwritten_, resident_, copied_, done_;
  int64_t limit_ = 0, beyond_ = 0, reached_ = 0;
  uint64_t leaves_ = 0, steps_ = 0;
  uint32_t cut_to_ = kNoStep;
  bool found_ = false, stopped_ = false, incomplete_ = false;
};

}  // namespace

Status SearchAddresses(const OperatorGraph& graph, const JointOptions& options,
                       const AddressSearchBounds& bounds, const Workspace& work,
                       AddressedOrder* out) {
  ArenaScope scope(work.arena);
  Search search(graph, options, bounds, work.budget, work.arena);
  return search.Run(out->order, out->fetch, &out->bytes);
}

}  // namespace sluice
