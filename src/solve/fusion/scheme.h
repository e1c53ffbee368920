// SPDX-License-Identifier: Apache-2.0
// A fusion scheme during a search: changed in place, undone from a log, scored.
//
// Input    FusionProblem, TileMemo; capacities of tiles and transfers.
// Output   cost = energy^n * latency^m with list-scheduled DRAM (or double buffering).
// Errors   Init: out of memory. Score returns kAnnealRejected for illegal schemes.
// Cost     O(layers + edges + tiles + transfers) per score, no allocation.
// Source   SoMa section IV; the scoring with a list schedule is our own.
#ifndef SLUICE_SOLVE_FUSION_SCHEME_H_
#define SLUICE_SOLVE_FUSION_SCHEME_H_

#include <stdint.h>

#include "base/budget.h"
#include "model/dma_list.h"
#include "search/anneal.h"
#include "solve/fusion/draft.h"

namespace sluice {

struct Objective {
  uint32_t energy_exponent = 1;
  uint32_t delay_exponent = 1;
};
double Cost(const Objective& objective, double energy_pj, int64_t cycles);

// The part of the network outside the scheme: added before the objective is computed.
struct SchemeRest {
  double energy_pj = 0;
  int64_t compute_cycles = 0;
  int64_t dram_cycles = 0;
  int64_t latency_cycles = 0;
};

struct SchemeScore {
  double cost = kAnnealRejected;
  double energy_pj = 0;
  int64_t latency_cycles = 0;
  int64_t minimum_bytes = 0;  // smallest buffer for the scheme; valid when parsed
  // Bound() only: bytes over the buffer x cycles, as a share of buffer x latency.
  double excess = 0;
  ParseResult parsed = ParseResult::kOrder;
};

class Scheme {
 public:
  Status Init(Arena* arena, const FusionProblem* problem, TileMemo* memo,
              const Objective& objective, uint32_t max_tiles, uint32_t max_transfers);

  // Continues with another problem of the same layers, whose buffer may differ.
  void Rebind(const FusionProblem* problem) {
    problem_ = problem;
    parser_.problem = problem;
  }

  // Scores the scheme; gives up early when the cost must exceed limit.
  SchemeScore Score(double limit);
  // Lower bound of the cost with an unlimited buffer, and the buffer it would need;
  // legality of the cut only.
  SchemeScore Bound();
  // Order and durations of the last Score that reached them.
  const DmaNotation& dma() const { return dma_; }
  const TileList& list() const { return list_; }
  const GroupNotation& notation() const { return draft.notation; }
  const FusionProblem& problem() const { return *problem_; }
  TileMemo* memo() const { return memo_; }
  const Objective& objective() const { return objective_; }
  size_t layers() const { return Layers(draft); }
  Draft draft;
  bool double_buffer = false;  // score as the published first stage does
  int64_t target_bytes = 0;    // what Bound() measures the excess against
  SchemeRest rest;
  // Segment by layer: order changes stay within a segment, and fine groups end with it;
  // empty = one segment.
  Span<const uint32_t> segment;

  // Position in the order of the layer that runs when the minimal use is highest; after
  // Bound().
  uint32_t PeakPosition() const;
  // Bytes in use during tile p, at least; after Bound().
  int64_t Use(uint32_t p) const { return profile_[p + 1]; }

 private:
  bool CrossesSegments() const;

  double CostOf(const SchemeScore& s) const {
    return Cost(objective_, s.energy_pj + rest.energy_pj,
                s.latency_cycles + rest.latency_cycles);
  }

  const FusionProblem* problem_ = nullptr;
  TileMemo* memo_ = nullptr;
  Objective objective_;
  Parser parser_;
  DmaLister lister_;
  TileList list_;
  DmaNotation dma_;
  Span<int32_t> due_;
  Span<int64_t> profile_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_SCHEME_H_
