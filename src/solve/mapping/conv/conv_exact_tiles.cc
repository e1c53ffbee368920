// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "solve/mapping/conv/conv_exact_search.h"

namespace sluice::conv_exact {

namespace {

// Products over the dims of each group, extended dim by dim.
struct Steps {
  double all[kGroups + 1];    // passes above the register tile
  double tiles[kGroups + 1];  // register tiles
  double first[kGroups + 1];  // units side by side
  double inner[kGroups + 1];  // passes inside the register tile
};

void Extend(Steps* steps, const SpatialChoice& choice, int64_t extent, uint32_t d,
            int64_t t0) {
  const uint32_t g = kGroupOf[d];
  const int64_t tiles = Quotient(extent, t0);
  steps->all[g] *= static_cast<double>(Quotient(choice.passes[d], t0));
  steps->tiles[g] *= static_cast<double>(tiles);
  steps->first[g] *= static_cast<double>(Min(choice.spread[d], tiles));
  steps->inner[g] *= static_cast<double>(t0);
}

// Array costs by operand: moved with every step, and the least while stationary.
struct ArrayCost {
  double pj[kOperands];
  double still_pj[kOperands];
  double bytes[kOperands];
  double still_bytes[kOperands];
};

// The same numbers as AddArrayCost with all passes at the array (moving) or with one
// visit (still), from the products.
// With `smallest`, a bound for all tiles between it and t0.
void CostRegisterTile(const ConvSpace& space, const SpatialChoice& choice,
                      const Steps& steps, const int64_t t0[kDims],
                      const int64_t* smallest, ArrayCost* tile) {
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v)) continue;
    const uint32_t g = kMovesNot[v];
    const bool held = space.held[v];
    double group = space.words[v], units = space.words[v];
    if (v == kInput) {
      int64_t united[kDims], low[kDims];
      for (uint32_t d = 0; d < kDims; ++d) {
        united[d] =
            held ? t0[d] * choice.spread[d] : (t0[d] > 1 ? 1 : choice.spread[d]);
        low[d] = smallest == nullptr ? united[d] : smallest[d] * choice.spread[d];
        if (!held && smallest != nullptr) low[d] = 1;
      }
      group = LeastInputWords(space, low, united);
      units =
          held ? LeastInputWords(space, smallest == nullptr ? t0 : smallest, t0) : 0;
    }
    const double moving_visits = held ? steps.all[g] : steps.all[g] * steps.inner[g];
    const double still_visits = held ? 1 : moving_visits;
    const double fill = held ? space.word.fill0[v] : 0;
    const double bytes = static_cast<double>(InnerBytes(space.problem, v));
    const double read = space.word.read1[v];
    if (v != kOutput) {
      tile->pj[v] = group * moving_visits * read + units * steps.tiles[g] * fill;
      tile->still_pj[v] = group * still_visits * read + units * steps.first[g] * fill;
      tile->bytes[v] = group * moving_visits * bytes;
      tile->still_bytes[v] = group * still_visits * bytes;
      continue;
    }
    const double write = space.word.write1[v];
    const double base = held ? units * steps.first[g] * space.word.mac_read[v] : 0;
    tile->pj[v] = group * (moving_visits * write + (moving_visits - 1) * read) +
                  units * (steps.tiles[g] - steps.first[g]) * fill - base;
    tile->still_pj[v] =
        group * (still_visits * write + (still_visits - 1) * read) - base;
    tile->bytes[v] = group * (2 * moving_visits - 1) * bytes;
    tile->still_bytes[v] = group * (2 * still_visits - 1) * bytes;
  }
}

Status PushRegisterTile(Search* search, const SpatialChoice& choice, const Steps& steps,
                        const int64_t t0[kDims]) {
  RegisterTile tile = {};
  ArrayCost cost = {};
  for (uint32_t d = 0; d < kDims; ++d) tile.t0[d] = static_cast<int32_t>(t0[d]);
  CostRegisterTile(search->space, choice, steps, t0, nullptr, &cost);
  for (uint32_t g = 0; g < kGroups; ++g) {
    double pj = 0, bytes = 0;
    for (uint32_t v = 0; v < kOperands; ++v) {
      pj += v == kStill[g] ? cost.still_pj[v] : cost.pj[v];
      bytes += v == kStill[g] ? cost.still_bytes[v] : cost.bytes[v];
    }
    tile.least_pj[g] = pj;
    search->least_array_pj[g] = Min(search->least_array_pj[g], pj);
    search->least_array_bytes[g] = Min(search->least_array_bytes[g], bytes);
  }
  return search->registers.Push(tile);
}

