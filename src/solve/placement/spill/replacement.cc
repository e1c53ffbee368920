// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/replacement.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/spill/address_beam.h"
#include "solve/placement/spill/check_joint.h"

namespace sluice {
namespace {

constexpr int kReserveParts = 64;  // the capacity's parts, kept free to ease addresses
constexpr int kReserveStep = 4;    // parts more in each attempt
constexpr uint32_t kBeamWidth = 16;     // of layouts, in graphs of usual size
constexpr uint64_t kPlaceNodes = 1000;  // of the search for addresses, per attempt

struct Wait {  // a tensor between two uses, the steps (from, to) exclusive
  uint32_t tensor;
  uint32_t from, to;
  uint32_t slot;  // first operand slot of the later use
};

class Replacement {
 public:
  // Steps whose operands allow it keep to `target` bytes.
  Replacement(const OperatorGraph& graph, const JointOptions& options, int64_t target,
              Arena* arena)
      : g_(graph),
        options_(options),
        target_(target),
        order_(options.fixed_order),
        arena_(arena),
        waits_(arena),
        dropped_(arena) {}

  Status Run(SpillDecisions* decisions, Diagnostic* diagnostic) {
    SLUICE_TRY(FindWaits());
    for (uint32_t t = 0; t < order_.size(); ++t) {
      if (load_[t] <= options_.capacity) continue;
      return DoNotFit(order_[t], load_[t], options_.capacity, diagnostic);
    }
    SLUICE_TRY(Bound(&decisions->lower_bound));
    SLUICE_TRY(Sweep());
    KeepAgain();
    int64_t bytes = 0;
    std::fill(has_copy_.begin(), has_copy_.end(), uint8_t{0});
    for (uint32_t w : dropped_) {
      const Wait& wait = waits_[w];
      bytes += Price(wait.tensor);
      has_copy_[wait.tensor] = 1;
      const Operator& op = g_.operators[order_[wait.to]];
      for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
        if (g_.operands[k] == wait.tensor) decisions->fetch[k] = 1;
      }
    }
    decisions->bytes = bytes;
    return Status::kOk;
  }

 private:
  bool FreeWrite(uint32_t a) const {
    return options_.charge == SpillCharge::kHost &&
           g_.tensors[a].role != TensorRole::kIntermediate;
  }
  int64_t Price(uint32_t a) const {
    const int64_t bytes = g_.tensors[a].bytes;
    return FreeWrite(a) || has_copy_[a] ? bytes : 2 * bytes;
  }

