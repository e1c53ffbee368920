// SPDX-License-Identifier: Apache-2.0
// Scratchpad tiles above a way to run a part on the array.
#include "base/checked.h"
#include "solve/mapping/mesh/node_array_search.h"

namespace sluice {

using namespace conv_exact;
using namespace node_array;

namespace {

constexpr size_t kMostSpans = 64;  // divisors of rows or columns

SpatialChoice ChoiceOf(const ConvSpace& space, const ArrayWay& way) {
  SpatialChoice choice = {};
  for (uint32_t d = 0; d < kDims; ++d) {
    choice.spread[d] = 1;
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      choice.axis[a][d] = way.axis[a][d];
      choice.spread[d] *= way.axis[a][d];
    }
    choice.passes[d] = Quotient(space.problem.extent[d], choice.spread[d]);
  }
  choice.cycles = way.cycles;
  return choice;
}

// Fixed while rows are tried: the channels of a tile, its columns, the bytes left.
struct Beside {
  int64_t k, c;
  int64_t wi, wo;  // bytes of an input and of an output word, over all groups
  int64_t room;
  int64_t columns, wide;  // of the output and of the input
};

// Scratchpad tiles above one way: DRAM's traffic and the later visits of the stationary
// operand.
struct TileSearch {
  TileSearch(const PartSearch& p, const ArrayWay& w, const SpatialChoice& c,
             double limit)
      : part(p), way(w), choice(c), best(limit) {}
  const PartSearch& part;
  const ArrayWay& way;
  const SpatialChoice& choice;
  Span<const int64_t> divisors[kDims];
  int64_t left[kDims];  // passes above the registers
  int64_t base[kDims];  // extents below them
  double still_words = 0;
  double again_pj = 0;  // of one word of the stationary operand, each later visit
  double moved_pj[kOperands] = {};  // from DRAM, of one word
  double moved_bytes[kOperands] = {};
  double final_pj = 0, final_bytes = 0;
  double width[kOperands];        // bytes
  int64_t fits_width[kOperands];  // 0 for what is kept
  int64_t taken = 0;              // bytes of what is kept
  // Operands handed round count by their share; all bytes are in units of 1 / scale.
  uint32_t rotated = 0;
  int64_t scale = 1;
  int64_t need = 1;  // trips of the group outermost, to tell the parts apart
  uint32_t outer = kGroups;
  // Lower bounds: input words per output and channel, per output row; output rows of
  // the batch; input of whole tiles.
  int64_t row_words = 1, line_words;
  double all_rows, all_lines, least_input, least_span;
  double spans[2][kMostSpans];  // input rows and columns over all tiles, by divisor
  // What has been found.
  double best;
  double best_pj = 0, best_cycles = 0;
  int64_t t1[kDims];
  uint32_t inner2 = 0;

