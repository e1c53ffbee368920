// SPDX-License-Identifier: Apache-2.0
// How often every memory is read and written when a loop nest runs: exact counts.
//
// Input    a problem, hardware and a nest that passed CheckNest; words are elements
// Output   AccessCounts, summed over all instances of a level in one node
// Errors   kUnsupported when a count exceeds int64
// Cost     O(levels^2 x dims), no memory
// Source   KAPLA III-B/C, GOMA (10)-(28), Timeloop's conventions. Deviations: kReuse
//          also sees reuse across levels and across loops of one trip (exact against
//          timeloop-model); tile unions in space are boxes.
//
// The rules, which tests/model/walk.h follows step by step:
//  1 A unit holds a tile as long as no loop over a dim of its operand advances. A tile
//    is fetched once per stay, if the stay has any work. A MAC keeps nothing.
//  2 A parent reads the box of the words its units need at once, if every fanout between
//    multicasts or forwards; else each unit's words. Neighbours across a loop of a
//    bypassed level share no halo.
//  3 A level with `sliding` fetches only the new words when its innermost moving loop, a
//    window dim, takes its next step.
//  4 Outputs: each stay ends with a write to the parent (units of a reducing fanout
//    write their sum), and, unless it is the element's first, starts with a read of the
//    old partial sum, given to all units of the group. A drain does not count as a read.
#ifndef SLUICE_MODEL_ACCESS_H_
#define SLUICE_MODEL_ACCESS_H_

#include <stdint.h>

#include "base/status.h"
#include "model/loop_nest.h"

namespace sluice {

enum class ReuseForm : uint8_t {
  kReuse = 0,  // exact
  kPaper = 1,  // GOMA: only the innermost axis of the level above, whatever its trips
};

struct AccessCounts {
  int64_t reads[kMaxLevels][kOperands];   // serving the level below, and old sums
  int64_t writes[kMaxLevels][kOperands];  // fills, and results arriving from below
  int64_t final_writes;                   // part of writes[outermost][kOutput]
  // Words through the fanouts below level l (both ways, once per bus), and words handed
  // from unit to unit where all fanouts on the way forward.
  int64_t transfers[kMaxLevels][kOperands];
  int64_t forwards[kMaxLevels][kOperands];
  int64_t instances[kMaxLevels];  // of the level that have work
  int64_t operations;
  int64_t cycles;  // steps of the whole nest
};

struct AccessRules {
  ReuseForm form;
  // Operands (bits) kept in the level below the outermost: no traffic between the two.
  uint32_t resident;
};

Status CountAccesses(const MappingProblem& problem, const Hardware& hardware,
                     const LoopNest& nest, const AccessRules& rules,
                     AccessCounts* counts, Diagnostic* diagnostic);

// A loop over a window dim whose later steps fetch new words only (rule 3): `trips` steps,
// `inner` tiles apart.
struct Slide {
  bool on;
  bool taps;  // slides along the taps, else along the outputs
  int64_t trips;
  int64_t inner;
};

// Sum of window spans over all pairs of output tiles and tap tiles of an axis.
int64_t WindowWords(const MappingProblem& problem, int axis, int64_t output_tile,
                    int64_t tap_tile, const Slide& slide, bool* over);

}  // namespace sluice

#endif  // SLUICE_MODEL_ACCESS_H_
