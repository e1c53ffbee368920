// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv_exact.h"

#include "base/checked.h"
#include "solve/mapping/conv_exact_space.h"

namespace sluice {

namespace {

// A way to fill the registers, and the least the array can cost above it with each
// group innermost.
struct RegisterTile {
  int32_t t0[kDims];
  double least_pj[kGroups];
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

struct Candidate {
  double least_pj;
  uint32_t tile;
  uint32_t inner1;
};

struct Search {
  Search(Arena* a, Budget* b)
      : arena(a),
        budget(b),
        lists(a),
        choices(a),
        registers(a),
        tops(a),
        candidates(a) {}
  ConvSpace space;
  Arena* arena;
  Budget* budget;
  Vector<DivisorList> lists;            // of every pass count met
  Span<const int64_t> divisors[kDims];  // of the choice's passes
  Vector<SpatialChoice> choices;
  Vector<RegisterTile> registers;
  Vector<TopTile> tops;
  Vector<Candidate> candidates;
  PointCost once_dram;             // compulsory
  PointCost least_dram;            // of the choice
  double least_array_pj[kGroups];  // over all register tiles of the choice, by inner1
  double least_array_bytes[kGroups];
  uint32_t top_order[kDims];
  int64_t alone[kDims];  // largest factor of a dim that fits the registers by itself
  bool sorted;           // candidates, cheapest first
  bool cut_taps;         // filters may be cut above the scratchpad
  double best;
  double limit;  // best x (1 - gap): what a bound must be below to be worth a look
  size_t best_choice;
  Point best_point;
  int64_t evaluated;
};

constexpr double kUnbounded = 1e300;
constexpr int64_t kOneElement[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
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
  const int64_t tiles = CeilDivide(extent, t0);
  steps->all[g] *= static_cast<double>(choice.passes[d] / t0);
  steps->tiles[g] *= static_cast<double>(tiles);
  steps->first[g] *= static_cast<double>(Min(choice.spread[d], tiles));
  steps->inner[g] *= static_cast<double>(t0);
}

// Array costs by operand: moving with every step, and the least while it stands still.
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

// Can no tile with these first i dims win? The other dims get what would fit alone,
// which only lowers traffic; first updates are counted at their most.
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
    PointCost cost = search.least_dram;
    for (uint32_t v = 0; v < kOperands; ++v) {
      cost.energy_pj += v == kStill[g] ? tile.still_pj[v] : tile.pj[v];
      cost.scratchpad_bytes += v == kStill[g] ? tile.still_bytes[v] : tile.bytes[v];
    }
    if (ObjectiveOf(search.space, choice, cost) < search.limit) return false;
  }
  return true;
}

Status ListRegisterTiles(Search* search, const SpatialChoice& choice, int i,
                         const Steps& steps, int64_t t0[kDims]) {
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
    SLUICE_TRY(ListRegisterTiles(search, choice, i + 1, more, t0));
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
    // Without steps, any group is as good as the others.
    if (steps.count[g] == 1 && (tried || g + 1 < kGroups)) continue;
    tried = true;
    tile.inner2 = g;
    tile.dram = PointCost{};
    if (search->space.dram) AddDramCost(search->space, steps, g, &tile.dram);
    tile.bound = TopBound(*search, choice, tile.dram);
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

// The last dim goes from large tiles to small ones: bounds rise, so the first that is
// too high ends it.
Status ListTopTiles(Search* search, const SpatialChoice& choice, int i,
                    int64_t passes[kDims], int64_t extent[kDims]) {
  const uint32_t d = search->top_order[i];
  const Span<const int64_t> divisors = search->divisors[d];
  const bool last = i + 1 == kTileDimCount;
  for (size_t j = 0; j < divisors.size(); ++j) {
    const int64_t f = last ? divisors[divisors.size() - 1 - j] : divisors[j];
    if (!TopAllows(*search, choice, d, f)) continue;
    passes[d] = f;
    extent[d] = f * choice.spread[d];
    if (!TileFits(*search, 1, extent, search->space.constraints.resident)) {
      if (last) continue;
      break;
    }
    if (!last) {
      SLUICE_TRY(ListTopTiles(search, choice, i + 1, passes, extent));
      continue;
    }
    double least;
    SLUICE_TRY(PushTopTiles(search, choice, passes, extent, &least));
    if (least >= search->limit && !search->cut_taps) break;
  }
  passes[d] = 1;
  extent[d] = choice.spread[d];
  return Status::kOk;
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

// The least DRAM energy and bytes of any tile of the choice: the last dim as large as
// fits.
void FindLeastTop(Search* search, const SpatialChoice& choice, int i,
                  int64_t passes[kDims], int64_t extent[kDims], PointCost* least) {
  const uint32_t d = search->top_order[i];
  const Span<const int64_t> divisors = search->divisors[d];
  const bool last = i + 1 == kTileDimCount;
  for (size_t j = 0; j < divisors.size(); ++j) {
    const int64_t f = last ? divisors[divisors.size() - 1 - j] : divisors[j];
    if (!TopAllows(*search, choice, d, f)) continue;
    passes[d] = f;
    extent[d] = f * choice.spread[d];
    if (!TileFits(*search, 1, extent, search->space.constraints.resident)) {
      if (last) continue;
      break;
    }
    if (!last) {
      FindLeastTop(search, choice, i + 1, passes, extent, least);
      continue;
    }
    const DramSteps steps = StepsAbove(search->space, choice, passes, extent);
    for (uint32_t g = 0; g < kGroups; ++g) {
      PointCost cost = {};
      AddDramCost(search->space, steps, g, &cost);
      least->energy_pj = Min(least->energy_pj, cost.energy_pj);
      least->dram_bytes = Min(least->dram_bytes, cost.dram_bytes);
    }
    break;
  }
  passes[d] = 1;
  extent[d] = choice.spread[d];
}

// Heap sort; ties by tile, so that the order is one.
bool Before(const Candidate& a, const Candidate& b) {
  if (a.least_pj != b.least_pj) return a.least_pj < b.least_pj;
  return a.tile != b.tile ? a.tile < b.tile : a.inner1 < b.inner1;
}

void SiftDown(Span<Candidate> heap, size_t root, size_t size) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= size) return;
    if (child + 1 < size && Before(heap[child], heap[child + 1])) ++child;
    if (!Before(heap[root], heap[child])) return;
    const Candidate swapped = heap[root];
    heap[root] = heap[child];
    heap[child] = swapped;
    root = child;
  }
}

