// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/fusion.h"

#include "base/checked.h"
#include "solve/fusion/construct.h"
#include "solve/fusion/stretch.h"

namespace sluice {
namespace {

// Schemes that construction may evaluate: kConstructLayers for all layers together, but
// at least kConstructFewest and at most kConstructEvaluations.
constexpr uint64_t kConstructEvaluations = 1000;
constexpr uint64_t kConstructFewest = 256;
constexpr uint64_t kConstructLayers = 80000;  // evaluations x layers
// Longer schemes are annealed in stretches, so that a round costs what those hold.
constexpr uint32_t kWholeLayers = 160;
constexpr uint32_t kStretch = 64;       // layers, before it is aligned to groups
constexpr uint32_t kStretchStep = 48;   // from one stretch to the next, which overlap
constexpr double kTemperature = 0.01;   // at the start, relative to the cost
constexpr uint32_t kFewestSpared = 48;  // layers, for blocks to be stamped (repeats.h)
// A stamped scheme that costs more than this times the cost in an unlimited buffer is
// rejected: blocks that must be tiled across their borders are better scheduled one by
// one.
constexpr double kFarFromIdeal = 1.1;

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
  state.keep = [](void* s) { KeepChanges(&static_cast<Scheme*>(s)->draft); };
  state.undo = [](void* s) { UndoChanges(&static_cast<Scheme*>(s)->draft); };
  state.save = [](void* s) { SaveDraft(&static_cast<Scheme*>(s)->draft); };
  state.restore = [](void* s) { RestoreDraft(&static_cast<Scheme*>(s)->draft); };
  return state;
}

// The scheme's share of the whole network's latency, to which its cost refers. A change
// of the scheme changes the cost by this share only, so the annealing temperature is
// scaled by it.
double ShareOf(const Scheme& scheme, const SchemeScore& score) {
  const double own = static_cast<double>(Max(score.latency_cycles, int64_t{1}));
  return own / (own + static_cast<double>(Max(scheme.rest.latency_cycles, int64_t{0})));
}

// Anneals in longer and longer runs, each from the best so far, up to a limit.
uint64_t AnnealScheme(Scheme* scheme, const FusionOptions& options,
                      const SchemeScore& score, Budget* budget) {
  Rng rng(options.seed);
  uint64_t done = 0;
  double cost = score.cost;
  AnnealOptions run = {50 * scheme->layers() + 500,
                       kTemperature * ShareOf(*scheme, score), 8, 0.9,
                       options.last_rounds};
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

// Annealing of a scheme stretch by stretch.
struct StretchAnneal {
  Scheme* whole;
  uint64_t last_rounds;
  Arena* arena;
  Budget* budget;
  SchemeScore* best;  // of the whole
  Rng rng;
  WindowIndex index;
  uint64_t done;  // rounds
};

// Anneals one stretch while the rest stays as it is. Keeps the result if it improves
// the whole, whose score is *best.
Status AnnealStretch(uint32_t at, uint64_t rounds, StretchAnneal* a) {
  Scheme* whole = a->whole;
  SchemeScore* best = a->best;
  ArenaScope scope(a->arena);
  uint32_t first = at;
  uint32_t last = Min(static_cast<uint32_t>(whole->layers()), at + kStretch);
  AlignToGroups(*whole, &first, &last);
  Stretch part;
  SLUICE_TRY(OpenStretch(*whole, first, last, &a->index, a->arena, &part));
  const SchemeScore score = part.scheme.Score(kAnnealRejected);
  if (score.cost >= kAnnealRejected) return Status::kOk;
  part.scheme.rest = RestOf(*whole, *best, part.scheme, score);
  const double share = ShareOf(part.scheme, score);
  const AnnealOptions run = {rounds, kTemperature * share, 8, 0.9, a->last_rounds};
  const AnnealResult result =
      Anneal(State(&part.scheme, kFusionOurs), run, best->cost, &a->rng, a->budget);
  a->done += result.rounds;
  if (result.cost >= best->cost) return Status::kOk;
  WriteBack(part, whole);
  const SchemeScore next = whole->Score(best->cost);
  if (next.cost < best->cost) {
    *best = next;
    KeepChanges(&whole->draft);
    SaveDraft(&whole->draft);
    return Status::kOk;
  }
  UndoChanges(&whole->draft);
  whole->Score(kAnnealRejected);  // its list is that of the scheme again
  return Status::kOk;
}

Status AnnealByStretches(Scheme* scheme, const FusionOptions& options, Arena* arena,
                         Budget* budget, SchemeScore* best, uint64_t* done) {
  ArenaScope scope(arena);
  StretchAnneal a = {scheme, options.last_rounds, arena, budget,
                     best,   Rng(options.seed),   {},    *done};
  SLUICE_TRY(a.index.Init(arena, scheme->problem()));
  const uint32_t n = static_cast<uint32_t>(scheme->layers());
  const uint32_t stretches = (n + kStretchStep - 1) / kStretchStep;
  *best = scheme->Score(kAnnealRejected);
  for (uint32_t turn = 0; !budget->Exhausted(); ++turn) {
    uint64_t rounds = 40 * kStretch + 500;
    if (options.rounds != 0) {
      if (a.done >= options.rounds) break;
      // Every stretch gets its turn, however few rounds there are.
      rounds = Min(rounds, Max(options.rounds / stretches, uint64_t{64}));
      rounds = Min(rounds, options.rounds - a.done);
    }
    // Every sweep has other borders.
    const uint32_t shift = turn / stretches * (kStretchStep / 3) % kStretchStep;
    const uint32_t at = turn % stretches * kStretchStep + shift;
    if (at >= n) continue;
    const uint64_t before = a.done;
    SLUICE_TRY(AnnealStretch(at, rounds, &a));
    if (a.done == before) a.done += rounds;  // nothing to do there
    *done = a.done;
  }
  return Status::kOk;
}

uint64_t AnnealPublished(Scheme* scheme, const FusionOptions& options, double cost,
                         Budget* budget) {
  Rng rng(options.seed);
  const AnnealOptions run = {
      options.rounds != 0 ? options.rounds : 100 * scheme->layers(), 0.1, 8, 0.9,
      options.last_rounds};
  return Anneal(State(scheme, options.solver), run, cost, &rng, budget).rounds;
}

Status AnnealOnly(Scheme* scheme, const FusionOptions& options, Arena* arena,
                  Budget* budget, SchemeScore* score, uint64_t* rounds) {
  if (scheme->layers() > kWholeLayers) {
    return AnnealByStretches(scheme, options, arena, budget, score, rounds);
  }
  *rounds = AnnealScheme(scheme, options, *score, budget);
  return Status::kOk;
}

// Loads the given scheme, with the list policy that suits it best; false when it does
// not fit.
bool LoadStart(const GroupNotation& start, Scheme* scheme, SchemeScore* score) {
  *score = SchemeScore();
  LoadDraft(&scheme->draft, start);
  for (uint32_t policy = 0; policy < kDmaPolicies; ++policy) {
    scheme->draft.policy = policy;
    const SchemeScore next = scheme->Score(kAnnealRejected);
    if (next.cost >= score->cost) continue;
    *score = next;
    SaveDraft(&scheme->draft);
  }
  RestoreDraft(&scheme->draft);
  return score->cost < kAnnealRejected;
}

uint64_t EvaluationsOf(const FusionOptions& options, uint64_t layers) {
  if (options.construct_evaluations != 0) return options.construct_evaluations;
  return Min(kConstructEvaluations, Max(kConstructFewest, kConstructLayers / layers));
}

// Construction, and annealing when asked for.
Status ConstructAndAnneal(Scheme* scheme, const FusionOptions& options,
                          const Workspace& work, SchemeScore* score, uint64_t* rounds) {
  Arena* arena = work.arena;
  Budget* budget = work.budget;
  const uint64_t n = scheme->layers();
  if (options.start != nullptr && options.touched.empty()) {
    // Takes the given start as it is; if it does not fit, constructs a scheme instead.
    if (LoadStart(*options.start, scheme, score)) {
      if (!options.anneal) return Status::kOk;
      if (options.sweep) {
        Budget part = budget->Part(options.sweep_percent);
        SLUICE_TRY(Refit(scheme, EvaluationsOf(options, n), false,
                         Workspace{&part, arena, work.diagnostic}, score));
        budget->Join(part);
      }
      return AnnealOnly(scheme, options, arena, budget, score, rounds);
    }
  } else if (options.start != nullptr) {
    LoadDraft(&scheme->draft, *options.start);
    SLUICE_TRY(
        Rework(scheme, options.touched, options.construct_evaluations, work, score));
    if (!options.anneal) return Status::kOk;
    return AnnealOnly(scheme, options, arena, budget, score, rounds);
  }
  SLUICE_TRY(Construct(scheme, EvaluationsOf(options, n), !options.quick, work, score));
  if (!options.anneal) return Status::kOk;
  return AnnealOnly(scheme, options, arena, budget, score, rounds);
}

// Solves the network with its repeated blocks shortened and stamps the result over the
// whole; *done is false when few layers are saved or the stamped scheme does not fit.
Status SolveRepeated(Scheme* whole, const FusionOptions& options, Arena* arena,
                     Budget* budget, FusionResult* out, bool* done) {
  ArenaScope scope(arena);
  *done = false;
  SLUICE_TRY(FindRepeats(whole->problem(), arena, &out->repeats));
  const Repeats& repeats = out->repeats;
  const SchemeScore endless = whole->Bound();  // in an unlimited buffer
  const double ideal = endless.cost;
  if (repeats.spared < kFewestSpared) return Status::kOk;
  ShortNetwork network;
  TileMemo memo;
  Scheme scheme;
  SLUICE_TRY(Shorten(whole->problem(), whole->memo(), repeats, arena, &network));
  const uint32_t n = static_cast<uint32_t>(network.window.layer.size());
  const uint32_t tiles = 16 * n + 2048;
  SLUICE_TRY(memo.Init(arena, network.window.model, size_t{64} * n));
  SLUICE_TRY(scheme.Init(arena, &network.window.problem, &memo, options.objective,
                         tiles, 2 * tiles));
  scheme.segment = network.segment;
  scheme.rest = RestOf(*whole, endless, scheme, scheme.Bound());
  SchemeScore score;
  Diagnostic ignored = {};
  GroupNotation stamped;
  SLUICE_TRY(arena->Allocate(whole->layers(), &stamped.order));
  SLUICE_TRY(arena->Allocate(whole->layers(), &stamped.cut));
  SLUICE_TRY(arena->Allocate(whole->layers(), &stamped.tiles));
  const auto stamp = [&](double limit) {
    RestoreDraft(&scheme.draft);
    Stamp(network, repeats, scheme.notation(), &stamped);
    whole->draft.policy = scheme.draft.policy;
    LoadDraft(&whole->draft, stamped);
    const SchemeScore next = whole->Score(limit);
    if (next.cost > limit) return false;
    out->score = next;
    SaveDraft(&whole->draft);
    return true;
  };
  FusionOptions construct = options;
  construct.anneal = false;
  Budget part = options.quick ? budget->Part(options.sweep_percent) : *budget;
  Status status = ConstructAndAnneal(
      &scheme, construct, Workspace{&part, arena, &ignored}, &score, &out->rounds);
  if (options.quick) {
    budget->Join(part);
  } else {
    *budget = part;
  }
  if (status == Status::kOutOfMemory) return status;
  *done = status == Status::kOk && stamp(kFarFromIdeal * ideal);
  if (!*done || !options.anneal) return Status::kOk;
  SLUICE_TRY(AnnealOnly(&scheme, options, arena, budget, &score, &out->rounds));
  stamp(out->score.cost);
  return Status::kOk;
}

// How many tiles a search that starts from this scheme may use.
uint32_t RoomFor(const GroupNotation& start, uint64_t times, uint64_t more) {
  const uint64_t most = 16 * uint64_t{start.order.size()} + 2048;
  uint64_t tiles = 0;
  uint64_t now = 1;
  for (size_t i = 0; i < start.order.size(); ++i) {
    if (start.cut[i] != kCutNone) now = static_cast<uint64_t>(start.tiles[i]);
    tiles += now;
  }
  return static_cast<uint32_t>(Min(most, times * tiles + more));
}

// The most tiles of a scheme: more if the buffer holds less of the problem.
uint32_t MostTiles(const FusionProblem& problem) {
  const uint64_t n = problem.layers.size();
  const uint64_t quarter =
      static_cast<uint64_t>(Max<int64_t>(problem.buffer_bytes / 4, 1));
  uint64_t parts = n;
  for (const FusionLayer& layer : problem.layers) {
    uint64_t bytes = layer.element_bytes;
    for (const int32_t e : layer.extent) bytes *= static_cast<uint64_t>(e);
    bytes += static_cast<uint64_t>(layer.weight_bytes);
    parts += Min<uint64_t>(bytes / quarter, 16);
  }
  return static_cast<uint32_t>(Min(16 * n + 2048, 8 * parts + 512));
}

// Scores the saved scheme and makes it the result.
void Take(Scheme* scheme, FusionResult* out) {
  RestoreDraft(&scheme->draft);
  out->score = scheme->Score(kAnnealRejected);
  out->notation = scheme->notation();
  out->dma = scheme->dma();
  out->list = scheme->list();
}

}  // namespace

Status SolveFusion(const FusionProblem& problem, const TileModel& model,
                   const FusionOptions& options, const Workspace& work,
                   FusionResult* out) {
  Arena* arena = work.arena;
  const uint32_t n = static_cast<uint32_t>(problem.layers.size());
  const bool rework = !options.touched.empty();
  const bool as_is = options.list_transfers != 0;
  const uint32_t max_tiles = options.max_tiles != 0 ? options.max_tiles
                             : as_is                ? RoomFor(*options.start, 1, 0)
                             : rework               ? RoomFor(*options.start, 2, 512)
                                                    : MostTiles(problem);
  const uint32_t max_transfers = options.max_transfers != 0 ? options.max_transfers
                                 : as_is                    ? options.list_transfers
                                                            : 2 * max_tiles;
  TileMemo* memo =
      static_cast<TileMemo*>(arena->AllocateBytes(sizeof(TileMemo), alignof(TileMemo)));
  Scheme* scheme =
      static_cast<Scheme*>(arena->AllocateBytes(sizeof(Scheme), alignof(Scheme)));
  if (memo == nullptr || scheme == nullptr) return Status::kOutOfMemory;
  *memo = TileMemo();
  *scheme = Scheme();
  SLUICE_TRY(memo->Init(arena, model, rework ? 16 * n : 64 * n));
  SLUICE_TRY(
      scheme->Init(arena, &problem, memo, options.objective, max_tiles, max_transfers));
  out->rounds = 0;
  out->repeats = Repeats();
  if (as_is) {
    LoadDraft(&scheme->draft, *options.start);
    out->score = scheme->Bound();
    out->notation = scheme->notation();
    out->list = scheme->list();
    return out->score.parsed == ParseResult::kOk ? Status::kOk : Status::kInfeasible;
  }
  if (options.solver == kFusionOurs) {
    bool done = false;
    if (options.start == nullptr) {
      SLUICE_TRY(SolveRepeated(scheme, options, arena, work.budget, out, &done));
    }
    if (!done) {
      out->repeats = Repeats();
      out->rounds = 0;
      SLUICE_TRY(ConstructAndAnneal(scheme, options, work, &out->score, &out->rounds));
    }
  } else {
    scheme->double_buffer = true;
    SLUICE_TRY(ConstructAlone(scheme, work.budget, work.diagnostic, &out->score));
    if (options.anneal) {
      out->rounds = AnnealPublished(scheme, options, out->score.cost, work.budget);
    }
  }
  out->scheme = scheme;
  Take(scheme, out);
  return Status::kOk;
}

Status Tighten(const FusionProblem& problem, const Workspace& work, FusionResult* out) {
  Scheme* scheme = out->scheme;
  Take(scheme, out);
  if (out->score.cost < kAnnealRejected) return Status::kOk;
  scheme->target_bytes = problem.buffer_bytes;
  const uint64_t evaluations = 2 * problem.layers.size();
  SLUICE_TRY(Refit(scheme, evaluations, true, work, &out->score));
  Take(scheme, out);
  return Status::kOk;
}

}  // namespace sluice
