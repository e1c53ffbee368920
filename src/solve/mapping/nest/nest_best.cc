// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_best.h"

#include "base/checked.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/nest/nest_exact.h"
#include "solve/mapping/nest/nest_limits.h"
#include "solve/mapping/nest/nest_scatter.h"
#include "solve/mapping/nest_search.h"

namespace sluice {
namespace {

constexpr double kRounding = 1e-12;  // of sums of a few parts

// A bound on the objective of every nest of the request.
double BoundOf(const NestRequest& request, const NestLimits& limits) {
  return Max(NestBound(request.problem, request.hardware, request.constraints),
             MapObjective(request.constraints, limits.energy_pj, limits.cycles));
}

// The best nest so far for one objective and one degree of freedom.
struct Choice {
  const NestRequest& request;
  Budget* budget;
  Arena* arena;
  MappedNest* best;         // levels 0: none yet
  Diagnostic first;         // why the first mapper that was asked had no nest
  Status failure;           // kOk: none has failed
  double space_bound = -1;  // of the exact mapper's space, where it was searched whole
};

// Of equal objectives the one with less energy, then fewer cycles.
bool IsBetter(double objective, const LayerCost& cost, const MappedNest& than) {
  if (than.nest.levels == 0) return true;
  if (objective != than.objective) return objective < than.objective;
  if (cost.energy_pj != than.cost.energy_pj) {
    return cost.energy_pj < than.cost.energy_pj;
  }
  return cost.cycles < than.cost.cycles;
}

void TakeBetter(const MapConstraints& constraints, const MappedNest& found,
                MappedNest* best) {
  best->evaluated += found.evaluated;
  const double objective = MapObjective(constraints, found.cost.energy_pj,
                                        static_cast<double>(found.cost.cycles));
  if (!IsBetter(objective, found.cost, *best)) return;
  best->nest = found.nest;
  best->cost = found.cost;
  best->objective = objective;
}

// Takes the nest that a mapper found, or remembers why it found none. A failure that
// lies in the problem's numbers replaces one that lies in what a mapper supports. Only
// lack of memory ends the call.
Status Take(Choice* choice, Status status, const MappedNest& found,
            const Diagnostic& why) {
  if (status == Status::kOutOfMemory) return status;
  if (status == Status::kOk) {
    TakeBetter(choice->request.constraints, found, choice->best);
    return status;
  }
  const bool tells_more =
      choice->failure == Status::kUnsupported && status != Status::kUnsupported;
  if (choice->failure == Status::kOk || tells_more) {
    choice->failure = status;
    choice->first = why;
  }
  return Status::kOk;
}

Status AskExact(Choice* choice, bool wide) {
  MappedNest found = {};
  Diagnostic why = {};
  MapConstraints constraints = choice->request.constraints;
  constraints.wide = wide;
  const Status status =
      MapConvExact({choice->request.problem, choice->request.hardware, constraints},
                   choice->budget, choice->arena, &found, &why);
  if (status == Status::kOk && found.proved &&
      wide == choice->request.constraints.wide) {
    choice->space_bound = found.bound;
  }
  return Take(choice, status, found, why);
}

Status AskGreedy(Choice* choice, Dataflow dataflow) {
  MappedNest found = {};
  Diagnostic why = {};
  KaplaOptions options;
  options.constraints = choice->request.constraints;
  options.dataflow = dataflow;
  const Status status =
      MapKaplaGreedy({choice->request.problem, choice->request.hardware, options},
                     choice->budget, &found, &why);
  return Take(choice, status, found, why);
}

Status AskSearch(Choice* choice) {
  MappedNest found = {};
  Diagnostic why = {};
  const NestRequest& request = choice->request;
  const Status status = SearchNest(request.problem, request.hardware,
                                   request.constraints, choice->budget, &found, &why);
  return Take(choice, status, found, why);
}

// The assignments of factors, with CoSA's weights and with the caller's. Neither depends on
// the objective or on bypassing, so one answer serves every run.
struct FactorNests {
  uint32_t count = 0;  // not asked yet
  MappedNest found[2];
  Status status[2];
  Diagnostic why[2];
};

bool AreEqual(const FactorObjective& a, const FactorObjective& b) {
  return a.utilisation == b.utilisation && a.compute == b.compute &&
         a.traffic == b.traffic && a.balance == b.balance;
}

void AskFactors(const NestRequest& request, const FactorObjective& factors,
                Budget* budget, Arena* arena, FactorNests* nests) {
  const FactorObjective asked[] = {FactorObjective{}, factors};
  nests->count = AreEqual(asked[0], asked[1]) ? 1 : 2;
  for (uint32_t i = 0; i < nests->count; ++i) {
    ClearDiagnostic(&nests->why[i]);
    nests->status[i] = MapFactorNest(request, asked[i], budget, arena, &nests->found[i],
                                     &nests->why[i]);
  }
}

// From the tiles that move least over the boundary of the outermost level. Apart from
// the other mappers' best nest, which may be better for another objective.
void AskTiles(const NestRequest& request, const NestLimits& limits, Budget* budget,
              MappedNest* best) {
  for (const least_traffic::LeastTile& tile : limits.tile) {
    if (tile.length[kDimK] == 0) continue;
    MappedNest found = {};
    const Status status =
        SearchFromTile(request, tile.length, tile.still, budget, &found);
    if (status == Status::kOk) TakeBetter(request.constraints, found, best);
  }
}

Status AskAll(Choice* choice, const FactorObjective& weights, FactorNests* factors) {
  SLUICE_TRY(AskExact(choice, true));
  SLUICE_TRY(AskExact(choice, false));
  SLUICE_TRY(AskGreedy(choice, Dataflow::kSystolic));
  SLUICE_TRY(AskGreedy(choice, Dataflow::kRowStationary));
  SLUICE_TRY(AskSearch(choice));
  if (factors->count == 0) {
    AskFactors(choice->request, weights, choice->budget, choice->arena, factors);
  }
  for (uint32_t i = 0; i < factors->count; ++i) {
    SLUICE_TRY(Take(choice, factors->status[i], factors->found[i], factors->why[i]));
  }
  if (choice->best->nest.levels != 0) {
    ImproveNest(choice->request, 4000, choice->budget, choice->best);
  }
  return Status::kOk;
}

// A bound on the objective of every nest, as free as the one found. limits: of nests
// that are as free as was asked for.
Status BoundEvery(const NestRequest& request, const MappedNest& found, Arena* arena,
                  NestLimits limits, double* bound) {
  MapConstraints constraints = request.constraints;
  const LoopNest empty = EmptyNest(request.hardware, request.problem);
  bool freer = false;
  for (uint32_t l = 0; l < found.nest.levels && !constraints.bypass; ++l) {
    freer =
        freer || ((found.nest.hold[l] ^ empty.hold[l]) & request.problem.operands) != 0;
  }
  const NestRequest free = {request.problem, request.hardware, constraints};
  if (freer) {
    constraints.bypass = true;
    SLUICE_TRY(LimitNests(free, arena, &limits));
  }
  *bound = BoundOf(free, limits);
  return Status::kOk;
}

bool Divides(const NestRequest& request, const LoopNest& nest) {
  int64_t covered[kDims];
  TileExtents(nest, static_cast<int>(nest.levels) - 1, covered);
  for (uint32_t d = 0; d < kDims; ++d) {
    if (covered[d] != request.problem.extent[d]) return false;
  }
  return true;
}

// Whether tiles of all lengths are few enough to try them.
bool IsSmall(const MappingProblem& problem) {
  constexpr double kMostTiles = 1500;
  double tiles = 1;
  for (const int64_t extent : problem.extent) {
    tiles *= 2 * static_cast<double>(extent) - 1;
  }
  return tiles <= kMostTiles;
}

// best: no nest of a space is better, and the nest is one of them. uneven: it is the space
// of all nests.
struct LevelProof {
  bool best, uneven;
};

// Looks for a better nest among all whose factors divide, and among all others if the
// problem is small.
Status AskLevels(const NestRequest& request, Budget* budget, Arena* arena,
                 MappedNest* mapped, LevelProof* proof) {
  constexpr NestSpace kSpaces[] = {NestSpace::kDividing, NestSpace::kRagged};
  for (const NestSpace space : kSpaces) {
    const bool ragged = space == NestSpace::kRagged;
    if (request.constraints.outer != nullptr || budget->Exhausted()) break;
    if (ragged && !IsSmall(request.problem)) break;
    MapConstraints constraints = request.constraints;
    constraints.upper = mapped->objective;
    MappedNest found = {};
    Diagnostic why = {};
    const Status status = MapNestExact({request.problem, request.hardware, constraints},
                                       space, budget, arena, &found, &why);
    if (status == Status::kOutOfMemory) return status;
    if (status != Status::kOk) continue;
    if (found.nest.levels != 0) TakeBetter(constraints, found, mapped);
    proof->best = found.proved && (ragged || Divides(request, mapped->nest));
    proof->uneven = ragged;
  }
  return Status::kOk;
}

// Whether no nest fits while every memory holds all operands that it may.
bool MustBypass(const NestRequest& request) {
  LoopNest nest = EmptyNest(request.hardware, request.problem);
  for (uint32_t d = 0; d < kDims; ++d) {
    nest.temporal[nest.levels - 1][d] = request.problem.extent[d];
  }
  Diagnostic ignored = {};
  return CheckNest(request.problem, request.hardware, nest, 0, &ignored) ==
         Status::kInfeasible;
}

// What one run found, for one objective and one degree of freedom. Runs are independent
// of each other, so that a run has the same answer in every call that makes it.
struct Run {
  MappedNest found;
  NestLimits limits;
  double space_bound;  // of the exact mapper's space; -1: not searched whole
  LevelProof levels;
  Status failure;
};

// What all runs of a call share.
struct Call {
  const FactorObjective& weights;
  Budget* budget;
  Arena* arena;
  FactorNests factors;
  bool met;  // no nest is better than one that is known
};

Status AskRun(const NestRequest& one, Call* call, Run* run, Diagnostic* why) {
  constexpr double kNear = 0.98;
  *run = Run{};
  const bool shared = one.constraints.outer != nullptr;
  if (!shared) SLUICE_TRY(LimitNests(one, call->arena, &run->limits));
  Choice choice = {one, call->budget, call->arena, &run->found, {}, Status::kOk};
  SLUICE_TRY(AskAll(&choice, call->weights, &call->factors));
  run->space_bound = choice.space_bound;
  run->failure = choice.failure;
  *why = choice.first;
  MappedNest other = {};
  AskTiles(one, run->limits, call->budget, &other);
  if (other.nest.levels != 0) TakeBetter(one.constraints, other, &run->found);
  MappedNest* found = &run->found;
  if (found->nest.levels == 0 || shared || call->met) return Status::kOk;
  const double bound = BoundOf(one, run->limits);
  if (found->objective * kNear > bound) {
    ScatterNests(one, call->budget, &other);
    if (other.nest.levels != 0) TakeBetter(one.constraints, other, found);
  }
  if (found->objective * (1 - kRounding) <= bound) return Status::kOk;
  return AskLevels(one, call->budget, call->arena, found, &run->levels);
}

// Whether no nest of any freedom is better than the one found: mappers may let operands
// bypass memories unasked.
Status MeetsEvery(const NestRequest& request, const Run& run, Arena* arena,
                  bool* meets) {
  const double least = run.found.objective * (1 - kRounding);
  *meets = request.constraints.outer == nullptr && run.found.nest.levels != 0 &&
           least <= BoundOf(request, run.limits);
  if (!*meets || request.constraints.bypass) return Status::kOk;
  MapConstraints freest = request.constraints;
  freest.bypass = true;
  const NestRequest every = {request.problem, request.hardware, freest};
  NestLimits limits = {};
  SLUICE_TRY(LimitNests(every, arena, &limits));
  *meets = least <= BoundOf(every, limits);
  return Status::kOk;
}

}  // namespace

Status MapBestNest(const NestRequest& request, const FactorObjective& factors,
                   Budget* budget, Arena* arena, BestNest* mapped,
                   Diagnostic* diagnostic) {
  MapConstraints own = request.constraints;
  SLUICE_TRY(CheckProblem(request.problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(request.hardware, diagnostic));
  own.bypass = own.bypass || MustBypass(request);
  const NestRequest mine = {request.problem, request.hardware, own};
  *mapped = BestNest{};
  mapped->bypasses = own.bypass;
  Run first = {};
  Diagnostic why = {};
  Call call = {factors, budget, arena, {}, false};
  for (int run = 0; run < 4; ++run) {
    MapConstraints constraints = own;
    if ((run & 1) != 0) constraints.bypass = false;
    if ((run & 2) != 0) constraints.energy_exponent = constraints.delay_exponent = 1;
    const bool bypass_known = (run & 1) != 0 && !own.bypass;
    const bool product_known =
        (run & 2) != 0 && own.energy_exponent == 1 && own.delay_exponent == 1;
    if (bypass_known || product_known) continue;
    if (mapped->nest.levels != 0 && budget->Exhausted()) break;
    const NestRequest one = {request.problem, request.hardware, constraints};
    Run now;
    SLUICE_TRY(AskRun(one, &call, &now, &why));
    if (run == 0) {
      first = now;
      SLUICE_TRY(MeetsEvery(one, first, arena, &call.met));
      *diagnostic = why;
    }
    if (now.found.nest.levels != 0) TakeBetter(own, now.found, mapped);
  }
  if (mapped->nest.levels == 0) return first.failure;
  ClearDiagnostic(diagnostic);
  double every = 0;
  SLUICE_TRY(BoundEvery(mine, *mapped, arena, first.limits, &every));
  // The exact mappers' proofs hold within their spaces: they are of no use if a nest from
  // outside is better.
  const double least = mapped->objective / (1 - kRounding);
  const bool by_levels = first.levels.best && least >= first.found.objective;
  const bool proved =
      (first.space_bound >= 0 && least >= first.space_bound) || by_levels;
  mapped->level_bound = by_levels ? mapped->objective : Min(every, mapped->objective);
  mapped->uneven = by_levels && first.levels.uneven;
  mapped->bound = proved ? mapped->objective : Min(every, mapped->objective);
  mapped->proved = proved || mapped->objective * (1 - kRounding) <= every;
  return Status::kOk;
}

}  // namespace sluice
