// SPDX-License-Identifier: Apache-2.0
// Small changes of a plan's segments: other numbers of parts of a loop or of two, a loop
// more or less, two segments joined, one divided, a border moved by a layer.
//
// Input    a segment, the one behind it, the number of a move.
// Output   the segments that replace the given one, or the given one and the one behind.
// Errors   false: the move does not apply to this segment.
// Cost     constant.
#ifndef SLUICE_SOLVE_SPACE_MOVES_H_
#define SLUICE_SOLVE_SPACE_MOVES_H_

#include "solve/space/problem.h"

namespace sluice {

constexpr int kSegmentMoves = 62;
// Of these, the first ones change one loop. A random change makes one or two of them.
constexpr int kRandomMoves = 42;
// Including the moves that replace all loops by one.
constexpr int kAllMoves = kSegmentMoves + 6 * (kAxes + 1);

struct SegmentAt {
  uint32_t first, last;  // positions
  const LoopChoice& loops;
};

// Segments that replace segments of a plan from one on.
struct SegmentChange {
  uint32_t border[3];  // the layers of the first one, then of the second, if any
  LoopChoice loops[2];
  size_t made = 1, replaced = 1;
};

// next: the following segment; NULL if it must stay as it is, or if there is none. The
// loops of a change may not fit its layers.
bool DraftChange(const SegmentAt& segment, const SegmentAt* next, int move,
                 SegmentChange* out);

// Makes loops valid for these layers: no more parts than there are to cut.
void FitLoops(const SpaceProblem& p, uint32_t first, uint32_t last, LoopChoice* loops);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_MOVES_H_