// True when no tile with these first i dims can win. The other dims get the largest
// factor that fits alone, which only lowers traffic; most updates are counted as first
// ones.
bool Hopeless(const Search& search, const SpatialChoice& choice, int i,
              const Steps& steps, const int64_t t0[kDims]) {
  if (search.limit >= kUnbounded) return false;
  int64_t most[kDims];
  Steps more = steps;
  for (uint32_t d = 0; d < kDims; ++d) most[d] = t0[d];
  for (int j = i; j < kTileDimCount; ++j) {
    const uint32_t d = kTileDims[j];
    most[d] = search.alone[d];
    Extend(&more, choice, search.space.problem.extent[d], d, most[d]);
  }
  double spread = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] == kGroupSum) spread *= static_cast<double>(choice.spread[d]);
  }
  more.first[kGroupSum] = spread;
  ArrayCost tile = {};
  CostRegisterTile(search.space, choice, more, most, t0, &tile);
  for (uint32_t g = 0; g < kGroups; ++g) {
    PointCost cost = search.least_dram[g];
    for (uint32_t v = 0; v < kOperands; ++v) {
      cost.energy_pj += v == kStill[g] ? tile.still_pj[v] : tile.pj[v];
      cost.scratchpad_bytes += v == kStill[g] ? tile.still_bytes[v] : tile.bytes[v];
    }
    if (ObjectiveOf(search.space, choice, cost) < search.limit) return false;
  }
  return true;
}

Status ExtendRegisterTile(Search* search, const SpatialChoice& choice, int i,
                          const Steps& steps, int64_t t0[kDims]) {
  if (search->budget->Tick()) return Status::kOk;
  if (i >= 1 && i <= 5 && Hopeless(*search, choice, i, steps, t0)) return Status::kOk;
  if (i == kTileDimCount) return PushRegisterTile(search, choice, steps, t0);
  const uint32_t d = kTileDims[i];
  const int64_t passes = choice.passes[d];
  const bool taps = d == kDimR || d == kDimS;
  for (const int64_t f : search->divisors[d]) {
    if (taps && f != 1 && f != passes) continue;
    t0[d] = f;
    if (f > INT32_MAX || (f > 1 && !TileFits(*search, 0, t0, 0))) break;
    Steps more = steps;
    Extend(&more, choice, search->space.problem.extent[d], d, f);
    SLUICE_TRY(ExtendRegisterTile(search, choice, i + 1, more, t0));
  }
  t0[d] = 1;
  return Status::kOk;
}

// Can the loops of a group continue into DRAM's, above an array that loops over nothing
// else? Leaves out the last dim of the tile order, so that the answer holds for all its
// sizes.
bool MayCross(const Search& search, const int64_t passes[kDims], uint32_t group) {
  int64_t t0[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i + 1 < kTileDimCount; ++i) {
    const uint32_t d = search.top_order[i];
    if (kGroupOf[d] != group) t0[d] = passes[d];
  }
  return TileFits(search, 0, t0, 0);
}

// The energy of the later visits of the operand that is stationary inside the tile.
double AgainPj(const Search& search, const DramSteps& steps,
               const int64_t passes[kDims], uint32_t inner1, uint32_t inner2) {
  const ConvSpace& space = search.space;
  const uint32_t v = kStill[inner1];
  if (!Has(space.problem, v) || !space.held[v] || steps.count[inner1] == 1) return 0;
  if (inner1 == inner2 && MayCross(search, passes, inner1)) return 0;
  const double words = v == kInput ? search.least_input : space.words[v];
  const double each = space.word.read1[v] + (v == kOutput ? space.word.write1[v] : 0);
  return words * (steps.count[inner1] - 1) * each;
}

// Lower bound of the objective: DRAM, later visits, and the cheapest array part.
double TopBound(const Search& search, const SpatialChoice& choice, const TopTile& top) {
  double pj = kUnbounded, bytes = kUnbounded;
  for (uint32_t g = 0; g < kGroups; ++g) {
    pj = Min(pj, search.least_array_pj[g] + top.again_pj[g]);
    bytes = Min(bytes, search.least_array_bytes[g]);
  }
  PointCost cost = top.dram;
  cost.energy_pj += pj;
  cost.scratchpad_bytes += bytes;
  return ObjectiveOf(search.space, choice, cost);
}

