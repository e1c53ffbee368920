// SPDX-License-Identifier: Apache-2.0
// The smallest sum of weight / length over tiles that fit a memory.
//
// Input    for each axis the divisors of its extent, a step that the length must be a
//          multiple of and a bound that it must divide; the data that share the memory;
//          the memory's words
// Output   the least sum and a tile that has it; infinity when nothing fits
// Errors   none
// Cost     linear in the divisors for two axes with weight, quadratic for three
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_TILE_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_TILE_H_

#include <stdint.h>

#include "base/array.h"
#include "model/gemm_cost.h"

namespace sluice {

struct TileProblem {
  double weight[kGemmAxes];  // 0: the axis stays at its step
  uint32_t step[kGemmAxes];
  uint32_t bound[kGemmAxes];  // divides the extent
  uint8_t holds;
  int64_t words;
};

struct TileScratch {  // room for all divisors of each axis
  uint32_t* lengths[kGemmAxes];
};

double BestTile(const Span<const uint32_t> divisors[kGemmAxes],
                const TileProblem& problem, const TileScratch& scratch,
                uint32_t best[kGemmAxes]);

// Whether a tile's data fit.
bool TileFits(const uint32_t tile[kGemmAxes], uint8_t holds, int64_t words);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_TILE_H_
