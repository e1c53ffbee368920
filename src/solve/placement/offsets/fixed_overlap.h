// SPDX-License-Identifier: Apache-2.0
// Whether any two of many rectangles (time by address) overlap.
//
// Input   blocks, half-open in both; blocks of the second class, reserved regions, may
//         overlap each other.
// Output  the first pair found in order of time, or none.
// Errors  kOutOfMemory.
// Cost    O(n log n): a sweep over time, with a tree of maxima over addresses where
//         many blocks are alive at a time.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_FIXED_OVERLAP_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_FIXED_OVERLAP_H_

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

namespace sluice {

// Bytes that cannot move: of a fixed buffer, or of a reserved region (second class).
struct FixedBlock {
  int64_t begin, end, first_byte, last_byte;
  uint32_t index;
  bool reserved;
};

struct FixedOverlap {
  bool found = false;
  FixedBlock first, second;  // second came later
};

Status FindFixedOverlap(Span<const FixedBlock> blocks, Arena* arena, FixedOverlap* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_FIXED_OVERLAP_H_
