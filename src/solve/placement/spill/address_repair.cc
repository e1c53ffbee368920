// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_repair.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr uint64_t kWindowNodes = 100;  // of the exact search, per test of a window
constexpr uint32_t kTestsPerRepair = 10;
constexpr uint32_t kWindows[] = {8, 16, 32, 64};  // steps

struct Wait {  // a tensor kept between two uses
  int64_t price;
  uint32_t tensor;
  uint32_t step;  // of the later use
  uint32_t length;
};

class Repair {
 public:
  Repair(const OperatorGraph& graph, SpillCharge charge, const AddressOptions& address,
         Budget* budget, Arena* arena, SpillDecisions* decisions, SpillPlan* plan)
      : g_(graph),
        charge_(charge),
        address_(address),
        budget_(budget),
        arena_(arena),
        decisions_(decisions),
        plan_(plan) {}

  Status Run(int repairs, int64_t give_up) {
    repairs_ = repairs;
    give_up_ = give_up;
    const Arena::Mark mark = arena_->mark();
    for (;;) {
      SLUICE_TRY(Build(plan_));
      const Status status = PlaceResidences(g_, address_, budget_, arena_, plan_);
      if (status == Status::kOk || status == Status::kOutOfMemory) return status;
      const int before = repairs_;
      if (repairs_ > 0) SLUICE_TRY(RepairWindows());
      if (repairs_ == before && repairs_ > 0) {
        SLUICE_TRY(Build(plan_));  // the windows' own is gone
        SLUICE_TRY(MakeRoom(0, static_cast<uint32_t>(decisions_->order.size()), true));
      }
      arena_->Rewind(mark);
      plan_->placed = false;
      if (repairs_ == before || Hopeless()) return Status::kOk;
    }
  }

 private:
  Status Build(SpillPlan* plan) {
    return BuildResidences(g_, decisions_->order, decisions_->fetch, charge_, arena_,
                           plan);
  }

  // Whether the steps [from, to) alone have addresses, as far as can be seen quickly.
  Status Fits(uint32_t from, uint32_t to, SpillPlan* plan, bool* fits) {
    AddressOptions part = address_;
    part.first_step = from;
    part.steps = to;
    part.max_nodes = kWindowNodes;
    const Status status = PlaceResidences(g_, part, budget_, arena_, plan);
    *fits = status == Status::kOk;
    return status == Status::kOutOfMemory ? status : Status::kOk;
  }

  bool Hopeless() const { return repairs_ <= 0 || decisions_->bytes >= give_up_; }

  // hot_[t]: how many steps before t hold something that sticks out of the capacity in
  // the placement just tried. Where nothing sticks out, nothing needs repair.
  Status FindHotSteps() {
    const size_t n = decisions_->order.size();
    SLUICE_TRY(arena_->Allocate(n + 2, &hot_));
    for (const Residence& stay : plan_->residences) {
      if (stay.offset >= 0 &&
          stay.offset + g_.tensors[stay.tensor].bytes <= address_.capacity) {
        continue;
      }
      ++hot_[stay.begin + 1];
      --hot_[stay.end + 1];
    }
    int32_t covered = 0, before = 0;
    for (int32_t& hot : hot_) {
      covered += hot;
      before += covered > 0 ? 1 : 0;
      hot = before;
    }
    return Status::kOk;
  }

  // Short runs of steps first: what they need is needed anyway, and they cost little.
  Status RepairWindows() {
    const uint32_t n = static_cast<uint32_t>(decisions_->order.size());
    SLUICE_TRY(FindHotSteps());
    for (const uint32_t length : kWindows) {
      for (uint32_t from = 0; from < n && length < n; from += length / 2) {
        const uint32_t to = Min(n, from + length);
        if (hot_[from] == hot_[to]) continue;
        for (bool fits = false; !fits && !Hopeless();) {
          const int before = repairs_;
          ArenaScope scope(arena_);
          SLUICE_TRY(Build(plan_));
          SLUICE_TRY(Fits(from, to, plan_, &fits));
          if (!fits) SLUICE_TRY(MakeRoom(from, to, false));
          if (repairs_ == before) break;
        }
        if (Hopeless()) return Status::kOk;
      }
    }
    return Status::kOk;
  }

