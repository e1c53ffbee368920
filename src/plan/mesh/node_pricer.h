// SPDX-License-Identifier: Apache-2.0
// What a layer costs on a region of nodes, as the choice of segments asks for it.
//
// Input    layers in the order of segments; hardware; how nodes are mapped
// Output   split, nest, kept operands and cost for each query
// Errors   those of MapOnNodes; kInfeasible when what waits on the chip leaves no room
// Cost     MapOnNodes (solve/mapping/mesh/node_parallel.h) for each query
#ifndef SLUICE_PLAN_MESH_NODE_PRICER_H_
#define SLUICE_PLAN_MESH_NODE_PRICER_H_

#include "solve/mapping/mesh/node_parallel.h"
#include "solve/segments/segments.h"

namespace sluice {

// The descriptor's leakage is the chip's; the mesh model's that of one node.
Hardware WithNodeLeakage(const Hardware& hardware);

struct NodePricer {
  NodePricer(Span<const SegmentLayer> l, const Hardware& h,
             const NodeParallelOptions& o, Budget* b, Memory* m)
      : layers(l),
        hardware(h),
        options(o),
        budget(b),
        arena(m),
        kept(m),
        table(&kept, h.leakage_pj_per_cycle) {}
  Span<const SegmentLayer> layers;
  const Hardware& hardware;
  NodeParallelOptions options;
  Budget* budget;
  Arena arena;
  Arena kept;
  ArrayTable table;  // of all queries

  LayerPricer pricer();
};

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_PRICER_H_