// Returns in *least the smallest bound over the inner groups.
Status PushTopTiles(Search* search, const SpatialChoice& choice,
                    const int64_t passes[kDims], const int64_t extent[kDims],
                    double* least) {
  TopTile tile = {};
  for (uint32_t d = 0; d < kDims; ++d) tile.passes[d] = passes[d];
  const DramSteps steps = StepsAbove(search->space, choice, passes, extent);
  bool tried = false;
  *least = kUnbounded;
  for (uint32_t g = 0; g < kGroups; ++g) {
    // Groups with one step are equivalent: try one of them.
    if (steps.count[g] == 1 && (tried || g + 1 < kGroups)) continue;
    tried = true;
    tile.inner2 = g;
    tile.dram = PointCost{};
    if (search->space.dram) AddDramCost(search->space, steps, g, &tile.dram);
    for (uint32_t i = 0; i < kGroups; ++i) {
      tile.again_pj[i] = AgainPj(*search, steps, passes, i, g);
    }
    tile.bound = TopBound(*search, choice, tile);
    *least = Min(*least, tile.bound);
    if (tile.bound < search->limit) SLUICE_TRY(search->tops.Push(tile));
  }
  return Status::kOk;
}

bool TopAllows(const Search& search, const SpatialChoice& choice, uint32_t d,
               int64_t f) {
  const ConvSpace& space = search.space;
  const int64_t top = space.constraints.top_tile[d];
  const int64_t extent = space.problem.extent[d];
  const bool taps = d == kDimR || d == kDimS;
  if (!space.dram || (taps && !search.cut_taps && top == 0)) {
    return f == choice.passes[d];
  }
  return top == 0 || Min(f * choice.spread[d], extent) == Min(top, extent);
}

}  // namespace

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

// Whole operands have at most 2^53 words (CheckProblem), so nothing here overflows.
bool TileFits(const Search& search, uint32_t level, const int64_t extent[kDims],
              uint32_t resident) {
  const MappingProblem& problem = search.space.problem;
  int64_t e[kDims], bytes[kOperands];
  for (uint32_t d = 0; d < kDims; ++d) e[d] = Min(extent[d], problem.extent[d]);
  const int64_t rows =
      (e[kDimP] - 1) * search.step[0] + (e[kDimR] - 1) * problem.dilation[0] + 1;
  const int64_t columns =
      (e[kDimQ] - 1) * search.step[1] + (e[kDimS] - 1) * problem.dilation[1] + 1;
  bytes[kInput] = e[kDimN] * e[kDimG] * e[kDimC] * rows * columns;
  bytes[kWeight] = e[kDimG] * e[kDimK] * e[kDimC] * e[kDimR] * e[kDimS];
  bytes[kOutput] = e[kDimN] * e[kDimG] * e[kDimK] * e[kDimP] * e[kDimQ];
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (level == 1 && (resident >> v & 1) != 0) bytes[v] = search.whole[v];
    bytes[v] *= search.width[level][v];
  }
  if (search.plain[level]) {
    return bytes[0] + bytes[1] + bytes[2] <= search.capacity[level];
  }
  return FitsLevel(search.space.hardware->levels[level], bytes);
}

// What TileFits needs of every level, once.
void PrepareFits(Search* search) {
  const ConvSpace& space = search->space;
  for (int axis = 0; axis < 2; ++axis) {
    search->step[axis] = WindowStep(space.problem, axis);
  }
  for (uint32_t l = 0; l < 2; ++l) {
    const MemoryLevel& level = space.hardware->levels[l];
    search->capacity[l] = level.capacity_bytes == 0 ? INT64_MAX : level.capacity_bytes;
    search->plain[l] = true;
    for (uint32_t v = 0; v < kOperands; ++v) {
      const bool here = Has(space.problem, v) && (l == 1 || space.held[v]);
      search->width[l][v] = here ? InnerBytes(space.problem, v) : 0;
      search->plain[l] &= level.share_percent[v] == 0;
      search->whole[v] = static_cast<int64_t>(space.words[v]);
    }
  }
}

