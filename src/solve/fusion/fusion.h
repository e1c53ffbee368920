// SPDX-License-Identifier: Apache-2.0
// Which layers stay on chip together, at which tile size, with which DRAM schedule.
//
// Input    FusionProblem, TileModel, options; Budget.
// Output   the notation, its tiles and transfers, DRAM order and durations, the score.
//          All live in the caller's arena.
// Errors   kInfeasible (with numbers), kStopped (nothing fitted in time), kOutOfMemory.
// Cost     construction: a few thousand evaluations; then one evaluation per round.
// Source   SoMa section V (the published solvers: its cooling; Cocco's rules as SoMa
//          gives them); ours: scored with a list schedule instead of double buffering,
//          and started from a constructed scheme.
#ifndef SLUICE_SOLVE_FUSION_FUSION_H_
#define SLUICE_SOLVE_FUSION_FUSION_H_

#include "base/workspace.h"
#include "solve/fusion/moves.h"
#include "solve/fusion/repeats.h"
#include "solve/fusion/scheme.h"

namespace sluice {

enum FusionSolver : uint8_t {
  kFusionOurs,   // constructed start, list-scheduled scores
  kFusionSoma,   // SoMa's first stage: unfused start, double buffering
  kFusionCocco,  // order and DRAM cuts only, double buffering
};

struct FusionOptions {
  FusionSolver solver = kFusionOurs;
  Objective objective;
  uint64_t seed = 0;
  uint64_t rounds =
      0;  // of annealing; 0 = until the budget ends; published: 100 per layer
  uint64_t last_rounds = 0;  // as AnnealOptions
  bool anneal = true;
  uint64_t construct_evaluations = 0;  // 0 = from the number of layers
  uint32_t max_tiles = 0;              // 0 = from the number of layers
  uint32_t max_transfers = 0;
  // kFusionOurs: starts from this scheme, not with a construction, and reworks the
  // touched layers with construct_evaluations. The scheme need not be legal. touched
  // empty: anneals the scheme as it is; with `sweep`, first tries one change at a time
  // everywhere.
  const GroupNotation* start = nullptr;
  Span<const uint8_t> touched;
  // Nonzero: no search, only the list of `start`, of at most so many transfers, without
  // a DRAM schedule.
  uint32_t list_transfers = 0;
  bool sweep = false;
  bool quick = false;  // the first construction that fits; no second one beside it
  uint32_t sweep_percent =
      100;  // of the budget for `sweep`, and for a `quick` construction
};

struct FusionResult {
  GroupNotation notation;
  DmaNotation dma;
  TileList list;
  SchemeScore score;
  uint64_t rounds = 0;
  // Runs of blocks of which all but the first and the last have one notation.
  Repeats repeats;
  Scheme* scheme = nullptr;  // as saved; for Tighten
};

Status SolveFusion(const FusionProblem& problem, const TileModel& model,
                   const FusionOptions& options, const Workspace& work,
                   FusionResult* out);

// Makes the scheme fit a smaller buffer: by shorter living durations where they
// suffice, else by more tiles and cuts. problem.buffer_bytes has been lowered by the
// caller.
Status Tighten(const FusionProblem& problem, const Workspace& work, FusionResult* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_FUSION_H_
