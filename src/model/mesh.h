// SPDX-License-Identifier: Apache-2.0
// A layer on several nodes: how its dims are divided among a region of the mesh, how
// far its words travel, and what that costs.
//
//   Columns take factor[0] of every dim, rows factor[1]; order says which dim's parts
//   are neighbours. Nodes that differ only in dims an operand does not have share its
//   words (outputs: sum into the same words): one DRAM read serves all of them.
//
// Input    hardware (one node's levels; DRAM is common, at the four corners), region,
//          split
// Output   paths of the operands; a machine whose outermost level feeds the region's
//          nodes; cost (leakage: of all nodes of the region)
// Errors   kBadInput: a region outside the mesh; those of EvaluateNest
// Cost     O(dims^2) per path, no memory
// Source   KAPLA sections II-B, IV-B; hops as in nn_dataflow: Manhattan distance,
//          spanning tree from the nearest corner. Deviations: every corner reaches all
//          of DRAM; a halo is sent to each node that needs it.
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
  uint8_t order[kMeshAxes][kDims];  // a permutation of the dims, fastest-varying first
};

NodeSplit WholeOnEach();  // every node gets the whole layer: all factors 1
int64_t NodesUsed(const NodeSplit& split);
// The largest part that a node gets.
MappingProblem PartOf(const MappingProblem& problem, const NodeSplit& split);

// Positions of the sharers of one operand along one axis.
struct AxisPath {
  struct Gap {
    int32_t links;
    int32_t count;
  };
  int32_t sharers;
  int32_t gaps;
  double to_end;   // mean number of links from the end to the nearest sharer
  Gap gap[kDims];  // between sharers, ascending
};

// Where a word comes from or goes to along one axis: the edges (DRAM), any node of a
// stretch with equal probability, or kNowhere: only links between the sharers count.
struct AxisEnd {
  enum Kind : uint8_t { kEdges = 0, kStretch, kNowhere } kind;
  uint32_t begin;
  uint32_t extent;
};

AxisPath PathAlong(uint32_t nodes, uint32_t begin, const int32_t factor[kDims],
                   const uint8_t order[kDims], uint32_t operand, const AxisEnd& end);
// Links that one word crosses on its way between the end of its path and all nodes that
// share it.
double TreeLinks(const AxisPath& columns, const AxisPath& rows);

// Where a layer's input comes from and where its output goes.
enum class EndKind : uint8_t {
  kDram = 0,
  kNodes,  // a neighbour's region: words lie anywhere in its scratchpads
  kHere    // this region's scratchpads: the previous or next layer runs on it too
};
struct FmapEnd {
  EndKind kind = EndKind::kDram;
  NodeRegion region = {};  // kNodes
};

// What pipelining fixes about a layer. It runs in passes: top_batch slices of the batch
// outermost, within each either top_ifm slices of C or top_ofm slices of K (both at
// once, as slices of G, only if the layer works channel by channel). A slice of an fmap
// on chip lies whole in the scratchpads of the nodes that need it: an input from before
// the pass until its slice is done, an output until the next pass has taken it over.
// With slices of C the partial sums stay in the scratchpads too. The consumer is
// charged for the transfer: a read of the source scratchpad, the links, a fill of each
// node that needs the word.
struct LayerTerms {
  int32_t top_batch = 1;
  int32_t top_ifm = 1;
  int32_t top_ofm = 1;
  FmapEnd ifmap;
  FmapEnd ofmap;
};

// Slices of every dim; kBadInput if they do not divide it or exclude each other.
Status PassesOf(const MappingProblem& problem, const LayerTerms& terms,
                int64_t passes[kDims], Diagnostic* diagnostic);
MappingProblem PassOf(const MappingProblem& problem, const int64_t passes[kDims]);
// Operands (bits) that lie whole in the scratchpads during a pass.
uint32_t KeptOperands(const LayerTerms& terms, const int64_t passes[kDims]);
AxisEnd EndAlong(const NodeRegion& region, const LayerTerms& terms, uint32_t operand,
                 uint32_t axis);

struct OperandPath {
  double links;
  double between;  // the links between the sharers, part of the above
  int64_t sharers;
};
void FindPaths(const Hardware& hardware, const NodeRegion& region,
               const NodeSplit& split, const LayerTerms& terms,
               OperandPath path[kOperands]);

// pJ to send one word across one link.
double LinkPj(const Hardware& hardware, int64_t bytes);

constexpr uint32_t kMaxMeshFanouts = kMaxLevels * kMaxAxes;

// The hardware as seen from DRAM: an added level without storage carries the loops of
// one node's part, and the outermost level feeds the nodes. Not copyable: hardware
// points into this struct.
struct MeshMachine {
  MemoryLevel levels[kMaxLevels];
  Fanout fanouts[kMaxMeshFanouts];
  Hardware hardware;
};
Status MakeMeshMachine(const Hardware& hardware, const NodeRegion& region,
                       MeshMachine* machine, Diagnostic* diagnostic);

struct MeshCost {
  LayerCost layer;       // all nodes together, all passes; energy_pj includes noc_pj
  double registers_pj;   // all levels below the scratchpad
  double scratchpad_pj;  // includes reads of neighbours' scratchpads
  double dram_pj;
  double noc_pj;
  int64_t nodes;        // nodes with work
  int64_t busy_cycles;  // without DRAM, which other layers may use at the same time
  int64_t dram_cycles;  // at DRAM's full bandwidth
  int64_t dram_read_bytes;
  int64_t dram_write_bytes;
  int64_t scratchpad_bytes;  // of the node with the largest part
};

// A layer on a region of a mesh.
struct MeshCase {
  const MappingProblem& problem;
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeSplit& split;
  const LayerTerms& terms;
};

// `nest`: the loop nest of one node's part of one pass. Nodes without work are not charged: a
// step of the array may be longer than a part, so that some nodes get no part. kInfeasible, with
// bytes in the diagnostic, if the operands below do not fit beside the nest.
// options.resident: operands kept whole in the scratchpads, at least KeptOperands.
//   Weights: of all passes, fetched once. An input from DRAM: one slice of C, for all
//   slices of K.
// options.rotated: inputs or weights that the sharers divide into equal parts and pass
//   around when their loops need the next part. The outermost loops over the operand in
//   the scratchpad step through the parts; each iteration of a loop outside these adds
//   a round: links between the sharers, and a scratchpad read and write per part.
Status EvaluateOnMesh(const MeshCase& mesh, const LoopNest& nest,
                      const CostOptions& options, MeshCost* cost,
                      Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_MESH_H_
