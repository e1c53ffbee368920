// SPDX-License-Identifier: Apache-2.0
// Buffers with half-open lifetimes, and the constraints on their placement.
//
// Time is any int64 scale (steps, cycles); bytes are int64. A buffer occupies [offset,
// offset + bytes) during [begin, end), except in its gaps.
//
// Input    filled by whoever needs buffers placed
// Output   none: plain data
// Errors   none
// Cost     none
#ifndef SLUICE_MODEL_LIVE_RANGE_H_
#define SLUICE_MODEL_LIVE_RANGE_H_

#include <stdint.h>

#include "base/array.h"

namespace sluice {

constexpr int64_t kFreeOffset = -1;

struct LiveRange {
  int64_t begin;
  int64_t end;
  int64_t bytes;
  int64_t alignment = 1;               // power of two
  int64_t fixed_offset = kFreeOffset;  // or the required offset
  uint64_t banks = 0;                  // bit i: may touch bank i; 0 = any bank
  bool single_bank = false;            // must not straddle a bank border
  uint32_t first_gap = 0;              // into LiveRangeSet::gaps
  uint32_t gap_count = 0;
};

// During [begin, end) the buffer uses only its bytes [first_byte, last_byte), relative
// to its own offset; equal bounds: no bytes. Gaps of one buffer are sorted and
// disjoint.
struct LiveGap {
  int64_t begin;
  int64_t end;
  int64_t first_byte = 0;
  int64_t last_byte = 0;
};

// Bytes [offset, offset + bytes) that no buffer may use during [begin, end).
struct ReservedRegion {
  int64_t begin;
  int64_t end;
  int64_t offset;
  int64_t bytes;
};

struct LiveRangeSet {
  Span<const LiveRange> buffers;
  Span<const LiveGap> gaps;
  Span<const ReservedRegion> reserved;
  int64_t bank_bytes = 0;  // 0 = one bank
};

}  // namespace sluice

#endif  // SLUICE_MODEL_LIVE_RANGE_H_