  int64_t Extent(uint32_t d, int64_t factor) const {
    return Min(part.space.problem.extent[d], factor * base[d]);
  }
  double Score(const double steps[kGroups], double input_words, double* pj,
               double* cycles, uint32_t* still) const;
  void TryColumns(int64_t factor[kDims]);
  void TryRows(const Beside& beside, size_t iq, int64_t factor[kDims],
               double steps[kGroups]);
};

// Counts in steps of groups; *still: the best innermost group.
double TileSearch::Score(const double steps[kGroups], double input_words, double* pj,
                         double* cycles, uint32_t* still) const {
  const ConvSpace& space = part.space;
  const double words[kOperands] = {input_words, space.words[kWeight],
                                   space.words[kOutput]};
  double dram_bytes = final_bytes, pad_bytes = way.bytes;
  double saved = -1, saved_bytes = 0;
  *pj = final_pj;
  for (uint32_t v = 0; v < kOperands; ++v) {
    const uint32_t g = kMovesNot[v];
    // Partial sums move between visits; final_pj has the last write.
    const double visits = v == kOutput ? steps[g] - 1 : steps[g];
    *pj += words[v] * visits * moved_pj[v];
    dram_bytes += words[v] * visits * moved_bytes[v];
    pad_bytes += words[v] * visits * width[v];
    const double spared = words[v] * (steps[g] - 1) * moved_pj[v];
    if (spared <= saved) continue;
    saved = spared;
    saved_bytes = words[v] * (steps[g] - 1) * moved_bytes[v];
    *still = g;
  }
  *pj += way.pj - saved + still_words * (steps[way.inner1] - 1) * again_pj;
  *cycles = Max(way.cycles, Max(pad_bytes * space.cycles_per_byte[0],
                                (dram_bytes - saved_bytes) * space.cycles_per_byte[1]));
  return ScoreOf(part, *pj, *cycles);
}

// Tries as many rows, and as much of the batch, as fit beside the chosen columns.
void TileSearch::TryRows(const Beside& beside, size_t iq, int64_t factor[kDims],
                         double steps[kGroups]) {
  const MappingProblem& problem = part.space.problem;
  double pj, cycles;
  uint32_t still = kGroupSum;
  // More rows with as much of the batch are always better.
  int64_t reach = 0;
  size_t batches = 0;
  for (size_t ip = divisors[kDimP].size(); ip-- > 0;) {
    const int64_t rows = Extent(kDimP, divisors[kDimP][ip]);
    const int64_t each = beside.c *
                             WindowSpan(problem, 0, rows, problem.extent[kDimR]) *
                             beside.wide * beside.wi +
                         beside.k * rows * beside.columns * beside.wo;
    while (batches < divisors[kDimN].size() &&
           Extent(kDimN, divisors[kDimN][batches]) * each <= beside.room) {
      ++batches;
    }
    if (batches == 0) continue;
    factor[kDimN] = divisors[kDimN][batches - 1];
    factor[kDimP] = divisors[kDimP][ip];
    factor[kDimQ] = divisors[kDimQ][iq];
    if (factor[kDimN] * factor[kDimP] <= reach) continue;
    reach = factor[kDimN] * factor[kDimP];
    if (outer == kGroupRows && reach * factor[kDimQ] < need) continue;
    steps[kGroupRows] = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      if (kGroupOf[d] == kGroupRows) {
        steps[kGroupRows] *= static_cast<double>(left[d] / factor[d]);
      }
    }
    const double input = part.plane_words * spans[0][ip] * spans[1][iq];
    const double score = Score(steps, input, &pj, &cycles, &still);
    if (score >= best) continue;
    best = score;
    best_pj = pj;
    best_cycles = cycles;
    inner2 = still;
    for (uint32_t d = 0; d < kDims; ++d) t1[d] = factor[d];
  }
}

// Tries columns, rows and the batch as far as they fit beside the chosen weights.
void TileSearch::TryColumns(int64_t factor[kDims]) {
  const MappingProblem& problem = part.space.problem;
  const int64_t* e = problem.extent;
  const int64_t k = Extent(kDimK, factor[kDimK]), c = Extent(kDimC, factor[kDimC]);
  const int64_t groups = Extent(kDimG, 1);
  const int64_t weights = groups * k * c * e[kDimR] * e[kDimS] * fits_width[kWeight];
  const int64_t room = part.room[1] * scale - taken - weights;
  if (room < 0) return;
  const int64_t* f = factor;
  if (outer == kGroupK && f[kDimK] < need) return;
  if (outer == kGroupSum && f[kDimC] * f[kDimR] * f[kDimS] < need) return;
  const int64_t wi = groups * fits_width[kInput], wo = groups * fits_width[kOutput];
  double steps[kGroups];
  steps[kGroupK] = static_cast<double>(left[kDimK] / factor[kDimK]);
  steps[kGroupSum] = static_cast<double>(left[kDimC] / factor[kDimC]);
  // A lower bound on the steps: without halos.
  const double row_bytes = static_cast<double>(c * row_words * wi + k * wo);
  steps[kGroupRows] = Max(1.0, all_rows * row_bytes / static_cast<double>(room));
  double pj, cycles;
  uint32_t still = kGroupSum;
  if (Score(steps, least_input, &pj, &cycles, &still) >= best) return;
  Beside beside = {k, c, wi, wo, room, 0, 0};
  for (size_t iq = divisors[kDimQ].size(); iq-- > 0;) {
    const int64_t columns = Extent(kDimQ, divisors[kDimQ][iq]);
    const int64_t wide = WindowSpan(problem, 1, columns, e[kDimS]);
    // A lower bound on the steps: without halos between rows.
    const double line_bytes =
        static_cast<double>(c * wide * line_words * wi + k * columns * wo);
    const double lines = static_cast<double>(left[kDimQ] / divisors[kDimQ][iq]) *
                         Max(1.0, all_lines * line_bytes / static_cast<double>(room));
    steps[kGroupRows] = lines;
    if (Score(steps, part.plane_words * least_span * spans[1][iq], &pj, &cycles,
              &still) >= best) {
      continue;
    }
    beside.columns = columns;
    beside.wide = wide;
    TryRows(beside, iq, factor, steps);
  }
}