void SortCandidates(Span<Candidate> heap) {
  for (size_t i = heap.size() / 2; i-- > 0;) SiftDown(heap, i, heap.size());
  for (size_t end = heap.size(); end > 1;) {
    --end;
    const Candidate swapped = heap[0];
    heap[0] = heap[end];
    heap[end] = swapped;
    SiftDown(heap, 0, end);
  }
}

bool Divides(const RegisterTile& tile, const TopTile& top) {
  for (uint32_t d = 0; d < kDims; ++d) {
    if (top.passes[d] % tile.t0[d] != 0) return false;
  }
  return true;
}

// Register tiles and inner groups that could still win above the cheapest DRAM part.
Status ListCandidates(Search* search, const SpatialChoice& choice) {
  search->candidates.Truncate(0);
  PointCost least = {kUnbounded, 0, 0};
  for (const TopTile& top : search->tops) {
    least.energy_pj = Min(least.energy_pj, top.dram.energy_pj);
  }
  for (size_t i = 0; i < search->registers.size(); ++i) {
    for (uint32_t g = 0; g < kGroups; ++g) {
      PointCost cost = least;
      cost.energy_pj += search->registers[i].least_pj[g];
      if (ObjectiveOf(search->space, choice, cost) >= search->limit) continue;
      SLUICE_TRY(search->candidates.Push(
          Candidate{search->registers[i].least_pj[g], static_cast<uint32_t>(i), g}));
    }
  }
  search->sorted = search->tops.size() > 8;  // else a few scans are cheaper
  if (search->sorted) SortCandidates(search->candidates.span());
  return Status::kOk;
}

// All candidates below one scratchpad tile.
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
    if (next == search->tops.size() || search->budget->Exhausted()) return Status::kOk;
    DescendTop(search, index, search->tops[next]);
    search->tops[next].bound = kUnbounded;
  }
}

// Each word once through the array. A unit's first update of a sum reads nothing.
double LeastArrayPj(const ConvSpace& space, const SpatialChoice& choice) {
  double pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v)) continue;
    const double words = v == kInput
                             ? LeastInputWords(space, kOneElement, space.problem.extent)
                             : space.words[v];
    pj += words * (v == kOutput ? space.word.write1[v] : space.word.read1[v]);
  }
  if (!space.held[kOutput]) return pj;
  double units = space.words[kOutput];
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] == kGroupSum) units *= static_cast<double>(choice.spread[d]);
  }
  return pj - units * space.word.mac_read[kOutput];
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
  OrderTop(search);
  search->least_dram = PointCost{};
  if (search->cut_taps) {
    search->least_dram = search->once_dram;
  } else if (search->space.dram) {
    search->least_dram = PointCost{kUnbounded, kUnbounded, 0};
    FindLeastTop(search, choice, 0, passes, extent, &search->least_dram);
    if (search->least_dram.energy_pj == kUnbounded) return Status::kOk;
    PointCost least = search->least_dram;
    least.energy_pj += LeastArrayPj(search->space, choice);
    if (ObjectiveOf(search->space, choice, least) >= search->limit) return Status::kOk;
  }
  Steps steps;
  for (uint32_t g = 0; g <= kGroups; ++g) {
    steps.all[g] = steps.tiles[g] = steps.first[g] = steps.inner[g] = 1;
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
  SLUICE_TRY(ListRegisterTiles(search, choice, 0, steps, t0));
  if (TopBound(*search, choice, search->least_dram) >= search->limit) {
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
  SLUICE_TRY(ListTopTiles(search, choice, 0, passes, extent));
  return DescendTops(search, index);
}

// Cycles, operations and compulsory traffic.
void BoundChoices(Search* search) {
  const ConvSpace& space = search->space;
  PointCost least = {};
  const DramSteps once = {
      search->cut_taps ? LeastInputWords(space, kOneElement, space.problem.extent)
                       : space.words[kInput],
      {1, 1, 1, 1}};
  if (space.dram) AddDramCost(space, once, kGroupK, &least);
  search->once_dram = least;
  for (SpatialChoice& choice : search->choices) {
    PointCost cost = least;
    cost.energy_pj += LeastArrayPj(space, choice);
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
  search.best = search.limit = kUnbounded;
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
