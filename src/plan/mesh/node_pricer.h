// SPDX-License-Identifier: Apache-2.0
// Prices a layer on a region of nodes for the choice of segments.
//
// Input    layers in the order of segments; hardware; how nodes are mapped
// Output   split, nest, kept operands and cost for each query
// Errors   those of MapOnNodes; kInfeasible when tensors that wait on the chip leave no
//          room
// Cost     MapOnNodes (solve/mapping/mesh/node_parallel.h) for each query
#ifndef SLUICE_PLAN_MESH_NODE_PRICER_H_
#define SLUICE_PLAN_MESH_NODE_PRICER_H_

#include "solve/mapping/mesh/node_parallel.h"
#include "solve/segments/segments.h"

namespace sluice {

// The descriptor gives the leakage of the chip; the mesh model wants that of one node.
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
