// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/operator_order.h"

namespace sluice {
namespace {

// States that have run the same large operators get at most 1 / shares of the beam first.
struct Kind {
  uint32_t shares, large;
};
constexpr Kind kKinds[] = {{8, 10}, {4, 12}};
// Sets of tensors tried to make room, for each state and operator: the cheapest ones.
constexpr uint32_t kEvictions = 4;

}  // namespace

Status ChooseOrder(const OperatorGraph& graph, const OrderOptions& options,
                   const Workspace& work, SpillDecisions* out) {
  if (out->order.empty()) {
    SLUICE_TRY(work.arena->Allocate(graph.operators.size(), &out->order));
  }
  if (out->fetch.empty()) {
    SLUICE_TRY(work.arena->Allocate(graph.operands.size(), &out->fetch));
  }
  SpillSearchOptions search;
  search.charge = options.charge;
  search.capacity = options.capacity;
  search.target = options.target;
  search.give_up = options.give_up;
  search.width = options.width;
  search.shares = kKinds[options.other].shares;
  search.large = kKinds[options.other].large;
  search.max_evictions = kEvictions;
  return SearchSpills(graph, search, work.budget, work.arena, out);
}

}  // namespace sluice
