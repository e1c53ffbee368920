// SPDX-License-Identifier: Apache-2.0
// Offsets for thousands of buffers: in order of time, with a beam over layouts.
//
// Input   buffers without fixed offsets, gaps and banks, whose bytes are multiples of
//         every alignment; a capacity; layouts kept per step.
// Output  offsets of all buffers. *placed is false when the beam finds no room, or
//         where the buffers are not of that kind.
// Errors  kOutOfMemory.
// Cost    O(n log n + n * width * buffers alive at once, squared).
// Source  address_beam.h, with no tensor allowed to leave.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_

#include "base/workspace.h"
#include "model/live_range.h"

namespace sluice {

Status PlaceByTime(const LiveRangeSet& set, int64_t capacity, uint32_t width,
                   const Workspace& work, Span<int64_t> offsets, bool* placed);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_
