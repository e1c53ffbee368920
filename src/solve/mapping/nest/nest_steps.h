// SPDX-License-Identifier: Apache-2.0
// What one level of a loop nest adds to its cost, counted from the outermost level inwards.
// Private to nest_exact.
//
// A count of model/access.h is the words of an operand in all tiles, times the
// combinations of loops and units that move nothing of it, but for the loops right above
// the tile. How many combinations have work is known from two numbers per dim, since the
// last tile of a dim alone may be smaller: those that have a whole tile, and whether the
// last tile, which is not whole, has one of its own.
//
// Input    problem and hardware that passed their checks; what every level holds
// Output   energy and bytes of the transfers into one level
// Errors   none; counts are doubles, exact up to 2^53
// Cost     some 50 ns per level
// Source   the rules of model/access.h
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_STEPS_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_STEPS_H_

#include <stdint.h>

#include "solve/mapping/conv/conv_exact.h"

namespace sluice::nest_exact {

constexpr uint32_t kAllDims = (1u << kDims) - 1;
constexpr uint32_t kWindowDims = 4;  // P Q R S

// The loops that keep an operand: rows the weight, K the input, sums the output.
enum Group : uint8_t { kRows = 0, kChannels, kSums, kGroups };
constexpr uint32_t kGroupDims[kGroups] = {1u << kDimN | 1u << kDimP | 1u << kDimQ,
                                          1u << kDimK,
                                          1u << kDimC | 1u << kDimR | 1u << kDimS};
constexpr uint32_t kKept[kGroups] = {kWeight, kInput, kOutput};

// Factors of the fanouts below a level.
struct Spread {
  int32_t factor[kMaxAxes][kDims];
  int32_t units[kDims];
  int32_t reach[kDims];  // the farthest unit that an axis starts at, in tiles
  bool multicast, reduction, forwarding;  // of all fanouts in use
};

// Combinations of loops and units passed, for one dim: twice those that have a whole
// tile, and one more if the tile that is not whole has one of its own. Larger is more.
using Combined = int32_t;
enum Counted : uint8_t {
  kRun =
      0,  // all units; loops but for those right above the tile that keep the operand
  kGroupRun,  // the same, units below the memory of the operand as one
  kGroupAll,  // the same, with all loops
  kUnits,     // all units, no loops
  kBeyond,    // units beyond the memory of the operand, no loops
  kCountings
};

// One operand between the memory it lies in and the next one inwards.
struct Path {
  bool multicast, reduction, forwarding;
};

// The innermost loop passed that moves the input, for memories that slide.
struct Motion {
  uint8_t dim;  // kDims: none of a window
  int32_t trips;
  int32_t over;    // units along the dim, beyond the memory
  int32_t inside;  // and below it
};

// All that the levels further in need to know of the levels passed.
struct Passed {
  Combined count[kCountings][kDims];
  Path path[kOperands];
  int32_t united[kWindowDims];  // units side by side below the memory of the input
  Motion motion;
};

// The loops of one level.
struct Loops {
  int64_t trips[kDims];
  uint8_t group;   // innermost; kGroups: no loops
  uint8_t moving;  // dim of the innermost loop that moves the input; kDims: none
};

struct Model {
  const MappingProblem& problem;
  const Hardware& hardware;
  uint32_t resident;
  uint32_t hold[kMaxLevels];
  double wire_pj[kMaxLevels];  // of a bit through the fanouts of the level
};

struct Sums {
  double energy_pj;
  double bytes[kMaxLevels];  // of all instances
};

Model MakeModel(const NestRequest& request, const uint32_t hold[kMaxLevels]);

// The next memory above `level` that holds the operand.
int ParentOf(const Model& model, int level, uint32_t v);

// Outside of all loops, which cover `extent`, or more.
Passed Start(const MappingProblem& problem, const int64_t extent[kDims]);
// Passes the loops and the fanouts of one level, down to this tile.
void Pass(const MappingProblem& problem, const Loops& loops, const Spread& spread,
          const int64_t tile[kDims], Passed* passed);
// Instances of the memory whose tile was passed last that have work.
double Instances(const Passed& passed);
// Adds the transfers into `child` (-1: the MACs), whose tile has these extents.
void Enter(const Model& model, int child, const int64_t tile[kDims], Passed* passed,
           Sums* sums);
// The same if the loops above kept the operand of `group` as long as can be.
double LeastEnter(const Model& model, int child, const int64_t tile[kDims],
                  const Spread& spread, uint8_t group);

}  // namespace sluice::nest_exact

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_STEPS_H_
