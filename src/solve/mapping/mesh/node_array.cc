// SPDX-License-Identifier: Apache-2.0
// Ways to run a part on the array, and what is known about them.
#include "solve/mapping/mesh/node_array.h"

#include "base/checked.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/mesh/node_array_search.h"

namespace sluice {

namespace node_array {

using namespace conv_exact;

namespace {

constexpr size_t kMostFactors = 24;  // of one dim in the registers
constexpr uint32_t kArrayWays = 20;  // kept of one part
constexpr double kWorthwhile = 1.1;  // ways this much dearer than the best are dropped

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

size_t SlotOf(Span<const Divisors> slots, int64_t number) {
  size_t at = static_cast<size_t>(number) * 0x9e3779b1u & (slots.size() - 1);
  while (slots[at].number != 0 && slots[at].number != number) {
    at = (at + 1) & (slots.size() - 1);
  }
  return at;
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

}  // namespace

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

}  // namespace node_array

using namespace node_array;

double LeastVisits(double a, double whole_x, double b, double whole_y, double room) {
  if (whole_x * whole_y <= room) return a + b;
  if (room <= 1) return a * whole_x + b * whole_y;
  const double low = Max(1.0, room / whole_y), high = Min(whole_x, room);
  double x = b * whole_y > 0 ? SquareRoot(a * whole_x * room / (b * whole_y)) : high;
  x = Max(low, Min(high, x));
  return a * whole_x / x + b * whole_y * x / room;
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

}  // namespace sluice
