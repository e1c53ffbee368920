// SPDX-License-Identifier: Apache-2.0
// Live ranges cut into sections: the maximal sets of buffers alive together.
//
// Input   checked LiveRangeSet.
// Output  per free buffer its section ranges, its neighbours (buffers that meet it in
//         time) and its holes (addresses closed to it: fixed buffers, reserved regions,
//         banks); per section its members and the bytes closed to all.
// Errors  kOutOfMemory; kUnsupported above kMaxPairs neighbour pairs.
// Cost    O(n log n + members + pairs).
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_SECTIONS_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_SECTIONS_H_

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "model/live_range.h"

namespace sluice {

constexpr int64_t kNowhere = INT64_MAX / 4;        // above every address
constexpr uint64_t kMaxPairs = uint64_t{1} << 25;  // 256 MiB of lists

struct SectionRange {  // half-open
  uint32_t begin;
  uint32_t end;
};

struct ByteRange {  // half-open
  int64_t begin;
  int64_t end;
};

struct SectionedBuffer {
  uint32_t source;  // index in the LiveRangeSet
  int64_t bytes;
  int64_t alignment;
  int64_t bank_bytes;  // 0: may straddle
  uint32_t first_range, range_count;
  uint32_t first_near, near_count;
  uint32_t first_hole, hole_count;
  uint32_t begin_section, end_section;  // hull of the ranges
};

struct Sections {
  uint32_t count = 0;
  Span<SectionedBuffer> buffers;  // free ones only
  Span<SectionRange> ranges;
  Span<uint32_t> near;
  Span<ByteRange> holes;        // per buffer sorted, disjoint
  Span<uint32_t> member_first;  // per section, count + 1
  Span<uint32_t> members;       // buffers
  Span<uint32_t> closed_first;  // per section, count + 1
  Span<ByteRange> closed;       // fixed and reserved bytes, sorted, disjoint
  int64_t lower_bound = 0;      // on any peak
  int64_t fixed_peak = 0;       // of fixed buffers
  bool gapped = false;          // some buffer has more than one range
  bool conservative = false;    // partial gaps were taken as fully used

  Span<const SectionRange> RangesOf(const SectionedBuffer& b) const {
    return Span<const SectionRange>(ranges.data() + b.first_range, b.range_count);
  }
  Span<const uint32_t> NearOf(const SectionedBuffer& b) const {
    return Span<const uint32_t>(near.data() + b.first_near, b.near_count);
  }
  Span<const uint32_t> MembersOf(uint32_t section) const {
    return Span<const uint32_t>(members.data() + member_first[section],
                                member_first[section + 1] - member_first[section]);
  }
  // Lowest offset >= from that alignment, banks and holes allow; kNowhere if none.
  int64_t Lowest(const SectionedBuffer& b, int64_t from) const;
  // Bytes of the section at or above `from` that fixed and reserved buffers close.
  int64_t ClosedAbove(uint32_t section, int64_t from) const;
};

Status CutSections(const LiveRangeSet& set, Arena* arena, Sections* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_SECTIONS_H_
