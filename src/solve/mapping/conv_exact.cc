// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv_exact.h"

#include "base/checked.h"
#include "solve/mapping/conv_exact_space.h"

namespace sluice {

namespace {

// A way to fill the registers. Array costs by operand: moving with every step, and the
// least while it stands still.
struct RegisterTile {
  int64_t t0[kDims];
  double pj[kOperands];
  double still_pj[kOperands];
  double bytes[kOperands];
  double still_bytes[kOperands];
};

// A way to fill the scratchpad, and the group innermost above it.
struct TopTile {
  int64_t passes[kDims];  // below DRAM: t0 * t1
  uint32_t inner2;
  PointCost dram;
  double bound;
};

struct DivisorList {
  int64_t number;
  Span<const int64_t> divisors;
};

struct Search {
  Search(Arena* a, Budget* b)
      : arena(a), budget(b), lists(a), choices(a), registers(a), tops(a) {}
  ConvSpace space;
  Arena* arena;
  Budget* budget;
  Vector<DivisorList> lists;            // of every pass count met
  Span<const int64_t> divisors[kDims];  // of the choice's passes
  Vector<SpatialChoice> choices;
  Vector<RegisterTile> registers;
  Vector<TopTile> tops;
  double least_array_pj[kGroups];  // over all register tiles of the choice, by inner1
  double least_array_bytes[kGroups];
  bool cut_taps;  // filters may be cut above the scratchpad
  double best;
  size_t best_choice;
  Point best_point;
  int64_t evaluated;
};

constexpr double kUnbounded = 1e300;
constexpr uint32_t kTileDims[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimR, kDimS};
constexpr int kTileDimCount = 7;

Status FindDivisors(Search* search, int64_t number, Span<const int64_t>* out) {
  for (const DivisorList& list : search->lists) {
    if (list.number == number) {
      *out = list.divisors;
      return Status::kOk;
    }
  }
  Vector<int64_t> found(search->arena);
  SLUICE_TRY(ListDivisors(number, &found));
  *out = found.span();
  return search->lists.Push(DivisorList{number, *out});
}

bool TileFits(const Search& search, uint32_t level, const int64_t extent[kDims],
              uint32_t resident) {
  const MappingProblem& problem = search.space.problem;
  const MemoryLevel& memory = search.space.hardware->levels[level];
  int64_t clipped[kDims], bytes[kOperands] = {};
  for (uint32_t d = 0; d < kDims; ++d) clipped[d] = Min(extent[d], problem.extent[d]);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v) || (level == 0 && !search.space.held[v])) continue;
    const bool whole = level == 1 && (resident >> v & 1) != 0;
    const int64_t words = TileWords(problem, v, whole ? problem.extent : clipped);
    if (!CheckedMultiply(words, InnerBytes(problem, v), &bytes[v])) return false;
  }
  return FitsLevel(memory, bytes);
}

Status PushRegisterTile(Search* search, const SpatialChoice& choice,
                        const int64_t t0[kDims]) {
  RegisterTile tile = {};
  Point point = {};
  for (uint32_t d = 0; d < kDims; ++d) {
    tile.t0[d] = point.t0[d] = t0[d];
    point.t1[d] = choice.passes[d] / t0[d];
    point.t2[d] = 1;
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(search->space.problem, v)) continue;
    PointCost moving = {}, still = {};
    point.inner1 = kMovesNot[v];
    point.inner2 = kMovesNot[v];
    AddArrayCost(search->space, choice, point, v, false, &moving);
    AddArrayCost(search->space, choice, point, v, true, &still);
    tile.pj[v] = moving.energy_pj;
    tile.bytes[v] = moving.scratchpad_bytes;
    tile.still_pj[v] = still.energy_pj;
    tile.still_bytes[v] = still.scratchpad_bytes;
  }
  for (uint32_t g = 0; g < kGroups; ++g) {
    double pj = 0, bytes = 0;
    for (uint32_t v = 0; v < kOperands; ++v) {
      pj += v == kStill[g] ? tile.still_pj[v] : tile.pj[v];
      bytes += v == kStill[g] ? tile.still_bytes[v] : tile.bytes[v];
    }
    search->least_array_pj[g] = Min(search->least_array_pj[g], pj);
    search->least_array_bytes[g] = Min(search->least_array_bytes[g], bytes);
  }
  return search->registers.Push(tile);
}

Status ListRegisterTiles(Search* search, const SpatialChoice& choice, int i,
                         int64_t t0[kDims]) {
  if (i == kTileDimCount) return PushRegisterTile(search, choice, t0);
  const uint32_t d = kTileDims[i];
  const int64_t passes = choice.passes[d];
  const bool taps = d == kDimR || d == kDimS;
  for (const int64_t f : search->divisors[d]) {
    if (taps && f != 1 && f != passes) continue;
    t0[d] = f;
    if (!TileFits(*search, 0, t0, 0)) break;  // larger ones do not fit either
    SLUICE_TRY(ListRegisterTiles(search, choice, i + 1, t0));
  }
  t0[d] = 1;
  return Status::kOk;
}

