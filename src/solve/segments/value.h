// SPDX-License-Identifier: Apache-2.0
// The value of a scheme: prices where known, else bounds or estimates.
//
// Input    the space, a pricer
// Output   pJ and cycles of a scheme; the prices of its layers
// Errors   those of the pricer other than kInfeasible
// Cost     layers of the scheme; a price is remembered by problem, region and terms
// Source   KAPLA IV-B; the pipeline's time: fill, then the slowest stage per slice,
//          while DRAM serves all stages
#ifndef SLUICE_SOLVE_SEGMENTS_VALUE_H_
#define SLUICE_SOLVE_SEGMENTS_VALUE_H_

#include "solve/segments/layer_part.h"

namespace sluice {

struct SchemeValue {
  double pj;  // leakage included
  int64_t cycles, node_cycles, dram_cycles;
  bool priced;
  bool infeasible;
};

// Weights of the objective: cost = per_pj x pJ + per_cycle x cycles.
struct Weights {
  double per_pj = 1;
  double per_cycle = 0;
};

// The prices of the layers that were asked for so far.
struct Values {
  Values(const Space& the_space, const LayerPricer& the_pricer, Arena* the_arena)
      : space(the_space),
        pricer(the_pricer),
        arena(the_arena),
        table(the_arena),
        seen{the_space, table, {}, {}} {}
  Values(const Values&) = delete;  // `seen` refers to the table beside it
  const Space& space;
  const LayerPricer& pricer;
  Arena* arena;
  PriceTable table;
  PricesSeen seen;
  uint64_t calls = 0;  // of the pricer
};
Status InitValues(Values* values);

// Values a scheme by what is known of its layers.
SchemeValue ValueOf(const Values& values, const Run& run, const SegmentScheme& scheme,
                    Ranking ranking);
// Prices the next layer of the scheme that has no price yet.
Status PriceNext(Values* values, const Run& run, const SegmentScheme& scheme, bool* all,
                 Diagnostic* diagnostic);
// The prices of all its layers; false where one has none.
bool PricesOf(const Values& values, const Run& run, const SegmentScheme& scheme,
              LayerRole* role, const LayerPrice** price);

// Cycles of the pipeline of a scheme; part[i] of its layers.
int64_t PipelineCycles(const Run& run, const SegmentScheme& scheme,
                       const LayerRole* role, const LayerPart* part);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_VALUE_H_
