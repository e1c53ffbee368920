// SPDX-License-Identifier: Apache-2.0
#include "plan/patch_ranges.h"

#include <string.h>

namespace sluice {

namespace {

constexpr uint64_t kDefaultGap = 64;  // equal bytes that do not end a range
constexpr uint64_t kWord = 4;         // streams are whole words

}  // namespace

Status FindPatchRanges(Span<const uint8_t> a, Span<const uint8_t> b, uint64_t gap_bytes,
                       sluice_patch_range_t* ranges, size_t* count) {
  const uint64_t gap = gap_bytes != 0 ? gap_bytes : kDefaultGap;
  const size_t room = ranges == nullptr ? 0 : *count;
  size_t n = 0;
  sluice_patch_range_t range = {0, 0};
  const auto close = [&] {
    if (range.bytes != 0 && n++ < room) ranges[n - 1] = range;
  };
  for (uint64_t i = 0; i < b.size(); i += kWord) {
    if (i < a.size() && memcmp(a.data() + i, b.data() + i, kWord) == 0) continue;
    if (range.bytes == 0 || i >= range.offset + range.bytes + gap) {
      close();
      range.offset = i;
    }
    range.bytes = i + kWord - range.offset;
  }
  close();
  *count = n;
  return n <= room ? Status::kOk : Status::kBufferTooSmall;
}

}  // namespace sluice
