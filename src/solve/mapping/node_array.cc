// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/node_array.h"

#include "base/checked.h"
#include "solve/mapping/kapla.h"

namespace sluice {

using namespace conv_exact;

namespace {

constexpr size_t kMostFactors = 24;  // of one dim in the registers
constexpr uint32_t kArrayWays = 20;  // kept of one part
constexpr size_t kMostSpans = 64;    // divisors of rows or columns
constexpr double kWorthwhile = 1.1;  // ways this much dearer than the best are dropped
constexpr double kNever = 1e300;

double SquareRoot(double x) {
  if (x <= 0) return 0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits >> 1) + (uint64_t{1023} << 51);  // half the exponent: within 6 %
  double root;
  memcpy(&root, &bits, sizeof root);
  for (int i = 0; i < 5; ++i) root = 0.5 * (root + x / root);
  return root;
}

int64_t RoomOf(const MemoryLevel& level) {
  return level.capacity_bytes == 0 ? INT64_MAX : level.capacity_bytes;
}

size_t SlotOf(Span<const Divisors> slots, int64_t number) {
  size_t at = static_cast<size_t>(number) * 0x9e3779b1u & (slots.size() - 1);
  while (slots[at].number != 0 && slots[at].number != number) {
    at = (at + 1) & (slots.size() - 1);
  }
  return at;
}

Status FindDivisors(ArrayTable* table, int64_t number, Span<const int64_t>* out) {
  if (2 * (table->divisor_count + 1) > table->divisors.size()) {
    Span<Divisors> grown;
    SLUICE_TRY(
        table->arena->Allocate(Max(size_t{64}, 2 * table->divisors.size()), &grown));
    for (const Divisors& known : table->divisors) {
      if (known.number != 0) grown[SlotOf(grown, known.number)] = known;
    }
    table->divisors = grown;
  }
  Divisors* slot = &table->divisors[SlotOf(table->divisors, number)];
  if (slot->number == 0) {
    Vector<int64_t> found(table->arena);
    SLUICE_TRY(ListDivisors(number, &found));
    *slot = Divisors{number, found.span()};
    ++table->divisor_count;
  }
  *out = slot->of;
  return Status::kOk;
}

// What every search below one part needs.
struct PartSearch {
  const ConvSpace& space;
  double leakage;
  int64_t width[kOperands];  // bytes, 0: no such operand
  int64_t room[2];           // of registers and scratchpad
  double plane_words;        // N G C
  Sharing sharing;
};

PartSearch SearchOf(const ConvSpace& space, double leakage) {
  const MappingProblem& problem = space.problem;
  PartSearch search = {space, leakage, {}, {}, 0, {}};
  for (uint32_t v = 0; v < kOperands; ++v) {
    search.width[v] = Has(problem, v) ? InnerBytes(problem, v) : 0;
  }
  for (uint32_t l = 0; l < 2; ++l) search.room[l] = RoomOf(space.hardware->levels[l]);
  search.plane_words = static_cast<double>(
      problem.extent[kDimN] * problem.extent[kDimG] * problem.extent[kDimC]);
  return search;
}

inline double ScoreOf(const PartSearch& search, double pj, double cycles) {
  const MapConstraints& constraints = search.space.constraints;
  if (constraints.energy_exponent == 1 && constraints.delay_exponent == 0) {
    return search.space.fixed_pj + pj + search.leakage * cycles;
  }
  return MapObjective(search.space.constraints,
                      search.space.fixed_pj + pj + search.leakage * cycles, cycles);
}

// One divisor of a dim's passes, taken into the registers.
struct Factor {
  int64_t passes;
  double visits;  // passes left
  double tiles;   // of the whole dim
  double first;   // units side by side
};

struct FactorList {
  size_t size;
  Factor of[kMostFactors];
};

void ListFactors(const SpatialChoice& choice, int64_t extent, uint32_t d,
                 Span<const int64_t> divisors, int64_t most, FactorList* list) {
  list->size = 0;
  for (const int64_t f : divisors) {
    if (f > most || list->size == kMostFactors) return;
    const int64_t tiles = Quotient(extent, f);
    list->of[list->size++] = Factor{
        f, static_cast<double>(Quotient(choice.passes[d], f)),
        static_cast<double>(tiles), static_cast<double>(Min(choice.spread[d], tiles))};
  }
}

// Filter taps stay whole or are looped over.
void ListTaps(const SpatialChoice& choice, int64_t extent, uint32_t d,
              FactorList* list) {
  const int64_t ends[] = {1, choice.passes[d]};
  ListFactors(choice, extent, d,
              Span<const int64_t>(ends, choice.passes[d] == 1 ? size_t{1} : size_t{2}),
              INT64_MAX, list);
}

// The best ways so far, by score.
struct BestWays {
  uint32_t count = 0;
  ArrayWay way[kArrayWays];
};

// Takes the way if it is among them.
void Keep(const ArrayWay& way, BestWays* entry) {
  uint32_t i = entry->count;
  if (i == kArrayWays) {
    if (way.score >= entry->way[i - 1].score) return;
    --i;
  } else {
    ++entry->count;
  }
  for (; i > 0 && way.score < entry->way[i - 1].score; --i) {
    entry->way[i] = entry->way[i - 1];
  }
  entry->way[i] = way;
}

// What stays above which a way is not worth keeping.
double LimitOf(const BestWays& entry) {
  double limit = entry.count == 0 ? kNever : entry.way[0].score * kWorthwhile;
  if (entry.count == kArrayWays) limit = Min(limit, entry.way[kArrayWays - 1].score);
  return limit;
}

// All register tiles of a choice that cannot sum over more channels; the best per group
// innermost above them goes into the entry.
Status SearchRegisters(const PartSearch& search, const SpatialChoice& choice,
                       ArrayTable* table, BestWays* entry) {
  const ConvSpace& space = search.space;
  const MappingProblem& problem = space.problem;
  const WordEnergy& word = space.word;
  FactorList list[kDims];
  for (uint32_t d = kDimN; d <= kDimQ; ++d) {
    Span<const int64_t> divisors;
    SLUICE_TRY(FindDivisors(table, choice.passes[d], &divisors));
    const uint32_t v = d == kDimK ? kOutput : kInput;
    const int64_t most =
        search.width[v] == 0 ? INT64_MAX : search.room[0] / search.width[v];
    ListFactors(choice, problem.extent[d], d, divisors, most, &list[d]);
  }
  for (uint32_t d = kDimR; d <= kDimS; ++d) {
    ListTaps(choice, problem.extent[d], d, &list[d]);
  }
  // Input rows and columns over all tiles: of the array's and of single units.
  double united[2][2][kMostFactors], single[2][2][kMostFactors];
  for (int axis = 0; axis < 2; ++axis) {
    const FactorList &rows = list[kDimP + axis], &taps = list[kDimR + axis];
    const int64_t row_spread = choice.spread[kDimP + axis];
    const int64_t tap_spread = choice.spread[kDimR + axis];
    for (size_t j = 0; j < taps.size; ++j) {
      for (size_t i = 0; i < rows.size; ++i) {
        const int64_t p = rows.of[i].passes, r = taps.of[j].passes;
        united[axis][j][i] = SpanSum(problem, axis, p * row_spread, r * tap_spread);
        single[axis][j][i] = SpanSum(problem, axis, p, r);
      }
    }
  }
  const double weights = space.words[kWeight], outputs = space.words[kOutput];
  const double bytes_of[kOperands] = {static_cast<double>(search.width[kInput]),
                                      static_cast<double>(search.width[kWeight]),
                                      static_cast<double>(search.width[kOutput])};
  double most_first = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] == kGroupSum) most_first *= static_cast<double>(choice.spread[d]);
  }
  ArrayWay best[kGroups];
  for (ArrayWay& way : best) way.score = LimitOf(*entry);
  const FactorList &lk = list[kDimK], &lc = list[kDimC];
  const int64_t wi = search.width[kInput], ww = search.width[kWeight];
  const int64_t wo = search.width[kOutput];
  for (size_t ir = 0; ir < list[kDimR].size; ++ir) {
    for (size_t is = 0; is < list[kDimS].size; ++is) {
      const Factor &r = list[kDimR].of[ir], &s = list[kDimS].of[is];
      const int64_t taps = r.passes * s.passes;
      for (size_t iq = 0; iq < list[kDimQ].size; ++iq) {
        const Factor& q = list[kDimQ].of[iq];
        for (size_t ip = 0; ip < list[kDimP].size; ++ip) {
          const Factor& p = list[kDimP].of[ip];
          const int64_t plane = WindowSpan(problem, 0, p.passes, r.passes) *
                                WindowSpan(problem, 1, q.passes, s.passes) * wi;
          if (plane + p.passes * q.passes * wo + taps * ww > search.room[0]) break;
          const double input_united =
              search.plane_words * united[0][ir][ip] * united[1][is][iq];
          const double input_single =
              search.plane_words * single[0][ir][ip] * single[1][is][iq];
          for (size_t in = 0; in < list[kDimN].size; ++in) {
            const Factor& n = list[kDimN].of[in];
            const int64_t rows = n.passes * p.passes * q.passes;
            const double row_visits = n.visits * p.visits * q.visits;
            const double row_tiles = n.tiles * p.tiles * q.tiles;
            const double row_first = n.first * p.first * q.first;
            const double weight_still =
                weights * (word.read1[kWeight] + row_first * word.fill0[kWeight]);
            const double weight_moving = weights * (row_visits * word.read1[kWeight] +
                                                    row_tiles * word.fill0[kWeight]);
            size_t ic = lc.size;
            // With as much of K, and of the sum, as goes alone: would it be of use?
            size_t most_k = 0;
            while (ic > 0 &&
                   lc.of[ic - 1].passes * (n.passes * plane + taps * ww) + rows * wo >
                       search.room[0]) {
              --ic;
            }
            while (most_k < lk.size &&
                   n.passes * plane + lk.of[most_k].passes * (taps * ww + rows * wo) <=
                       search.room[0]) {
              ++most_k;
            }
            if (ic == 0 || most_k == 0) continue;
            const double input_once = input_united * word.read1[kInput];
            const double input_least = input_once * lk.of[most_k - 1].visits;
            const double output_once =
                outputs * (word.write1[kOutput] - most_first * word.mac_read[kOutput]);
            const double output_least =
                output_once + outputs *
                                  (lc.of[ic - 1].visits * r.visits * s.visits - 1) *
                                  (word.write1[kOutput] + word.read1[kOutput]);
            const double least[kGroups] = {input_least + weight_still + output_least,
                                           input_once + weight_moving + output_least,
                                           input_least + weight_moving + output_once};
            bool useful = false;
            for (uint32_t g = 0; g < kGroups; ++g) {
              useful |= ScoreOf(search, least[g], choice.cycles) < best[g].score;
            }
            if (!useful) continue;
            for (size_t ik = 0; ik < lk.size && ic > 0; ++ik) {
              const Factor& k = lk.of[ik];
              const int64_t left = search.room[0] - rows * k.passes * wo;
              const int64_t each = n.passes * plane + k.passes * taps * ww;
              while (ic > 0 && lc.of[ic - 1].passes * each > left) --ic;
              if (ic == 0) break;
              const Factor& c = lc.of[ic - 1];
              const double sum_visits = c.visits * r.visits * s.visits;
              const double sum_first = c.first * r.first * s.first;
              const double sum_tiles = c.tiles * r.tiles * s.tiles;
              const double input_still = input_united * word.read1[kInput] +
                                         input_single * k.first * word.fill0[kInput];
              const double input_moving = input_united * k.visits * word.read1[kInput] +
                                          input_single * k.tiles * word.fill0[kInput];
              const double base = outputs * sum_first * word.mac_read[kOutput];
              const double output_still = outputs * word.write1[kOutput] - base;
              const double output_moving =
                  outputs * (sum_visits * word.write1[kOutput] +
                             (sum_visits - 1) * word.read1[kOutput] +
                             (sum_tiles - sum_first) * word.fill0[kOutput]) -
                  base;
              const double pj[kGroups] = {input_moving + weight_still + output_moving,
                                          input_still + weight_moving + output_moving,
                                          input_moving + weight_moving + output_still};
              for (uint32_t g = 0; g < kGroups; ++g) {
                const double input_visits = g == kGroupK ? 1 : k.visits;
                const double weight_visits = g == kGroupRows ? 1 : row_visits;
                const double output_visits = g == kGroupSum ? 1 : 2 * sum_visits - 1;
                const double bytes = input_united * input_visits * bytes_of[kInput] +
                                     weights * weight_visits * bytes_of[kWeight] +
                                     outputs * output_visits * bytes_of[kOutput];
                const double cycles =
                    Max(choice.cycles, bytes * space.cycles_per_byte[0]);
                const double score = ScoreOf(search, pj[g], cycles);
                if (score >= best[g].score) continue;
                best[g].score = score;
                best[g].pj = pj[g];
                best[g].bytes = bytes;
                const Factor* f[kDims] = {&n, &k, &c, &p, &q, &r, &s, nullptr};
                for (uint32_t d = 0; d < kDimG; ++d) {
                  best[g].t0[d] = static_cast<int32_t>(f[d]->passes);
                }
              }
            }
          }
        }
      }
    }
  }
  for (uint32_t g = 0; g < kGroups; ++g) {
    if (best[g].score >= LimitOf(*entry)) continue;
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      for (uint32_t d = 0; d < kDims; ++d) {
        best[g].axis[a][d] = static_cast<uint16_t>(choice.axis[a][d]);
      }
    }
    best[g].t0[kDimG] = 1;
    best[g].inner1 = g;
    best[g].cycles = choice.cycles;
    Keep(best[g], entry);
  }
  return Status::kOk;
}

