// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/fusion.h"

#include "base/checked.h"
#include "solve/fusion/construct.h"

namespace sluice {
namespace {

constexpr uint64_t kConstructEvaluations = 1000;
constexpr uint64_t kConstructFewest = 256;
constexpr uint64_t kConstructLayers = 80000;  // evaluations x layers

template <MoveSet kMoves>
double Propose(void* user, Rng* rng, double limit) {
  Scheme* scheme = static_cast<Scheme*>(user);
  if (!RandomMove(kMoves, scheme, rng)) return kAnnealRejected;
  return scheme->Score(limit).cost;
}

AnnealState State(Scheme* scheme, FusionSolver solver) {
  AnnealState state;
  state.user = scheme;
  state.propose = solver == kFusionSoma    ? Propose<kMovesSoma>
                  : solver == kFusionCocco ? Propose<kMovesCocco>
                                           : Propose<kMovesOurs>;
  state.keep = [](void* s) { static_cast<Scheme*>(s)->Keep(); };
  state.undo = [](void* s) { static_cast<Scheme*>(s)->Undo(); };
  state.save = [](void* s) { static_cast<Scheme*>(s)->Save(); };
  state.restore = [](void* s) { static_cast<Scheme*>(s)->Restore(); };
  return state;
}

// Longer and longer runs, each from the best so far, until a limit is reached.
uint64_t AnnealScheme(Scheme* scheme, const FusionOptions& options, double cost,
                      Budget* budget) {
  Rng rng(options.seed);
  uint64_t done = 0;
  AnnealOptions run = {50 * scheme->layers() + 500, 0.01, 8, 0.9, options.last_rounds};
  while ((options.rounds == 0 || done < options.rounds) && !budget->Exhausted()) {
    if (options.rounds != 0) run.rounds = Min(run.rounds, options.rounds - done);
    const AnnealResult result =
        Anneal(State(scheme, kFusionOurs), run, cost, &rng, budget);
    cost = result.cost;
    done += result.rounds;
    if (result.rounds < run.rounds) break;
    run.rounds += run.rounds / 4;
  }
  return done;
}

uint64_t AnnealPublished(Scheme* scheme, const FusionOptions& options, double cost,
                         Budget* budget) {
  Rng rng(options.seed);
  const AnnealOptions run = {
      options.rounds != 0 ? options.rounds : 100 * scheme->layers(), 0.1, 8, 0.9,
      options.last_rounds};
  return Anneal(State(scheme, options.solver), run, cost, &rng, budget).rounds;
}

// The saved scheme, scored, as the result.
void Take(Scheme* scheme, FusionResult* out) {
  scheme->Restore();
  out->score = scheme->Score(kAnnealRejected);
  out->notation = scheme->notation();
  out->dma = scheme->dma();
  out->list = scheme->list();
}

}  // namespace

Status SolveFusion(Arena* arena, const FusionProblem& problem, const TileModel& model,
                   const FusionOptions& options, Budget* budget, Diagnostic* diagnostic,
                   FusionResult* out) {
  const uint32_t n = static_cast<uint32_t>(problem.layers.size());
  const uint32_t max_tiles = options.max_tiles != 0 ? options.max_tiles : 16 * n + 2048;
  const uint32_t max_transfers =
      options.max_transfers != 0 ? options.max_transfers : 2 * max_tiles;
  TileMemo* memo =
      static_cast<TileMemo*>(arena->AllocateBytes(sizeof(TileMemo), alignof(TileMemo)));
  Scheme* scheme =
      static_cast<Scheme*>(arena->AllocateBytes(sizeof(Scheme), alignof(Scheme)));
  if (memo == nullptr || scheme == nullptr) return Status::kOutOfMemory;
  *memo = TileMemo();
  *scheme = Scheme();
  SLUICE_TRY(memo->Init(arena, model, 64 * n));
  SLUICE_TRY(
      scheme->Init(arena, &problem, memo, options.objective, max_tiles, max_transfers));
  out->rounds = 0;
  if (options.solver == kFusionOurs) {
    const uint64_t evaluations =
        options.construct_evaluations != 0
            ? options.construct_evaluations
            : Min<uint64_t>(kConstructEvaluations,
                            Max(kConstructFewest, kConstructLayers / n));
    SLUICE_TRY(Construct(scheme, evaluations, arena, budget, diagnostic, &out->score));
    if (options.anneal) {
      out->rounds = AnnealScheme(scheme, options, out->score.cost, budget);
    }
  } else {
    scheme->double_buffer = true;
    SLUICE_TRY(ConstructAlone(scheme, budget, diagnostic, &out->score));
    if (options.anneal) {
      out->rounds = AnnealPublished(scheme, options, out->score.cost, budget);
    }
  }
  out->scheme = scheme;
  Take(scheme, out);
  return Status::kOk;
}

Status Tighten(const FusionProblem& problem, Arena* arena, Budget* budget,
               Diagnostic* diagnostic, FusionResult* out) {
  Scheme* scheme = out->scheme;
  Take(scheme, out);
  if (out->score.cost < kAnnealRejected) return Status::kOk;
  scheme->target_bytes = problem.buffer_bytes;
  const uint64_t evaluations = 2 * problem.layers.size();
  SLUICE_TRY(Refit(scheme, evaluations, arena, budget, diagnostic, &out->score));
  Take(scheme, out);
  return Status::kOk;
}

}  // namespace sluice
