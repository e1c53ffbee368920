// SPDX-License-Identifier: Apache-2.0
// Greedy placement: one buffer after another, each at its lowest free offset.
//
// Input   sections and an order of the free buffers; or the buffers themselves.
// Output  offsets of the free buffers and their peak.
// Errors  kOutOfMemory; a buffer without any place (banks) gets kNowhere.
// Cost    O(pairs log pairs) per order; FitAround O(free buffers * buffers).
// Source  greedy by size as in TFLM; orders by begin, size, area, duration, load.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_LOWEST_FIT_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_LOWEST_FIT_H_

#include "base/workspace.h"
#include "solve/placement/offsets/sections.h"

namespace sluice {

enum class FitOrder : uint8_t { kBegin, kSize, kArea, kDuration, kLoad, kCount };

Status SortForFit(const Sections& sections, FitOrder by, Arena* arena,
                  Span<uint32_t> order);

// Places all in this order; *peak covers free buffers only. Stops early, with a peak
// above `give_up`, once a buffer ends above it.
Status LowestFit(const Sections& sections, Span<const uint32_t> order, int64_t give_up,
                 Arena* arena, Span<int64_t> offsets, int64_t* peak);

// Tries every FitOrder, then up to `swaps` changes of the best order around the buffer
// that sets the peak. Stops at a peak <= good_enough.
Status BestFit(const Sections& sections, int64_t good_enough, uint32_t swaps,
               const Workspace& work, Span<int64_t> offsets, int64_t* peak);

// Works without sections, for few free buffers among many fixed ones, which do not
// overlap: each is compared with all. The order is by bytes, then as given. Ends, with
// *placed false, once a buffer ends above the capacity.
Status FitAround(Span<const LiveRange> buffers, int64_t capacity, Arena* arena,
                 Span<int64_t> offsets, bool* placed);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_LOWEST_FIT_H_
