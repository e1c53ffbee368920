// SPDX-License-Identifier: Apache-2.0
// A graph's layers as the choice of segments sees them.
//
// Views (reshape, concat, ... without copies) are looked through. Layers that have no
// loop nest count as one vector operation per output word and are never sliced. The
// rows of matrices are the batch if there is no other.
//
// Input    graph, hardware, lowering
// Output   SegmentLayers in the order of layer_order.h
// Errors   kUnsupported: the graph has a state; those of ProblemOfTile but its
//          kUnsupported; kOutOfMemory
// Cost     O(layers x inputs)
// Source   KAPLA IV-B
#ifndef SLUICE_PLAN_MESH_SEGMENT_NETWORK_H_
#define SLUICE_PLAN_MESH_SEGMENT_NETWORK_H_

#include "model/graph.h"
#include "model/lowering.h"
#include "solve/segments/segments.h"

namespace sluice {

struct NetworkQuery {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  uint32_t word_bytes;  // of every word; 0 = as the tensors have it
};

Status NetworkOfGraph(const NetworkQuery& query, Arena* arena,
                      Span<SegmentLayer>* layers, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_SEGMENT_NETWORK_H_