  // waits_ in order of `to`; load_: bytes of each step's operands.
  Status FindWaits() {
    SLUICE_TRY(arena_->Allocate(order_.size(), &load_));
    SLUICE_TRY(arena_->Allocate(order_.size(), &room_));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &has_copy_));
    Span<uint32_t> after_use, unread;
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &after_use));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &unread));
    for (const Operator& op : g_.operators) {
      for (uint32_t a : g_.InputsOf(op)) ++unread[a];
    }
    for (uint32_t t = 0; t < order_.size(); ++t) {
      const Operator& op = g_.operators[order_[t]];
      for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
        const uint32_t a = g_.operands[k];
        const uint32_t from = after_use[a];
        --unread[a];
        if (from == t + 1) continue;  // a second slot of this step
        after_use[a] = t + 1;
        load_[t] += g_.tensors[a].bytes;
        if (from != 0 && from < t) SLUICE_TRY(waits_.Push(Wait{a, from - 1, t, k}));
      }
      for (uint32_t a : g_.OutputsOf(op)) {
        after_use[a] = t + 1;
        load_[t] += g_.tensors[a].bytes;
      }
      if (op.in_place == kNoOperand) continue;
      const uint32_t from = g_.InputsOf(op)[op.in_place];
      const int64_t size = g_.tensors[from].bytes;
      if (unread[from] == 0 && size == g_.tensors[g_.OutputsOf(op)[0]].bytes) {
        load_[t] -= size;
      }
    }
    return Status::kOk;
  }

  // A bound from the worst single step: its excess must leave, tensors without a write
  // first. Only writes that are free count as none: one shared with another wait is
  // still paid once.
  Status Bound(int64_t* bound) {
    ArenaScope scope(arena_);
    Span<int64_t> all, free;  // waiting bytes, as changes from step to step
    SLUICE_TRY(arena_->Allocate(order_.size() + 1, &all));
    SLUICE_TRY(arena_->Allocate(order_.size() + 1, &free));
    for (const Wait& wait : waits_) {
      const int64_t bytes = g_.tensors[wait.tensor].bytes;
      all[wait.from + 1] += bytes;
      all[wait.to] -= bytes;
      if (!FreeWrite(wait.tensor)) continue;
      free[wait.from + 1] += bytes;
      free[wait.to] -= bytes;
    }
    *bound = 0;
    int64_t waiting = 0, cheap = 0;
    for (uint32_t t = 0; t < order_.size(); ++t) {
      waiting += all[t];
      cheap += free[t];
      const int64_t excess = load_[t] + waiting - options_.capacity;
      if (excess > 0) *bound = Max(*bound, excess + Max<int64_t>(0, excess - cheap));
    }
    return Status::kOk;
  }

  Status Sweep() {
    Span<uint32_t> by_from, waiting;
    SLUICE_TRY(arena_->Allocate(waits_.size(), &by_from));
    SLUICE_TRY(arena_->Allocate(waits_.size(), &waiting));
    for (uint32_t w = 0; w < by_from.size(); ++w) by_from[w] = w;
    Sort(by_from.begin(), by_from.end(), [this](uint32_t a, uint32_t b) {
      return waits_[a].from != waits_[b].from ? waits_[a].from < waits_[b].from : a < b;
    });
    size_t next = 0, count = 0;
    for (uint32_t t = 0; t < order_.size(); ++t) {
      room_[t] = Max(load_[t], target_);
      for (; next < by_from.size() && waits_[by_from[next]].from < t; ++next) {
        waiting[count++] = by_from[next];
      }
      size_t kept = 0;
      for (size_t i = 0; i < count; ++i) {
        if (waits_[waiting[i]].to <= t) continue;
        load_[t] += g_.tensors[waits_[waiting[i]].tensor].bytes;
        waiting[kept++] = waiting[i];
      }
      count = kept;
      while (load_[t] > room_[t]) {
        size_t victim = 0;
        for (size_t i = 1; i < count; ++i) {
          if (Score(waiting[i], t) > Score(waiting[victim], t)) victim = i;
        }
        SLUICE_TRY(Drop(waiting[victim], t));
        waiting[victim] = waiting[--count];
      }
    }
    return Status::kOk;
  }
  // Distance of the next use, doubled for a tensor that leaves without a write.
  uint64_t Score(uint32_t w, uint32_t t) const {
    const uint32_t a = waits_[w].tensor;
    const uint64_t far = waits_[w].to - t;
    return FreeWrite(a) || has_copy_[a] ? 2 * far : far;
  }
  Status Drop(uint32_t w, uint32_t now) {
    const Wait& wait = waits_[w];
    has_copy_[wait.tensor] = 1;
    for (uint32_t t = wait.from + 1; t <= now; ++t) {
      load_[t] -= g_.tensors[wait.tensor].bytes;
    }
    return dropped_.Push(w);
  }

  // Keeps dropped tensors where room is left: an earlier departure may have made a
  // later one needless.
  void KeepAgain() {
    Sort(dropped_.begin(), dropped_.end(), [this](uint32_t a, uint32_t b) {
      const int64_t x = g_.tensors[waits_[a].tensor].bytes;
      const int64_t y = g_.tensors[waits_[b].tensor].bytes;
      return x != y ? x > y : a < b;
    });
    size_t kept = 0;
    for (size_t i = 0; i < dropped_.size(); ++i) {
      const Wait& wait = waits_[dropped_[i]];
      const int64_t bytes = g_.tensors[wait.tensor].bytes;
      bool room = true;
      for (uint32_t t = wait.from + 1; t < wait.to && room; ++t) {
        room = load_[t] + bytes <= room_[t];
      }
      if (!room) {
        dropped_[kept++] = dropped_[i];
        continue;
      }
      for (uint32_t t = wait.from + 1; t < wait.to; ++t) load_[t] += bytes;
    }
    dropped_.Truncate(kept);
  }

  const OperatorGraph& g_;
  const JointOptions& options_;
  const int64_t target_;
  const Span<const uint32_t> order_;
  Arena* const arena_;
  Vector<Wait> waits_;
  Vector<uint32_t> dropped_;  // into waits_
  Span<int64_t> load_;        // of each step, in the plan so far
  Span<int64_t> room_;        // what it may come to
  Span<uint8_t> has_copy_;
};

