// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_tile.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();

// Ascending lengths that are multiples of the step and divide the bound.
int ListLengths(Span<const uint32_t> divisors, uint32_t step, uint32_t bound,
                uint32_t* lengths) {
  const uint32_t extent = divisors[divisors.size() - 1];
  int n = 0;
  for (const uint32_t length : divisors) {
    if (length > bound) break;
    if (step != 1 && length % step != 0) continue;
    if (bound != extent && bound % length != 0) continue;
    lengths[n++] = length;
  }
  return n;
}

struct Sweep {  // two axes move, the third is fixed
  int first;
  int second;
  double offset;  // cost of the fixed axis
};

struct LeastTile {
  double value;
  uint32_t* tile;
};

// Longer first axis, shorter second: one pass over both lists. Writes *least when it
// finds less.
void SweepPair(const TileProblem& problem, const TileScratch& scratch,
               const int counts[], const Sweep& axes, uint32_t tile[],
               LeastTile* least) {
  const uint32_t* first = scratch.lengths[axes.first];
  const uint32_t* second = scratch.lengths[axes.second];
  int j = counts[axes.second] - 1;
  for (int i = 0; i < counts[axes.first]; ++i) {
    tile[axes.first] = first[i];
    for (; j >= 0; --j) {
      tile[axes.second] = second[j];
      if (TileFits(tile, problem.holds, problem.words)) break;
    }
    if (j < 0) return;
    const double sum = axes.offset +
                       problem.weight[axes.first] / static_cast<double>(first[i]) +
                       problem.weight[axes.second] / static_cast<double>(second[j]);
    if (sum < least->value) {
      least->value = sum;
      for (int d = 0; d < kGemmAxes; ++d) least->tile[d] = tile[d];
    }
  }
}

}  // namespace

bool TileFits(const uint32_t tile[kGemmAxes], uint8_t holds, int64_t words) {
  // Lengths are at most 2^31, so three faces stay below 2^64.
  uint64_t need = 0;
  if ((holds & 1) != 0) need += uint64_t{tile[1]} * tile[2];
  if ((holds & 2) != 0) need += uint64_t{tile[0]} * tile[2];
  if ((holds & 4) != 0) need += uint64_t{tile[0]} * tile[1];
  return need <= static_cast<uint64_t>(words);
}

double BestTile(const Span<const uint32_t> divisors[kGemmAxes],
                const TileProblem& problem, const TileScratch& scratch,
                uint32_t best[kGemmAxes]) {
  int moving[kGemmAxes];
  int moving_count = 0;
  uint32_t tile[kGemmAxes];
  for (int d = 0; d < kGemmAxes; ++d) {
    tile[d] = problem.step[d];
    if (problem.weight[d] > 0) moving[moving_count++] = d;
  }
  if (!TileFits(tile, problem.holds, problem.words)) return kInfinity;
  for (int d = 0; d < kGemmAxes; ++d) best[d] = tile[d];
  if (moving_count == 0) return 0;
  int counts[kGemmAxes] = {};
  for (int i = 0; i < moving_count; ++i) {
    const int d = moving[i];
    counts[d] =
        ListLengths(divisors[d], problem.step[d], problem.bound[d], scratch.lengths[d]);
  }
  if (moving_count == 1) {
    const int d = moving[0];
    int i = counts[d] - 1;
    for (tile[d] = scratch.lengths[d][i];
         !TileFits(tile, problem.holds, problem.words);) {
      tile[d] = scratch.lengths[d][--i];  // the step itself fits
    }
    best[d] = tile[d];
    return problem.weight[d] / static_cast<double>(tile[d]);
  }
  LeastTile least = {kInfinity, best};
  if (moving_count == 2) {
    SweepPair(problem, scratch, counts, {moving[0], moving[1], 0}, tile, &least);
    return least.value;
  }
  for (int k = counts[2] - 1; k >= 0; --k) {
    tile[2] = scratch.lengths[2][k];
    const double offset = problem.weight[2] / static_cast<double>(tile[2]);
    if (offset >= least.value) break;
    SweepPair(problem, scratch, counts, {0, 1, offset}, tile, &least);
  }
  return least.value;
}

}  // namespace sluice