Status ListRegisterTiles(Search* search, const SpatialChoice& choice) {
  int64_t t0[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  Steps steps;
  for (uint32_t g = 0; g <= kGroups; ++g) {
    steps.all[g] = steps.tiles[g] = steps.first[g] = steps.inner[g] = 1;
  }
  return ExtendRegisterTile(search, choice, 0, steps, t0);
}

// The least objective over inner groups with the given array costs.
double LeastObjective(const Search& search, const SpatialChoice& choice,
                      const PointCost dram[kGroups], const double array_pj[kGroups]) {
  double least = kUnbounded;
  for (uint32_t g = 0; g < kGroups; ++g) {
    PointCost cost = dram[g];
    cost.energy_pj += array_pj[g];
    least = Min(least, ObjectiveOf(search.space, choice, cost));
  }
  return least;
}

// Visits the tiles of the choice that fit: dims from the i-th on in every combination,
// the last one from large tiles to small ones until visit(&enough) says that it is
// enough, or until the budget ends: then what is listed proves nothing.
template <typename Visit>
Status WalkTops(const Search& search, const SpatialChoice& choice, int i,
                int64_t passes[kDims], int64_t extent[kDims], const Visit& visit) {
  const uint32_t d = search.top_order[i];
  const Span<const int64_t> divisors = search.divisors[d];
  const bool last = i + 1 == kTileDimCount;
  for (size_t j = 0; j < divisors.size(); ++j) {
    if (search.budget->Tick()) break;
    const int64_t f = last ? divisors[divisors.size() - 1 - j] : divisors[j];
    if (!TopAllows(search, choice, d, f)) continue;
    passes[d] = f;
    extent[d] = f * choice.spread[d];
    if (!TileFits(search, 1, extent, search.space.constraints.resident)) {
      if (last) continue;
      break;
    }
    bool enough = false;
    SLUICE_TRY(last ? visit(&enough)
                    : WalkTops(search, choice, i + 1, passes, extent, visit));
    if (enough) break;
  }
  passes[d] = 1;
  extent[d] = choice.spread[d];
  return Status::kOk;
}

// Bounds rise from large tiles to small ones, so a list ends at its first bound that is
// too high.
Status ListTopTiles(Search* search, const SpatialChoice& choice, int64_t passes[kDims],
                    int64_t extent[kDims]) {
  return WalkTops(*search, choice, 0, passes, extent, [&](bool* enough) {
    double least;
    SLUICE_TRY(PushTopTiles(search, choice, passes, extent, &least));
    *enough = least >= search->limit && !search->cut_taps;
    return Status::kOk;
  });
}

// Dims by number of divisors, most last.
void OrderTop(Search* search) {
  for (int i = 0; i < kTileDimCount; ++i) {
    int j = i;
    const uint32_t d = kTileDims[i];
    for (; j > 0 && search->divisors[search->top_order[j - 1]].size() >
                        search->divisors[d].size();
         --j) {
      search->top_order[j] = search->top_order[j - 1];
    }
    search->top_order[j] = d;
  }
}

// The least DRAM energy (later visits included) and bytes of any tile of the choice:
// the last dim as large as fits.
Status FindLeastTop(Search* search, const SpatialChoice& choice, int64_t passes[kDims],
                    int64_t extent[kDims]) {
  return WalkTops(*search, choice, 0, passes, extent, [&](bool* enough) {
    const DramSteps steps = StepsAbove(search->space, choice, passes, extent);
    for (uint32_t g = 0; g < kGroups; ++g) {
      PointCost cost = {};
      AddDramCost(search->space, steps, g, &cost);
      for (uint32_t inner1 = 0; inner1 < kGroups; ++inner1) {
        PointCost* least = &search->least_dram[inner1];
        const double again = AgainPj(*search, steps, passes, inner1, g);
        least->energy_pj = Min(least->energy_pj, cost.energy_pj + again);
        least->dram_bytes = Min(least->dram_bytes, cost.dram_bytes);
      }
    }
    *enough = true;
    return Status::kOk;
  });
}

// Tiles grown group by group, in each order of the groups: a first incumbent.
Status SeedTops(Search* search, const SpatialChoice& choice) {
  constexpr uint32_t kGrow[6][kGroups] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& groups : kGrow) {
    int64_t passes[kDims], extent[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      const bool taps = d == kDimR || d == kDimS;
      passes[d] = taps ? choice.passes[d] : 1;
      extent[d] = passes[d] * choice.spread[d];
    }
    if (!TileFits(*search, 1, extent, search->space.constraints.resident)) continue;
    for (const uint32_t g : groups) {
      for (const uint32_t d : kTileDims) {
        if (kGroupOf[d] != g) continue;
        for (const int64_t f : search->divisors[d]) {
          extent[d] = f * choice.spread[d];
          if (!TileFits(*search, 1, extent, search->space.constraints.resident)) break;
          passes[d] = f;
        }
        extent[d] = passes[d] * choice.spread[d];
      }
    }
    double least;
    SLUICE_TRY(PushTopTiles(search, choice, passes, extent, &least));
  }
  return Status::kOk;
}

}  // namespace sluice::conv_exact
