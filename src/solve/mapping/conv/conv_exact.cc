// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv/conv_exact.h"

#include "base/checked.h"
#include "base/sort.h"
#include "solve/mapping/conv/conv_exact_search.h"

namespace sluice {

namespace conv_exact {
namespace {

// Ties by tile, so that the order is unique.
bool Before(const Candidate& a, const Candidate& b) {
  if (a.least_pj != b.least_pj) return a.least_pj < b.least_pj;
  return a.tile != b.tile ? a.tile < b.tile : a.inner1 < b.inner1;
}

bool Divides(const RegisterTile& tile, const TopTile& top) {
  for (uint32_t d = 0; d < kDims; ++d) {
    if (tile.t0[d] == 1) continue;
    if (top.passes[d] < tile.t0[d] || top.passes[d] % tile.t0[d] != 0) return false;
  }
  return true;
}

// Lists register tiles and inner groups that could still win, even with the cheapest
// DRAM part.
Status ListCandidates(Search* search, const SpatialChoice& choice) {
  search->candidates.Truncate(0);
  PointCost least[kGroups];
  for (uint32_t g = 0; g < kGroups; ++g) {
    least[g] = PointCost{kUnbounded, 0, 0};
    for (const TopTile& top : search->tops) {
      least[g].energy_pj =
          Min(least[g].energy_pj, top.dram.energy_pj + top.again_pj[g]);
    }
  }
  for (size_t i = 0; i < search->registers.size(); ++i) {
    for (uint32_t g = 0; g < kGroups; ++g) {
      PointCost cost = least[g];
      cost.energy_pj += search->registers[i].least_pj[g];
      if (ObjectiveOf(search->space, choice, cost) >= search->limit) continue;
      SLUICE_TRY(search->candidates.Push(
          Candidate{search->registers[i].least_pj[g], static_cast<uint32_t>(i), g}));
    }
  }
  search->sorted = search->tops.size() > 8;  // else a few scans are cheaper
  if (search->sorted) {
    Sort(search->candidates.begin(), search->candidates.end(), Before);
  }
  return Status::kOk;
}

// Tries all candidates below one scratchpad tile.
void DescendTop(Search* search, size_t choice_index, const TopTile& top) {
  const SpatialChoice& choice = search->choices[choice_index];
  for (const Candidate& candidate : search->candidates) {
    const RegisterTile& tile = search->registers[candidate.tile];
    const uint32_t still = kStill[candidate.inner1];
    PointCost cost = top.dram;
    cost.energy_pj += candidate.least_pj;
    if (ObjectiveOf(search->space, choice, cost) >= search->limit) {
      if (search->sorted) break;
      continue;
    }
    cost.energy_pj += top.again_pj[candidate.inner1];
    if (ObjectiveOf(search->space, choice, cost) >= search->limit) continue;
    if (!Divides(tile, top)) continue;
    Point point;
    for (uint32_t d = 0; d < kDims; ++d) {
      point.t0[d] = tile.t0[d];
      point.t1[d] = top.passes[d] / tile.t0[d];
      point.t2[d] = choice.passes[d] / top.passes[d];
    }
    point.inner1 = candidate.inner1;
    point.inner2 = top.inner2;
    cost.energy_pj = top.dram.energy_pj;
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (!Has(search->space.problem, v)) continue;
      AddArrayCost(search->space, choice, point, v, v == still, &cost);
    }
    ++search->evaluated;
    const double objective = ObjectiveOf(search->space, choice, cost);
    if (objective >= search->best) continue;
    search->best = objective;
    search->limit = objective * (1 - search->space.constraints.gap);
    search->best_choice = choice_index;
    search->best_point = point;
  }
}

Status DescendTops(Search* search, size_t index) {
  SLUICE_TRY(ListCandidates(search, search->choices[index]));
  for (;;) {
    size_t next = search->tops.size();
    double least = search->limit;
    for (size_t i = 0; i < search->tops.size(); ++i) {
      if (search->tops[i].bound < least) {
        least = search->tops[i].bound;
        next = i;
      }
    }
    if (next == search->tops.size() || search->budget->Tick()) return Status::kOk;
    DescendTop(search, index, search->tops[next]);
    search->tops[next].bound = kUnbounded;
  }
}

Status SearchChoice(Search* search, size_t index) {
  const SpatialChoice choice = search->choices[index];
  search->registers.Truncate(0);
  search->tops.Truncate(0);
  for (uint32_t g = 0; g < kGroups; ++g) {
    search->least_array_pj[g] = search->least_array_bytes[g] = kUnbounded;
  }
  int64_t t0[kDims], passes[kDims], extent[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    t0[d] = passes[d] = 1;
    extent[d] = choice.spread[d];
    SLUICE_TRY(FindDivisors(search, choice.passes[d], &search->divisors[d]));
  }
  if (!TileFits(*search, 0, t0, 0)) return Status::kOk;
  for (uint32_t d = 0; d < kDims; ++d) {
    search->alone[d] = 1;
    for (const int64_t f : search->divisors[d]) {
      t0[d] = f;
      if (!TileFits(*search, 0, t0, 0)) break;
      search->alone[d] = f;
    }
    t0[d] = 1;
  }
  OrderTop(search);
  double array_pj[kGroups];
  LeastArrayPj(search->space, choice, search->divisors, array_pj);
  for (PointCost& least : search->least_dram) least = search->once_dram;
  if (LeastObjective(*search, choice, search->least_dram, array_pj) >= search->limit) {
    return Status::kOk;
  }
  if (search->space.dram && !search->cut_taps) {
    for (PointCost& least : search->least_dram) {
      least = PointCost{kUnbounded, kUnbounded, 0};
    }
    SLUICE_TRY(FindLeastTop(search, choice, passes, extent));
    if (search->least_dram[0].energy_pj == kUnbounded) return Status::kOk;
    if (LeastObjective(*search, choice, search->least_dram, array_pj) >=
        search->limit) {
      return Status::kOk;
    }
  }
  SLUICE_TRY(ListRegisterTiles(search, choice));
  if (LeastObjective(*search, choice, search->least_dram, search->least_array_pj) >=
      search->limit) {
    return Status::kOk;
  }
  bool fixed = !search->space.dram;
  for (uint32_t d = 0; d < kDims; ++d) {
    fixed |= search->space.constraints.top_tile[d] != 0;
  }
  if (search->best == kUnbounded && !fixed) {
    SLUICE_TRY(SeedTops(search, choice));
    SLUICE_TRY(DescendTops(search, index));
    search->tops.Truncate(0);
  }
  SLUICE_TRY(ListTopTiles(search, choice, passes, extent));
  return DescendTops(search, index);
}

// Cycles, operations and compulsory traffic.
void BoundChoices(Search* search) {
  const ConvSpace& space = search->space;
  search->least_input = LeastInputWords(space, kOneElement, space.problem.extent);
  search->once_dram = PointCost{};
  const DramSteps once = {search->cut_taps ? search->least_input : space.words[kInput],
                          {1, 1, 1, 1}};
  if (space.dram) AddDramCost(space, once, kGroupK, &search->once_dram);
  for (SpatialChoice& choice : search->choices) {
    double array_pj[kGroups];
    LeastArrayPj(space, choice, nullptr, array_pj);
    PointCost cost = search->once_dram;
    cost.energy_pj += array_pj[0];
    choice.bound = ObjectiveOf(space, choice, cost);
  }
}

Status SearchAll(Search* search, double* bound) {
  for (;;) {
    size_t next = search->choices.size();
    double least = search->limit;
    for (size_t i = 0; i < search->choices.size(); ++i) {
      if (search->choices[i].bound < least) {
        least = search->choices[i].bound;
        next = i;
      }
    }
    *bound = least;
    if (next == search->choices.size() || search->budget->Tick()) return Status::kOk;
    SLUICE_TRY(SearchChoice(search, next));
    if (search->budget->Tick()) return Status::kOk;
    search->choices[next].bound = kUnbounded;
  }
}

Status FailToFit(const Search& search, Diagnostic* diagnostic) {
  const MappingProblem& problem = search.space.problem;
  int64_t tile[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  uint32_t level = 0;
  if (TileFits(search, 0, tile, 0)) {
    level = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      const int64_t top = search.space.constraints.top_tile[d];
      if (top != 0) tile[d] = Min(top, problem.extent[d]);
      if (!search.space.dram) tile[d] = problem.extent[d];
    }
  }
  int64_t required = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v) || (level == 0 && !search.space.held[v])) continue;
    const bool whole = level == 1 && (search.space.constraints.resident >> v & 1) != 0;
    required +=
        TileWords(problem, v, whole ? problem.extent : tile) * InnerBytes(problem, v);
  }
  const int64_t available = search.space.hardware->levels[level].capacity_bytes;
  return Fail(diagnostic, Status::kInfeasible, "mapping")
      .Say("the smallest tile needs # bytes of level #, which has #", required, level,
           available)
      .Bytes(static_cast<uint64_t>(required), static_cast<uint64_t>(available));
}

}  // namespace
}  // namespace conv_exact

