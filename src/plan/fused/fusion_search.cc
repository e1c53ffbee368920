// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/fusion_search.h"

#include "base/checked.h"
#include "plan/deadline.h"
#include "solve/prefetch/prefetch.h"

namespace sluice {
namespace {

constexpr uint32_t kFewestShares = 2;  // without improvement, before giving up
constexpr uint32_t kMostShares = 10;   // in all

// A search: its stages share these.
struct SearchCall {
  const FusionProblem& problem;  // may use all of the section's buffer
  const TileModel& model;
  const FusionSearch& search;
  const Workspace& work;
};

// The second stage. Its result gives the DRAM schedule and the score.
Status Refine(const SearchCall& call, uint64_t rounds, uint64_t balance,
              FusionResult* out) {
  PrefetchOptions options;
  options.seed = call.search.seed;
  options.rounds = rounds;
  options.last_rounds = call.search.last_rounds;
  options.balance_rounds = balance;
  PrefetchResult refined;
  SLUICE_TRY(RefineDma(out->list, call.problem.buffer_bytes, options, call.work,
                       &out->dma, &refined));
  out->rounds += refined.rounds;
  out->score.latency_cycles = refined.latency_cycles;
  out->score.cost =
      Cost(call.search.objective, out->score.energy_pj, refined.latency_cycles);
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
  options.sweep_percent = kPercentForSweeping;
  options.construct_evaluations = search.evaluations;
  options.list_transfers = search.list_transfers;
  return options;
}

Status SearchOurs(const SearchCall& call, FusionResult* out) {
  const FusionSearch& search = call.search;
  Budget* budget = call.work.budget;
  FusionOptions options = FirstStage(search);
  const bool bounded = search.rounds != UINT64_MAX;
  options.anneal = search.rounds != 0;
  options.rounds =
      bounded ? Max<uint64_t>(search.rounds / 100 * kPercentForFusing, 1) : 0;
  Budget first = budget->Part(options.anneal ? kPercentForFusing : 100);
  const Workspace work = {&first, call.work.arena, call.work.diagnostic};
  const Status status = SolveFusion(call.problem, call.model, options, work, out);
  budget->Join(first);
  SLUICE_TRY(status);
  if (!options.anneal || out->score.cost >= kAnnealRejected) return Status::kOk;
  return Refine(call, bounded ? search.rounds : 0, 0, out);
}

// Both stages with `share` bytes for the first one, which uses *first_use of them.
Status TwoStages(const SearchCall& call, int64_t share, int64_t* first_use,
                 FusionResult* out) {
  const FusionSearch& search = call.search;
  FusionProblem reduced = call.problem;
  reduced.buffer_bytes = share;
  FusionOptions options = FirstStage(search);
  options.rounds = search.rounds;
  SLUICE_TRY(SolveFusion(reduced, call.model, options, call.work, out));
  out->scheme->Rebind(&call.problem);
  if (out->score.cost >= kAnnealRejected) return Status::kInfeasible;
  *first_use = out->score.minimum_bytes;
  const uint64_t rounds =
      search.rounds != 0 ? search.rounds : 1000 * uint64_t{out->list.transfers};
  return Refine(call, rounds, rounds / 10, out);
}

Status SearchSoma(const SearchCall& call, FusionResult* out) {
  Arena* arena = call.work.arena;
  int64_t first_use = 0;
  SLUICE_TRY(TwoStages(call, call.problem.buffer_bytes, &first_use, out));
  int64_t share = first_use;
  FusionSearch next = call.search;
  Diagnostic ignored = {};
  const Workspace work = {call.work.budget, arena, &ignored};
  for (uint32_t i = 0, vain = 0; i < kMostShares && vain < kFewestShares; ++i) {
    if (work.budget->Exhausted()) break;
    share -= first_use / 10;
    ++next.seed;
    const Arena::Mark mark = arena->mark();
    FusionResult result;
    int64_t use = 0;
    const Status status =
        TwoStages({call.problem, call.model, next, work}, share, &use, &result);
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
                    const FusionSearch& search, const Workspace& work,
                    FusionResult* out) {
  const SearchCall call = {problem, model, search, work};
  if (search.solver == SLUICE_SOLVER_SOMA) return SearchSoma(call, out);
  if (search.solver == SLUICE_SOLVER_COCCO) {
    FusionOptions options = FirstStage(search);
    options.rounds = search.rounds;
    return SolveFusion(problem, model, options, work, out);
  }
  return SearchOurs(call, out);
}

}  // namespace sluice