// No register tile of the choice scores below: two operands move while the third stays,
// their register factors times each other within what the third may have.
double ScoreBound(const PartSearch& search, const SpatialChoice& choice) {
  const ConvSpace& space = search.space;
  const WordEnergy& word = space.word;
  double passes[kGroups + 1] = {1, 1, 1, 1};
  for (uint32_t d = 0; d < kDims; ++d) {
    passes[kGroupOf[d]] *= static_cast<double>(choice.passes[d]);
  }
  const double taps = static_cast<double>(choice.passes[kDimR] * choice.passes[kDimS]);
  const double input = search.plane_words *
                       SpanSum(space.problem, 0, space.problem.extent[kDimP],
                               space.problem.extent[kDimR]) *
                       SpanSum(space.problem, 1, space.problem.extent[kDimQ],
                               space.problem.extent[kDimS]);
  const double a = input * word.read1[kInput];
  const double b = space.words[kWeight] * word.read1[kWeight];
  const double c = space.words[kOutput] * (word.write1[kOutput] + word.read1[kOutput]);
  const double first = space.words[kOutput] * word.read1[kOutput];
  double units = space.words[kOutput] * word.mac_read[kOutput];
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] == kGroupSum) units *= static_cast<double>(choice.spread[d]);
  }
  double room[kOperands];
  for (uint32_t v = 0; v < kOperands; ++v) {
    room[v] = search.width[v] == 0
                  ? kNever
                  : static_cast<double>(search.room[0] / search.width[v]);
  }
  const double rows = passes[kGroupRows], k = passes[kGroupK], sum = passes[kGroupSum];
  double least = c - first + LeastVisits(a, k, b, rows, room[kOutput]);
  least = Min(least, b - first + LeastVisits(a, k, c, sum, room[kWeight]));
  least = Min(least, a - first + LeastVisits(b, rows, c, sum, room[kInput] * taps));
  return ScoreOf(search, least - units, choice.cycles);
}