// Lower bound of the objective with this DRAM part and the cheapest array part.
double TopBound(const Search& search, const SpatialChoice& choice,
                const PointCost& dram) {
  double pj = kUnbounded, bytes = kUnbounded;
  for (uint32_t g = 0; g < kGroups; ++g) {
    pj = Min(pj, search.least_array_pj[g]);
    bytes = Min(bytes, search.least_array_bytes[g]);
  }
  PointCost cost = dram;
  cost.energy_pj += pj;
  cost.scratchpad_bytes += bytes;
  return ObjectiveOf(search.space, choice, cost);
}

Status PushTopTiles(Search* search, const SpatialChoice& choice,
                    const int64_t passes[kDims], const int64_t extent[kDims]) {
  TopTile tile = {};
  int64_t t2[kDims];
  double steps[kGroups + 1] = {1, 1, 1, 1};
  for (uint32_t d = 0; d < kDims; ++d) {
    tile.passes[d] = passes[d];
    t2[d] = choice.passes[d] / passes[d];
    steps[kGroupOf[d]] *= static_cast<double>(t2[d]);
  }
  bool tried = false;
  for (uint32_t g = 0; g < kGroups; ++g) {
    // Without steps, any group is as good as the others.
    if (steps[g] == 1 && (tried || g + 1 < kGroups)) continue;
    tried = true;
    tile.inner2 = g;
    tile.dram = PointCost{};
    if (search->space.dram) AddDramCost(search->space, extent, t2, g, &tile.dram);
    tile.bound = TopBound(*search, choice, tile.dram);
    if (tile.bound < search->best) SLUICE_TRY(search->tops.Push(tile));
  }
  return Status::kOk;
}

Status ListTopTiles(Search* search, const SpatialChoice& choice, int i,
                    int64_t passes[kDims], int64_t extent[kDims]) {
  const ConvSpace& space = search->space;
  if (i == kTileDimCount) return PushTopTiles(search, choice, passes, extent);
  const uint32_t d = kTileDims[i];
  const int64_t all = choice.passes[d];
  const int64_t top = space.constraints.top_tile[d];
  const bool taps = d == kDimR || d == kDimS;
  for (const int64_t f : search->divisors[d]) {
    if (taps && f != all && !search->cut_taps && top == 0) continue;
    if (!space.dram && f != all) continue;
    extent[d] = f * choice.spread[d];
    if (top != 0 &&
        Min(extent[d], space.problem.extent[d]) != Min(top, space.problem.extent[d])) {
      continue;
    }
    passes[d] = f;
    if (!TileFits(*search, 1, extent, space.constraints.resident)) break;
    SLUICE_TRY(ListTopTiles(search, choice, i + 1, passes, extent));
  }
  passes[d] = 1;
  extent[d] = choice.spread[d];
  return Status::kOk;
}

bool Divides(const RegisterTile& tile, const TopTile& top) {
  for (uint32_t d = 0; d < kDims; ++d) {
    if (top.passes[d] % tile.t0[d] != 0) return false;
  }
  return true;
}

