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

#include "solve/segments/space.h"

namespace sluice {

// One layer of a scheme; energy without leakage.
struct LayerPart {
  double pj;
  int64_t busy_cycles;  // of all steps
  int64_t dram_bytes;
  bool priced;
};

struct SchemeValue {
  double pj;  // leakage included
  int64_t cycles, node_cycles, dram_cycles;
  bool priced;
  bool infeasible;
};

enum class Ranking : uint8_t { kBound = 0, kEstimate, kPublished };

// Weights of the objective: cost = per_pj x pJ + per_cycle x cycles.
struct Weights {
  double per_pj = 1;
  double per_cycle = 0;
};

struct PriceEntry {
  LayerPrice* price;  // nullptr: infeasible
  uint64_t key[6];
};

class Values {
 public:
  Values(const Space& space, const LayerPricer& pricer, Arena* arena)
      : space_(space), pricer_(pricer), arena_(arena), entries_(arena) {}
  Status Init();

  // Values a scheme by what is known of its layers.
  SchemeValue Of(const Run& run, const SegmentScheme& scheme, Ranking ranking) const;
  // Prices the next layer of the scheme that has no price yet.
  Status PriceNext(const Run& run, const SegmentScheme& scheme, bool* all,
                   Diagnostic* diagnostic);
  // The prices of all its layers; false where one has none.
  bool PricesOf(const Run& run, const SegmentScheme& scheme, LayerRole* role,
                const LayerPrice** price) const;
  uint64_t calls() const { return calls_; }
  bool saw_infeasible() const { return infeasible_; }

 private:
  void KeyOf(const LayerQuery& query, uint64_t key[6]) const;
  const PriceEntry* Find(const LayerQuery& query) const;
  Status Grow();
  LayerPart PartOf(const LayerRole& role, Ranking ranking) const;
  LayerPart Bound(const LayerRole& role) const;
  LayerPart Estimate(const LayerRole& role, Ranking ranking) const;
  size_t RatioIndex(const LayerQuery& query) const;
  double RatioOf(const LayerQuery& query) const;
  bool WeightsFit(const Run& run, const LayerRole* role) const;
  void Roles(const Run& run, const SegmentScheme& scheme, LayerRole* role) const;

  const Space& space_;
  const LayerPricer& pricer_;
  Arena* arena_;
  Vector<PriceEntry> entries_;
  Span<uint32_t> slots_;
  Span<uint32_t> class_of_;  // first layer with the same problem
  Span<double> ratio_;       // least price over estimate seen: RatioIndex; 0: none
  Span<const LayerPrice*> single_;  // per position
  uint64_t calls_ = 0;
  bool infeasible_ = false;
};

// Words that a role moves beyond its price: DRAM's part of a mixed input, an output
// that is both sent on and stored.
void AddCrossings(const Hardware& hardware, const MappingProblem& problem,
                  const LayerRole& role, MeshCost* cost);
double DynamicPj(const MeshCost& cost);

// Cycles of the pipeline of a scheme; part[i] of its layers.
int64_t PipelineCycles(const Run& run, const SegmentScheme& scheme,
                       const LayerRole* role, const LayerPart* part);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_VALUE_H_
