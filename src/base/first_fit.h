// SPDX-License-Identifier: Apache-2.0
// First fit: the lowest address at which some bytes meet no range that is in use.
//
// Input   the ranges in use while the bytes are, in any order; which addresses are allowed.
// Output  the lowest allowed address.
// Errors  none
// Cost    O(ranges) for each time that the bytes have to move behind some of them: of very
//         many ranges, sorted ones are the faster.
#ifndef SLUICE_BASE_FIRST_FIT_H_
#define SLUICE_BASE_FIRST_FIT_H_

#include <stdint.h>

#include "base/array.h"

namespace sluice {

struct TakenRange {
  int64_t begin, end;
};

// next(from): the lowest allowed address from there on; at `nowhere` and above there is none.
// While a range overlaps the bytes, they move behind it. Overwrites `taken`.
template <class Next>
int64_t FirstFit(int64_t bytes, Span<TakenRange> taken, int64_t nowhere, Next next) {
  int64_t at = next(0);
  size_t above = taken.size();  // those that may end above `at`
  for (bool moved = true; moved && at < nowhere;) {
    moved = false;
    size_t kept = 0;
    for (size_t i = 0; i < above; ++i) {
      const TakenRange range = taken[i];
      if (range.end <= at) continue;
      if (range.begin >= at + bytes) {
        taken[kept++] = range;
        continue;
      }
      at = next(range.end);
      if (at >= nowhere) break;
      moved = true;
    }
    above = kept;
  }
  return at;
}

// The same where each multiple of `alignment` is allowed.
int64_t FirstFit(int64_t bytes, int64_t alignment, Span<TakenRange> taken);

}  // namespace sluice

#endif  // SLUICE_BASE_FIRST_FIT_H_
