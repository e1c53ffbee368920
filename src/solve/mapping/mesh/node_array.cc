// SPDX-License-Identifier: Apache-2.0
// Finds and remembers ways to run a part on the array.
#include "solve/mapping/mesh/node_array.h"

#include "base/checked.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/mesh/node_array_search.h"

namespace sluice {

namespace node_array {

using namespace conv_exact;

// ---- register tiles of a part, and which of them are worth keeping ----

namespace {

constexpr uint32_t kArrayWays = 20;  // kept of one part

// The best ways so far, by score.
struct BestWays {
  uint32_t count = 0;
  ArrayWay way[kArrayWays];
};

constexpr size_t kMostFactors = 24;  // of one dim in the registers
constexpr double kWorthwhile = 1.1;  // ways this many times the best score are dropped

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

// Adds the way if it is among the best.
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

// What SearchRegisters walks over: register tiles of one choice, dim by dim. The loops
// of the dims are nested; each level fixes what does not depend on the dims below it.
struct RegisterSearch {
  RegisterSearch(const PartSearch& p, const SpatialChoice& c) : part(p), choice(c) {}
  const PartSearch& part;
  const SpatialChoice& choice;
  FactorList list[kDims];
  // Input rows and columns over all tiles: of the array's units together and of single
  // units, by factor of the taps and of the outputs.
  double united[2][2][kMostFactors], single[2][2][kMostFactors];
  double bytes_of[kOperands];  // of a word
  double most_first = 1;       // units side by side along the sum, at most
  ArrayWay best[kGroups];      // by group innermost
};

// Filter taps and output positions of a register tile.
struct Window {
  const Factor &r, &s, &p, &q;
  int64_t taps;   // filter words per input and output channel
  int64_t plane;  // bytes of the input per channel
  double input_united, input_single;
};

// A window and the batch.
struct Rows {
  const Window& window;
  const Factor& n;
  int64_t count;  // output rows
  double visits, tiles, first;
  double weight_still, weight_moving;  // pJ
};

Status ListAllFactors(ArrayTable* table, RegisterSearch* search) {
  const PartSearch& part = search->part;
  const SpatialChoice& choice = search->choice;
  const MappingProblem& problem = part.space.problem;
  for (uint32_t d = kDimN; d <= kDimQ; ++d) {
    Span<const int64_t> divisors;
    SLUICE_TRY(FindDivisors(table, choice.passes[d], &divisors));
    const uint32_t v = d == kDimK ? kOutput : kInput;
    const int64_t most = part.width[v] == 0 ? INT64_MAX : part.room[0] / part.width[v];
    ListFactors(choice, problem.extent[d], d, divisors, most, &search->list[d]);
  }
  for (uint32_t d = kDimR; d <= kDimS; ++d) {
    ListTaps(choice, problem.extent[d], d, &search->list[d]);
  }
  return Status::kOk;
}

void SumSpans(RegisterSearch* search) {
  const SpatialChoice& choice = search->choice;
  const MappingProblem& problem = search->part.space.problem;
  for (int axis = 0; axis < 2; ++axis) {
    const FactorList& rows = search->list[kDimP + axis];
    const FactorList& taps = search->list[kDimR + axis];
    const int64_t row_spread = choice.spread[kDimP + axis];
    const int64_t tap_spread = choice.spread[kDimR + axis];
    for (size_t j = 0; j < taps.size; ++j) {
      for (size_t i = 0; i < rows.size; ++i) {
        const int64_t p = rows.of[i].passes, r = taps.of[j].passes;
        search->united[axis][j][i] =
            SpanSum(problem, axis, p * row_spread, r * tap_spread);
        search->single[axis][j][i] = SpanSum(problem, axis, p, r);
      }
    }
  }
}

// Finds the best innermost group for a tile of these factors; remembers the tile if it
// is the group's best.
inline void ScoreTile(RegisterSearch* search, const Rows& rows, const Factor& k,
                      const Factor& c) {
  const PartSearch& part = search->part;
  const ConvSpace& space = part.space;
  const WordEnergy& word = space.word;
  const Window& window = rows.window;
  const Factor &r = window.r, &s = window.s;
  const double weights = space.words[kWeight], outputs = space.words[kOutput];
  const double sum_visits = c.visits * r.visits * s.visits;
  const double sum_first = c.first * r.first * s.first;
  const double sum_tiles = c.tiles * r.tiles * s.tiles;
  const double input_still = window.input_united * word.read1[kInput] +
                             window.input_single * k.first * word.fill0[kInput];
  const double input_moving = window.input_united * k.visits * word.read1[kInput] +
                              window.input_single * k.tiles * word.fill0[kInput];
  const double base = outputs * sum_first * word.mac_read[kOutput];
  const double output_still = outputs * word.write1[kOutput] - base;
  const double output_moving =
      outputs *
          (sum_visits * word.write1[kOutput] + (sum_visits - 1) * word.read1[kOutput] +
           (sum_tiles - sum_first) * word.fill0[kOutput]) -
      base;
  const double pj[kGroups] = {input_moving + rows.weight_still + output_moving,
                              input_still + rows.weight_moving + output_moving,
                              input_moving + rows.weight_moving + output_still};
  for (uint32_t g = 0; g < kGroups; ++g) {
    const double input_visits = g == kGroupK ? 1 : k.visits;
    const double weight_visits = g == kGroupRows ? 1 : rows.visits;
    const double output_visits = g == kGroupSum ? 1 : 2 * sum_visits - 1;
    const double bytes = window.input_united * input_visits * search->bytes_of[kInput] +
                         weights * weight_visits * search->bytes_of[kWeight] +
                         outputs * output_visits * search->bytes_of[kOutput];
    const double cycles = Max(search->choice.cycles, bytes * space.cycles_per_byte[0]);
    const double score = ScoreOf(part, pj[g], cycles);
    ArrayWay* best = &search->best[g];
    if (score >= best->score) continue;
    best->score = score;
    best->pj = pj[g];
    best->bytes = bytes;
    const Factor* f[kDims] = {&rows.n, &k, &c, &window.p, &window.q, &r, &s, nullptr};
    for (uint32_t d = 0; d < kDimG; ++d) {
      best->t0[d] = static_cast<int32_t>(f[d]->passes);
    }
  }
}

// Would any tile be of use, with as much of K, and of the sum, as fits alone?
inline bool MayHelp(const RegisterSearch& search, const Rows& rows, size_t most_k,
                    size_t most_c) {
  const ConvSpace& space = search.part.space;
  const WordEnergy& word = space.word;
  const Window& window = rows.window;
  const Factor& k = search.list[kDimK].of[most_k - 1];
  const Factor& c = search.list[kDimC].of[most_c - 1];
  const double outputs = space.words[kOutput];
  const double input_once = window.input_united * word.read1[kInput];
  const double input_least = input_once * k.visits;
  const double output_once =
      outputs * (word.write1[kOutput] - search.most_first * word.mac_read[kOutput]);
  const double output_least =
      output_once + outputs * (c.visits * window.r.visits * window.s.visits - 1) *
                        (word.write1[kOutput] + word.read1[kOutput]);
  const double least[kGroups] = {input_least + rows.weight_still + output_least,
                                 input_once + rows.weight_moving + output_least,
                                 input_least + rows.weight_moving + output_once};
  bool useful = false;
  for (uint32_t g = 0; g < kGroups; ++g) {
    useful |=
        ScoreOf(search.part, least[g], search.choice.cycles) < search.best[g].score;
  }
  return useful;
}

// Tries all factors of K with these rows, each with as much of C as fits.
inline void SearchChannels(RegisterSearch* search, const Rows& rows) {
  const PartSearch& part = search->part;
  const int64_t room = part.room[0];
  const int64_t ww = part.width[kWeight], wo = part.width[kOutput];
  const FactorList &lk = search->list[kDimK], &lc = search->list[kDimC];
  const int64_t inputs = rows.n.passes * rows.window.plane;
  const int64_t taps = rows.window.taps;
  size_t ic = lc.size;
  size_t most_k = 0;
  while (ic > 0 &&
         lc.of[ic - 1].passes * (inputs + taps * ww) + rows.count * wo > room) {
    --ic;
  }
  while (most_k < lk.size &&
         inputs + lk.of[most_k].passes * (taps * ww + rows.count * wo) <= room) {
    ++most_k;
  }
  if (ic == 0 || most_k == 0 || !MayHelp(*search, rows, most_k, ic)) return;
  for (size_t ik = 0; ik < lk.size && ic > 0; ++ik) {
    const Factor& k = lk.of[ik];
    const int64_t left = room - rows.count * k.passes * wo;
    const int64_t each = inputs + k.passes * taps * ww;
    while (ic > 0 && lc.of[ic - 1].passes * each > left) --ic;
    if (ic == 0) return;
    ScoreTile(search, rows, k, lc.of[ic - 1]);
  }
}

// Tries all factors of the batch with one window.
inline void SearchBatch(RegisterSearch* search, const Window& window) {
  const ConvSpace& space = search->part.space;
  const WordEnergy& word = space.word;
  const double weights = space.words[kWeight];
  const Factor &p = window.p, &q = window.q;
  for (size_t in = 0; in < search->list[kDimN].size; ++in) {
    const Factor& n = search->list[kDimN].of[in];
    const double visits = n.visits * p.visits * q.visits;
    const double tiles = n.tiles * p.tiles * q.tiles;
    const double first = n.first * p.first * q.first;
    const Rows rows = {
        window,
        n,
        n.passes * p.passes * q.passes,
        visits,
        tiles,
        first,
        weights * (word.read1[kWeight] + first * word.fill0[kWeight]),
        weights * (visits * word.read1[kWeight] + tiles * word.fill0[kWeight])};
    SearchChannels(search, rows);
  }
}

// Tries all output positions with these filter taps.
void SearchWindows(RegisterSearch* search, size_t ir, size_t is) {
  const PartSearch& part = search->part;
  const MappingProblem& problem = part.space.problem;
  const int64_t wi = part.width[kInput], ww = part.width[kWeight];
  const int64_t wo = part.width[kOutput];
  const Factor &r = search->list[kDimR].of[ir], &s = search->list[kDimS].of[is];
  const int64_t taps = r.passes * s.passes;
  for (size_t iq = 0; iq < search->list[kDimQ].size; ++iq) {
    const Factor& q = search->list[kDimQ].of[iq];
    for (size_t ip = 0; ip < search->list[kDimP].size; ++ip) {
      const Factor& p = search->list[kDimP].of[ip];
      const int64_t plane = WindowSpan(problem, 0, p.passes, r.passes) *
                            WindowSpan(problem, 1, q.passes, s.passes) * wi;
      if (plane + p.passes * q.passes * wo + taps * ww > part.room[0]) break;
      const Window window = {
          r,
          s,
          p,
          q,
          taps,
          plane,
          part.plane_words * search->united[0][ir][ip] * search->united[1][is][iq],
          part.plane_words * search->single[0][ir][ip] * search->single[1][is][iq]};
      SearchBatch(search, window);
    }
  }
}

// Ways at or above this score are not kept.
double LimitOf(const BestWays& entry) {
  double limit = entry.count == 0 ? kNever : entry.way[0].score * kWorthwhile;
  if (entry.count == kArrayWays) limit = Min(limit, entry.way[kArrayWays - 1].score);
  return limit;
}

void KeepBest(const SpatialChoice& choice, ArrayWay best[kGroups], BestWays* entry) {
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
}

// Tries the register tiles of a choice whose channels cannot grow; adds the best for
// each innermost group to *entry.
Status SearchRegisters(const PartSearch& part, const SpatialChoice& choice,
                       ArrayTable* table, BestWays* entry) {
  RegisterSearch search(part, choice);
  SLUICE_TRY(ListAllFactors(table, &search));
  SumSpans(&search);
  for (uint32_t v = 0; v < kOperands; ++v) {
    search.bytes_of[v] = static_cast<double>(part.width[v]);
  }
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] == kGroupSum) {
      search.most_first *= static_cast<double>(choice.spread[d]);
    }
  }
  for (ArrayWay& way : search.best) way.score = LimitOf(*entry);
  for (size_t ir = 0; ir < search.list[kDimR].size; ++ir) {
    for (size_t is = 0; is < search.list[kDimS].size; ++is) {
      SearchWindows(&search, ir, is);
    }
  }
  KeepBest(choice, search.best, entry);
  return Status::kOk;
}

// ---- ways to fill the array, remembered ----

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

// A lower bound on the score of the choice's register tiles: two operands move while
// the third is stationary; the product of their register factors is limited by the
// third's tile.
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

Status LeastOnArray(const NestRequest& request, ArrayTable* table, double* pj,
                    double* cycles, Diagnostic* diagnostic) {
  ConvSpace space;
  SLUICE_TRY(MakeConvSpace(request, 7, &space, diagnostic));
  const ArrayEntry* entry = nullptr;
  SLUICE_TRY(FindArrayWays(SearchOf(space, table->leakage_pj_per_cycle), &space, table,
                           &entry));
  *pj = entry->ways.empty() ? 0 : kNever;
  for (const ArrayWay& way : entry->ways) *pj = Min(*pj, way.pj);
  *pj += space.fixed_pj;
  for (uint32_t v = kInput; v < kOutput; ++v) {
    if (Has(request.problem, v)) *pj += space.words[v] * space.word.fill1[v];
  }
  *cycles = entry->ways.empty() ? 0 : entry->least_cycles;
  return Status::kOk;
}

}  // namespace sluice
