// SPDX-License-Identifier: Apache-2.0
// Takes over instructions that repeat without looking at what each reads and writes.
//
// Steps of an order repeat where each is the step one window before it, an iteration of a
// loop later. Of such a run the first three windows are followed like all other steps. What
// was found right in the second and third is right in those behind, by induction:
//
//   Order. In the scratchpad loops move nothing, so the instructions of each window touch
//   a byte in one sequence: its last write and the reads since are those of the same
//   instructions of this window or of the one before, or always one in front of the run.
//   What orders two instructions is a path of queues and waits, and all of it lies between
//   the two in the order. So a path from the second window into the third is there from each
//   window into the next one, an iteration later: counts of waits move with their loop. A
//   count that is cut off at nothing in the third window orders nothing there. What lies in
//   front of the run is behind the instruction before on the same queue. A run may have
//   instructions of two loops, one behind the other; nothing of the first waits for the
//   second, so bytes that both touch are refused in the windows that are followed.
//   Content. What an instruction leaves and what it needs move by constant distances from
//   window to window: tiles with their loop, loads within one piece of DRAM to which
//   nothing is stored meanwhile, sums of one range of channels. Two that agreed in two
//   windows agree in all.
//   Bounds. A box that moves by a constant distance is inside where it is so first and last.
//
// Waits, clocks, times and stores to DRAM are not taken over: they cost little.
//
// Input    places in the order, one after the other.
// Output   contents and counts as if what is taken over had been followed.
// Errors   kOutOfMemory, kStopped.
// Cost     a few operations per step; tables for three windows of at most kMostSteps.
#ifndef SLUICE_VERIFY_REPEATS_REPEATS_H_
#define SLUICE_VERIFY_REPEATS_REPEATS_H_

#include "verify/follow.h"

namespace sluice {
namespace judge {

struct Repeats {
  explicit Repeats(Follower* the_follower)
      : f(the_follower),
        notes(the_follower->judge->arena),
        moved(the_follower->judge->arena),
        sweeps(the_follower->judge->arena) {}

  // What a step left that does not follow from the stream alone.
  struct Note {
    Part part;           // of a STORE
    int64_t begin, end;  // of a tile that has an accumulator: channels that it holds
    bool plain;          // there is one part, or one range of channels
  };
  // By how many elements what a step leaves moves per window; index of its note.
  struct Moved {
    int64_t by[kAxes];
    uint32_t note;
  };
  // DRAM that a transfer of a window touches in all windows.
  struct Sweep {
    uint32_t memory;
    bool store;
    int64_t begin, end;
  };

  Follower* f;
  Span<uint64_t> loops;                      // steps of an iteration
  size_t not_before[SLUICE_MAX_LOOPS] = {};  // by depth: where a run may begin again
  // The run that is followed: its first place, steps of a window (0: there is no run), and
  // how many windows.
  size_t begin = 0, window = 0, windows = 0;
  Vector<Note> notes;  // of the three windows, one behind the other
  Vector<Moved> moved;
  Vector<Sweep> sweeps;
  VerifiedCounts before = {};  // the third window
};

Status InitRepeats(Repeats* r);
// All steps before place *at are followed, the last one just now. Goes on behind steps that
// need not be followed.
Status PassRepeats(Repeats* r, size_t* at);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_REPEATS_REPEATS_H_
