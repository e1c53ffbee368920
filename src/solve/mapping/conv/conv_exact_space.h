// SPDX-License-Identifier: Apache-2.0
// Candidates of the exact mapper: spatial choices and divisors, and the closed form
// cost of a point. Private to conv_exact.
//
// Input    problem and hardware that passed CheckProblem and CheckConvSpace
// Output   ConvSpace; spatial choices; PointCost equals model/layer_cost on its space
// Errors   kOutOfMemory; kUnsupported
// Cost     O(choices); PointCost about 100 ns
#ifndef SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SPACE_H_
#define SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SPACE_H_

#include <stdint.h>

#include "base/checked.h"
#include "base/memory.h"
#include "solve/mapping/conv/conv_exact.h"

namespace sluice::conv_exact {

// The three groups of loops. The operand that a group does not index is stationary when
// the group is innermost.
enum Group : uint8_t { kGroupRows = 0, kGroupK, kGroupSum, kGroups };
inline constexpr uint32_t kGroupOf[kDims] = {kGroupRows, kGroupK,    kGroupSum,
                                             kGroupRows, kGroupRows, kGroupSum,
                                             kGroupSum,  kGroups};
constexpr uint32_t kStill[kGroups] = {kWeight, kInput, kOutput};
inline constexpr int64_t kOneElement[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
constexpr uint32_t kMovesNot[kOperands] = {kGroupK, kGroupRows, kGroupSum};

// Energies of one word each way, in pJ.
struct WordEnergy {
  double mac_read[kOperands];  // level 0 (or 1) to the MAC
  double fill0[kOperands];     // into the registers
  double read1[kOperands];     // out of the scratchpad, wires included
  double write1[kOperands];    // from the array into the scratchpad, wires included
  double fill1[kOperands];     // from DRAM into the scratchpad
  double read2[kOperands];     // out of DRAM
  double write2_partial;       // unfinished outputs
  double write2_final;
};

struct ConvSpace {
  MappingProblem problem;
  const Hardware* hardware;
  MapConstraints constraints;
  WordEnergy word;
  bool dram;                      // three levels
  bool held[kOperands];           // in the registers
  bool multicast, reduction;      // of the array
  bool square;                    // rows and columns may be exchanged
  bool loose;                     // a nest outside the space could be better
  double cycles_per_byte[2];      // scratchpad, DRAM
  double outer_share[kOperands];  // of DRAM bytes, see OuterPrice; 1 without it
  double words[kOperands];        // whole operand
  double fixed_pj;                // operations and what every nest pays
  int64_t operations;
  int64_t peak;
};

// a / b rounded up, a >= 0, b > 0: 64-bit division is what the inner loops wait for.
inline int64_t Quotient(int64_t a, int64_t b) {
  if (((a | b) >> 31) != 0) return CeilDivide(a, b);
  return (static_cast<uint32_t>(a) + static_cast<uint32_t>(b) - 1) /
         static_cast<uint32_t>(b);
}

// Factors over the axes of the array.
struct SpatialChoice {
  int32_t axis[kMaxAxes][kDims];
  int64_t spread[kDims];  // product over axes
  int64_t passes[kDims];  // temporal steps left, to be split over the levels
  double cycles;          // all steps, or operations at the peak rate
  double bound;
};

// One way to split the passes: registers, array, scratchpad, DRAM.
struct Point {
  int64_t t0[kDims];
  int64_t t1[kDims];
  int64_t t2[kDims];
  uint32_t inner1;  // Group
  uint32_t inner2;
};

struct PointCost {
  double energy_pj;  // without leakage
  double dram_bytes;
  double scratchpad_bytes;
};

// registers: bits of the operands that the registers hold.
Status MakeConvSpace(const NestRequest& request, uint32_t registers, ConvSpace* space,
                     Diagnostic* diagnostic);

Status ListSpatialChoices(ConvSpace* space, Vector<SpatialChoice>* choices);

// All divisors of n, ascending.
Status ListDivisors(int64_t n, Vector<int64_t>* divisors);

// Sum of window spans over all tiles of an axis (every tile but the last is full).
double SpanSum(const MappingProblem& problem, int axis, int64_t outputs, int64_t taps);

// Input words summed over all tiles of these extents (window boxes; clipped).
double InputWords(const ConvSpace& space, const int64_t tile[kDims]);

// The least InputWords over all tiles between two: the sum is bilinear in the counts of
// output and tap tiles of an axis, so the least is at a corner.
double LeastInputWords(const ConvSpace& space, const int64_t small[kDims],
                       const int64_t large[kDims]);

// What happens above one scratchpad tile: input words over all tiles, steps per group.
struct DramSteps {
  double input_words;
  double count[kGroups + 1];
};

DramSteps StepsAbove(const ConvSpace& space, const SpatialChoice& choice,
                     const int64_t passes[kDims], const int64_t tile[kDims]);
// DRAM <-> scratchpad with one group innermost. Adds to cost.
void AddDramCost(const ConvSpace& space, const DramSteps& steps, uint32_t inner2,
                 PointCost* cost);
// A lower bound on the traffic between scratchpad and registers, by innermost group:
// each word once; with divisors of the passes, also the words that operands sharing the
// registers must move.
void LeastArrayPj(const ConvSpace& space, const SpatialChoice& choice,
                  const Span<const int64_t>* divisors, double least[kGroups]);

// Scratchpad <-> registers of one operand. `still`: its group is innermost.
void AddArrayCost(const ConvSpace& space, const SpatialChoice& choice,
                  const Point& point, uint32_t operand, bool still, PointCost* cost);

double LatencyOf(const ConvSpace& space, const SpatialChoice& choice,
                 const PointCost& cost);
double ObjectiveOf(const ConvSpace& space, const SpatialChoice& choice,
                   const PointCost& cost);

LoopNest NestOfPoint(const ConvSpace& space, const SpatialChoice& choice,
                     const Point& point);

}  // namespace sluice::conv_exact

#endif  // SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SPACE_H_
