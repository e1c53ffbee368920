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

// Decisions on their way to addresses.
struct Repair {
  const OperatorGraph& graph;
  const RepairLimits& limits;
  const Workspace& work;
  SpillDecisions* decisions;
  SpillPlan* plan;
  int repairs;  // left
  Span<int32_t> hot = {};
};

Status Build(Repair* self, SpillPlan* plan) {
  return BuildResidences(self->graph, self->decisions->order, self->decisions->fetch,
                         self->limits.charge, self->work.arena, plan);
}

// Whether a limited search finds addresses for the steps [from, to) alone.
Status HasAddresses(Repair* self, uint32_t from, uint32_t to, SpillPlan* plan,
                    bool* fits) {
  AddressOptions part = self->limits.address;
  part.first_step = from;
  part.steps = to;
  part.max_nodes = kWindowNodes;
  const Status status =
      PlaceResidences(self->graph, part, self->work.budget, self->work.arena, plan);
  *fits = status == Status::kOk;
  return status == Status::kOutOfMemory ? status : Status::kOk;
}

bool IsHopeless(const Repair& self) {
  return self.repairs <= 0 || self.decisions->bytes >= self.limits.give_up;
}

// hot[t]: how many steps before t hold a buffer above the capacity in the last
// placement. Only such steps need repair.
Status FindHotSteps(Repair* self) {
  const size_t n = self->decisions->order.size();
  SLUICE_TRY(self->work.arena->Allocate(n + 2, &self->hot));
  for (const Residence& stay : self->plan->residences) {
    if (stay.offset >= 0 && stay.offset + self->graph.tensors[stay.tensor].bytes <=
                                self->limits.address.capacity) {
      continue;
    }
    ++self->hot[stay.begin + 1];
    --self->hot[stay.end + 1];
  }
  int32_t covered = 0, before = 0;
  for (int32_t& hot : self->hot) {
    covered += hot;
    before += covered > 0 ? 1 : 0;
    hot = before;
  }
  return Status::kOk;
}

// Narrows [*from, *to), which has no addresses, to a short run without addresses.
Status Narrow(Repair* self, uint32_t* from, uint32_t* to) {
  uint32_t low = *from + 1, high = *to;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    bool fits = false;
    SLUICE_TRY(HasAddresses(self, *from, middle, self->plan, &fits));
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
    SLUICE_TRY(HasAddresses(self, middle, *to, self->plan, &fits));
    if (fits) {
      high = middle - 1;
    } else {
      low = middle;
    }
  }
  *from = low;
  return Status::kOk;
}

void SetFetch(Repair* self, const Wait& wait, uint8_t fetch) {
  const Operator& op = self->graph.operators[self->decisions->order[wait.step]];
  for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
    if (self->graph.operands[k] == wait.tensor) self->decisions->fetch[k] = fetch;
  }
}

// Collects tensors kept from a use before the step `to` to a use after the step `from`.
Status CollectWaits(Repair* self, uint32_t from, uint32_t to, Vector<Wait>* waits) {
  Span<uint32_t> after_use;  // per tensor: first step after its last use; 0 = unused
  Span<uint8_t> has_copy;
  SLUICE_TRY(self->work.arena->Allocate(self->graph.tensors.size(), &after_use));
  SLUICE_TRY(self->work.arena->Allocate(self->graph.tensors.size(), &has_copy));
  for (const Residence& stay : self->plan->residences) {
    has_copy[stay.tensor] |= stay.spilled;
  }
  for (uint32_t t = 0; t < self->decisions->order.size(); ++t) {
    const Operator& op = self->graph.operators[self->decisions->order[t]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
      const uint32_t a = self->graph.operands[k];
      const uint32_t last = after_use[a];
      after_use[a] = t + 1;
      if (last == 0 || last == t + 1 || self->decisions->fetch[k]) continue;
      if (last >= to || t <= from) continue;
      const int64_t bytes = self->graph.tensors[a].bytes;
      const bool free =
          has_copy[a] || (self->limits.charge == SpillCharge::kHost &&
                          self->graph.tensors[a].role != TensorRole::kIntermediate);
      SLUICE_TRY(waits->Push(Wait{free ? bytes : 2 * bytes, a, t, t - last}));
    }
    for (uint32_t a : self->graph.OutputsOf(op)) after_use[a] = t + 1;
  }
  return Status::kOk;
}

