// SPDX-License-Identifier: Apache-2.0
// Which layers run together on a mesh, on which nodes, and what stays on the chip.
//
// Input    layers in topological order with their loop nests' problems, hardware with a
//          mesh, a pricer, which costs one layer on one region under given terms
// Output   segments with everything model/segment.h says, the cost by component, a
//          bound below every schedule of the space, counts
// Errors   kBadInput; the pricer's error for a layer that cannot run by itself;
//          kStopped only if the budget ends before all layers are priced by themselves
// Cost     candidates: up to 14 runs per vertex, times batch slices and groups, a
//          microsecond each; only candidates that a chain may want are priced
// Source   KAPLA sections IV-B, VI. Deviations: regions are rectangles, cut off one
//          after the other; prices are exact where the best chain needs them; the
//          published way (solve the top-k chains of estimates) is an option.
//
// A vertex is a layer with MACs and the pools and sums that follow it. A run of up to
// max_stages vertices may be a segment if each vertex takes at most one input from the
// run, each but the first takes one or shares one from outside, and of the consumers of
// an output taken in the run at most one lies outside.
#ifndef SLUICE_SOLVE_SEGMENTS_SEGMENTS_H_
#define SLUICE_SOLVE_SEGMENTS_SEGMENTS_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/memory.h"
#include "model/segment.h"

namespace sluice {

struct SegmentLayer {
  MappingProblem problem;          // N is the batch
  uint32_t layer;                  // of the graph
  bool leads;                      // starts a vertex
  bool stored;                     // its output must reach DRAM
  bool whole;                      // its batch cannot be cut
  Span<const uint32_t> producers;  // positions before this one, ascending, each once
  Span<const int64_t> share;       // input words that each of them makes
  int64_t input_words;             // of the input in all
  // Positions of the layers that make this layer's second operand, if that is not a
  // constant. The operand is read whole from DRAM, so none of them shares a segment with
  // this layer.
  Span<const uint32_t> before;
};

struct LayerQuery {
  uint32_t position;
  NodeRegion region;
  LayerTerms terms;
  int64_t reserved_bytes;  // of every scratchpad, for what else must stay
  bool stay;               // weights may lie in the scratchpads for all slices
};

struct LayerPrice {
  NodeSplit split;
  LoopNest nest;
  uint32_t kept;
  MeshCost cost;
};

struct LayerPricer {
  void* user;
  // The best way under these terms, or kInfeasible; other errors end the search.
  Status (*price)(void* user, const LayerQuery& query, LayerPrice* price,
                  Diagnostic* diagnostic);
};

enum class SegmentSolver : uint8_t {
  kChain = 0,  // the best chain, priced where it matters
  kTopK,       // published: the best top_k chains of estimates, their segments solved
  kLayers,     // every layer by itself
};

struct SegmentOptions {
  SegmentSolver solver = SegmentSolver::kChain;
  uint32_t top_k = 4;
  uint32_t max_stages = 5;
  uint32_t energy_exponent = 1;
  uint32_t delay_exponent = 0;
  bool spatial = true;
  bool temporal = true;
  // Ranks unpriced schemes by bounds, not estimates, and leaves none out: the result is
  // the optimum of the space. For small machines and chains; always done on up to 4
  // nodes and 6 layers.
  bool proof = false;
  double gap = 0.01;  // relative; smaller gains are not looked for; 0 with proof
  // Layer prices beyond those of single layers; 0: 500 or two per layer, with proof no
  // limit.
  uint64_t max_priced = 0;
};

struct SegmentCounts {
  uint64_t vertices;
  uint64_t layers;
  uint64_t segments;  // by layers and kind
  uint64_t multi;     // segments of more than one layer
  uint64_t spatial;
  uint64_t schemes;  // segments with slices and groups
  uint64_t valid;    // schemes that may fit the scratchpads
  uint64_t priced;   // schemes whose layers all have prices
  uint64_t prices;   // calls of the pricer
};

struct ChosenSegments {
  SegmentSchedule schedule;
  SegmentCounts counts;
  double layers_objective;  // layer by layer
  SegmentCost layers_cost;
  bool proved;  // no schedule of the space is better
};

// energy^n x cycles^m.
double SegmentObjective(const SegmentOptions& options, const SegmentCost& cost);

struct SegmentRequest {
  Span<const SegmentLayer> layers;
  const Hardware& hardware;
  const SegmentOptions& options;
  const LayerPricer& pricer;
};

Status ChooseSegments(const SegmentRequest& request, Budget* budget, Arena* arena,
                      ChosenSegments* chosen, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_SEGMENTS_H_
