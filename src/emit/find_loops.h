// SPDX-License-Identifier: Apache-2.0
// Repetition in a program: steps that recur, moved by constant distances in DRAM and in
// their layer.
//
// Steps repeat with a period if each has the form of the step one period before, waits
// for steps that lie as far back, and moves by the same distance in every period. A run
// that repeats becomes one item; items that repeat become an item again, up to three
// levels.
//
// solve/fusion/alike_runs.h finds repetition among layers, before there are steps: there
// the caller decides which layers are alike, and runs are neither nested nor moved.
//
// Input    a program; how far back its waits reach (Emitter::back)
// Output   pieces: runs of steps that become one instance each, in the order of the
//          program, and the loops around them
// Errors   kOutOfMemory; kStopped
// Cost     expected time linear in steps; memory: 16 bytes per step that does not
//          repeat
#ifndef SLUICE_EMIT_FIND_LOOPS_H_
#define SLUICE_EMIT_FIND_LOOPS_H_

#include "base/sequence.h"
#include "model/program.h"
#include "sluice/stream.h"

namespace sluice {

// Steps [begin, end): those of the first visit.
struct Piece {
  uint32_t begin, end;
  uint32_t loop;  // the innermost one around it, or kNone
};

struct PieceLoop {
  uint32_t first, last;  // pieces
  uint32_t count;
  uint32_t parent;  // or kNone
  uint32_t period;  // steps of one iteration
};

struct Pieces {
  explicit Pieces(Arena* arena) : pieces(arena), loops(arena) {}
  Sequence<Piece> pieces;
  Sequence<PieceLoop> loops;  // in the order of `first`, outer ones first
};

// How far a step lies from another one of its form.
struct StepMove {
  int64_t bytes;             // in DRAM, of a transfer
  int32_t place[kAxes + 1];  // of a tile: origin, and C

  bool operator==(const StepMove& o) const {
    bool same = bytes == o.bytes;
    for (int i = 0; i <= kAxes; ++i) same = same && place[i] == o.place[i];
    return same;
  }
};

StepMove MoveBetween(const Program& program, uint32_t from, uint32_t to);

struct LoopSearch {
  const Program& program;
  const ProgramWaits& waits;
  const Sequence<uint32_t>& back;  // per wait
};

// Adds the pieces of one block of the program.
Status FindLoops(const LoopSearch& search, size_t block, Arena* scratch, Pieces* out);

}  // namespace sluice

#endif  // SLUICE_EMIT_FIND_LOOPS_H_
