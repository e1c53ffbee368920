// SPDX-License-Identifier: Apache-2.0
// What a layer of a scheme costs before it has a price: bounds and estimates.
//
// Input    the space, the layer's role, the prices seen so far
// Output   pJ without leakage, cycles and bytes of DRAM
// Errors   none; InitPricesSeen: kOutOfMemory
// Cost     operands of the layer
// Source   KAPLA IV-B; the estimate from the price of the layer by itself is our own
#ifndef SLUICE_SOLVE_SEGMENTS_LAYER_PART_H_
#define SLUICE_SOLVE_SEGMENTS_LAYER_PART_H_

#include "solve/segments/price_table.h"
#include "solve/segments/space.h"

namespace sluice {

// One layer of a scheme; energy without leakage.
struct LayerPart {
  double pj;
  int64_t busy_cycles;  // of all steps
  int64_t dram_bytes;
  bool priced;
};

enum class Ranking : uint8_t { kBound = 0, kEstimate, kPublished };

// What prices have taught about layers that have none yet.
struct PricesSeen {
  const Space& space;
  const PriceTable& table;
  Span<double> ratio;  // least price over estimate, twice per class of layers; 0: none
  Span<const LayerPrice*> single;  // by position: of the layer by itself
};
Status InitPricesSeen(PricesSeen* seen, Arena* arena);

// A lower bound of what a layer costs in any split and nest.
LayerPart BoundPart(const Space& space, const LayerRole& role);
LayerPart EstimatePart(const PricesSeen& seen, const LayerRole& role, Ranking ranking);
// Lowers the ratio by which layers like this one are estimated to what its price says.
void LearnRatio(const LayerRole& role, const MeshCost& cost, PricesSeen* seen);

// Words that a role moves beyond its price: DRAM's part of a mixed input, an output
// that is both sent on and stored.
void AddCrossings(const Hardware& hardware, const MappingProblem& problem,
                  const LayerRole& role, MeshCost* cost);
double DynamicPj(const MeshCost& cost);
// The scratchpad of a node.
const MemoryLevel& PadOf(const Hardware& hardware);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_LAYER_PART_H_
