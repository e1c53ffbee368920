// SPDX-License-Identifier: Apache-2.0
// A layer on many nodes: how its dims are dealt out over a region of the mesh, how far
// its words travel, what all of it costs.
//
//   columns take factor[0] of every dim, rows factor[1]; order says which dim's parts
//   are neighbours. Nodes that differ only in dims an operand does not have hold the
//   same words (outputs: sums of the same words): one read of DRAM serves them all.
//
// Input    hardware (one node's levels; DRAM is common, at the four corners), region,
//          split
// Output   paths of the operands; a machine whose outermost level feeds the region's
//          nodes; cost (leakage: of all nodes of the region)
// Errors   kBadInput: a region outside the mesh; those of EvaluateNest
// Cost     O(dims^2) per path, no memory
// Source   KAPLA sections II-B, IV-B; hops as in nn_dataflow: Manhattan, spanning tree
//          from the nearest corner. Deviations: every corner reaches all of DRAM; what
//          the nodes of a halo share is sent to each.
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
  double to_end;   // links from the end to the nearest sharer, mean
  Gap gap[kDims];  // between sharers, ascending
};

// Where a word comes from or goes to, along one axis: the edges (DRAM), anywhere in a
// stretch of nodes, each as likely, or no further than its nodes.
struct AxisEnd {
  enum Kind : uint8_t { kEdges = 0, kStretch, kNowhere } kind;
  uint32_t begin;
  uint32_t extent;
};

AxisPath PathAlong(uint32_t nodes, uint32_t begin, const int32_t factor[kDims],
                   const uint8_t order[kDims], uint32_t operand, const AxisEnd& end);
// Links that one word crosses between its end and all its nodes.
double TreeLinks(const AxisPath& columns, const AxisPath& rows);

// Where a layer's input comes from, where its output goes.
enum class EndKind : uint8_t {
  kDram = 0,
  kNodes,  // the scratchpads of a neighbour's region: words lie anywhere in it
  kHere    // this region's scratchpads: the layer before or after runs on it too
};
struct FmapEnd {
  EndKind kind = EndKind::kDram;
  NodeRegion region = {};  // kNodes
};

// What pipelining fixes about a layer. It runs in passes: top_batch slices of the batch
// outermost, within each top_ifm slices of C or top_ofm slices of K (of G, if the layer
// works channel by channel; not both slices otherwise). A slice of an fmap on chip lies
// whole in the scratchpads of the nodes that need it: the input from before a pass
// until its slice is done, the output until the pass after has taken it over. Slices of
// C keep their sums in the scratchpads too. Who consumes pays for the way: a read of
// the scratchpad where the word lies, the links, a fill for each node that needs it.
struct LayerTerms {
  int32_t top_batch = 1;
  int32_t top_ifm = 1;
  int32_t top_ofm = 1;
  FmapEnd ifmap;
  FmapEnd ofmap;
};

// Slices of every dim; kBadInput where they do not divide it or exclude each other.
Status PassesOf(const MappingProblem& problem, const LayerTerms& terms,
                int64_t passes[kDims], Diagnostic* diagnostic);
MappingProblem PassOf(const MappingProblem& problem, const int64_t passes[kDims]);
// Operand bits that lie whole in the scratchpads during a pass.
uint32_t KeptOperands(const LayerTerms& terms, const int64_t passes[kDims]);
AxisEnd EndAlong(const NodeRegion& region, const LayerTerms& terms, uint32_t operand,
                 uint32_t axis);

struct OperandPath {
  double links;
  double between;  // of these, links between the sharers
  int64_t sharers;
};
void FindPaths(const Hardware& hardware, const NodeRegion& region,
               const NodeSplit& split, const LayerTerms& terms,
               OperandPath path[kOperands]);

// pJ of one word across one link.
double LinkPj(const Hardware& hardware, int64_t bytes);

constexpr uint32_t kMaxMeshFanouts = kMaxLevels * kMaxAxes;

// The hardware as seen from DRAM: a level that holds nothing carries the loops of one
// node's part, the outermost feeds the nodes. Not to be copied: hardware points into
// it.
struct MeshMachine {
  MemoryLevel levels[kMaxLevels];
  Fanout fanouts[kMaxMeshFanouts];
  Hardware hardware;
};
Status MakeMeshMachine(const Hardware& hardware, const NodeRegion& region,
                       MeshMachine* machine, Diagnostic* diagnostic);

struct MeshCost {
  LayerCost layer;       // all nodes together, all passes; energy_pj includes noc_pj
  double registers_pj;   // levels below the scratchpad
  double scratchpad_pj;  // those of neighbours included where they are read
  double dram_pj;
  double noc_pj;
  int64_t nodes;        // with work
  int64_t busy_cycles;  // without DRAM, which others may use too
  int64_t dram_cycles;  // at its full bandwidth
  int64_t dram_read_bytes;
  int64_t dram_write_bytes;
  int64_t scratchpad_bytes;  // of the fullest node
};

// A layer on a region of a mesh.
struct MeshCase {
  const MappingProblem& problem;
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeSplit& split;
  const LayerTerms& terms;
};

// `nest` is that of one node's part of one pass. Nodes that it leaves without work
// (array steps may reach beyond a part) are given up. options.resident: operands kept
// whole in the scratchpads: those of KeptOperands at least; weights: of all passes,
// fetched once; an input from DRAM: of one slice of C, for all slices of K.
// options.rotated: inputs or weights of which every sharer holds one part, all of one
// size, and hands it round when the loops want the next: the outermost loops over the
// operand in the scratchpad tell the parts apart; every loop outside these is one more
// round, over links between the sharers, a read and a write of a scratchpad each.
// kInfeasible with bytes where these do not fit beside the nest.
Status EvaluateOnMesh(const MeshCase& mesh, const LoopNest& nest,
                      const CostOptions& options, MeshCost* cost,
                      Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_MESH_H_
