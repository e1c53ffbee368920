// SPDX-License-Identifier: Apache-2.0
// Offsets of thousands of buffers of which most are alive at once, so that their pairs are
// too many to be looked at.
//
// Input   checked buffers without banks; gaps count as fully used. plan->offsets has room
//         for all.
// Output  offsets of all buffers and their peak.
// Errors  kStopped: the time is over before a first layout is whole; kOutOfMemory.
// Cost    O(n log n) where lives nest or follow each other; else the search for the next
//         buffer may look at more of those that are left. Fixed buffers and regions are
//         looked at once for each buffer. It polls for each.
// Source  best fit of strips on a skyline (Burke, Kendall, Whitwell 2004), with lives for
//         widths (Sekiyama et al. 2018); the second preference and the tree are ours.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_CROWD_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_CROWD_H_

#include <stdint.h>

#include "base/workspace.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {

// How many pairs of free buffers are alive together, without going through them:
// O(n log n).
Status CountMeetings(Span<const LiveRange> buffers, Arena* arena, uint64_t* pairs);

// Ends at the first layout with a peak up to good_enough.
Status PlaceCrowd(const LiveRangeSet& set, int64_t good_enough, const Workspace& work,
                  OffsetPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_CROWD_H_
