// SPDX-License-Identifier: Apache-2.0
// Offsets for thousands of buffers: a beam over layouts, from the moment at which the most
// bytes are alive back to the first one and then from there to the last one, or the other
// way round, or from the first one to the last.
//
// Input   buffers without fixed offsets, gaps and banks, whose bytes are multiples of
//         every alignment; a capacity; layouts kept per step.
// Output  offsets of all buffers. *placed is false when the beam finds no room, or
//         where the buffers are not of that kind.
// Errors  kOutOfMemory.
// Cost    O(n log n + n * width * buffers alive at once, squared).
// Source  address_beam.h, with no tensor allowed to leave. Where the most bytes meet, little
//         room is left for what earlier steps have decided, so these come first.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_

#include "base/workspace.h"
#include "model/live_range.h"

namespace sluice {

Status PlaceByTime(const LiveRangeSet& set, int64_t capacity, uint32_t width,
                   const Workspace& work, Span<int64_t> offsets, bool* placed);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_BUFFER_BEAM_H_
