// SPDX-License-Identifier: Apache-2.0
// Which bytes to rewrite in a stream that a device already holds.
//
// Input    the stream there, the new stream; ranges closer than gap_bytes become one
//          (0: 64)
// Output   ranges of the new stream, ascending, of whole words
// Errors   kBufferTooSmall: *count is how many there are
// Cost     linear in the new stream
#ifndef SLUICE_PLAN_PATCH_RANGES_H_
#define SLUICE_PLAN_PATCH_RANGES_H_

#include "base/memory.h"

namespace sluice {

// *count: room in `ranges` on entry, ranges found on return. ranges may be null.
Status FindPatchRanges(Span<const uint8_t> before, Span<const uint8_t> after,
                       uint64_t gap_bytes, sluice_patch_range_t* ranges, size_t* count);

}  // namespace sluice

#endif  // SLUICE_PLAN_PATCH_RANGES_H_