double MapObjective(const MapConstraints& constraints, double energy_pj,
                    double cycles) {
  double objective = 1;
  for (uint32_t i = 0; i < constraints.energy_exponent; ++i) objective *= energy_pj;
  for (uint32_t i = 0; i < constraints.delay_exponent; ++i) objective *= cycles;
  return objective;
}

namespace conv_exact {
namespace {

// A search with one choice of operands in the registers, for nests below `limit`.
struct Holding {
  uint32_t registers;
  double limit;
};

// The best nest whose registers hold just these operands, if one is below the limit.
// *bound: a lower bound on the nests of this kind. kInfeasible: not even one element
// fits.
Status SearchHolding(const NestRequest& request, const Holding& holding, Search* search,
                     double* bound, MappedNest* mapped, Diagnostic* diagnostic) {
  Budget* budget = search->budget;
  const double limit = holding.limit;
  SLUICE_TRY(MakeConvSpace(request, holding.registers, &search->space, diagnostic));
  PrepareFits(search);
  if (!TileFits(*search, 0, kOneElement, 0)) return FailToFit(*search, diagnostic);
  SLUICE_TRY(ListSpatialChoices(&search->space, &search->choices));
  search->best = search->limit = limit;
  search->evaluated = 0;
  for (int attempt = 0; attempt < 2 && search->best == limit; ++attempt) {
    search->cut_taps = attempt == 1;
    BoundChoices(search);
    SLUICE_TRY(SearchAll(search, bound));
    if (budget->Exhausted()) break;
  }
  mapped->evaluated += search->evaluated;
  mapped->proved = mapped->proved && !search->space.loose;
  if (search->best == limit) {
    return limit < kUnbounded || budget->Exhausted() ? Status::kOk
                                                     : FailToFit(*search, diagnostic);
  }
  mapped->objective = search->best;
  mapped->nest = NestOfPoint(search->space, search->choices[search->best_choice],
                             search->best_point);
  return Status::kOk;
}

// Sets of operands, largest first.
constexpr uint32_t kHoldings[] = {7, 3, 5, 6, 1, 2, 4, 0};

// Whether the registers may hold just these operands.
bool MayHold(const NestRequest& request, uint32_t registers, bool* whole) {
  const MemoryLevel& level = request.hardware.levels[0];
  const uint32_t may = level.may_hold & request.problem.operands;
  const uint32_t must = level.must_hold & request.problem.operands;
  *whole = (registers & may) == may;
  if (*whole) return registers == 7;
  return request.constraints.bypass && (registers & ~may) == 0 &&
         (must & ~registers) == 0;
}

// Searches every set of operands; *first: why the first, largest set did not fit.
Status SearchHoldings(const NestRequest& request, Budget* budget, Arena* arena,
                      MappedNest* mapped, Diagnostic* first, Diagnostic* diagnostic) {
  Status found = Status::kInfeasible;
  const double upper = mapped->objective;
  for (const uint32_t registers : kHoldings) {
    bool whole = false;
    if (!MayHold(request, registers, &whole)) continue;
    double bound = 0;
    const double limit = mapped->nest.levels == 0
                             ? upper
                             : mapped->objective * (1 - request.constraints.gap);
    Status status;
    {
      ArenaScope scope(arena);
      Search search(arena, budget);
      status = SearchHolding(request, {registers, limit}, &search, &bound, mapped,
                             whole ? first : diagnostic);
    }
    if (status == Status::kOk) {
      found = status;
      mapped->bound = Min(mapped->bound, bound);
    } else if (status != Status::kInfeasible) {
      if (whole) *diagnostic = *first;
      return status;
    }
    if (budget->Exhausted()) break;
  }
  if (found != Status::kOk) *diagnostic = *first;
  return found;
}

Status FailWithoutNest(bool limited, Diagnostic* diagnostic) {
  if (limited) {
    return Fail(diagnostic, Status::kInfeasible, "mapping")
        .Text("no nest is below the objective given");
  }
  return Fail(diagnostic, Status::kStopped, "mapping")
      .Text("a limit or a cancel ended the call before any nest was found");
}

}  // namespace
}  // namespace conv_exact

