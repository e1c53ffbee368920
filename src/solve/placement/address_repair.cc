// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/address_repair.h"

namespace sluice {
namespace {

const Residence* HighestAbove(const OperatorGraph& graph, const SpillPlan& plan,
                              int64_t capacity) {
  const Residence* worst = nullptr;
  int64_t top = capacity;
  for (const Residence& stay : plan.residences) {
    const int64_t end = stay.offset + graph.tensors[stay.tensor].bytes;
    if (stay.offset < 0 || end <= top) continue;
    top = end;
    worst = &stay;
  }
  return worst;
}

struct Wait {  // a tensor kept between two uses
  int64_t price = INT64_MAX;
  uint32_t tensor = 0;
  uint32_t step = 0;  // of the later use
};

Status CheapestWait(const OperatorGraph& graph, SpillCharge charge,
                    const SpillDecisions& decisions, const SpillPlan& plan,
                    const Residence& window, Arena* arena, Wait* found) {
  ArenaScope scope(arena);
  Span<uint32_t> after_use;  // per tensor: first step after its last use; 0 = unused
  Span<uint8_t> has_copy;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &after_use));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &has_copy));
  for (const Residence& stay : plan.residences) has_copy[stay.tensor] |= stay.spilled;
  for (uint32_t t = 0; t < decisions.order.size(); ++t) {
    const Operator& op = graph.operators[decisions.order[t]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
      const uint32_t a = graph.operands[k];
      const uint32_t from = after_use[a];
      after_use[a] = t + 1;
      if (from == 0 || from >= t || decisions.fetch[k]) continue;
      if (from >= window.end || t <= window.begin) continue;
      const int64_t bytes = graph.tensors[a].bytes;
      const bool free =
          has_copy[a] || (charge == SpillCharge::kHost &&
                          graph.tensors[a].role != TensorRole::kIntermediate);
      const int64_t price = free ? bytes : 2 * bytes;
      if (price < found->price) *found = Wait{price, a, t};
    }
    for (uint32_t a : graph.OutputsOf(op)) after_use[a] = t + 1;
  }
  return Status::kOk;
}

}  // namespace

Status PlaceWithRepairs(const OperatorGraph& graph, SpillCharge charge,
                        const AddressOptions& address, int repairs, Budget* budget,
                        Arena* arena, SpillDecisions* decisions, SpillPlan* plan) {
  const Arena::Mark mark = arena->mark();
  for (; repairs >= 0; --repairs) {
    SLUICE_TRY(BuildResidences(graph, decisions->order, decisions->fetch, charge, arena,
                               plan));
    const Status status = PlaceResidences(graph, address, budget, arena, plan);
    if (status == Status::kOk || status == Status::kOutOfMemory) return status;
    const Residence* window = HighestAbove(graph, *plan, address.capacity);
    Wait wait;
    if (repairs > 0 && window != nullptr) {
      SLUICE_TRY(CheapestWait(graph, charge, *decisions, *plan, *window, arena, &wait));
    }
    arena->Rewind(mark);
    plan->placed = false;
    if (wait.price == INT64_MAX) return Status::kOk;
    const Operator& op = graph.operators[decisions->order[wait.step]];
    for (uint32_t k = op.first_input; k < op.first_input + op.input_count; ++k) {
      if (graph.operands[k] == wait.tensor) decisions->fetch[k] = 1;
    }
    decisions->bytes += wait.price;
  }
  return Status::kOk;
}

}  // namespace sluice
