// SPDX-License-Identifier: Apache-2.0
// Segments of a graph on a mesh: layers in the order segments want, prices from the
// mapping room.
//
// Input    a graph as lowered, or layers by themselves; hardware
// Output   SegmentLayers; ChosenSegments
// Errors   those of ChooseSegments and MapOnNodes
// Cost     network: O(layers x inputs); then solve/segments
// Source   KAPLA IV-B; reference kapla.md 2c, 1: layers in depth-first topological order
//
// Views (reshape, concat, ... without copies) are looked through. Layers that have no
// loop nest count as one vector operation per output word and are never sliced. Rows of
// matrices are the batch, where there is no other.
#ifndef SLUICE_PLAN_MESH_SEGMENT_PLAN_H_
#define SLUICE_PLAN_MESH_SEGMENT_PLAN_H_

#include "model/graph.h"
#include "model/lowering.h"
#include "solve/mapping/mesh/node_parallel.h"
#include "solve/segments/segments.h"

namespace sluice {

// A layer before it has its place in the order.
struct UnorderedLayer {
  MappingProblem problem;
  uint32_t layer;
  bool leads, stored, whole;
  Span<const uint32_t> producers;  // indices before this one, ascending, each once
  Span<const int64_t> share;
  int64_t input_words;
  Span<const uint32_t> before;  // who makes the operand in the weight's place
};

// Depth first, pools and sums behind the last of their producers.
Status OrderLayers(Span<const UnorderedLayer> network, Arena* arena,
                   Span<SegmentLayer>* layers);

// word_bytes: of every word; 0 = as the tensors have it.
Status NetworkOfGraph(const Graph& graph, const Hardware& hardware,
                      const Lowering& lowering, uint32_t word_bytes, Arena* arena,
                      Span<SegmentLayer>* layers, Diagnostic* diagnostic);

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

#endif  // SLUICE_PLAN_MESH_SEGMENT_PLAN_H_