Status MapConvExact(const NestRequest& request, Budget* budget, Arena* arena,
                    MappedNest* mapped, Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const MapConstraints& constraints = request.constraints;
  using namespace conv_exact;
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  *mapped = MappedNest{};
  const double upper = constraints.upper > 0 ? constraints.upper : kUnbounded;
  mapped->objective = upper;
  mapped->bound = kUnbounded;
  mapped->proved = true;
  Diagnostic first;
  ClearDiagnostic(&first);
  SLUICE_TRY(SearchHoldings(request, budget, arena, mapped, &first, diagnostic));
  if (mapped->nest.levels == 0) {
    return FailWithoutNest(upper < kUnbounded && !budget->Exhausted(), diagnostic);
  }
  CostOptions options;
  options.resident = constraints.resident;
  SLUICE_TRY(EvaluateNest(problem, hardware, mapped->nest, options, &mapped->cost,
                          diagnostic));
  if (constraints.outer == nullptr) {
    mapped->objective = MapObjective(constraints, mapped->cost.energy_pj,
                                     static_cast<double>(mapped->cost.cycles));
  }
  mapped->bound = Min(mapped->bound, mapped->objective);
  mapped->proved = mapped->proved && !budget->Exhausted();
  return Status::kOk;
}

}  // namespace sluice