  // Narrows [*from, *to), which has no addresses, to a short run that has none either.
  Status Narrow(uint32_t* from, uint32_t* to) {
    uint32_t low = *from + 1, high = *to;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      bool fits = false;
      SLUICE_TRY(Fits(*from, middle, plan_, &fits));
      if (fits) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    *to = high;
    low = *from;
    high = *to - 1;
    while (low < high) {
      const uint32_t middle = low + (high - low + 1) / 2;
      bool fits = false;
      SLUICE_TRY(Fits(middle, *to, plan_, &fits));
      if (fits) {
        high = middle - 1;
      } else {
        low = middle;
      }
    }
    *from = low;
    return Status::kOk;
  }

  // Drops the cheapest tensor whose absence gives the window addresses; if none does
  // alone and one must leave, the cheapest at all. Otherwise no repair is spent.
  Status MakeRoom(uint32_t from, uint32_t to, bool must) {
    SLUICE_TRY(Narrow(&from, &to));
    Vector<Wait> waits(arena_);
    SLUICE_TRY(CollectWaits(from, to, &waits));
    if (waits.size() == 0) return Status::kOk;
    Sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
      if (a.price != b.price) return a.price < b.price;
      if (a.length != b.length) return a.length > b.length;
      return a.step != b.step ? a.step < b.step : a.tensor < b.tensor;
    });
    --repairs_;
    for (size_t i = 0; i < waits.size() && i < kTestsPerRepair; ++i) {
      ArenaScope scope(arena_);
      SetFetch(waits[i], 1);
      SpillPlan trial;
      bool fits = false;
      SLUICE_TRY(Build(&trial));
      SLUICE_TRY(Fits(from, to, &trial, &fits));
      if (fits) {
        decisions_->bytes += waits[i].price;
        return Status::kOk;
      }
      SetFetch(waits[i], 0);
    }
    if (!must) {
      ++repairs_;
      return Status::kOk;
    }
    SetFetch(waits[0], 1);
    decisions_->bytes += waits[0].price;
    return Status::kOk;
  }

  void SetFetch(const Wait& wait, uint8_t fetch) {
    const Operator& op = g_.operators[decisions_->order[wait.step]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
      if (g_.operands[k] == wait.tensor) decisions_->fetch[k] = fetch;
    }
  }

  // Tensors kept from a use before the step `to` to a use after the step `from`.
  Status CollectWaits(uint32_t from, uint32_t to, Vector<Wait>* waits) {
    Span<uint32_t> after_use;  // per tensor: first step after its last use; 0 = unused
    Span<uint8_t> has_copy;
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &after_use));
    SLUICE_TRY(arena_->Allocate(g_.tensors.size(), &has_copy));
    for (const Residence& stay : plan_->residences) {
      has_copy[stay.tensor] |= stay.spilled;
    }
    for (uint32_t t = 0; t < decisions_->order.size(); ++t) {
      const Operator& op = g_.operators[decisions_->order[t]];
      for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
        const uint32_t a = g_.operands[k];
        const uint32_t last = after_use[a];
        after_use[a] = t + 1;
        if (last == 0 || last == t + 1 || decisions_->fetch[k]) continue;
        if (last >= to || t <= from) continue;
        const int64_t bytes = g_.tensors[a].bytes;
        const bool free =
            has_copy[a] || (charge_ == SpillCharge::kHost &&
                            g_.tensors[a].role != TensorRole::kIntermediate);
        SLUICE_TRY(waits->Push(Wait{free ? bytes : 2 * bytes, a, t, t - last}));
      }
      for (uint32_t a : g_.OutputsOf(op)) after_use[a] = t + 1;
    }
    return Status::kOk;
  }

  const OperatorGraph& g_;
  const SpillCharge charge_;
  const AddressOptions& address_;
  Budget* const budget_;
  Arena* const arena_;
  SpillDecisions* const decisions_;
  SpillPlan* const plan_;
  Span<int32_t> hot_;
  int repairs_ = 0;
  int64_t give_up_ = INT64_MAX;
};

}  // namespace

Status PlaceWithRepairs(const OperatorGraph& graph, SpillCharge charge,
                        const AddressOptions& address, int repairs, int64_t give_up,
                        Budget* budget, Arena* arena, SpillDecisions* decisions,
                        SpillPlan* plan) {
  Repair repair(graph, charge, address, budget, arena, decisions, plan);
  return repair.Run(repairs, give_up);
}

}  // namespace sluice