// Drops the cheapest tensor without which the buffers of the window have addresses. If
// there is no such tensor: with `must` the cheapest of all, else none.
Status MakeRoom(Repair* self, uint32_t from, uint32_t to, bool must) {
  SLUICE_TRY(Narrow(self, &from, &to));
  Vector<Wait> waits(self->work.arena);
  SLUICE_TRY(CollectWaits(self, from, to, &waits));
  if (waits.size() == 0) return Status::kOk;
  Sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    if (a.price != b.price) return a.price < b.price;
    if (a.length != b.length) return a.length > b.length;
    return a.step != b.step ? a.step < b.step : a.tensor < b.tensor;
  });
  --self->repairs;
  for (size_t i = 0; i < waits.size() && i < kTestsPerRepair; ++i) {
    ArenaScope scope(self->work.arena);
    SetFetch(self, waits[i], 1);
    SpillPlan trial;
    bool fits = false;
    SLUICE_TRY(Build(self, &trial));
    SLUICE_TRY(HasAddresses(self, from, to, &trial, &fits));
    if (fits) {
      self->decisions->bytes += waits[i].price;
      return Status::kOk;
    }
    SetFetch(self, waits[i], 0);
  }
  if (!must) {
    ++self->repairs;
    return Status::kOk;
  }
  SetFetch(self, waits[0], 1);
  self->decisions->bytes += waits[0].price;
  return Status::kOk;
}

// Short runs of steps first: their repairs are needed in any case, and they cost
// little.
Status RepairWindows(Repair* self) {
  const uint32_t n = static_cast<uint32_t>(self->decisions->order.size());
  SLUICE_TRY(FindHotSteps(self));
  for (const uint32_t length : kWindows) {
    for (uint32_t from = 0; from < n && length < n; from += length / 2) {
      const uint32_t to = Min(n, from + length);
      if (self->hot[from] == self->hot[to]) continue;
      for (bool fits = false; !fits && !IsHopeless(*self);) {
        const int before = self->repairs;
        ArenaScope scope(self->work.arena);
        SLUICE_TRY(Build(self, self->plan));
        SLUICE_TRY(HasAddresses(self, from, to, self->plan, &fits));
        if (!fits) SLUICE_TRY(MakeRoom(self, from, to, false));
        if (self->repairs == before) break;
      }
      if (IsHopeless(*self)) return Status::kOk;
    }
  }
  return Status::kOk;
}

Status Run(Repair* self) {
  const Arena::Mark mark = self->work.arena->mark();
  for (;;) {
    SLUICE_TRY(Build(self, self->plan));
    const Status status =
        PlaceResidences(self->graph, self->limits.address, self->work.budget,
                        self->work.arena, self->plan);
    if (status == Status::kOk || status == Status::kOutOfMemory) return status;
    const int before = self->repairs;
    if (self->repairs > 0) SLUICE_TRY(RepairWindows(self));
    if (self->repairs == before && self->repairs > 0) {
      SLUICE_TRY(Build(self, self->plan));  // the windows have overwritten it
      SLUICE_TRY(MakeRoom(self, 0, static_cast<uint32_t>(self->decisions->order.size()),
                          true));
    }
    self->work.arena->Rewind(mark);
    self->plan->placed = false;
    if (self->repairs == before || IsHopeless(*self)) return Status::kOk;
  }
}

}  // namespace

Status PlaceWithRepairs(const OperatorGraph& graph, const RepairLimits& limits,
                        const Workspace& work, SpillDecisions* decisions,
                        SpillPlan* plan) {
  Repair repair = {graph, limits, work, decisions, plan, limits.repairs};
  return Run(&repair);
}

}  // namespace sluice