// All register tiles and inner groups below one scratchpad tile.
void DescendTop(Search* search, size_t choice_index, const TopTile& top) {
  const SpatialChoice& choice = search->choices[choice_index];
  for (uint32_t g = 0; g < kGroups; ++g) {
    const uint32_t still = kStill[g];
    for (const RegisterTile& tile : search->registers) {
      PointCost cost = top.dram;
      for (uint32_t v = 0; v < kOperands; ++v) {
        cost.energy_pj += v == still ? tile.still_pj[v] : tile.pj[v];
        cost.scratchpad_bytes += v == still ? tile.still_bytes[v] : tile.bytes[v];
      }
      if (ObjectiveOf(search->space, choice, cost) >= search->best) continue;
      if (!Divides(tile, top)) continue;
      Point point;
      for (uint32_t d = 0; d < kDims; ++d) {
        point.t0[d] = tile.t0[d];
        point.t1[d] = top.passes[d] / tile.t0[d];
        point.t2[d] = choice.passes[d] / top.passes[d];
      }
      point.inner1 = g;
      point.inner2 = top.inner2;
      if (Has(search->space.problem, still)) {
        cost.energy_pj -= tile.still_pj[still];
        cost.scratchpad_bytes -= tile.still_bytes[still];
        AddArrayCost(search->space, choice, point, still, true, &cost);
      }
      ++search->evaluated;
      const double objective = ObjectiveOf(search->space, choice, cost);
      if (objective >= search->best) continue;
      search->best = objective;
      search->best_choice = choice_index;
      search->best_point = point;
    }
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
  SLUICE_TRY(ListRegisterTiles(search, choice, 0, t0));
  if (search->registers.size() == 0) return Status::kOk;
  SLUICE_TRY(ListTopTiles(search, choice, 0, passes, extent));
  for (;;) {
    size_t next = search->tops.size();
    double least = search->best;
    for (size_t i = 0; i < search->tops.size(); ++i) {
      if (search->tops[i].bound < least) {
        least = search->tops[i].bound;
        next = i;
      }
    }
    if (next == search->tops.size() || search->budget->Exhausted()) return Status::kOk;
    DescendTop(search, index, search->tops[next]);
    search->tops[next].bound = kUnbounded;
  }
}

// Cycles, operations and compulsory traffic.
void BoundChoices(Search* search) {
  const ConvSpace& space = search->space;
  PointCost least = {};
  const int64_t one[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (space.dram) AddDramCost(space, space.problem.extent, one, kGroupK, &least);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v)) continue;
    least.energy_pj +=
        space.words[v] * (v == kOutput ? space.word.write1[v] : space.word.read1[v]);
  }
  for (SpatialChoice& choice : search->choices) {
    choice.bound = ObjectiveOf(space, choice, least);
    if (space.held[kOutput]) {
      // Every unit's first update of a sum reads nothing; at most one per operation.
      double most = space.words[kOutput];
      for (uint32_t d = 0; d < kDims; ++d) {
        if (kGroupOf[d] == kGroupSum) most *= static_cast<double>(choice.spread[d]);
      }
      PointCost less = least;
      less.energy_pj -= most * space.word.mac_read[kOutput];
      choice.bound = ObjectiveOf(space, choice, less);
    }
  }
}

Status SearchAll(Search* search, double* bound) {
  for (;;) {
    size_t next = search->choices.size();
    double least = search->best;
    size_t kept = 0;
    for (size_t i = 0; i < search->choices.size(); ++i) {
      if (search->choices[i].bound >= search->best) continue;
      if (search->choices[i].bound < least) {
        least = search->choices[i].bound;
        next = i;
      }
      ++kept;
    }
    *bound = least;
    if (next == search->choices.size() || search->budget->Exhausted())
      return Status::kOk;
    SLUICE_TRY(SearchChoice(search, next));
    if (search->budget->Exhausted()) return Status::kOk;
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
      .Text("the smallest tile needs ")
      .Number(required)
      .Text(" bytes of level ")
      .Number(level)
      .Text(", which has ")
      .Number(available)
      .Bytes(static_cast<uint64_t>(required), static_cast<uint64_t>(available));
}

}  // namespace

double Objective(const MapConstraints& constraints, double energy_pj, double cycles) {
  double objective = 1;
  for (uint32_t i = 0; i < constraints.energy_exponent; ++i) objective *= energy_pj;
  for (uint32_t i = 0; i < constraints.delay_exponent; ++i) objective *= cycles;
  return objective;
}

Status MapConvExact(const MappingProblem& problem, const Hardware& hardware,
                    const MapConstraints& constraints, Budget* budget, Arena* arena,
                    MappedNest* mapped, Diagnostic* diagnostic) {
  ArenaScope scope(arena);
  Search search(arena, budget);
  SLUICE_TRY(MakeConvSpace(problem, hardware, constraints, &search.space, diagnostic));
  SLUICE_TRY(ListSpatialChoices(search.space, &search.choices));
  search.best = kUnbounded;
  search.evaluated = 0;
  double bound = 0;
  for (int attempt = 0; attempt < 2 && search.best == kUnbounded; ++attempt) {
    search.cut_taps = attempt == 1;
    BoundChoices(&search);
    SLUICE_TRY(SearchAll(&search, &bound));
    if (budget->Exhausted()) break;
  }
  if (search.best == kUnbounded) {
    if (budget->Exhausted()) {
      return Fail(diagnostic, Status::kStopped, "mapping")
          .Text("the budget ended before any nest was found");
    }
    return FailToFit(search, diagnostic);
  }
  mapped->nest =
      NestOfPoint(search.space, search.choices[search.best_choice], search.best_point);
  CostOptions options;
  options.resident = constraints.resident;
  SLUICE_TRY(EvaluateNest(problem, hardware, mapped->nest, options, &mapped->cost,
                          diagnostic));
  mapped->objective = Objective(constraints, mapped->cost.energy_pj,
                                static_cast<double>(mapped->cost.cycles));
  mapped->bound = Min(bound, mapped->objective);
  mapped->proved = !budget->Exhausted() && !search.space.loose;
  mapped->evaluated = search.evaluated;
  return Status::kOk;
}

}  // namespace sluice