Status GrowSlots(ArrayTable* table) {
  const size_t size = table->slots.empty() ? 256 : 2 * table->slots.size();
  SLUICE_TRY(table->arena->Allocate(size, &table->slots));
  for (size_t i = 0; i < table->entries.size(); ++i) {
    size_t at = HashProblem(table->entries[i]->part) & (size - 1);
    while (table->slots[at] != 0) at = (at + 1) & (size - 1);
    table->slots[at] = static_cast<uint32_t>(i) + 1;
  }
  return Status::kOk;
}

Status FindArrayWays(const PartSearch& search, ConvSpace* space, ArrayTable* table,
                     const ArrayEntry** found) {
  if (2 * (table->entries.size() + 1) > table->slots.size()) {
    SLUICE_TRY(GrowSlots(table));
  }
  const size_t mask = table->slots.size() - 1;
  size_t at = HashProblem(space->problem) & mask;
  for (; table->slots[at] != 0; at = (at + 1) & mask) {
    *found = table->entries[table->slots[at] - 1];
    if (SameProblem((*found)->part, space->problem)) return Status::kOk;
  }
  table->choices.Truncate(0);
  SLUICE_TRY(ListSpatialChoices(space, &table->choices));
  size_t first = 0;
  double least_cycles = kNever;
  for (size_t i = 0; i < table->choices.size(); ++i) {
    SpatialChoice* choice = &table->choices[i];
    choice->bound = ScoreBound(search, *choice);
    if (choice->bound < table->choices[first].bound) first = i;
    least_cycles = Min(least_cycles, choice->cycles);
  }
  BestWays best;
  if (table->choices.size() > 0) {
    SLUICE_TRY(SearchRegisters(search, table->choices[first], table, &best));
  }
  for (size_t i = 0; i < table->choices.size(); ++i) {
    if (i == first || table->choices[i].bound >= LimitOf(best)) continue;
    SLUICE_TRY(SearchRegisters(search, table->choices[i], table, &best));
  }
  Span<ArrayEntry> entry;
  Span<ArrayWay> ways;
  SLUICE_TRY(table->arena->Allocate(1, &entry));
  SLUICE_TRY(table->arena->Allocate(best.count, &ways));
  for (uint32_t i = 0; i < best.count; ++i) ways[i] = best.way[i];
  entry[0] = ArrayEntry{space->problem, least_cycles, ways};
  SLUICE_TRY(table->entries.Push(entry.data()));
  table->slots[at] = static_cast<uint32_t>(table->entries.size());
  *found = entry.data();
  return Status::kOk;
}

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

