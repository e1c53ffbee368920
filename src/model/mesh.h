// SPDX-License-Identifier: Apache-2.0
// A layer on many nodes: how its dims are dealt out over a region of the mesh, how far
// its words travel, what all of it costs.
//
//   columns take factor[0] of every dim, rows factor[1]; order says which dim's parts
//   are neighbours. Nodes that differ only in dims an operand does not have hold the
//   same words (outputs: sums of the same words): one read of DRAM serves them all.
//
// Input    hardware (one node's levels; DRAM is common, at the four corners), region,
// split Output   paths of the operands; a machine whose outermost level feeds the
// region's
//          nodes; cost. leakage is that of all nodes of the region
// Errors   kBadInput: a region outside the mesh; those of EvaluateNest
// Cost     O(dims^2) per path, no memory
// Source   KAPLA sections II-B, IV-B; hops as in nn_dataflow: Manhattan, spanning tree
// from
//          the nearest corner. Deviations: every corner reaches all of DRAM; what the
//          nodes of a halo share is sent to each.
#ifndef SLUICE_MODEL_MESH_H_
#define SLUICE_MODEL_MESH_H_

#include <stdint.h>

#include "model/layer_cost.h"

namespace sluice {

enum MeshAxis : uint8_t { kColumns = 0, kRows, kMeshAxes };

struct NodeRegion {
  uint32_t begin[kMeshAxes];   // column, row
  uint32_t extent[kMeshAxes];  // columns, rows
};

inline int64_t NodesOf(const NodeRegion& region) {
  return int64_t{region.extent[kColumns]} * region.extent[kRows];
}
inline NodeRegion WholeMesh(const Hardware& hardware) {
  return NodeRegion{{0, 0}, {hardware.node_cols, hardware.node_rows}};
}

struct NodeSplit {
  int32_t factor[kMeshAxes][kDims];
  uint8_t order[kMeshAxes][kDims];  // a permutation of the dims, neighbours first
};

NodeSplit WholeOnEach();  // all factors 1
int64_t NodesUsed(const NodeSplit& split);
// The share of the node that has most.
MappingProblem PartOf(const MappingProblem& problem, const NodeSplit& split);

// Where the sharers of one operand sit along one axis.
struct AxisPath {
  struct Gap {
    int32_t links;
    int32_t count;
  };
  int32_t sharers;
  int32_t gaps;
  double to_corner;  // links from the nearest edge to the nearest sharer, mean
  Gap gap[kDims];    // between sharers, ascending
};

AxisPath PathAlong(uint32_t nodes, uint32_t begin, const int32_t factor[kDims],
                   const uint8_t order[kDims], uint32_t operand);
// Links that one word crosses between DRAM and all its nodes.
double TreeLinks(const AxisPath& columns, const AxisPath& rows);

struct OperandPath {
  double links;
  int64_t sharers;
};
void FindPaths(const Hardware& hardware, const NodeRegion& region,
               const NodeSplit& split, OperandPath path[kOperands]);

// pJ of one word across one link.
double LinkPj(const Hardware& hardware, int64_t bytes);

constexpr uint32_t kMaxFanouts = kMaxLevels * kMaxAxes;

// The hardware as seen from DRAM: a level that holds nothing carries the loops of one
// node's part, the outermost feeds the nodes. Not to be copied: hardware points into
// it.
struct MeshMachine {
  MemoryLevel levels[kMaxLevels];
  Fanout fanouts[kMaxFanouts];
  Hardware hardware;
};
Status MakeMeshMachine(const Hardware& hardware, const NodeRegion& region,
                       MeshMachine* machine, Diagnostic* diagnostic);

struct MeshCost {
  LayerCost layer;  // all nodes together; energy_pj includes noc_pj
  double noc_pj;
  int64_t nodes;  // with work
};

// `nest` is that of one node's part. Nodes that it leaves without work (array steps may
// reach beyond a part) are given up.
Status EvaluateOnMesh(const MappingProblem& problem, const Hardware& hardware,
                      const NodeRegion& region, const NodeSplit& split,
                      const LoopNest& nest, const CostOptions& options, MeshCost* cost,
                      Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_MESH_H_
