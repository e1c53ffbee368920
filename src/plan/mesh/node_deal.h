// SPDX-License-Identifier: Apache-2.0
// How the loops of a layer's tiles are dealt out to the columns and rows of a region.
//
// Input    a layer as it is executed; a split in the dims of its mapping, or a region
// Output   parts per loop and axis of the mesh
// Errors   none: what cannot be dealt out has one part
// Cost     ChooseDeal: 25 tilings (solve/baseline/tiling.h)
#ifndef SLUICE_PLAN_MESH_NODE_DEAL_H_
#define SLUICE_PLAN_MESH_NODE_DEAL_H_

#include "base/array.h"
#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/mesh.h"

namespace sluice {

constexpr int kNodeLoops = kAxes + 1;  // N H W K of the output, C

// How a layer's loops are dealt out: NodeSplit in the loops of a tile.
struct NodeDeal {
  int32_t parts[kMeshAxes][kNodeLoops];
  uint8_t order[kMeshAxes][kNodeLoops];  // neighbours first
};
// The deal that a split asks for; loops that the layer cannot divide have one part.
NodeDeal DealOf(const Graph& graph, const Layer& layer, const NodeSplit& split);
// The deal whose tiles promise the least time.
NodeDeal ChooseDeal(const Graph& graph, const Hardware& hardware, const Layer& layer,
                    const NodeRegion& region, int64_t capacity, Arena* scratch);

// What a layer's nodes read, for the order in which parts are dealt out.
struct SharedRole {
  bool depends[kNodeLoops];  // nodes with other parts of this loop read other words
  double bytes;              // that all nodes read, each word once
};
// Stretches along an axis that the nodes which read the same words of a role form.
int64_t StretchesOf(const SharedRole& role, const NodeDeal& deal, uint32_t axis);
// Puts the loops of each axis into the order in which the nodes that read the same
// words form the fewest rectangles, as each is loaded by itself. sum_bytes: of partial
// sums that go from node to node; they prefer neighbours, where loads do not differ.
void OrderDeal(Span<const SharedRole> roles, double sum_bytes, NodeDeal* deal);

// Sets loops that the layer cannot divide to one part.
void RestrictDeal(const Graph& graph, const Layer& layer, NodeDeal* deal);
// Whether a sum over so many channels may be cut.
bool CanSplitC(const Layer& layer, int32_t channels);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_DEAL_H_