// Scratchpad tiles over one way: DRAM's traffic and the still operand's later visits.
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
  double again_pj = 0;  // of one word of the still operand, each later visit
  double moved_pj[kOperands] = {};  // from DRAM, of one word
  double moved_bytes[kOperands] = {};
  double final_pj = 0, final_bytes = 0;
  double width[kOperands];        // bytes
  int64_t fits_width[kOperands];  // 0 for what is kept
  int64_t taken = 0;              // bytes of what is kept
  // Of operands handed round, a share counts: bytes are all in units of 1 / scale.
  uint32_t rotated = 0;
  int64_t scale = 1;
  int64_t need = 1;  // trips of the group outermost, to tell the parts apart
  uint32_t outer = kGroups;
  // Input words per output and channel, per output row; output rows of the batch; input
  // of whole tiles: all at least.
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
  void TryRows(int64_t factor[kDims]);
};

// Counts in steps of groups; *still: the group that had better be innermost.
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
    // Outputs come and go on every visit but the last.
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

// Rows of the batch, and the batch, as far as they go, beside the weights chosen.
void TileSearch::TryRows(int64_t factor[kDims]) {
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
  // At least as many steps, were there no halos.
  const double row_bytes = static_cast<double>(c * row_words * wi + k * wo);
  steps[kGroupRows] = Max(1.0, all_rows * row_bytes / static_cast<double>(room));
  double pj, cycles;
  uint32_t still = kGroupSum;
  if (Score(steps, least_input, &pj, &cycles, &still) >= best) return;
  for (size_t iq = divisors[kDimQ].size(); iq-- > 0;) {
    const int64_t columns = Extent(kDimQ, divisors[kDimQ][iq]);
    const int64_t wide = WindowSpan(problem, 1, columns, e[kDimS]);
    // At least as many steps, were there no halos between rows.
    const double line_bytes =
        static_cast<double>(c * wide * line_words * wi + k * columns * wo);
    const double lines = static_cast<double>(left[kDimQ] / divisors[kDimQ][iq]) *
                         Max(1.0, all_lines * line_bytes / static_cast<double>(room));
    steps[kGroupRows] = lines;
    if (Score(steps, part.plane_words * least_span * spans[1][iq], &pj, &cycles,
              &still) >= best) {
      continue;
    }
    // More rows with as much of the batch are always better.
    int64_t reach = 0;
    size_t batches = 0;
    for (size_t ip = divisors[kDimP].size(); ip-- > 0;) {
      const int64_t rows = Extent(kDimP, divisors[kDimP][ip]);
      const int64_t each = c * WindowSpan(problem, 0, rows, e[kDimR]) * wide * wi +
                           k * rows * columns * wo;
      while (batches < divisors[kDimN].size() &&
             Extent(kDimN, divisors[kDimN][batches]) * each <= room) {
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
}

Status SearchTiles(TileSearch* tiles, ArrayTable* table) {
  const PartSearch& part = tiles->part;
  const ConvSpace& space = part.space;
  int64_t factor[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    tiles->left[d] = tiles->choice.passes[d] / tiles->way.t0[d];
    tiles->base[d] = tiles->choice.spread[d] * tiles->way.t0[d];
    factor[d] = d == kDimG ? 1 : tiles->left[d];  // taps stay whole
    SLUICE_TRY(FindDivisors(table, tiles->left[d], &tiles->divisors[d]));
  }
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
      // Every sharer but one reads each word for the next.
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
  for (size_t i = tiles->divisors[kDimK].size(); i-- > 0;) {
    factor[kDimK] = tiles->divisors[kDimK][i];
    for (size_t j = tiles->divisors[kDimC].size(); j-- > 0;) {
      factor[kDimC] = tiles->divisors[kDimC][j];
      tiles->TryRows(factor);
    }
  }
  return Status::kOk;
}

constexpr int64_t kMostShared = int64_t{1} << 40;  // words: products stay in 64 bits

// Operands that may be handed round at all.
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

// The group whose loops go outermost, so that one round of each rotated operand is
// enough; kGroups: none does for all.
uint32_t OuterOf(uint32_t inner1, uint32_t rotated) {
  if (inner1 != kGroupSum) return kGroupSum;
  if (rotated == OperandBit(kWeight)) return kGroupK;
  return rotated == OperandBit(kInput) ? kGroupRows : kGroups;
}

// The best tile above a way with an objective below `limit`.
Status SearchAbove(const PartSearch& part, const ArrayWay& way,
                   const SpatialChoice& choice, uint32_t rotated, ArrayTable* table,
                   double limit, Point* point, double* objective) {
  TileSearch tiles(part, way, choice, limit);
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

// The dims of a group go round the others.
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

double LeastVisits(double a, double whole_x, double b, double whole_y, double room) {
  if (whole_x * whole_y <= room) return a + b;
  if (room <= 1) return a * whole_x + b * whole_y;
  const double low = Max(1.0, room / whole_y), high = Min(whole_x, room);
  double x = b * whole_y > 0 ? SquareRoot(a * whole_x * room / (b * whole_y)) : high;
  x = Max(low, Min(high, x));
  return a * whole_x / x + b * whole_y * x / room;
}

bool IsPlainNode(const MappingProblem& problem, const Hardware& node,
                 const MapConstraints& constraints) {
  bool plain = node.levels.size() == 3 && !constraints.bypass;
  for (uint32_t d = 0; d < kDims; ++d) plain &= constraints.top_tile[d] == 0;
  // What the registers take at once must fit the scratchpad with some room to spare.
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

Status LeastOnArray(const MappingProblem& problem, const Hardware& node,
                    const MapConstraints& constraints, ArrayTable* table, double* pj,
                    double* cycles, Diagnostic* diagnostic) {
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace(problem, node, constraints, 7, &space, diagnostic));
  const ArrayEntry* entry = nullptr;
  SLUICE_TRY(FindArrayWays(SearchOf(space, table->leakage_pj_per_cycle), &space, table,
                           &entry));
  *pj = entry->ways.empty() ? 0 : kNever;
  for (const ArrayWay& way : entry->ways) *pj = Min(*pj, way.pj);
  *pj += space.fixed_pj;
  for (uint32_t v = kInput; v < kOutput; ++v) {
    if (Has(problem, v)) *pj += space.words[v] * space.word.fill1[v];
  }
  *cycles = entry->ways.empty() ? 0 : entry->least_cycles;
  return Status::kOk;
}

Status EstimatePart(const MappingProblem& part, const Hardware& node,
                    const MapConstraints& constraints, const Sharing& sharing,
                    double array_pj, ArrayTable* table, double* dram_pj, double* cycles,
                    Diagnostic* diagnostic) {
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace(part, node, constraints, 7, &space, diagnostic));
  PartSearch search = SearchOf(space, node.leakage_pj_per_cycle);
  search.sharing = sharing;
  // An array of one unit: tiles of any size.
  ArrayWay way = {};
  SpatialChoice choice = {};
  for (uint32_t d = 0; d < kDims; ++d) {
    way.t0[d] = 1;
    choice.spread[d] = 1;
    choice.passes[d] = part.extent[d];
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

Status MapPart(const MappingProblem& part, const Hardware& node,
               const MapConstraints& constraints, const Sharing& sharing,
               double dram_pj, ArrayTable* table, PartNest* found, LoopNest* nest,
               Diagnostic* diagnostic) {
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace(part, node, constraints, 7, &space, diagnostic));
  const PartSearch array = SearchOf(space, table->leakage_pj_per_cycle);
  const ArrayEntry* entry = nullptr;
  SLUICE_TRY(FindArrayWays(array, &space, table, &entry));
  PartSearch search = SearchOf(space, node.leakage_pj_per_cycle);
  search.sharing = sharing;
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
      SLUICE_TRY(SearchAbove(search, way, choice, rotated, table, found->objective,
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
