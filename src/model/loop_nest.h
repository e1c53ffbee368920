// SPDX-License-Identifier: Apache-2.0
// How a problem runs on a hierarchy: temporal loops and spatial factors of every level.
//
//   level l iterates its tile in `temporal` steps (order[l][0] innermost) over groups
//   of `spatial` units, each holding one tile of level l-1 (a MAC for l = 0). So
//   tile(l) = tile(l-1) x spatial(l) x temporal(l); neighbours in space are neighbours
//   in the tensor. Factors need not divide: the last tile of a dim may be smaller.
//
// Input    hardware.h levels and fanouts (axes of level l: its fanouts, in order)
// Output   LoopNest; CheckNest says whether it covers the problem and fits
// Errors   kBadInput with the dim; kInfeasible with bytes required and available
// Cost     O(levels x dims)
// Source   KAPLA section III-B as nested loops; GOMA's L1, L2 = s L3, L3
#ifndef SLUICE_MODEL_LOOP_NEST_H_
#define SLUICE_MODEL_LOOP_NEST_H_

#include <stdint.h>

#include "base/status.h"
#include "model/hardware.h"
#include "model/mapping_problem.h"

namespace sluice {

constexpr uint32_t kMaxLevels = 6;
constexpr uint32_t kMaxAxes = 3;  // fanouts below one level

struct LoopNest {
  uint32_t levels;
  int64_t temporal[kMaxLevels][kDims];
  uint8_t order[kMaxLevels][kDims];  // a permutation of the dims, innermost first
  int64_t spatial[kMaxLevels][kMaxAxes][kDims];
  uint8_t hold[kMaxLevels];  // operand bits; a clear bit is a bypass
};

// All factors 1, every operand held where the hardware allows it, order K C ... G.
LoopNest EmptyNest(const Hardware& hardware, const MappingProblem& problem);

int64_t SpatialFactor(const LoopNest& nest, uint32_t level, uint32_t dim);

// Extents of the tile of level `level`, not clipped; level -1 is one MAC.
void TileExtents(const LoopNest& nest, int level, int64_t extent[kDims]);

// Bytes of the operands held in one instance of `level`. An operand in `resident`
// counts with its whole tensor at level outermost - 1.
Status LevelBytes(const MappingProblem& problem, const LoopNest& nest, uint32_t level,
                  uint32_t resident, int64_t bytes[kOperands], Diagnostic* diagnostic);

// The j-th fanout below `level`, or nullptr.
const Fanout* FanoutAt(const Hardware& hardware, uint32_t level, uint32_t axis);
// Whether the fanout may unroll the dim. G counts as K.
bool MayUnroll(const Fanout& fanout, uint32_t dim);

// Whether bytes per operand fit the level's capacity and shares.
bool FitsLevel(const MemoryLevel& level, const int64_t bytes[kOperands]);

Status CheckHierarchy(const Hardware& hardware, Diagnostic* diagnostic);
Status CheckNest(const MappingProblem& problem, const Hardware& hardware,
                 const LoopNest& nest, uint32_t resident, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_LOOP_NEST_H_
