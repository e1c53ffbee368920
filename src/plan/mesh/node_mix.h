// SPDX-License-Identifier: Apache-2.0
// The cheapest way to cover an order of layers with what was measured.
//
// Input    an order; items: a run of layers of the order, a way to execute it, its cost
// Output   the items of the cheapest cover, in computing order; where a program of them
//          is too long, items with the most steps are left out
// Errors   kInfeasible: no cover; kOutOfMemory
// Cost     items x log items for each that is left out, and once
#ifndef SLUICE_PLAN_MESH_NODE_MIX_H_
#define SLUICE_PLAN_MESH_NODE_MIX_H_

#include "plan/mesh/node_groups.h"

namespace sluice {

struct NodeItem {
  uint32_t first, layers;  // in the order
  double cost;
  size_t steps;  // of a program
  LayerWay way;
  const Segment* segment;  // with way.together
};

// An order, and what covers it.
struct NodeMix {
  uint32_t layers;  // of the order
  Span<NodeItem> items;
  size_t most_steps;
};

// Sorts the items, and raises the costs of those that are left out.
Status MixItems(const NodeMix& mix, Arena* arena, Span<const NodeItem*>* cover);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_MIX_H_
