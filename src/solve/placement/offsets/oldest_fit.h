// SPDX-License-Identifier: Apache-2.0
// Greedy placement in order of time: each buffer gets the free bytes whose last touch
// is longest ago, so that it can be loaded early.
//
// Input   buffers; those with fixed offsets share no bytes while they live. All bytes
//         and fixed offsets are multiples of the frames' alignment.
// Output  an offset for each buffer, the fixed ones included. Of buffers that begin at
//         the same time the fixed ones come first, then the largest.
// Errors  kInfeasible: a buffer found no free bytes below the capacity. There is no
//         search: another order may place it. kStopped, kOutOfMemory.
// Cost    O(n log n) comparisons; for each buffer, those fixed ones that begin during its
//         life, a look at every 32nd to 64th of the places between the borders of earlier
//         buffers, and at those places that are older than what is found.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_OLDEST_FIT_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_OLDEST_FIT_H_

#include "base/memory.h"
#include "model/live_range.h"

namespace sluice {

// A buffer during [begin, end), touched last at `used`, in [begin, end).
struct AgedRange {
  int64_t begin, end;
  int64_t used;
  int64_t bytes;
  int64_t fixed_offset = kFreeOffset;
};

Status OldestFit(Span<const AgedRange> buffers, int64_t capacity, Arena* arena,
                 Span<int64_t> offsets);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_OLDEST_FIT_H_
