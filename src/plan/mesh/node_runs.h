// SPDX-License-Identifier: Apache-2.0
// Runs of layers that may take turns on a region of nodes, and what they cost.
//
// All layers of a run are dealt out alike: parts of the batch, rows, columns and output
// channels over the columns and rows of the region. Each deal and each number of images
// per slice is priced; the cheapest chain of runs, with layers by themselves between
// them, is found by dynamic programming.
//
// Input    graph, hardware, lowering, an order of its layers; what each layer costs by
//          itself
// Output   runs of the cheapest chain, ascending
// Errors   kOutOfMemory, kStopped
// Cost     layers x kMostLayers x deals, some 10 ns each; a tile's boxes per layer and
//          deal; the declared cost of one tile per layer, which scales the others
// Source   own; KAPLA's temporal segments, with splits that follow each other
#ifndef SLUICE_PLAN_MESH_NODE_RUNS_H_
#define SLUICE_PLAN_MESH_NODE_RUNS_H_

#include "plan/mesh/node_groups.h"

namespace sluice {

struct RunSearch {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t capacity;  // of a node's scratchpad
  Span<const uint32_t> order;
  NodeRegion region;
  Span<const double> alone;  // of each layer of the graph, by itself: its cost
  double per_pj, per_cycle;  // what a pJ and a cycle cost
  const TileCoster& coster;
  Budget* budget;
};

Status FindRuns(const RunSearch& search, Arena* arena, Span<NodeRun>* runs);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_RUNS_H_
