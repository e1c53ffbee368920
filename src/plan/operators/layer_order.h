// SPDX-License-Identifier: Apache-2.0
// An order of a graph's layers in which fewer bytes of whole tensors wait without room in
// the scratchpad than in the graph's own order. It is the order of whole-tensor operators
// that moves few bytes; plans with tiles are cheaper in it, too.
//
// Input    graph, lowering, bytes of the scratchpad; an operator that needs more alone may
//          have what it needs.
// Output   the layers that are no views, in `arena`, each behind those whose results it
//          reads. Empty: the graph's order is as good, the graph keeps state between runs,
//          or it has more than kMaxSpillItems layers or tensors.
// Errors   kOutOfMemory, kStopped
// Cost     linear; where whole tensors do not fit, a beam (5 to 35 ms for 200 to 600 layers)
// Source   ours; see solve/placement/spill/operator_order.h
#ifndef SLUICE_PLAN_OPERATORS_LAYER_ORDER_H_
#define SLUICE_PLAN_OPERATORS_LAYER_ORDER_H_

#include "base/budget.h"
#include "model/lowering.h"

namespace sluice {

struct LayerOrderCall {
  const Graph& graph;
  const Lowering& lowering;
  int64_t capacity;  // of the scratchpad, bytes
  Budget* budget;
};

Status OrderLayers(const LayerOrderCall& call, Arena* arena, Span<uint32_t>* order);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_LAYER_ORDER_H_
