// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/fusion_search.h"

#include "base/checked.h"
#include "plan/deadline.h"
#include "solve/prefetch/prefetch.h"

namespace sluice {
namespace {

constexpr uint32_t kFewestShares = 2;  // without improvement, before giving up
constexpr uint32_t kMostShares = 10;

// Second stage: what it finds becomes the result's DRAM schedule and score.
Status Refine(const FusionProblem& problem, const FusionSearch& search, uint64_t rounds,
              uint64_t balance, Budget* budget, Arena* arena, FusionResult* out) {
  PrefetchOptions options;
  options.seed = search.seed;
  options.rounds = rounds;
  options.last_rounds = search.last_rounds;
  options.balance_rounds = balance;
  PrefetchResult refined;
  SLUICE_TRY(RefineDma(arena, out->list, problem.buffer_bytes, options, budget,
                       &out->dma, &refined));
  out->rounds += refined.rounds;
  out->score.latency_cycles = refined.latency_cycles;
  out->score.cost =
      Cost(search.objective, out->score.energy_pj, refined.latency_cycles);
  return Status::kOk;
}

FusionOptions FirstStage(const FusionSearch& search) {
  FusionOptions options;
  options.solver = search.solver == SLUICE_SOLVER_SOMA    ? kFusionSoma
                   : search.solver == SLUICE_SOLVER_COCCO ? kFusionCocco
                                                          : kFusionOurs;
  options.objective = search.objective;
  options.seed = search.seed;
  options.last_rounds = search.last_rounds;
  options.start = search.start;
  options.touched = search.touched;
  options.sweep = search.sweep;
  options.quick = search.quick;
  options.construct_evaluations = search.evaluations;
  options.list_transfers = search.list_transfers;
  return options;
}

Status SearchOurs(const FusionProblem& problem, const TileModel& model,
                  const FusionSearch& search, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic, FusionResult* out) {
  FusionOptions options = FirstStage(search);
  const bool bounded = search.rounds != UINT64_MAX;
  options.anneal = search.rounds != 0;
  options.rounds =
      bounded ? Max<uint64_t>(search.rounds / 100 * kPercentForFusing, 1) : 0;
  Budget first = budget->Part(options.anneal ? kPercentForFusing : 100);
  const Status status =
      SolveFusion(arena, problem, model, options, &first, diagnostic, out);
  budget->Join(first);
  SLUICE_TRY(status);
  if (!options.anneal || out->score.cost >= kAnnealRejected) return Status::kOk;
  return Refine(problem, search, bounded ? search.rounds : 0, 0, budget, arena, out);
}

// Both stages with `share` bytes for the first one.
Status TwoStages(const FusionProblem& problem, int64_t share, const TileModel& model,
                 const FusionSearch& search, Budget* budget, Arena* arena,
                 Diagnostic* diagnostic, int64_t* first_use, FusionResult* out) {
  FusionProblem reduced = problem;
  reduced.buffer_bytes = share;
  FusionOptions options = FirstStage(search);
  options.rounds = search.rounds;
  SLUICE_TRY(SolveFusion(arena, reduced, model, options, budget, diagnostic, out));
  out->scheme->Rebind(&problem);
  if (out->score.cost >= kAnnealRejected) return Status::kInfeasible;
  *first_use = out->score.minimum_bytes;
  const uint64_t rounds =
      search.rounds != 0 ? search.rounds : 1000 * uint64_t{out->list.transfers};
  return Refine(problem, search, rounds, rounds / 10, budget, arena, out);
}

Status SearchSoma(const FusionProblem& problem, const TileModel& model,
                  const FusionSearch& search, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic, FusionResult* out) {
  int64_t first_use = 0;
  SLUICE_TRY(TwoStages(problem, problem.buffer_bytes, model, search, budget, arena,
                       diagnostic, &first_use, out));
  int64_t share = first_use;
  FusionSearch next = search;
  Diagnostic ignored = {};
  for (uint32_t i = 0, vain = 0; i < kMostShares && vain < kFewestShares; ++i) {
    if (budget->Exhausted()) break;
    share -= first_use / 10;
    ++next.seed;
    const Arena::Mark mark = arena->mark();
    FusionResult result;
    int64_t use = 0;
    const Status status =
        TwoStages(problem, share, model, next, budget, arena, &ignored, &use, &result);
    const uint64_t rounds = out->rounds + result.rounds;
    if (status == Status::kOutOfMemory) return status;
    if (status == Status::kOk && result.score.cost < out->score.cost) {
      *out = result;
      vain = 0;
    } else {
      arena->Rewind(mark);
      ++vain;
    }
    out->rounds = rounds;
  }
  return Status::kOk;
}

}  // namespace

Status SearchFusion(const FusionProblem& problem, const TileModel& model,
                    const FusionSearch& search, Budget* budget, Arena* arena,
                    Diagnostic* diagnostic, FusionResult* out) {
  if (search.solver == SLUICE_SOLVER_SOMA) {
    return SearchSoma(problem, model, search, budget, arena, diagnostic, out);
  }
  if (search.solver == SLUICE_SOLVER_COCCO) {
    FusionOptions options = FirstStage(search);
    options.rounds = search.rounds;
    return SolveFusion(arena, problem, model, options, budget, diagnostic, out);
  }
  return SearchOurs(problem, model, search, budget, arena, diagnostic, out);
}

}  // namespace sluice
