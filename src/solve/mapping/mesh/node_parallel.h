// SPDX-License-Identifier: Apache-2.0
// One layer on a region of nodes: which dims are split over which nodes, and the loop
// nest of each node, under the terms that pipelining sets (LayerTerms).
//
// Input    a problem, hardware with a mesh, a region, options
// Output   the split, the nest of one node's part, cost by model/mesh, a lower bound
// Errors   kInfeasible with bytes when no part fits a node; kBadInput; kUnsupported;
//          kStopped before any nest is found
// Cost     0.1-50 ms for 16x16 nodes, batch 64; with a table kept over calls 0.5 ms for
//          a layer of a pipeline; exact: seconds. Scratch from the arena, rewound
// Source   KAPLA's node level of a layer (hybrid partitions, buffer sharing with
//          rotation); the decomposed search of its space: sizes of the parts decide the
//          cost on a node, their positions only the links. Deviations: idle nodes and
//          uneven parts are tried, at their cost; rotation only where one round per
//          delivery is enough.
//
// Every split of N, K, C, P, Q and G gets an estimate, nearly a lower bound. In the
// order of their estimates the splits are laid out over columns and rows (every way to
// divide the factors is tried; the layout whose least traffic crosses the fewest links
// is taken) and get a better estimate, with tiles that fit. Splits estimated at least
// half a percent better than the best are solved (node_array.h), until there are none
// or many in a row have gained nothing.
#ifndef SLUICE_SOLVE_MAPPING_MESH_NODE_PARALLEL_H_
#define SLUICE_SOLVE_MAPPING_MESH_NODE_PARALLEL_H_

#include <stdint.h>

#include "model/mesh.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/mesh/node_array.h"

namespace sluice {

struct NodeParallelOptions {
  KaplaOptions node;  // constraints hold for a node's part of one pass
  LayerTerms terms;   // set by pipelining
  // Kept by the caller over calls with the same objective and the same node hardware,
  // but for the size of the scratchpad. It makes calls faster and changes nothing else.
  // It needs an arena of its own, because the arena of the calls is rewound.
  ArrayTable* table = nullptr;
  bool stay = true;  // weights may lie in the scratchpads for all passes
  // Nodes that share words may hold a part each and hand it round, where that is
  // cheaper (not with exact or every). Instruction streams do not execute this.
  bool rotate = false;
  bool exact = false;  // every part solved by the exact mapper: much slower
  bool every = false;  // exact, and no bounds: every split (to compare with)
};

struct NodeMapping {
  NodeSplit split;
  LoopNest nest;  // of one node's part of one pass
  uint32_t kept;  // operands that lie whole in the scratchpads: CostOptions::resident
  uint32_t rotated;  // inputs or weights handed round: CostOptions::rotated
  MeshCost cost;     // of all passes
  double objective;
  double bound;  // lower bound on all splits and nests of the space
  uint64_t splits;
  uint64_t solved;
};

struct NodeRequest {
  const MappingProblem& problem;
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeParallelOptions& options;
};

Status MapOnNodes(const NodeRequest& request, Budget* budget, Arena* arena,
                  NodeMapping* mapped, Diagnostic* diagnostic);

// The published search (KAPLA, Algorithm 1), which MapOnNodes runs for
// options.node.greedy: nodes are stacked after the array and before the scratchpad's
// tile, one prime at a time. Proves nothing.
Status MapGreedyOnNodes(const NodeRequest& request, Budget* budget, NodeMapping* mapped,
                        Diagnostic* diagnostic);

// Each has one entry for each of the terms.
struct TermMappings {
  Span<NodeMapping> mapped;
  Span<Status> status;
};

// Maps one layer on one region under several terms; shared work is done once.
// Infeasible terms are reported in out.status; the returned status is kOk unless an
// error ended the call.
Status MapTableOnNodes(const NodeRequest& request, Span<const LayerTerms> terms,
                       Budget* budget, Arena* arena, const TermMappings& out,
                       Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_MESH_NODE_PARALLEL_H_
