// SPDX-License-Identifier: Apache-2.0
// One layer on a region of nodes: which dims are dealt out, where, and the loop nest of
// each node.
//
// Input    a problem, hardware with a mesh, a region, options
// Output   the split, the nest of one node's part, cost by model/mesh, a lower bound
// Errors   kInfeasible with bytes when no part fits a node; kBadInput; kUnsupported;
//          kStopped before any nest is found
// Cost     1-300 ms for 16x16 nodes; scratch from the arena, rewound
// Source   KAPLA's node level of a layer (hybrid partitions); the decomposed search of
// its
//          space: sizes of the parts decide the cost on a node, where they lie only the
//          links. Deviations: idle nodes and uneven parts are tried, at their cost;
//          nodes that share words each hold a copy.
//
// Every split of N, K, C, P, Q and G over columns and rows gets an estimate, nearly
// from below; in its order, the exact mapper solves a node's part with what its words
// cost on their way, until no estimate promises half a percent more. Of several ways to
// lay the same parts out, the one whose least traffic crosses fewest links is taken.
#ifndef SLUICE_SOLVE_MAPPING_NODE_PARALLEL_H_
#define SLUICE_SOLVE_MAPPING_NODE_PARALLEL_H_

#include <stdint.h>

#include "model/mesh.h"
#include "solve/mapping/kapla.h"
#include "solve/mapping/node_array.h"

namespace sluice {

struct NodeParallelOptions {
  KaplaOptions node;  // constraints hold for a node's part of one pass
  LayerTerms terms;   // what pipelining fixes
  // Kept by the caller over calls with the same node hardware but for the scratchpad's
  // size, and the same objective: makes them faster, changes nothing else.
  ArrayTable* table = nullptr;
  bool stay = true;         // weights may lie in the scratchpads for all passes
  bool exact = false;       // every part solved by the exact mapper: much slower
  bool every = false;       // exact, and no bounds: every split (to compare with)
  uint64_t max_solved = 0;  // splits handed to the exact mapper; 0 = no limit
};

struct NodeMapping {
  NodeSplit split;
  LoopNest nest;  // of one node's part of one pass
  uint32_t kept;  // operands that lie whole in the scratchpads: CostOptions::resident
  MeshCost cost;  // of all passes
  double objective;
  double bound;  // no split and nest of the space is below
  uint64_t splits;
  uint64_t solved;
};

Status MapOnNodes(const MappingProblem& problem, const Hardware& hardware,
                  const NodeRegion& region, const NodeParallelOptions& options,
                  Budget* budget, Arena* arena, NodeMapping* mapped,
                  Diagnostic* diagnostic);

// As published (KAPLA, Algorithm 1), which is what options.node.greedy asks MapOnNodes
// for: nodes are stacked behind the array and before the scratchpad's tile is chosen, a
// prime at a time. Nothing is proved.
Status MapGreedyOnNodes(const MappingProblem& problem, const Hardware& hardware,
                        const NodeRegion& region, const NodeParallelOptions& options,
                        Budget* budget, NodeMapping* mapped, Diagnostic* diagnostic);

// The same for several terms of one layer on one region: what they share is done once.
// status and diagnostics are one per term; returned are only errors that end it all.
Status MapTableOnNodes(const MappingProblem& problem, const Hardware& hardware,
                       const NodeRegion& region, const NodeParallelOptions& options,
                       Span<const LayerTerms> terms, Budget* budget, Arena* arena,
                       Span<NodeMapping> mapped, Span<Status> status,
                       Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NODE_PARALLEL_H_