// Bounds on what rows and columns need, and the spans of whole tiles.
void SetSpans(TileSearch* tiles) {
  const PartSearch& part = tiles->part;
  const ConvSpace& space = part.space;
  const int64_t* e = space.problem.extent;
  tiles->least_input = part.plane_words;
  tiles->row_words = 1;
  tiles->all_rows = static_cast<double>(e[kDimN] * e[kDimP] * e[kDimQ]);
  tiles->all_lines = static_cast<double>(e[kDimN] * e[kDimP]);
  tiles->line_words = WindowStep(space.problem, 0);
  tiles->least_span = SpanSum(space.problem, 0, e[kDimP], e[kDimR]);
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t d = kDimP + static_cast<uint32_t>(axis);
    const size_t n = Min(tiles->divisors[d].size(), kMostSpans);
    tiles->divisors[d] = tiles->divisors[d].Slice(0, n);
    for (size_t i = 0; i < n; ++i) {
      const int64_t tile = tiles->Extent(d, tiles->divisors[d][i]);
      tiles->spans[axis][i] = SpanSum(space.problem, axis, tile, e[d + 2]);
    }
    tiles->least_input *= SpanSum(space.problem, axis, e[d], e[d + 2]);
    tiles->row_words *= WindowStep(space.problem, axis);
  }
}

// Bytes of each operand in the scratchpad, and what one word of it costs to move.
void SetTraffic(TileSearch* tiles) {
  const PartSearch& part = tiles->part;
  const ConvSpace& space = part.space;
  const WordEnergy& word = space.word;
  for (uint32_t v = 0; v < kOperands; ++v) {
    const bool kept = (space.constraints.resident >> v & 1) != 0;
    const int64_t sharers =
        (tiles->rotated >> v & 1) != 0 ? part.sharing.sharers[v] : 1;
    const int64_t width = part.width[v] * (tiles->scale / sharers);
    tiles->width[v] = static_cast<double>(part.width[v]);
    tiles->fits_width[v] = kept ? 0 : width;
    if (kept) tiles->taken += static_cast<int64_t>(space.words[v]) * width;
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v) || (space.constraints.resident >> v & 1) != 0) continue;
    const double bytes = static_cast<double>(part.width[v]) * space.outer_share[v];
    tiles->moved_pj[v] = word.read2[v] + word.fill1[v];
    tiles->moved_bytes[v] = bytes;
    if ((tiles->rotated >> v & 1) != 0 && tiles->need > 1) {
      // Every sharer but one reads each word to send it on.
      const double sharers = static_cast<double>(part.sharing.sharers[v]);
      tiles->moved_pj[v] +=
          ReadPj(space.hardware->levels[1], part.width[v]) * (1 - 1 / sharers);
    }
    if (v != kOutput) continue;
    tiles->moved_pj[v] += word.write2_partial;
    tiles->moved_bytes[v] += bytes;
    tiles->final_pj = space.words[v] * word.write2_final;
    tiles->final_bytes =
        space.words[v] * space.problem.element_bytes[v] * space.outer_share[v];
  }
}

Status SearchTiles(TileSearch* tiles, ArrayTable* table) {
  int64_t factor[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    tiles->left[d] = tiles->choice.passes[d] / tiles->way.t0[d];
    tiles->base[d] = tiles->choice.spread[d] * tiles->way.t0[d];
    factor[d] = d == kDimG ? 1 : tiles->left[d];  // taps stay whole
    SLUICE_TRY(FindDivisors(table, tiles->left[d], &tiles->divisors[d]));
  }
  SetSpans(tiles);
  SetTraffic(tiles);
  for (size_t i = tiles->divisors[kDimK].size(); i-- > 0;) {
    factor[kDimK] = tiles->divisors[kDimK][i];
    for (size_t j = tiles->divisors[kDimC].size(); j-- > 0;) {
      factor[kDimC] = tiles->divisors[kDimC][j];
      tiles->TryColumns(factor);
    }
  }
  return Status::kOk;
}

