// SPDX-License-Identifier: Apache-2.0
// What moves between the memories of a loop nest, counted for the judge. Private to
// nest_claim and nest_refute.
//
// Input    a claim whose problem was checked; loops of the levels from some level outwards
// Output   energy and bytes of the transfers into one level; numbers of which the counts of
//          all levels further in are made
// Errors   none; counts are doubles, exact up to 2^53
// Cost     O(levels x dims) per operand
// Source   Digits. Loops and units over one dim are the digits of a mixed-radix number that
//          names the tiles along it; a count is the number of different readings of some of
//          these digits. The rules:
//   1. A tile stays in a memory while only loops run on that do not move its operand, from the
//      innermost one outwards. MACs keep nothing.
//   2. A memory is read once for all units below it, if all fanouts on the way that are in use
//      multicast, or all forward; units' boxes of the input unite, unless a loop of a memory
//      on the way that is bypassed runs between them.
//   3. A memory that slides takes only new rows when the innermost loop that moves the input
//      takes a further step.
//   4. Each stay of an output ends with a write; all but the first of its elements begin with
//      a read. Fanouts that reduce write one sum for all units.
#ifndef SLUICE_VERIFY_NEST_NEST_COUNTS_H_
#define SLUICE_VERIFY_NEST_NEST_COUNTS_H_

#include "verify/nest/nest_claim.h"

namespace sluice::nest_claims {

constexpr uint32_t kMovesOperand[kOperandCount] = {
    0xffu & ~(1u << kK),                                    // input
    1u << kK | 1u << kC | 1u << kR | 1u << kS | 1u << kG,   // weights
    1u << kN | 1u << kK | 1u << kP | 1u << kQ | 1u << kG};  // output
constexpr double kSlack = 1e-12;  // of sums in double, relative

inline double Real(int64_t n) { return static_cast<double>(n); }
inline bool In(uint32_t bits, uint32_t i) { return (bits >> i & 1) != 0; }

// The units below a level.
struct Units {
  int32_t axis[kAxesMost][kDimCount];
  int32_t of[kDimCount];
  int32_t farthest[kDimCount];  // unit that an axis begins with, of those in use
  bool multicast, reduction, forwarding;  // of all fanouts in use
};

// The loops of a level and the units below it, as far as counts tell them apart.
struct Level {
  int32_t trips[kDimCount];
  int32_t units[kDimCount];
  uint8_t
      keeps[kOperandCount];  // dims of its innermost loops that do not move the operand
  bool moves[kOperandCount];  // whether one of its loops moves the operand
  uint8_t moving;  // dim of the innermost loop that moves the input, or kDimCount
  bool multicast, reduction, forwarding;
};

// What the judge works on.
struct Case {
  const ClaimedNest& claim;
  const Hardware& hardware;
  uint32_t hold[kLevelsMost];
  int top;                      // the outermost level
  bool divides;                 // all tiles divide the extents
  double wire_pj[kLevelsMost];  // per bit through the fanouts of the level

  const MemoryLevel& memory(int level) const {
    return hardware.levels[static_cast<size_t>(level)];
  }
};
Case CaseOf(const ClaimedNest& claim, const Hardware& hardware,
            const uint32_t hold[kLevelsMost]);

// The axis-th fanout below a level, or nullptr.
const Fanout* FanoutBelow(const Hardware& hardware, int level, uint32_t axis);
bool MayTake(const Fanout& fanout, uint32_t dim);
// Fills in all but `axis` from it.
void SumUp(const Hardware& hardware, int level, Units* units);

// Words of a whole tile.
double WordsOf(const ClaimedNest& claim, uint32_t operand,
               const int64_t tile[kDimCount]);
double Operations(const ClaimedNest& claim);
double PeakOf(const ClaimedNest& claim, const Hardware& hardware);
int64_t WidthOf(const ClaimedNest& claim, uint32_t operand);  // bytes of a word on chip
// Whether the operands of a tile fit the level.
bool Fit(const Case& one, int level, const int64_t tile[kDimCount]);
// The next level outwards of `level` that holds the operand.
int HolderAbove(const Case& one, int level, uint32_t operand);
bool Crosses(const Case& one, int child, uint32_t operand);

// Rows (axis 0) or columns of the input under all tiles along an axis.
struct Window {
  int axis;
  int64_t outputs, taps;  // of a tile
  bool slides, along_taps;
  int64_t trips, apart;  // of the sliding loop; tiles between its steps
};
double WindowRows(const ClaimedNest& claim, const Window& window);

// Numbers of readings of the digits of the dims that do not move an operand.
enum Reading : uint8_t {
  kStays = 0,    // loops but for those that keep the tile; all units
  kStaysBeyond,  // the same, units beyond the memory that is read
  kStepsBeyond,  // all loops; units beyond that memory
  kAllUnits,     // no loops; all units
  kUnitsBeyond,  // no loops; units beyond that memory
  kReadings
};
// Of the tiles along `dim`: that have their whole length, and all.
struct Readings {
  double whole, all;
};

// The levels from `low` outwards, seen from below: the operand lies in level `from`.
struct View {
  const Case& one;
  const Level* levels;  // by level
  int low;
  int from;
  uint32_t operand;
};
Readings ReadingsOf(const View& view, Reading reading, uint32_t dim, int64_t tile,
                    bool keeps_nothing);
// Units side by side below the memory that is read; of a dim of a window.
int32_t UnitedUnits(const View& view, uint32_t dim);
struct Sliding {
  uint8_t dim;  // of the innermost loop that moves the input; kDimCount: of no window
  int32_t trips;
  int32_t beyond,
      within;  // units of the dim between the loop and the tile, by the memory
};
Sliding SlidingOf(const View& view);
struct Fans {
  bool multicast, reduction, forwarding;
};
Fans FansOf(const View& view);
double InstancesOf(const Case& one, const Level levels[kLevelsMost], int level,
                   const int64_t tile[kDimCount]);

struct Sums {
  double pj;
  double bytes[kLevelsMost];  // of all instances
};
// Words of one operand that cross between two memories.
struct Crossing {
  double reads, writes, fills, forwards;
};
void Price(const Case& one, int child, uint32_t operand, const Crossing& crossing,
           Sums* sums);
// Adds the transfers into `child` (-1: the MACs), whose tile this is; levels: those above.
void AddTransfers(const Case& one, const Level levels[kLevelsMost], int child,
                  const int64_t tile[kDimCount], Sums* sums);

// energy^n x cycles^m.
double Worth(const ClaimedNest& claim, double energy_pj, double cycles);
// Whole cycles of a complete nest of `steps`.
double WholeCycles(const Case& one, double steps, const double bytes[kLevelsMost],
                   const double instances[kLevelsMost]);

}  // namespace sluice::nest_claims

#endif  // SLUICE_VERIFY_NEST_NEST_COUNTS_H_
