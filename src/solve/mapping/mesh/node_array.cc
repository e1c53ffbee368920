// SPDX-License-Identifier: Apache-2.0
// Finds and remembers ways to run a part on the array.
#include "solve/mapping/mesh/node_array.h"

#include "base/checked.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/mesh/node_array_search.h"

namespace sluice {

namespace node_array {

using namespace conv_exact;

namespace {

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