constexpr int64_t kMostShared = int64_t{1} << 40;  // words: products stay in 64 bits

// Operands that nodes may hand round.
uint32_t Shareable(const PartSearch& part) {
  uint32_t shared = 0;
  for (uint32_t v = 0; v < kOutput; ++v) {
    if (part.width[v] != 0 && part.sharing.sharers[v] > 1) shared |= OperandBit(v);
    if (part.space.words[v] >= kMostShared) return 0;
  }
  return shared;
}

void Share(uint32_t rotated, TileSearch* tiles) {
  tiles->rotated = rotated;
  for (uint32_t v = 0; v < kOutput; ++v) {
    if ((rotated >> v & 1) != 0) tiles->scale *= tiles->part.sharing.sharers[v];
  }
}

// The group to loop over outermost, so that one round of each rotated operand is
// enough; kGroups: no group is right for all.
uint32_t OuterOf(uint32_t inner1, uint32_t rotated) {
  if (inner1 != kGroupSum) return kGroupSum;
  if (rotated == OperandBit(kWeight)) return kGroupK;
  return rotated == OperandBit(kInput) ? kGroupRows : kGroups;
}

// A way to run the part on the array, above which tiles are searched.
struct Above {
  const ArrayWay& way;
  const SpatialChoice& choice;
  uint32_t rotated;  // operand bits
  double limit;      // only objectives below are of interest
};

// The best tile above a way. *objective: the limit if there is none.
Status SearchAbove(const PartSearch& part, const Above& above, ArrayTable* table,
                   Point* point, double* objective) {
  const ArrayWay& way = above.way;
  const uint32_t rotated = above.rotated;
  const double limit = above.limit;
  TileSearch tiles(part, way, above.choice, limit);
  *objective = limit;
  if (rotated != 0) {
    Share(rotated, &tiles);
    tiles.outer = OuterOf(way.inner1, rotated);
    if (tiles.outer == kGroups) return Status::kOk;
    for (uint32_t v = 0; v < kOutput; ++v) {
      if ((rotated >> v & 1) != 0) {
        tiles.need = Max(tiles.need, part.sharing.sharers[v]);
      }
    }
  }
  const uint32_t still = kStill[way.inner1];
  if (Has(part.space.problem, still)) {
    const WordEnergy& word = part.space.word;
    tiles.again_pj = word.read1[still] + (still == kOutput ? word.write1[still] : 0);
    tiles.still_words = part.space.words[still];
  }
  SLUICE_TRY(SearchTiles(&tiles, table));
  *objective = tiles.best;
  if (tiles.best >= limit) return Status::kOk;
  for (uint32_t d = 0; d < kDims; ++d) {
    point->t0[d] = way.t0[d];
    point->t1[d] = tiles.t1[d];
    point->t2[d] = tiles.left[d] / tiles.t1[d];
  }
  point->inner1 = way.inner1;
  point->inner2 = tiles.inner2;
  return Status::kOk;
}

// Moves the loops of a group outside of the others.
void PutOutermost(uint32_t group, uint8_t order[kDims]) {
  uint8_t before[kDims];
  memcpy(before, order, sizeof before);
  size_t next = 0;
  for (int last = 0; last < 2; ++last) {
    for (const uint8_t d : before) {
      if ((kGroupOf[d] == group) == (last == 1)) order[next++] = d;
    }
  }
}

PointCost CostOf(const ConvSpace& space, const SpatialChoice& choice,
                 const Point& point) {
  int64_t passes[kDims], extent[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    passes[d] = point.t0[d] * point.t1[d];
    extent[d] = passes[d] * choice.spread[d];
  }
  PointCost cost = {};
  AddDramCost(space, StepsAbove(space, choice, passes, extent), point.inner2, &cost);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v)) continue;
    AddArrayCost(space, choice, point, v, v == kStill[point.inner1], &cost);
  }
  return cost;
}

}  // namespace