Status FastPlan(const OperatorGraph& graph, const JointOptions& options, Budget* budget,
                Arena* arena, SpillPlan* plan, Diagnostic* diagnostic) {
  SpillDecisions decisions;
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &decisions.order));
  SLUICE_TRY(arena->Allocate(graph.operands.size(), &decisions.fetch));
  std::copy(options.fixed_order.begin(), options.fixed_order.end(),
            decisions.order.begin());
  AddressBeamOptions address;
  address.charge = options.charge;
  address.capacity = options.capacity;
  address.max_nodes = kPlaceNodes;
  const bool small = graph.operators.size() <= kMaxSpillItems;
  int64_t bound = 0;
  for (int reserve = 0; reserve <= kReserveParts && !plan->placed;
       reserve += kReserveStep) {
    const int64_t target =
        options.capacity - options.capacity / kReserveParts * reserve;
    std::fill(decisions.fetch.begin(), decisions.fetch.end(), uint8_t{0});
    {
      ArenaScope scope(arena);
      Replacement replacement(graph, options, target, arena);
      SLUICE_TRY(replacement.Run(&decisions, diagnostic));
    }
    if (reserve == 0) bound = decisions.lower_bound;
    address.width = small ? kBeamWidth : reserve == kReserveParts ? 1 : 0;
    SLUICE_TRY(PlaceDecisions(graph, address, decisions,
                              Workspace{budget, arena, diagnostic}, plan));
  }
  if (!plan->placed) {
    return Fail(diagnostic, Status::kStopped, "placement")
        .Text("no addresses found for the fixed order");
  }
  plan->lower_bound = bound;
  plan->proved = plan->bytes() == plan->lower_bound;
  return Status::kOk;
}

}  // namespace

Status PlanReplacement(const OperatorGraph& graph, const JointOptions& options,
                       Budget* budget, Arena* arena, SpillPlan* plan,
                       Diagnostic* diagnostic) {
  *plan = SpillPlan();
  RoundedJoint rounded;
  SLUICE_TRY(CheckJoint(graph, options, arena, &rounded, diagnostic));
  if (options.fixed_order.size() != graph.operators.size()) {
    return Fail(diagnostic, Status::kBadArgument, "placement")
        .Text("to keep the order, options.order must name one");
  }
  const Status status =
      FastPlan(rounded.graph, rounded.options, budget, arena, plan, diagnostic);
  if (status != Status::kOk && status != Status::kStopped) return status;
  const bool small =
      Max(graph.operators.size(), graph.tensors.size()) <= kMaxSpillItems;
  if (plan->proved || !options.exact || !small || budget->Exhausted()) return status;
  SpillPlan exact;
  const Status better = PlanJoint(graph, options, budget, arena, &exact, diagnostic);
  if (better == Status::kOutOfMemory) return better;
  if (better == Status::kOk && (!plan->placed || exact.bytes() <= plan->bytes())) {
    *plan = exact;
    return Status::kOk;
  }
  if (better == Status::kOk)
    plan->lower_bound = Max(plan->lower_bound, exact.lower_bound);
  return plan->placed ? Status::kOk : better;
}

}  // namespace sluice
