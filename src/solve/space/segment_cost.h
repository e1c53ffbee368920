// SPDX-License-Identifier: Apache-2.0
// What a segment costs, and what is held in the scratchpad before or after it.
#ifndef SLUICE_SOLVE_SPACE_SEGMENT_COST_H_
#define SLUICE_SOLVE_SPACE_SEGMENT_COST_H_

#include <stdint.h>

namespace sluice {

// A root that lies whole in the scratchpad between two segments.
struct Held {
  uint32_t root;
  bool stored;  // all that was made of it is in DRAM too
};

// The first loads of a segment, in the order in which its tiles need them: the bytes
// that these loads move, and the bytes of the frames that must be free for them.
struct EarlyLoads {
  int64_t bytes, room;
};

struct SpaceCost {
  static constexpr uint8_t kEarly = 3;  // entries of `early`
  int64_t cycles = 0;                   // of all its tiles
  EarlyLoads early[kEarly] = {};        // the first load, the first two, all
  int64_t ahead = 0;            // bytes that can be loaded before its first tile ends
  int64_t first_wait = 0;       // cycles its first tiles wait if loads start at once
  int64_t load = 0, store = 0;  // bytes, all
  int64_t transfers = 0;
  int64_t spill = 0;  // bytes of `store` that can go before its first tile
  int64_t first_cycles = 0, last_cycles = 0;  // of its first and of its last iteration
  int64_t last_store = 0;                     // bytes that its last iteration stores
  int64_t exposed =
      0;  // bytes moved while no tile runs, to or from a frame without a second one
  int64_t peak = 0;
  double energy_pj = 0;
  bool squeezed = false;  // a root did not fit; it might with other cuts
  uint8_t early_count = 0;

  // Bytes that its first iteration needs.
  int64_t first_load() const {
    return early_count == 0 ? 0 : early[early_count - 1].bytes;
  }
};

// Whether a segment can be given up before it is priced. excludes: true if a segment that
// costs at least `least` can be of no use; it reads cycles, energy_pj, load and store.
struct SegmentLimit {
  bool (*excludes)(const void* of, const SpaceCost& least);
  const void* of;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEGMENT_COST_H_
