// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the array's traffic, before any register tile is tried.
#include "base/checked.h"
#include "solve/mapping/conv/conv_exact_space.h"

namespace sluice::conv_exact {

namespace {

// Passes of each group, and the cost of one operand when `tile` of them lie inside the
// register tile.
struct ArrayBound {
  const ConvSpace* space;
  double passes[kGroups + 1];
  double words[kOperands];

  double Moving(uint32_t operand, double tile) const {
    if (!Has(space->problem, operand)) return 0;
    const double all = passes[kMovesNot[operand]];
    const double visits = space->held[operand] ? Max(1.0, all / tile) : all;
    const double read = space->word.read1[operand];
    if (operand != kOutput) return words[operand] * visits * read;
    return words[operand] *
           (visits * space->word.write1[operand] + (visits - 1) * read);
  }
  double Still(uint32_t operand) const {
    return Moving(operand, passes[kMovesNot[operand]]);
  }
  // Register words left for one factor when the other is taken.
  double Room(uint32_t operand, double taken) const {
    const int64_t capacity = space->hardware->levels[0].capacity_bytes;
    if (capacity == 0 || !space->held[operand]) return 1e300;
    return static_cast<double>(capacity / InnerBytes(space->problem, operand)) / taken;
  }
};

// Two operands move while the third is stationary. The product of their register
// factors is at most the third's tile.
void LeastOfThree(const ArrayBound& bound, const Span<const int64_t>* divisors,
                  double least[kGroups]) {
  const double taps = bound.passes[kGroupSum] /
                      static_cast<double>(divisors[kDimC][divisors[kDimC].size() - 1]);
  double rows = 1e300, k_inner = 1e300, sum = 1e300;
  for (const int64_t k : divisors[kDimK]) {
    const double f = static_cast<double>(k);
    const double input = bound.Moving(kInput, f);
    const double tile_rows = Max(1.0, bound.Room(kOutput, f));
    sum = Min(sum, input + bound.Moving(kWeight, tile_rows));
    const double tile_sums = Max(1.0, bound.Room(kWeight, f));
    rows = Min(rows, input + bound.Moving(kOutput, tile_sums));
  }
  for (const int64_t c : divisors[kDimC]) {
    const double f = static_cast<double>(c);
    const double tile_rows = Max(1.0, bound.Room(kInput, f));
    k_inner = Min(k_inner,
                  bound.Moving(kOutput, f * taps) + bound.Moving(kWeight, tile_rows));
  }
  least[kGroupRows] = Max(least[kGroupRows], rows + bound.Still(kWeight));
  least[kGroupK] = Max(least[kGroupK], k_inner + bound.Still(kInput));
  least[kGroupSum] = Max(least[kGroupSum], sum + bound.Still(kOutput));
}

}  // namespace

void LeastArrayPj(const ConvSpace& space, const SpatialChoice& choice,
                  const Span<const int64_t>* divisors, double least[kGroups]) {
  ArrayBound bound = {&space, {1, 1, 1, 1}, {}};
  double units = space.words[kOutput];
  for (uint32_t d = 0; d < kDims; ++d) {
    bound.passes[kGroupOf[d]] *= static_cast<double>(choice.passes[d]);
    if (kGroupOf[d] == kGroupSum) units *= static_cast<double>(choice.spread[d]);
  }
  for (uint32_t v = 0; v < kOperands; ++v) bound.words[v] = space.words[v];
  bound.words[kInput] = LeastInputWords(space, kOneElement, space.problem.extent);
  const double once = bound.Still(kInput) + bound.Still(kWeight) + bound.Still(kOutput);
  for (uint32_t g = 0; g < kGroups; ++g) least[g] = once;
  if (divisors != nullptr) LeastOfThree(bound, divisors, least);
  // A unit's first update of a sum reads nothing.
  if (!space.held[kOutput]) return;
  for (uint32_t g = 0; g < kGroups; ++g)
    least[g] -= units * space.word.mac_read[kOutput];
}

}  // namespace sluice::conv_exact