bool IsPlainNode(const MappingProblem& problem, const Hardware& node,
                 const MapConstraints& constraints) {
  bool plain = node.levels.size() == 3 && !constraints.bypass;
  for (uint32_t d = 0; d < kDims; ++d) plain &= constraints.top_tile[d] == 0;
  // All registers together may hold at most twice the scratchpad's bytes.
  double registers = static_cast<double>(node.levels[0].capacity_bytes);
  for (const Fanout& fanout : node.fanouts) {
    plain &= fanout.extent <= UINT16_MAX;
    if (fanout.level == 1) registers *= fanout.extent;
  }
  const int64_t room = RoomOf(node.levels[node.levels.size() - 2]);
  plain &= registers <= 2 * static_cast<double>(room);
  for (size_t l = 0; plain && l < 2; ++l) {
    const MemoryLevel& level = node.levels[l];
    plain &= (problem.operands & ~level.may_hold) == 0;
    for (uint32_t v = 0; v < kOperands; ++v) plain &= level.share_percent[v] == 0;
  }
  return plain;
}

Status EstimatePart(const PartRequest& request, double array_pj, ArrayTable* table,
                    double* dram_pj, double* cycles, Diagnostic* diagnostic) {
  const Hardware& node = request.node;
  const MapConstraints& constraints = request.constraints;
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace({request.part, node, constraints}, 7, &space, diagnostic));
  PartSearch search = SearchOf(space, node.leakage_pj_per_cycle);
  search.sharing = request.sharing;
  // An array of one unit: tiles of any size.
  ArrayWay way = {};
  SpatialChoice choice = {};
  for (uint32_t d = 0; d < kDims; ++d) {
    way.t0[d] = 1;
    choice.spread[d] = 1;
    choice.passes[d] = request.part.extent[d];
  }
  way.pj = array_pj - space.fixed_pj;
  way.cycles = *cycles;
  const double limit = constraints.upper > 0 ? constraints.upper : kNever;
  TileSearch tiles(search, way, choice, limit);
  Share(Shareable(search), &tiles);
  SLUICE_TRY(SearchTiles(&tiles, table));
  *dram_pj = tiles.best < limit ? tiles.best_pj - way.pj : -1;
  *cycles = tiles.best_cycles;
  return Status::kOk;
}

Status MapPart(const PartRequest& request, double dram_pj, ArrayTable* table,
               PartNest* found, LoopNest* nest, Diagnostic* diagnostic) {
  const Hardware& node = request.node;
  const MapConstraints& constraints = request.constraints;
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace({request.part, node, constraints}, 7, &space, diagnostic));
  const PartSearch array = SearchOf(space, table->leakage_pj_per_cycle);
  const ArrayEntry* entry = nullptr;
  SLUICE_TRY(FindArrayWays(array, &space, table, &entry));
  PartSearch search = SearchOf(space, node.leakage_pj_per_cycle);
  search.sharing = request.sharing;
  const uint32_t shared = Shareable(search);
  found->objective = constraints.upper > 0 ? constraints.upper : kNever;
  bool any = false;
  for (uint32_t rotated = 0; rotated <= shared; ++rotated) {
    if ((rotated & ~shared) != 0) continue;
    for (const ArrayWay& way : entry->ways) {
      if (ScoreOf(search, way.pj + dram_pj, way.cycles) >= found->objective) continue;
      const SpatialChoice choice = ChoiceOf(space, way);
      Point point;
      double objective;
      SLUICE_TRY(SearchAbove(search, {way, choice, rotated, found->objective}, table,
                             &point, &objective));
      if (objective >= found->objective) continue;
      if (rotated == 0) {
        const PointCost cost = CostOf(space, choice, point);
        objective = ObjectiveOf(space, choice, cost);
        if (objective >= found->objective) continue;
      }
      found->objective = objective;
      found->choice = choice;
      found->point = point;
      found->rotated = rotated;
      any = true;
    }
  }
  if (!any) return Status::kInfeasible;
  const PointCost cost = CostOf(space, found->choice, found->point);
  found->cycles = LatencyOf(space, found->choice, cost);
  found->energy_pj =
      space.fixed_pj + cost.energy_pj + node.leakage_pj_per_cycle * found->cycles;
  *nest = NestOfPoint(space, found->choice, found->point);
  if (found->rotated != 0) {
    PutOutermost(OuterOf(found->point.inner1, found->rotated), nest->order[1]);
  }
  return Status::kOk;
}

}  // namespace sluice
