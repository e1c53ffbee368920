// SPDX-License-Identifier: Apache-2.0
// Solves a fusion problem with one of the named solvers: both stages, and how they
// share the buffer.
//
//   FUSION  constructed scheme; with rounds or a deadline also annealing of the scheme,
//           then of DRAM order and durations. Never worse than constructed.
//   COCCO   computing order and DRAM cuts by annealing; double buffering.
//   SOMA    in its buffer allocator: first stage within a share of the buffer, second
//           and third within all of it; the share shrinks by a tenth of the first
//           scheme's use until two shares in a row bring nothing. Best by the
//           objective.
//
// Input    FusionProblem, TileModel, options; Budget.
// Output   FusionResult in `arena`: notation, tiles, DRAM schedule, score.
// Errors   as SolveFusion.
// Cost     FUSION without a limit: construction only. Published: 100 rounds per layer,
//          1000 per DRAM tensor, times the shares tried.
// Source   SoMa section V-B, V-C; deviation: the winner is chosen by the objective,
//          where the published program takes the latency.
#ifndef SLUICE_PLAN_FUSED_FUSION_SEARCH_H_
#define SLUICE_PLAN_FUSED_FUSION_SEARCH_H_

#include "solve/fusion/fusion.h"

namespace sluice {

struct FusionSearch {
  uint32_t solver = SLUICE_SOLVER_FUSION;
  Objective objective;
  uint64_t seed = 0;
  // Annealing rounds of both stages. FUSION: 0 = construction only, UINT64_MAX = until
  // the budget ends. Published: 0 = as published.
  uint64_t rounds = 0;
  const GroupNotation* start = nullptr;  // FUSION: as FusionOptions
  Span<const uint8_t> touched;
  bool sweep = false, quick = false;
  uint64_t evaluations = 0;
  uint32_t list_transfers = 0;
  uint64_t last_rounds = 0;  // Y: after the deadline, only improvements are kept
};

Status SearchFusion(const FusionProblem& problem, const TileModel& model,
                    const FusionSearch& search, const Workspace& work,
                    FusionResult* out);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSION_SEARCH_H_
